// The sign-in form of `auth="local"` inside the element: in the light DOM, and only while a user has to sign in.

import { expect, fixture, html } from '@open-wc/testing';
import type { SecureUploader } from '../../src/define.ts';
import '../../src/define.ts';
import { password, readUser } from '../auth/people.ts';
import { findReference } from '../service/reference.ts';
import { until } from '../support/collect.ts';
import { all, shown, textFile } from './support.ts';

const fixtures = new URL('../auth/fixtures/', import.meta.url).href;

async function createLocal(more: object = {}): Promise<SecureUploader> {
  const { baseUrl } = await findReference();
  const element = await fixture<SecureUploader>(html`<secure-uploader auth="local"></secure-uploader>`);
  Object.assign(element, { baseUrl, parentId: 'folder-a', silent: 'off', multiple: true, ...more });
  await element.updateComplete;
  return element;
}

const formOf = (element: SecureUploader) =>
  shown(() => element.querySelector<HTMLFormElement>(':scope > secure-uploader-login form'));

/** Sets the value of a field and dispatches `input`, as typing does. */
function fill(element: SecureUploader, name: string, value: string): void {
  const input = element.querySelector<HTMLInputElement>(`[name=${name}]`);
  if (!input) throw new Error(`no ${name}`);
  input.value = value;
  input.dispatchEvent(new InputEvent('input', { bubbles: true }));
}

/** Resolves with an enabled button of the form that contains `text`. */
const buttonOf = (element: SecureUploader, text: string) =>
  shown(() =>
    [...element.querySelectorAll<HTMLButtonElement>('button:enabled')].find((each) =>
      each.textContent?.includes(text),
    ),
  );

/** Opens the form, and submits email and password. */
async function logIn(element: SecureUploader, email: string): Promise<void> {
  await element.signIn();
  const form = await formOf(element);
  fill(element, 'email', email);
  fill(element, 'password', await password());
  form.requestSubmit();
}

const problemOf = (element: SecureUploader): string =>
  element.querySelector('secure-uploader-login [role=status]')?.textContent?.trim() ?? '';

