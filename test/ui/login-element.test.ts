// The sign-in form alone on a page: content, requests and events.

import { expect } from '@open-wc/testing';
import type { AdapterAnswer } from '../../src/core/auth-options.ts';
import { createSettings } from '../../src/core/config.ts';
import type { Settings } from '../../src/core/settings-table.ts';
import { openSignIn } from '../../src/engine/sign-in.ts';
import { SecureUploaderLogin } from '../../src/ui/secure-uploader-login.ts';
import { rest, until } from '../support/collect.ts';
import { signOutElsewhere } from '../support/other-page.ts';
import {
  challenge,
  field,
  LOCKED,
  logIn,
  press,
  REJECTED,
  removeStages,
  SIGNED_IN,
  type Stage,
  stage,
  submit,
  title,
  type,
} from './login-stage.ts';

afterEach(removeStages);

/** Puts the form back into the page in a later task than it was removed in. */
async function comeBackLater({ element }: Stage): Promise<void> {
  element.remove();
  for (let round = 0; round < 5; round += 1) await rest(1);
  document.body.append(element);
  await element.updateComplete;
}

describe('the sign-in form alone on a page', () => {
  it('takes its settings from attributes', () => {
    expect(SecureUploaderLogin.observedAttributes).to.deep.equal([
      'base-url',
      'idp-id',
      'login-path',
      'challenge-path',
      'allow-framed-login',
    ]);
    const element = document.createElement('secure-uploader-login');
    expect(element.allowFramedLogin).to.equal(false);
    for (const name of SecureUploaderLogin.observedAttributes)
      element.setAttribute(name, name === 'allow-framed-login' ? '' : `of ${name}`);
    const { baseUrl, idpId, loginPath, challengePath, allowFramedLogin } = element;
    expect({ baseUrl, idpId, loginPath, challengePath, allowFramedLogin }).to.deep.equal({
      baseUrl: 'of base-url',
      idpId: 'of idp-id',
      loginPath: 'of login-path',
      challengePath: 'of challenge-path',
      allowFramedLogin: true,
    });
  });

  it('shows nothing before it has a base URL, and then a form in the light DOM with its own styles', async () => {
    const made = await stage({ baseUrl: undefined } as never);
    expect(made.element.textContent?.trim()).to.equal('');
    made.element.baseUrl = 'https://late.test';
    await made.element.updateComplete;
    expect(title(made)).to.equal('Sign in');
    await stage();
    expect(document.adoptedStyleSheets).to.have.length(1);
  });

  it('keeps its styles in another shadow root', async () => {
    const { element } = await stage();
    const host = document.createElement('div');
    const root = host.attachShadow({ mode: 'open' });
    document.body.append(host);
    const displayOf = (): string => getComputedStyle(element).display;
    expect(displayOf()).to.equal('block');
    root.append(element);
    await element.updateComplete;
    expect(displayOf()).to.equal('block');
    document.body.append(element);
    host.remove();
    expect(document.adoptedStyleSheets).to.have.length(1);
  });

  it('sends what was entered, with the provider that the page sets', async () => {
    const made = await stage({ idpId: 'staff' });
    await logIn(made);
    expect(made.sent).to.deep.equal([
      ['login', { idp_id: 'staff', email: 'tom@example.com', password: 'secret' }],
    ]);
  });

  it('sends to the paths that the page sets', async () => {
    const urls: string[] = [];
    const own = globalThis.fetch;
    const answers = [challenge(), REJECTED];
    globalThis.fetch = async (url) => {
      urls.push(String(url instanceof Request ? url.url : url));
      const { status, body } = answers.shift() ?? REJECTED;
      return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
    };
    try {
      const made = await stage({
        baseUrl: 'https://paths.test',
        loginPath: '/in',
        challengePath: '/more',
        authOptions: {},
      });
      await logIn(made);
      await until(() => made.element.querySelector('[name=code]') !== null);
      await type(made, 'code', '123456');
      await submit(made);
      await until(() => urls.length === 2);
    } finally {
      globalThis.fetch = own;
    }
    expect(urls).to.deep.equal(['https://paths.test/in', 'https://paths.test/more']);
  });

  it('reports sign-in to the page by events that bubble and are composed', async () => {
    const reported: unknown[] = [];
    const names = ['auth-changed', 'auth-failed', 'auth-challenged', 'signed-in'];
    const log = ({ type, bubbles, composed, detail }: Event & { detail?: { state?: string } }): void =>
      void reported.push([type, bubbles, composed, detail?.state].filter((each) => each !== undefined));
    for (const name of names) document.addEventListener(name, log);
    try {
      const made = await stage();
      await logIn(made);
      await made.answer(REJECTED);
      await logIn(made);
      await made.answer(challenge());
      await type(made, 'code', '123456');
      await submit(made);
      await made.answer(SIGNED_IN);
      expect(title(made)).to.equal("You're signed in.");
    } finally {
      for (const name of names) document.removeEventListener(name, log);
    }
    expect(reported.map((each) => (each as unknown[])[0])).to.include.members(names);
    for (const each of reported) expect((each as unknown[]).slice(1, 3)).to.deep.equal([true, true]);
  });

  it('keeps the email while it is signed in or fails, drops secrets, and clears both at the end', async () => {
    const made = await stage();
    await press(made, 'Show password');
    expect(field(made, 'password').type).to.equal('text');
    await logIn(made);
    expect([field(made, 'email').value, field(made, 'password').value]).to.deep.equal([
      'tom@example.com',
      '',
    ]);
    expect(field(made, 'password').type).to.equal('password');
    await made.answer(REJECTED);
    expect(field(made, 'email').value).to.equal('tom@example.com');
    await type(made, 'password', 'right');
    await submit(made);
    expect(made.sent.at(-1)?.[1].password).to.equal('right');
    expect(field(made, 'email').value).to.equal('tom@example.com');
    await made.answer(SIGNED_IN);
    await comeBackLater(made);
    expect(title(made)).to.equal('Sign in');
    expect(field(made, 'email').value).to.equal('');
  });

  it('keeps no code after sending it, also while it waits, and not after a wrong one', async () => {
    const made = await stage();
    await logIn(made);
    await made.answer(challenge());
    for (const code of ['111111', '22 22-22']) {
      await type(made, 'code', code);
      await submit(made);
      expect(made.sent.at(-1)?.[1].code).to.equal(code.replace(/[\s-]/g, ''));
      expect(field(made, 'code').value).to.equal('');
      await made.answer({ status: 401, body: { error: 'invalid_code' } });
      expect(field(made, 'code').value).to.equal('');
    }
  });

  it('keeps no email when the user starts over', async () => {
    const made = await stage();
    await logIn(made);
    await made.answer(challenge());
    await press(made, 'Start over');
    expect([title(made), field(made, 'email').value]).to.deep.equal(['Sign in', '']);
    await logIn(made, 'eve@example.com');
    expect(field(made, 'email').value).to.equal('eve@example.com');
  });

  it('keeps no email after a sign-out in another tab, also of an attempt that failed', async () => {
    const made = await stage();
    await logIn(made);
    await made.answer(REJECTED);
    signOutElsewhere();
    await until(() => field(made, 'email').value === '');
  });

  it('keeps the email if it is moved in the page, but not if it comes back later', async () => {
    const made = await stage();
    await logIn(made);
    await made.answer(REJECTED);
    made.element.remove();
    document.body.append(made.element);
    await made.element.updateComplete;
    expect(field(made, 'email').value).to.equal('tom@example.com');
    await comeBackLater(made);
    expect(field(made, 'email').value).to.equal('');
  });

  it('hides the password again when its button is pressed again', async () => {
    const made = await stage();
    await press(made, 'Show password');
    await press(made, 'Hide password');
    expect(field(made, 'password').type).to.equal('password');
  });

  it('uses the first local provider, or the selected one', async () => {
    const idps = [
      { id: 'corp', label: 'Corp', kind: 'federated' },
      { id: 'a', label: 'Staff', kind: 'local' },
    ] as const;
    const one = await stage({ idps });
    await logIn(one);
    expect(one.sent[0]?.[1].idp_id).to.equal('a');
    const two = await stage({ idps: [...idps, { id: 'b', label: 'Guests', kind: 'local' }] });
    field(two, 'idp_id').value = 'b';
    await logIn(two);
    expect(two.sent[0]?.[1]).to.deep.equal({ idp_id: 'b', email: 'tom@example.com', password: 'secret' });
    const none = await stage({ idps: idps.slice(0, 1) });
    await logIn(none);
    expect(none.sent[0]?.[1].idp_id).to.equal('local');
  });

  it('shows additional fields of the page beside the email', async () => {
    const made = await stage({}, { credentialFields: [{ name: 'email' }, { name: 'pin', label: 'PIN' }] });
    expect([...made.element.querySelectorAll('input')].map(({ name }) => name)).to.deep.equal([
      'email',
      'pin',
    ]);
  });

  it('follows the settings of an uploader, and others when it gets them', async () => {
    const asked: string[] = [];
    const settingsOf = (name: string): Settings => {
      const login = async (): Promise<AdapterAnswer> => {
        asked.push(name);
        return REJECTED;
      };
      const authOptions = { credentialFields: [{ name }], adapter: { login } };
      return createSettings({ baseUrl: `https://${name}.test`, auth: 'local', silent: 'off', authOptions });
    };
    const made = await stage({ settings: settingsOf('a') });
    for (const name of ['a', 'b']) {
      const settings = settingsOf(name);
      made.element.settings = settings;
      await made.element.updateComplete;
      openSignIn(settings).session.signIn();
      await until(() => made.element.querySelector(`form [name=${name}]`) !== null);
      await type(made, 'email', 'tom@example.com');
      await type(made, name, 'secret');
      await submit(made);
      await until(() => asked.at(-1) === name);
    }
    expect(asked).to.deep.equal(['a', 'b']);
  });

  it('does not render after it was removed from the page', async () => {
    const made = await stage();
    const seen: string[] = [];
    made.element.addController({ hostDisconnected: () => seen.push('off the page') });
    await logIn(made);
    made.element.remove();
    made.element.addController({ hostUpdate: () => seen.push('rendered') });
    await made.answer(SIGNED_IN);
    expect(seen).to.deep.equal(['off the page']);
  });

  it('sends a code when it is confirmed, and automatically only if the page enables that and it is complete', async () => {
    for (const autoSubmitCode of [false, true]) {
      const made = await stage({}, { autoSubmitCode });
      await logIn(made);
      await made.answer(challenge());
      await type(made, 'code', '12345');
      expect(made.sent).to.have.length(1);
      await type(made, 'code', '123 45-6');
      expect(made.sent).to.have.length(autoSubmitCode ? 2 : 1);
      if (!autoSubmitCode) await submit(made);
      expect(made.sent[1]?.[1].code).to.equal('123456');
    }
  });

  it('opens again for another account once one is locked', async () => {
    const made = await stage();
    const submitButton = (): HTMLButtonElement | null => made.element.querySelector('[type=submit]');
    await logIn(made);
    await made.answer(LOCKED);
    expect(submitButton()?.disabled).to.equal(true);
    await type(made, 'email', 'other@example.com');
    expect(submitButton()?.disabled).to.equal(false);
  });

  it('ignores responses after it was removed from the page', async () => {
    const made = await stage();
    await logIn(made);
    made.element.remove();
    await made.answer(SIGNED_IN);
    document.body.append(made.element);
    await until(() => title(made) === 'Sign in');
  });

  it('counts down until a code may be sent again', async () => {
    const made = await stage();
    await logIn(made);
    await made.answer(challenge({ resend_after: 20 }, ['sms']));
    await made.answer({ status: 200, body: { status: 'waiting', challenge: { resend_after: 20 } } });
    expect(made.element.textContent).to.match(/Send again in (20|19) s/);
  });
});
