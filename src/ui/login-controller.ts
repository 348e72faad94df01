// Loads and shows the sign-in form of `auth="local"` when it is needed. The form is a slotted child of the element, so that
// password managers see the inputs.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { LoginMessages } from '../core/messages.ts';
import type { Settings } from '../core/settings-table.ts';
import type { Snapshot } from '../core/types.ts';
import { loadEarly, whenIdle } from '../core/wait.ts';
import type { SecureUploaderLogin } from './secure-uploader-login.ts';
import type { Idp } from './views/login-step.ts';

export interface LoginHost extends ReactiveControllerHost, HTMLElement {
  readonly snapshot: Snapshot;
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly idps: readonly Idp[];
  readonly messages: Partial<LoginMessages>;
}

const loadForm = (): Promise<typeof import('./secure-uploader-login.ts')> =>
  import('./secure-uploader-login.ts');

/**
 * Shows and removes the sign-in form of one element. `settings` returns the parsed settings; `undefined` while they are invalid.
 */
export class LoginController implements ReactiveController {
  /** True while the form replaces the sign-in panel. */
  isShown = false;
  readonly #host: LoginHost;
  readonly #settings: () => Settings | undefined;
  #form: SecureUploaderLogin | undefined;
  #isAsked = false;
  #isLoading = false;
  #isPreloaded = false;
  #hasFailed = false;
  #hadFocus = false;

  constructor(host: LoginHost, settings: () => Settings | undefined) {
    this.#host = host;
    this.#settings = settings;
    host.addController(this);
  }

  /** Shows the form, even if no upload waits for a token. */
  ask(): void {
    this.#isAsked = true;
    this.#hasFailed = false;
    this.#host.requestUpdate();
  }

  hostUpdate(): void {
    this.#hadFocus = this.#form?.matches(':focus-within') ?? false;
    this.isShown = this.#isWanted;
    if (!this.isShown) this.#remove();
    else if (this.#form) this.#fill(this.#form);
    else void this.#load();
  }

  hostUpdated(): void {
    this.#preload();
    const hadFocus = this.#hadFocus;
    this.#hadFocus = false;
    // While a window is open, the form stays in the page without its slot, and so without the focus.
    if (!hadFocus || this.#form?.assignedSlot) return;
    const root = this.#host.renderRoot;
    const panel = root.querySelector<HTMLElement>('.panel.sign-in');
    (panel ?? root.querySelector<HTMLElement>('[data-action="browse"]'))?.focus();
  }

  /** Loads the form when the page is idle. */
  #preload(): void {
    if (this.#isPreloaded || this.#settings()?.auth !== 'local') return;
    this.#isPreloaded = true;
    whenIdle(() => void loadEarly(loadForm));
  }

  get #isWanted(): boolean {
    const { state, mode, required, error } = this.#host.snapshot.auth;
    if (state === 'signed-in') this.#isAsked = false;
    if (mode !== 'local' || this.#hasFailed || state === 'signed-in' || state === 'signed-out') return false;
    return state === 'prompt' ? required || error !== undefined || this.#isAsked : this.isShown;
  }

  /**
   * True if the user has just asked for the form: by a call of the page, or by choosing files. In other cases, such as a session
   * that expires, the focus stays where the user works.
   */
  get #isExpected(): boolean {
    return this.#isAsked || this.#host.renderRoot.querySelector('.zone :focus') !== null;
  }

  async #load(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      const { defineLogin } = await loadForm();
      defineLogin();
      if (!this.isShown || !this.#host.isConnected) return;
      const form = document.createElement('secure-uploader-login');
      form.slot = 'login';
      form.toggleAttribute('focus-first', this.#isExpected);
      this.#fill(form);
      this.#form = form;
      // A copy of the uploader has a copy of the form.
      for (const copy of this.#host.querySelectorAll(':scope > [slot=login]')) copy.remove();
      this.#host.append(form);
    } catch (error) {
      this.#hasFailed = true;
      reportError(error);
      this.#host.requestUpdate();
    } finally {
      this.#isLoading = false;
    }
  }

  #fill(form: SecureUploaderLogin): void {
    const settings = this.#settings();
    if (settings) form.settings = settings;
    // Frameworks write an empty text to unset it.
    form.idps = this.#host.idps || [];
    form.messages = this.#host.messages;
  }

  #remove(): void {
    this.#form?.remove();
    this.#form = undefined;
  }
}
