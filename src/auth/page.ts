// What sign-in observes of the page, and what the page's settings allow.

import type { Settings } from '../core/config.ts';
import { sleep } from '../core/wait.ts';
import { createModel } from './machine.ts';
import type { AuthModel, EventOf } from './machine-types.ts';
import { hasSignedOut } from './sign-out.ts';
import type { AuthTimes } from './times.ts';

/** Calls `onCheck` regularly while calls are made, so that an idle page renews nothing. */
export class WorkWatch {
  readonly #times: AuthTimes;
  readonly #signal: AbortSignal;
  readonly #onCheck: () => void;
  #lastCallMs = Number.NEGATIVE_INFINITY;
  #isRunning = false;

  constructor(times: AuthTimes, signal: AbortSignal, onCheck: () => void) {
    this.#times = times;
    this.#signal = signal;
    this.#onCheck = onCheck;
  }

  note(): void {
    this.#lastCallMs = performance.now();
    if (!this.#isRunning) this.#run().catch(() => undefined);
  }

  /** Checks at once, if there is work. */
  check(): boolean {
    const isWorking = performance.now() - this.#lastCallMs < this.#times.workMs;
    if (isWorking) this.#onCheck();
    return isWorking;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    do await sleep(this.#times.checkMs, this.#signal);
    while (this.check());
    this.#isRunning = false;
  }
}

/** `onLeave`: for good, not into the back/forward cache. `onShownAgain`: out of that cache. */
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

/** True if a user may have to sign in. */
export const isInteractive = ({ auth }: Settings): boolean => auth !== 'none' && auth !== 'token';

/** True if only the page gives tokens. */
export const isHosted = ({ auth, getToken }: Settings): boolean =>
  auth === 'token' || (auth === 'auto' && getToken !== undefined);

/** The default way to sign in. */
export function ownWay(settings: Settings, source: AuthModel['source']): EventOf<'sign-in'>['via'] {
  const { auth } = settings;
  if (isHosted(settings) || (auth === 'auto' && source === 'host')) return 'host';
  if (auth === 'local') return 'form';
  return auth === 'redirect' ? 'redirect' : 'popup';
}

/** The first model, by what the page allows. */
export function firstModel(
  settings: Settings,
  { coolCapMs, resendMs }: AuthTimes,
  isSessionEnough: boolean,
): AuthModel {
  const hasFrames = typeof document !== 'undefined' && !globalThis.crossOriginIsolated;
  return createModel({
    canSilent: hasFrames && isInteractive(settings) && settings.silent === 'auto',
    silentAfterWindow:
      settings.authOptions.silentAfterPopup === true || (hasFrames && isSameSite(settings.baseUrl)),
    limits: { coolCapMs, resendMs },
    isSessionEnough,
    signedOut: isInteractive(settings) && !isSessionEnough && hasSignedOut(settings) ? 'before' : 'no',
  });
}

/** True if page and service are on one site, as far as a page can tell without the list of public suffixes. */
export function isSameSite(
  baseUrl: string,
  page: Pick<Location, 'protocol' | 'hostname'> = location,
): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  const site = (host: string): string =>
    /^[\d.]+$|^\[/.test(host) ? host : host.split('.').slice(-2).join('.');
  return protocol === page.protocol && site(hostname) === site(page.hostname);
}
