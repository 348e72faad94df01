// States of sign-in in which the form is on the page, and the properties of the form.

import { expect } from '@open-wc/testing';
import { snapshot } from '../../demo/states/snapshots.ts';
import { createSettings } from '../../src/core/config.ts';
import type { Settings } from '../../src/core/settings-table.ts';
import type { AuthSnapshot } from '../../src/core/types.ts';
import { LoginController, type LoginHost } from '../../src/ui/login-controller.ts';
import type { SecureUploaderLogin } from '../../src/ui/secure-uploader-login.ts';
import { settled, until } from '../support/collect.ts';
import { PlainHost } from './fixtures/plain-host.ts';

interface Stage {
  readonly host: PlainHost & { snapshot: ReturnType<typeof snapshot>; renderRoot: HTMLElement };
  readonly login: LoginController;
  /** Renders the host with sign-in in the state `auth`. Returns true if the form replaces the panel. */
  shows(auth: Partial<AuthSnapshot>): boolean;
  form(): SecureUploaderLogin | null;
}

const stages: Stage[] = [];

function stage(settings: () => Settings | undefined = () => undefined): Stage {
  const host = Object.assign(new PlainHost(), {
    snapshot: snapshot([]),
    renderRoot: document.createElement('div'),
    idps: [{ id: 'corp', label: 'Corp', kind: 'federated' }],
    messages: { logIn: 'Anmelden' },
  });
  const login = new LoginController(host as unknown as LoginHost, settings);
  document.body.append(host, host.renderRoot);
  const made: Stage = {
    host,
    login,
    shows(auth) {
      host.snapshot = snapshot([], { auth: { mode: 'local', ...auth } });
      login.hostUpdate();
      return login.isShown;
    },
    form: () => host.querySelector('secure-uploader-login'),
  };
  stages.push(made);
  return made;
}

afterEach(() => {
  for (const { host } of stages.splice(0)) {
    host.renderRoot.remove();
    host.remove();
  }
});

const error = { code: 'network', retryable: true } as const;

describe('the sign-in panel', () => {
  for (const [title, ...steps] of [
    ['is replaced while sign-in is required', [{ state: 'prompt', required: true }, true]],
    ['is replaced after a failure', [{ state: 'prompt', required: false, error }, true]],
    ['stays while sign-in is not required', [{ state: 'prompt', required: false }, false]],
    ['stays in any other sign-in mode', [{ state: 'prompt', required: true, mode: 'popup' }, false]],
    ['stays in an invisible state', [{ state: 'silent', required: true }, false]],
    ['stays while signed out', [{ state: 'signed-out', required: true }, false]],
    ['returns once signed in', [{ state: 'prompt', required: true }, true], [{ state: 'signed-in' }, false]],
    [
      'stays replaced during further steps',
      [{ state: 'prompt', required: true }, true],
      [{ state: 'login', required: false }, true],
      [{ state: 'answer', required: false }, true],
      [{ state: 'signed-out' }, false],
      [{ state: 'answer', required: true }, false],
    ],
  ] as const)
    it(title, () => {
      const { shows } = stage();
      for (const [auth, isShown] of steps as readonly (readonly [Partial<AuthSnapshot>, boolean])[])
        expect(shows(auth), JSON.stringify(auth)).to.equal(isShown);
    });

  it("is replaced by the form on the page's request, until a user is signed in", () => {
    const { login, host, shows } = stage();
    expect(shows({ state: 'prompt', required: false })).to.equal(false);
    login.ask();
    expect(host.updateCount).to.equal(1);
    expect(shows({ state: 'prompt', required: false })).to.equal(true);
    shows({ state: 'signed-in' });
    expect(shows({ state: 'prompt', required: false })).to.equal(false);
  });
});

/** Returns a function that focuses a button in this part of the interface. */
const chooseFiles =
  (part: string) =>
  ({ host }: Stage): void => {
    host.renderRoot.innerHTML = `<div class="${part}"><button></button></div>`;
    host.renderRoot.querySelector('button')?.focus();
  };

describe('the form', () => {
  it('is a child of the element, once, with its settings, providers and texts', async () => {
    const settings = createSettings({ baseUrl: 'https://a.test', auth: 'local' });
    const { host, shows, form } = stage(() => settings);
    shows({ state: 'prompt', required: true });
    shows({ state: 'prompt', required: true });
    await until(() => form() !== null);
    await settled();
    expect(host.querySelectorAll('secure-uploader-login')).to.have.length(1);
    expect(form()?.slot).to.equal('login');
    expect(form()?.settings).to.equal(settings);
    expect([form()?.idps, form()?.messages]).to.deep.equal([
      [{ id: 'corp', label: 'Corp', kind: 'federated' }],
      { logIn: 'Anmelden' },
    ]);
    Object.assign(host, { idps: [] });
    shows({ state: 'login' });
    expect(form()?.idps).to.deep.equal([]);
    shows({ state: 'signed-in' });
    expect(form()).to.equal(null);
  });

  for (const [title, leave] of [
    ['is not needed any more when it is loaded', ({ shows }: Stage) => shows({ state: 'signed-in' })],
    ['has lost its element when it is loaded', ({ host }: Stage) => host.remove()],
  ] as const)
    it(`is not created if it ${title}`, async () => {
      const made = stage();
      made.shows({ state: 'prompt', required: true });
      leave(made);
      await import('../../src/ui/secure-uploader-login.ts');
      await settled();
      expect(made.form()).to.equal(null);
    });

  it('leaves the panel in place if it cannot be created, until it is requested again', async () => {
    const { host, login, shows, form } = stage(() => {
      throw new TypeError('a defect');
    });
    const own = globalThis.reportError;
    const errors: unknown[] = [];
    globalThis.reportError = (each) => errors.push(each);
    try {
      shows({ state: 'prompt', required: true });
      await until(() => errors.length === 1);
      expect(host.updateCount).to.equal(1);
      expect([shows({ state: 'prompt', required: true }), form()]).to.deep.equal([false, null]);
      login.ask();
      expect(shows({ state: 'prompt', required: true })).to.equal(true);
      await until(() => errors.length === 2);
    } finally {
      globalThis.reportError = own;
    }
  });

  for (const [title, act, isExpected] of [
    ['takes the focus if the page asked for it', ({ login }: Stage) => login.ask(), true],
    ['takes the focus from the button that chose files', chooseFiles('zone'), true],
    ['leaves the focus in the list', chooseFiles('row'), false],
    ['leaves the focus elsewhere', () => undefined, false],
  ] as const)
    it(title, async () => {
      const made = stage();
      act(made);
      made.shows({ state: 'prompt', required: true });
      await until(() => made.form() !== null);
      expect(made.form()?.hasAttribute('focus-first')).to.equal(isExpected);
    });

  for (const [title, hadFocus] of [
    ['moves the focus to the file button when it is removed', true],
    ['does not move the focus when it is removed without it', false],
  ] as const)
    it(title, async () => {
      const { host, login, shows, form } = stage();
      host.renderRoot.innerHTML = '<button data-action="browse"></button>';
      shows({ state: 'prompt', required: true });
      await until(() => form() !== null);
      const input = document.createElement('input');
      form()?.append(input);
      if (hadFocus) input.focus();
      shows({ state: 'signed-in' });
      login.hostUpdated();
      const button = host.renderRoot.firstElementChild as HTMLElement;
      expect(document.activeElement === button).to.equal(hadFocus);
      button.blur();
      login.hostUpdated();
      expect(document.activeElement).to.equal(document.body);
    });
});
