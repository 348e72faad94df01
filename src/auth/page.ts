// Watches the page for sign-in, and derives from the settings how users may sign in.

import type { Settings } from '../core/config.ts';
import { sleep } from '../core/wait.ts';
import { createModel } from './machine.ts';
import type { AuthModel, EventOf } from './machine-types.ts';
import { hasSignedOut } from './sign-out-mark.ts';
import type { AuthTimes } from './times.ts';

/** Calls `onCheck` every `checkMs` until `workMs` after the last `note()`, so that an idle page does not renew its token. */
export function watchWork({ workMs, checkMs }: AuthTimes, signal: AbortSignal, onCheck: () => void) {
  let lastCallMs = Number.NEGATIVE_INFINITY;
  let isRunning = false;

  /** Calls `onCheck` if the last `note()` was less than `workMs` ago. Returns true if `onCheck` was called. */
  function check(): boolean {
    const isWorking = performance.now() - lastCallMs < workMs;
    if (isWorking) onCheck();
    return isWorking;
  }

  async function run(): Promise<void> {
    isRunning = true;
    do await sleep(checkMs, signal);
    while (check());
    isRunning = false;
  }

  return {
    check,
    note(): void {
      lastCallMs = performance.now();
      if (!isRunning) run().catch(() => undefined);
    },
  };
}

/**
 * Calls the functions until `signal` aborts. `onWake`: visibility changed, or the browser is online again. `onLeave`: the page is
 * left, and not kept in the back/forward cache. `onShownAgain`: the page returns from the back/forward cache.
 */
export function watchPage(
  signal: AbortSignal,
  onWake: () => void,
  onLeave: () => void,
  onShownAgain: () => void,
): void {
  document.addEventListener('visibilitychange', onWake, { signal });
  addEventListener('online', onWake, { signal });
  addEventListener('pagehide', ({ persisted }) => persisted || onLeave(), { signal });
  const onShow = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) onShownAgain();
    onWake();
  };
  addEventListener('pageshow', onShow, { signal });
}

/** Returns true if the user may have to sign in. */
export const isInteractive = ({ auth }: Settings): boolean => auth !== 'none' && auth !== 'token';

/** Returns true if only the page supplies tokens. */
export const isHosted = ({ auth, getToken }: Settings): boolean =>
  auth === 'token' || (auth === 'auto' && getToken !== undefined);

/** Returns how the user signs in if `signIn` is called without `via`. */
export function ownWay(settings: Settings, source: AuthModel['source']): EventOf<'sign-in'>['via'] {
  const { auth } = settings;
  if (isHosted(settings) || (auth === 'auto' && source === 'host')) return 'host';
  if (auth === 'local') return 'form';
  return auth === 'redirect' ? 'redirect' : 'popup';
}

/** Creates the initial state of sign-in. Cross-origin isolated pages can't sign in silently, because they can't use the frame. */
export function firstModel(
  settings: Settings,
  { coolCapMs, resendMs }: AuthTimes,
  isSessionEnough: boolean,
): AuthModel {
  const hasFrames = typeof document !== 'undefined' && !globalThis.crossOriginIsolated;
  return createModel({
    canSilent: hasFrames && isInteractive(settings) && settings.silent === 'auto',
    limits: { coolCapMs, resendMs },
    isSessionEnough,
    signedOut: isInteractive(settings) && !isSessionEnough && hasSignedOut(settings) ? 'before' : 'no',
  });
}
