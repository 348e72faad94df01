// The sign-in form alone on a page, operated as by a user, with the reference service.
import { expect, fixture, html } from '@open-wc/testing';
import { defineLogin, type SecureUploaderLogin } from '../../src/ui/secure-uploader-login.ts';
import { findReference } from '../service/reference.ts';
import { speedUp } from '../support/clock.ts';
import { answerPush, password, readUser } from './people.ts';

defineLogin();

interface Form {
  readonly element: SecureUploaderLogin;
  readonly events: [string, unknown][];
  /** Resolves with a matching element as soon as one exists. */
  find<T extends HTMLElement>(selector: string, text?: string): Promise<T>;
  press(text: string): Promise<void>;
  enterCode(code: string): Promise<void>;
  readonly heading: string;
  readonly problem: string;
  /** Resolves with the detail of the first event named `name`. */
  until(name: string): Promise<unknown>;
}

async function open(
  email: string,
  { idpId = 'local', secret }: { idpId?: string; secret?: string } = {},
): Promise<Form> {
  const { baseUrl } = await findReference();
  const element = await fixture<SecureUploaderLogin>(
    html`<secure-uploader-login base-url=${baseUrl} idp-id=${idpId}></secure-uploader-login>`,
  );
  const events: [string, unknown][] = [];
  const arrived = new EventTarget();
  for (const name of ['auth-changed', 'auth-failed', 'auth-challenged', 'signed-in']) {
    element.addEventListener(name, (event) => {
      events.push([name, (event as CustomEvent).detail]);
      arrived.dispatchEvent(new Event('any'));
    });
  }
  const find = async <T extends HTMLElement>(selector: string, text = ''): Promise<T> => {
    const look = (): T | undefined =>
      [...element.querySelectorAll<T>(selector)].find((found) => found.textContent?.includes(text));
    return (
      look() ??
      new Promise((resolve) => {
        const observer = new MutationObserver(() => {
          const found = look();
          if (!found) return;
          observer.disconnect();
          resolve(found);
        });
        observer.observe(element, { subtree: true, childList: true, characterData: true, attributes: true });
      })
    );
  };
  const form: Form = {
    element,
    events,
    find,
    press: async (text) => (await find<HTMLButtonElement>('button:not(:disabled)', text)).click(),
    async enterCode(code) {
      const input = await find<HTMLInputElement>('input[name="code"]');
      input.value = code;
      input.form?.requestSubmit();
    },
    get heading() {
      return element.querySelector('h2')?.textContent ?? '';
    },
    get problem() {
      return element.querySelector('[role="status"]')?.textContent?.trim() ?? '';
    },
    until: (name) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = events.find(([seen]) => seen === name);
          if (found) resolve(found[1]);
        };
        arrived.addEventListener('any', look);
        look();
      }),
  };
  const fields = element.querySelectorAll<HTMLInputElement>('form input');
  const [address, pass] = fields;
  if (!address || !pass) throw new Error('no form');
  address.value = email;
  pass.value = secret ?? (await password());
  address.form?.requestSubmit();
  return form;
}