describe('the form within the element', () => {
  it('is shown once a file needs it, as a child of the element, without any warning', async () => {
    const element = await createLocal();
    expect(element.querySelector('secure-uploader-login')).to.equal(null);
    await element.addFiles([textFile('a.txt')]);
    const form = await formOf(element);
    expect(form.closest('secure-uploader-login')?.slot).to.equal('login');
    expect(form.checkVisibility()).to.equal(true);
    expect(form.getRootNode()).to.equal(document);
    expect(all(element, '[data-action=sign-in]')).to.have.length(0);
    await expect(element).to.be.accessible();
  });

  it('offers the identity providers of the page, in its own words', async () => {
    const element = await createLocal({
      idps: [{ id: 'corp', label: 'Corp', kind: 'federated' }],
      messages: { logIn: 'Anmelden' },
    });
    await element.addFiles([textFile('b.txt')]);
    const form = await formOf(element);
    expect(form.textContent).to.contain('Anmelden');
    expect(form.parentElement?.textContent).to.contain('Sign in with Corp');
  });

  it('keeps typed text when settings change that do not concern sign-in', async () => {
    const element = await createLocal();
    await element.addFiles([textFile('c.txt')]);
    const form = await formOf(element);
    const input = form.querySelector<HTMLInputElement>('[name=email]');
    if (input) input.value = 'alice@example.com';
    element.accept = '.txt';
    await element.updateComplete;
    expect(element.querySelector<HTMLInputElement>('[name=email]')?.value).to.equal('alice@example.com');
  });

  it('is removed with the last file that needed it', async () => {
    const element = await createLocal();
    await element.addFiles([textFile('d.txt')]);
    await formOf(element);
    await element.cancel();
    await shown(() => !element.querySelector('secure-uploader-login'));
  });

  it("is shown on the page's request, even if no file waits", async () => {
    const element = await createLocal();
    await element.signIn();
    await formOf(element);
  });

  it('is shown once for two uploaders with the same sign-in, and moves to the other when the first is removed', async () => {
    const [one, two] = [await createLocal(), await createLocal()];
    await one.addFiles([textFile('e.txt')]);
    await formOf(one);
    await two.addFiles([textFile('f.txt')]);
    const second = await shown(() => two.querySelector<HTMLElement>(':scope > secure-uploader-login p'));
    expect(second.textContent).to.contain('already');
    expect(two.querySelector('form')).to.equal(null);
    const ids = [...document.querySelectorAll('secure-uploader-login [id]')].map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    one.remove();
    await formOf(two);
  });

  it('sends a code automatically once it is complete, if the page enables that', async () => {
    const element = await createLocal({ authOptions: { autoSubmitCode: true } });
    await logIn(element, 'mia@example.com');
    (await buttonOf(element, 'text message')).click();
    await shown(() => element.querySelector<HTMLElement>('[name=code]'));
    const code = (await readUser('mia')).sms ?? '';
    fill(element, 'code', code.slice(0, -1));
    expect(element.snapshot.auth.state).to.equal('answer');
    fill(element, 'code', code);
    await until(() => element.snapshot.auth.state !== 'answer');
  });

  it('sends nothing more for a locked account until something else is entered', async () => {
    const element = await createLocal();
    await logIn(element, 'lou@example.com');
    await until(() => element.snapshot.auth.error?.code === 'account-locked');
    await shown(() => problemOf(element).includes('locked'));
    const submit = element.querySelector<HTMLButtonElement>('form [type=submit]');
    expect([submit?.textContent, submit?.disabled]).to.deep.equal(['Sign in', true]);
    submit?.click();
    expect(element.snapshot.auth.state).to.equal('prompt');
    fill(element, 'email', 'alice@example.com');
    await shown(() => submit?.disabled === false);
    expect(problemOf(element)).to.equal('');
    fill(element, 'password', await password());
    submit?.click();
    expect(element.snapshot.auth.state).to.equal('login');
  });

  it('can be canceled while the service checks the credentials, and keeps no email', async () => {
    const asked: AbortSignal[] = [];
    const login = (_body: unknown, signal: AbortSignal): Promise<never> => {
      asked.push(signal);
      return new Promise(() => undefined);
    };
    const element = await createLocal({ authOptions: { adapter: { login } } });
    await logIn(element, 'tom@example.com');
    (await buttonOf(element, 'Cancel')).click();
    expect(asked.map(({ aborted }) => aborted)).to.deep.equal([true]);
    await buttonOf(element, 'Sign in');
    expect(element.querySelector<HTMLInputElement>('[name=email]')?.value).to.equal('');
    expect(problemOf(element)).to.equal('');
  });

  it('shows once that the service is busy, and counts down', async () => {
    const login = async () => ({ status: 429, body: {}, retryAfterMs: 40_000 });
    const element = await createLocal({ authOptions: { adapter: { login } } });
    await logIn(element, 'tom@example.com');
    const leftS = (): number => Number.parseInt(element.querySelector('[role=timer]')?.textContent ?? '', 10);
    const first = await shown(leftS);
    expect(first).to.be.within(30, 40);
    expect(element.querySelector('secure-uploader-login')?.textContent?.match(/busy/g)).to.have.length(1);
    expect(problemOf(element)).to.contain('busy');
    await shown(() => leftS() < first);
    (await buttonOf(element, 'Cancel')).click();
  });

  it("has fields for the page's own credentials, and sends them by their names", async () => {
    const sent: unknown[] = [];
    const login = async (body: unknown) => {
      sent.push(body);
      return { status: 401, body: {} };
    };
    const pin = { name: 'pin', label: 'PIN', type: 'text', autocomplete: 'off' };
    const note = { name: 'note', label: 'Note', type: 'text', autocomplete: 'nickname', required: false };
    const element = await createLocal({ authOptions: { credentialFields: [pin, note], adapter: { login } } });
    await element.signIn();
    const form = await formOf(element);
    const fields = [...form.querySelectorAll('label')].map((label) => {
      const input = label.querySelector('input') as HTMLInputElement;
      const { name, type, required } = input;
      return [label.textContent?.trim(), name, type, required, input.getAttribute('autocomplete')];
    });
    expect(fields).to.deep.equal([
      ['Email address', 'email', 'email', true, 'username'],
      ['PIN', 'pin', 'text', true, 'off'],
      ['Note', 'note', 'text', false, 'nickname'],
    ]);
    fill(element, 'email', 'tom@example.com');
    fill(element, 'pin', '0042');
    form.requestSubmit();
    await until(() => element.snapshot.auth.error !== undefined);
    expect(sent).to.deep.equal([{ idp_id: 'local', email: 'tom@example.com', pin: '0042', note: '' }]);
  });

  it('opens the sign-in page with the identity provider that is pressed', async () => {
    const channel = new BroadcastChannel('authorize-fixture');
    const asked = new Promise<Record<string, string>>((resolve) => {
      channel.onmessage = ({ data }) => resolve(data);
    });
    const element = await createLocal({
      authorizePath: `${fixtures}authorize.html`,
      redirectUri: `${fixtures}secure-uploader-callback.html`,
      idps: [{ id: 'corp', label: 'Corp', kind: 'federated' }],
      authOptions: { adapter: { exchange: async () => ({ status: 200, body: { token: 't' } }) } },
    });
    await element.signIn();
    const page = await fixture<HTMLIFrameElement>(html`<iframe title="In place of a window"></iframe>`);
    const own = window.open;
    window.open = () => page.contentWindow;
    try {
      (await buttonOf(element, 'Sign in with Corp')).click();
    } finally {
      window.open = own;
    }
    expect((await asked).idp_id).to.equal('corp');
    await until(() => element.snapshot.auth.state === 'signed-in');
    channel.close();
  });

  it('is not used for a window, whose panel counts down during Retry-After', async () => {
    const adapter = { exchange: async () => ({ status: 429, body: {}, retryAfterMs: 40_000 }) };
    const element = await createLocal({
      auth: 'popup',
      silent: 'auto',
      authorizePath: `${fixtures}authorize.html`,
      redirectUri: `${fixtures}secure-uploader-callback.html`,
      authOptions: { adapter, times: { silentMs: 1e8 } },
    });
    await element.addFiles([textFile('h.txt')]);
    const leftS = (): number =>
      Number(/in about (\d+) s/.exec(element.renderRoot.textContent ?? '')?.[1] ?? Number.NaN);
    const first = await shown(leftS);
    expect(first).to.be.at.most(40);
    await shown(() => leftS() < first);
    await element.cancel();
  });
});
