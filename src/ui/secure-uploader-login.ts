// The sign-in form as an element: inside an uploader with `auth="local"`, or alone on the service's own page. It shows the
// step that sign-in stands at and hands on what is entered; what was typed is read at submit and kept nowhere, but for the
// address that names the account.

import { LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import type { Change } from '../core/changes.ts';
import { createSettings, type Settings } from '../core/config.ts';
import { sleep } from '../core/wait.ts';
import { joinSignIn, type SignIn, startSignIn } from '../engine/sign-in.ts';
import { ENGLISH_LOGIN, type LoginMessages } from './login-messages.ts';
import { login } from './styles/login.ts';
import { type CredentialField, type Idp, type LoginCommands, loginStep } from './views/login.ts';

const PASSWORD: readonly CredentialField[] = [{ name: 'password' }];

/**
 * @summary Signs a person in by e-mail, password and whatever more the service asks for.
 * @fires {CustomEvent} signed-in - Alone on a page: the service knows the person now.
 * @fires {CustomEvent} auth-changed - Sign-in went from one state to another.
 * @fires {CustomEvent} auth-challenged - The service asks for one more proof.
 * @fires {CustomEvent} auth-failed - Sign-in failed; `code` says why.
 */
export class SecureUploaderLogin extends LitElement {
  /** Address of the service; needed where the element stands alone. */
  @property({ attribute: 'base-url' }) baseUrl?: string;
  /** The identity provider whose credentials are asked for. */
  @property({ attribute: 'idp-id' }) idpId?: string;
  @property({ attribute: 'login-path' }) loginPath?: string;
  @property({ attribute: 'challenge-path' }) challengePath?: string;
  /** Shows the form though the page is inside a page of another origin. */
  @property({ attribute: 'allow-framed-login', type: Boolean }) allowFramedLogin = false;
  /** How the service differs; see docs/authentication.md. */
  @property({ attribute: false }) authOptions?: Readonly<Record<string, unknown>>;
  /** Identity providers to choose from; `federated` ones sign in in a window. */
  @property({ attribute: false }) idps: readonly Idp[] = [];
  /** Texts other than the English ones. */
  @property({ attribute: false }) messages: Partial<LoginMessages> = {};
  /** The uploader's own settings, set by it where the form is part of it: then both share one session. */
  @property({ attribute: false }) settings?: Settings;

  #signIn: SignIn | undefined;
  #life = new AbortController();
  #email = '';
  #isPasswordShown = false;
  #shownState = '';
  #coolUntilMs = 0;
  #isTicking = false;
  #hasFocus = false;

  /** Light DOM: password managers fill what they can see. */
  protected override createRenderRoot(): HTMLElement {
    const root = this.getRootNode() as Document | ShadowRoot;
    const sheet = login.styleSheet;
    if (sheet && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#life = new AbortController();
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#life.abort();
    this.#signIn?.close();
    this.#signIn = undefined;
  }

  protected override willUpdate(changed: PropertyValues): void {
    this.#hasFocus = this.matches(':focus-within');
    if (!this.isConnected || !(this.settings || this.baseUrl)) return;
    if (this.#signIn && !(this.settings && changed.has('settings'))) return;
    this.#use(this.settings ? joinSignIn(this.settings) : this.#openAlone());
  }

  /** Other settings may still mean the same session; then nothing of the form changes. */
  #use(next: SignIn): void {
    const before = this.#signIn;
    if (before?.form === next.form) {
      next.close();
      return;
    }
    before?.close();
    this.#signIn = next;
    const stop = next.subscribe(() => this.requestUpdate());
    this.#life.signal.addEventListener('abort', stop, { once: true });
  }

  #openAlone(): SignIn {
    const { baseUrl, idpId, loginPath, challengePath, authOptions } = this;
    const settings = createSettings({ baseUrl, idpId, loginPath, challengePath, authOptions, auth: 'local' });
    return startSignIn(settings, ({ name, detail }: Change) => {
      this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
    });
  }

  protected override render(): TemplateResult | undefined {
    const signIn = this.#signIn;
    if (!signIn) return undefined;
    const { snapshot: auth, form } = signIn;
    const secondsUntil = (atMs = 0): number => Math.max(0, Math.ceil((atMs - Date.now()) / 1000));
    if (auth.state !== this.#shownState && auth.state === 'cooling') {
      this.#coolUntilMs = Date.now() + (auth.error?.retryAfterMs ?? 0);
    }
    const resendInS = secondsUntil(form.challenge?.resendAtMs);
    const coolInS = auth.state === 'cooling' ? secondsUntil(this.#coolUntilMs) : 0;
    if (resendInS > 0 || coolInS > 0) this.#tick();
    const { credentialFields } = (this.settings?.authOptions ?? this.authOptions ?? {}) as {
      credentialFields?: readonly CredentialField[];
    };
    const fields = credentialFields?.filter(({ name }) => name !== 'email') ?? PASSWORD;
    return loginStep(
      {
        auth,
        challenge: form.challenge,
        messages: { ...ENGLISH_LOGIN, ...this.messages },
        fields,
        idps: this.idps,
        email: this.#email,
        isFramed: !(this.settings?.allowFramedLogin ?? this.allowFramedLogin) && isForeignFrame(),
        hasWindow: signIn.openWindow !== undefined,
        isPasswordShown: this.#isPasswordShown,
        resendInS,
        coolInS,
      },
      this.#commands,
    );
  }

  /** A new step takes the focus to its heading, if the focus was here; what was wrong is there to be typed anew. */
  protected override updated(_changed: PropertyValues): void {
    const auth = this.#signIn?.snapshot;
    if (!auth || auth.state === this.#shownState) return;
    const isSameStep = stepOf(auth.state) === stepOf(this.#shownState);
    this.#shownState = auth.state;
    if (auth.state === 'signed-in') this.#email = '';
    if (!this.#hasFocus) return;
    if (!isSameStep) this.querySelector<HTMLElement>('h2')?.focus();
    else if (auth.error) {
      const input = this.querySelector<HTMLInputElement>('input[name="code"], input[type="password"]');
      input?.focus();
      input?.select();
    }
  }

  /** Counts down, once a second, for as long as something is counted. */
  #tick(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    const tick = (): void => {
      this.#isTicking = false;
      this.requestUpdate();
    };
    sleep(1000, this.#life.signal).then(tick, () => {
      this.#isTicking = false;
    });
  }

  readonly #commands: LoginCommands = {
    onLogIn: (event) => {
      event.preventDefault();
      const form = event.target as HTMLFormElement;
      const { idp_id: idpId, ...entered } = Object.fromEntries(new FormData(form)) as Record<string, string>;
      this.#email = entered.email ?? '';
      this.#isPasswordShown = false;
      for (const input of form.querySelectorAll('input')) if (input.name !== 'email') input.value = '';
      const [only] = this.idps.filter(({ kind }) => kind === 'local');
      this.#signIn?.form.logIn(entered, idpId ?? only?.id);
    },
    onAnswer: (event) => {
      event.preventDefault();
      const input = (event.target as HTMLFormElement).querySelector<HTMLInputElement>('[name="code"]');
      this.#signIn?.form.answer(input?.value ?? '');
    },
    onToggle: () => {
      this.#isPasswordShown = !this.#isPasswordShown;
      this.requestUpdate();
    },
    pick: (method) => this.#signIn?.form.pick(method),
    usePasskey: () => void this.#signIn?.form.usePasskey(),
    resend: () => this.#signIn?.form.resend(),
    chooseAnother: () => this.#signIn?.form.chooseAnother(),
    cancel: () => this.#signIn?.cancel(),
    openWindow: (idpId) => this.#signIn?.openWindow?.(idpId),
  };
}

/** States in which the same form is shown. */
const stepOf = (state: string): string =>
  ({ 'signed-out': 'prompt', login: 'prompt', verify: 'answer' })[state] ?? state;

/** Makes the element known to the page, unless it is already. */
export function defineLogin(): void {
  if (!customElements.get('secure-uploader-login'))
    customElements.define('secure-uploader-login', SecureUploaderLogin);
}

/** True inside a page of another origin, which could lay itself over the form. */
function isForeignFrame(): boolean {
  try {
    return window.top?.location.origin !== location.origin;
  } catch {
    return true;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'secure-uploader-login': SecureUploaderLogin;
  }
}