describe('the sign-in form', () => {
  it('has the fields that password managers look for, visible to them', async () => {
    const form = await open('nobody@example.com');
    await form.find('h2', 'Sign in');
    expect(form.element.shadowRoot).to.equal(null);
    const [address, pass] = form.element.querySelectorAll<HTMLInputElement>('form input');
    expect([address?.type, address?.autocomplete, address?.autocapitalize]).to.deep.equal([
      'email',
      'username',
      'none',
    ]);
    expect([pass?.type, pass?.autocomplete]).to.deep.equal(['password', 'current-password']);
    const paste = new Event('paste', { bubbles: true, cancelable: true });
    expect(pass?.dispatchEvent(paste), 'pasting is allowed').to.equal(true);
    await form.press('Show password');
    await form.find('button', 'Hide password');
    expect(form.element.querySelector<HTMLInputElement>('input[name="password"]')?.type).to.equal('text');
  });

  it('signs in with email and password', async () => {
    const form = await open('alice@example.com');
    expect(await form.until('signed-in')).to.deep.equal({});
    await form.find('h2', "You're signed in.");
  });

  it('reports wrong credentials, keeps the email and clears the password', async () => {
    const form = await open('alice@example.com', { secret: 'wrong' });
    expect(await form.until('auth-failed')).to.deep.include({ code: 'credentials-rejected' });
    await form.find('form input[name="password"]');
    expect(form.problem).to.equal('Incorrect email or password. Try again.');
    const [address, pass] = form.element.querySelectorAll<HTMLInputElement>('form input');
    expect([address?.value, pass?.value]).to.deep.equal(['alice@example.com', '']);
    expect(address?.getAttribute('aria-describedby')).to.equal(
      form.element.querySelector('[role="status"]')?.id,
    );
  });

  it('reports account-locked for a locked account, and sends nothing more automatically', async () => {
    const form = await open('lou@example.com');
    expect(await form.until('auth-failed')).to.deep.include({ code: 'account-locked' });
  });

  it("reports a step or a method that only the service's own window supports", async () => {
    expect(await (await open('nina@example.com')).until('auth-failed')).to.deep.include({
      code: 'step-unsupported',
    });
    expect(await (await open('uma@example.com')).until('auth-failed')).to.deep.include({
      code: 'method-unsupported',
    });
  });

  it('keeps the focus in the field, which is empty, after a wrong code, shows the attempts left, and accepts a right one with spaces', async () => {
    const form = await open('tom@example.com');
    expect(await form.until('auth-challenged')).to.deep.equal({ methods: ['totp'] });
    const input = await form.find<HTMLInputElement>('input[name="code"]');
    expect([input.type, input.inputMode, input.getAttribute('autocomplete')]).to.deep.equal([
      'text',
      'numeric',
      'one-time-code',
    ]);
    expect(form.element.querySelector<HTMLInputElement>('input[readonly]')?.value).to.equal(
      'tom@example.com',
    );
    input.focus();
    await form.enterCode('000000');
    await form.until('auth-failed');
    const again = await form.find<HTMLInputElement>('input[name="code"][aria-invalid="true"]');
    expect(form.problem).to.equal('Verification failed. Try again. 4 attempts left.');
    expect(document.activeElement, 'the focus stayed').to.equal(again);
    expect(again.value).to.equal('');
    const { totp } = await readUser('tom');
    await form.enterCode(` ${totp.slice(0, 3)}-${totp.slice(3)} `);
    await form.until('signed-in');
  });

  it('offers several methods in order, keeps the challenge when the user switches, and can finish with each', async () => {
    const form = await open('mia@example.com');
    await form.find('h2', 'How do you want');
    const offered = [...form.element.querySelectorAll('li button')].map((button) =>
      button.textContent?.trim(),
    );
    expect(offered).to.deep.equal(['Code by email', 'Code by text message', 'Recovery code']);
    await form.press('Code by email');
    await form.find('p', 'Sent to m•••@example.com.');
    await form.find('button:disabled', 'Send again in');
    await form.press('Try another way');
    await form.press('Code by text message');
    await form.find('h2', 'message');
    const { sms } = await readUser('mia');
    await form.enterCode(sms ?? '');
    await form.until('signed-in');

    const byMail = await open('mia@example.com');
    await byMail.press('Code by email');
    await byMail.find('input[name="code"]');
    await byMail.enterCode((await readUser('mia')).email ?? '');
    await byMail.until('signed-in');

    const byRecovery = await open('mia@example.com');
    await byRecovery.press('Recovery code');
    const input = await byRecovery.find<HTMLInputElement>('input[name="code"]');
    expect(input.inputMode).to.equal('text');
    const [code] = (await readUser('mia')).recovery_codes;
    await byRecovery.enterCode(code ?? '');
    await byRecovery.until('signed-in');
  });

  it('waits for the phone and continues automatically, and reports when the phone declines', async () => {
    speedUp(10);
    const form = await open('paul@example.com');
    await form.find('p', 'Select');
    await answerPush('paul', 'denied');
    expect(await form.until('auth-failed')).to.deep.include({ code: 'challenge-denied' });
    await form.press('Approve on your phone');
    await form.find('p', 'Select');
    await answerPush('paul', 'approved');
    await form.until('signed-in');
  });

  it('classifies invalid responses, and never accepts them as a sign-in', async () => {
    for (const [name, code] of [
      ['truncated', 'bad-response'],
      ['html', 'bad-response'],
      ['empty', 'step-unsupported'],
      ['unknown', 'step-unsupported'],
      ['numbers', 'step-unsupported'],
      ['error', 'service-failed'],
    ]) {
      const form = await open(`${name}@example.com`, { idpId: 'broken' });
      expect(await form.until('auth-failed'), name).to.deep.include({ code });
      form.element.remove();
    }
    const contradiction = await open('contradiction@example.com', { idpId: 'broken' });
    expect(await contradiction.until('auth-challenged')).to.deep.equal({ methods: ['totp'] });
  });

  it('starts over on Start over, without the email, because another user may sign in', async () => {
    const form = await open('tom@example.com');
    await form.press('Start over');
    const address = await form.find<HTMLInputElement>('input[name="email"]:not([readonly])');
    expect(address.value).to.equal('');
  });

  it('passes axe on each of its steps', async () => {
    const form = await open('mia@example.com');
    await form.find('h2', 'How do you want');
    await expect(form.element).to.be.accessible();
    await form.press('Recovery code');
    await form.find('input[name="code"]');
    await expect(form.element).to.be.accessible();
    await form.press('Start over');
    await form.find('input[name="password"]');
    await expect(form.element).to.be.accessible();
    const phone = await open('paul@example.com');
    await phone.find('p', 'Select');
    await expect(phone.element).to.be.accessible();
  });
});
