// The sign-in form as an element, inside an uploader with `auth="local"` or alone on the service's own page. Reads input only on
// submit, and stores only the email address.

import { html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import type { AuthOptions, CredentialField } from '../core/auth-options.ts';
import type { Change } from '../core/changes.ts';
import { createSettings } from '../core/config.ts';
import type { LoginMessages } from '../core/messages.ts';
import type { Settings } from '../core/settings-table.ts';
import type { AuthSnapshot } from '../core/types.ts';
import { runAfter } from '../core/wait.ts';
import { openSignIn, type SignIn } from '../engine/sign-in.ts';
import { ENGLISH_LOGIN } from '../locales/en-login.ts';
import { Countdown } from './countdown.ts';
import { textsOf } from './languages.ts';
import { onlyOn, property } from './property.ts';
import { adopt } from './styles/css.ts';
import { loginStyles } from './styles/login-styles.ts';
import { type Idp, LOCKED, loginStep } from './views/login-step.ts';

const PASSWORD: readonly CredentialField[] = [{ name: 'password' }];

/** All connected elements, oldest first. If several elements share a session, only the first element shows the form. */
const connectedForms = new Set<SecureUploaderLogin>();
let count = 0;

/**
 * @summary Signs the user in with email, password and any challenge of the service.
 * @example
 * ```html
 * <secure-uploader-login base-url="https://files.example.com" idp-id="local"></secure-uploader-login>
 * ```
 * @fires signed-in - Without an uploader: the user has a session with the service.
 * @fires auth-changed - The state of sign-in changed.
 * @fires auth-challenged - The service asks for a second factor.
 * @fires auth-failed - Sign-in failed for the reason `code`.
 */
export class SecureUploaderLogin extends LitElement {
  /** URL of the service. Required without an uploader. */
  @property() baseUrl?: string;
  /** Identity provider to sign in with. */
  @property() idpId?: string;
  /** Path of the login request. */
  @property() loginPath?: string;
  /** Path of the challenge request. */
  @property() challengePath?: string;
  /** Shows the form even if the page is framed by another origin. */
  @property({ type: Boolean, converter: onlyOn('allow-framed-login') }) allowFramedLogin = false;
  /** Advanced settings, see docs/authentication.md. */
  @property({ attribute: false }) authOptions?: AuthOptions;
  /** Identity providers to choose from. A `federated` provider uses the sign-in window. */
  @property({ attribute: false }) idps: readonly Idp[] = [];
  /** Texts that replace the default texts. */
  @property({ attribute: false }) messages: Partial<LoginMessages> = {};
  /** Settings from the uploader that contains the form, so that uploader and form share one session. */
  @property({ attribute: false }) settings?: Settings;

  readonly #countdown = new Countdown(this);
  readonly #texts = textsOf(this, ENGLISH_LOGIN);
  readonly #id = `secure-uploader-login-${++count}`;
  #signIn: SignIn | undefined;
  #unsubscribe: (() => void) | undefined;
  #removal = new AbortController();
  #email = '';
  #isPasswordShown = false;
  #shownAuth: AuthSnapshot | undefined;
  #shownTitle: string | undefined;
  #hasFocus = false;

  /** Renders into the light DOM, so that password managers can fill in the fields. */
  protected override createRenderRoot(): HTMLElement {
    // A copy of this element has a copy of the form.
    this.replaceChildren();
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#removal.abort();
    // A form that is moved may get into a root without its styles.
    const root = this.getRootNode() as Document | ShadowRoot;
    adopt(root, [loginStyles]);
    connectedForms.add(this);
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    // In the next task, because an element that is moved is connected again by then.
    this.#removal = new AbortController();
    runAfter(0, this.#removal.signal, () => this.#leave());
    connectedForms.delete(this);
    for (const other of connectedForms) other.requestUpdate();
  }

  protected override willUpdate(changed: PropertyValues): void {
    // Remembers the focus, because a button loses the focus when it is disabled during a request.
    this.#hasFocus =
      this.matches(':focus-within') || (this.#hasFocus && document.activeElement === document.body);
    const auth = this.#signIn?.session.snapshot;
    if (auth && isAttemptOver(auth)) this.#email = '';
    if (!this.isConnected || !(this.settings || this.baseUrl)) return;
    if (this.#signIn && !(this.settings && changed.has('settings'))) return;
    const nextSignIn = this.settings ? openSignIn(this.settings) : this.#openAlone();
    // Different settings can share a session. In this case, the form stays as it is.
    if (this.#signIn?.form === nextSignIn.form) {
      nextSignIn.session.close();
      return;
    }
    this.#leave();
    this.#signIn = nextSignIn;
    this.#unsubscribe = nextSignIn.session.subscribe(() => this.isConnected && this.requestUpdate());
  }

  /** Ends the attempt. The next one may be that of another user. */
  #leave(): void {
    this.#email = '';
    this.#unsubscribe?.();
    this.#signIn?.session.close();
    this.#signIn = undefined;
  }

  #openAlone(): SignIn {
    const { baseUrl, idpId, loginPath, challengePath, authOptions } = this;
    const settings = {
      baseUrl,
      idpId,
      loginPath,
      challengePath,
      authOptions,
      auth: 'local',
      silent: 'off',
    } as const;
    return openSignIn(createSettings(settings), ({ name, detail }: Change) => {
      this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
    });
  }

  get #options(): AuthOptions {
    return this.settings?.authOptions ?? this.authOptions ?? {};
  }

  protected override render(): TemplateResult | undefined {
    const signIn = this.#signIn;
    if (!signIn) return undefined;
    const messages = this.#texts();
    const first = [...connectedForms].find((other) => other.#signIn?.form === signIn.form);
    if (first !== this) return html`<p>${messages.shownElsewhere}</p>`;
    const { challenge } = signIn.form;
    const auth = signIn.session.snapshot;
    return loginStep({
      ...signIn,
      auth,
      challenge,
      messages,
      fields: this.#options.credentialFields?.filter(({ name }) => name !== 'email') ?? PASSWORD,
      idps: this.idps,
      email: this.#email,
      id: this.#id,
      isFramed: (this.settings?.allowFramedLogin ?? this.allowFramedLogin) !== true && isForeign(window),
      hasWindow: this.settings !== undefined,
      isPasswordShown: this.#isPasswordShown,
      resendInS: this.#countdown.secondsUntil(challenge?.resendAtMs),
      coolInS: this.#countdown.secondsUntil(auth.retryAtMs),
      onLogIn: this.#onLogIn,
      onAnswer: this.#onAnswer,
      onType: this.#onType,
      onToggle: this.#onToggle,
    });
  }

  /**
   * With the attribute `focus-first`, focuses the first input once. (Chromium logs a message for `autofocus` if something has the
   * focus.) Otherwise moves the focus only if it was in the form: a new step focuses its heading, an error the input to correct.
   */
  protected override updated(): void {
    const auth = this.#signIn?.session.snapshot;
    if (!auth) return;
    const heading = this.querySelector<HTMLElement>('h2');
    const title = heading?.textContent;
    const isNewStep = title !== this.#shownTitle;
    // Another language changes the title too, without a new step.
    this.#shownTitle = title;
    if (auth === this.#shownAuth) return;
    if (this.hasAttribute('focus-first') && !this.#shownAuth) this.querySelector('input')?.focus();
    this.#shownAuth = auth;
    if (!this.#hasFocus) return;
    if (isNewStep) heading?.focus();
    else if (auth.error) this.querySelector<HTMLInputElement>('[name=code], [type=password]')?.focus();
  }

  // Lit calls listeners with the element as `this`.

  #onLogIn(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const { idp_id: idpId, ...entered } = Object.fromEntries(new FormData(form)) as Record<string, string>;
    this.#email = entered.email ?? '';
    this.#isPasswordShown = false;
    for (const input of form.querySelectorAll('input')) if (input.name !== 'email') input.value = '';
    const first = this.idps.find(({ kind }) => kind === 'local');
    this.#signIn?.form.logIn(entered, idpId ?? first?.id);
  }

  #onAnswer(event: SubmitEvent): void {
    event.preventDefault();
    const input = (event.target as HTMLFormElement).elements.namedItem('code') as HTMLInputElement;
    const { value } = input;
    input.value = '';
    this.#signIn?.form.answer(value);
  }

  #onType({ target }: InputEvent): void {
    const { value, form } = target as HTMLInputElement;
    const { session, form: steps } = this.#signIn as SignIn;
    // Typing clears this error, because the user may enter another account that is not locked.
    if (session.snapshot.error?.code === LOCKED) session.signIn();
    const isWhole = value.replace(/[\s-]/g, '').length === steps.challenge?.codeLength;
    if (isWhole && this.#options.autoSubmitCode === true) form?.requestSubmit();
  }

  #onToggle(): void {
    this.#isPasswordShown = !this.#isPasswordShown;
    this.requestUpdate();
  }
}

/** Registers the element if it is not registered yet. */
export function defineLogin(): void {
  if (!customElements.get('secure-uploader-login'))
    customElements.define('secure-uploader-login', SecureUploaderLogin);
}

/** Returns true if the user has signed in or out, or has given up. After other failures, the user tries again. */
const isAttemptOver = ({ state, error }: AuthSnapshot): boolean =>
  state === 'signed-in' || state === 'signed-out' || error?.code === 'canceled';

/** Returns true if any ancestor frame has another origin. Such a frame could cover the form (clickjacking). */
function isForeign({ parent }: Window): boolean {
  try {
    return parent.location.origin !== location.origin || (parent !== parent.parent && isForeign(parent));
  } catch {
    return true;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'secure-uploader-login': SecureUploaderLogin;
  }
}
