// What sign-in notices about the page around it, and about the work that goes on there. It knows no tokens.

import type { Settings } from '../core/config.ts';
import { sleep } from '../core/wait.ts';
import { createModel } from './machine.ts';
import type { AuthModel } from './machine-types.ts';
import type { AuthTimes } from './times.ts';

/** Looks after the token while calls are made; an idle page keeps no session alive. */
export class WorkWatch {
  readonly #times: AuthTimes;
  readonly #signal: AbortSignal;
  readonly #onCheck: () => void;
  #lastCallMs = 0;
  #isRunning = false;

  constructor(times: AuthTimes, signal: AbortSignal, onCheck: () => void) {
    this.#times = times;
    this.#signal = signal;
    this.#onCheck = onCheck;
  }

  get #isWorking(): boolean {
    return Date.now() - this.#lastCallMs < this.#times.workMs;
  }

  /** A call was made. */
  note(): void {
    this.#lastCallMs = Date.now();
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#run().catch(() => undefined);
  }

  /** Checks at once, if there is work. */
  check(): void {
    if (this.#isWorking) this.#onCheck();
  }

  async #run(): Promise<void> {
    while (this.#isWorking) {
      await sleep(this.#times.checkMs, this.#signal);
      this.check();
    }
    this.#isRunning = false;
  }
}

/** Tells when the page is looked at again, is left for good, and comes back out of the back/forward cache. */
export function watchPage(
  signal: AbortSignal,
  hooks: { readonly onWake: () => void; readonly onLeave: () => void; readonly onShownAgain: () => void },
): void {
  const { onWake, onLeave, onShownAgain } = hooks;
  document.addEventListener('visibilitychange', onWake, { signal });
  addEventListener('online', onWake, { signal });
  addEventListener('pagehide', ({ persisted }) => persisted || onLeave(), { signal });
  const onShow = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) onShownAgain();
    onWake();
  };
  addEventListener('pageshow', onShow, { signal });
}

/** True where a person may have to sign in. */
export const isInteractive = ({ auth }: Settings): boolean => auth !== 'none' && auth !== 'token';

/** Where a session begins, by what the page lets it do. */
export function firstModel(settings: Settings, { coolCapMs, resendMs }: AuthTimes): AuthModel {
  const hasFrames = typeof document !== 'undefined' && !globalThis.crossOriginIsolated;
  return createModel({
    canSilent: hasFrames && isInteractive(settings) && settings.silent === 'auto',
    silentAfterWindow:
      settings.authOptions.silentAfterPopup === true || (hasFrames && isSameSite(settings.baseUrl)),
    limits: { coolCapMs, resendMs },
  });
}

/** True where the service's cookies are those of the page's own site, as far as a page can tell. */
function isSameSite(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  const site = (host: string): string =>
    /^[\d.]+$|^\[/.test(host) ? host : host.split('.').slice(-2).join('.');
  return protocol === location.protocol && site(hostname) === site(location.hostname);
}
