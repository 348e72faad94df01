// What sign-in notices about the page around it, and about the work that goes on there. It knows no tokens.

import type { Settings } from '../core/config.ts';
import { sleep } from '../core/wait.ts';
import { createModel } from './machine.ts';
import type { AuthModel, EventOf } from './machine-types.ts';
import { hasSignedOut } from './sign-out.ts';
import type { AuthTimes } from './times.ts';

/** Looks after the token while calls are made; an idle page keeps no session alive. */
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

  /** A call was made. */
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

/** True where only the page gives tokens. */
export const isHosted = ({ auth, getToken }: Settings): boolean =>
  auth === 'token' || (auth === 'auto' && getToken !== undefined);

/** How a person signs in, unless told: by asking the page again, by a form, by leaving the page, or in a window. */
export function ownWay(settings: Settings, source: AuthModel['source']): EventOf<'sign-in'>['via'] {
  const { auth } = settings;
  if (isHosted(settings) || (auth === 'auto' && source === 'host')) return 'host';
  if (auth === 'local') return 'form';
  return auth === 'redirect' ? 'redirect' : 'popup';
}

/** Where a session begins, by what the page lets it do. */
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

/** True where the service's cookies are those of the page's own site, as far as a page can tell. */
export function isSameSite(
  baseUrl: string,
  page: Pick<Location, 'protocol' | 'hostname'> = location,
): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  const site = (host: string): string =>
    /^[\d.]+$|^\[/.test(host) ? host : host.split('.').slice(-2).join('.');
  return protocol === page.protocol && site(hostname) === site(page.hostname);
}
