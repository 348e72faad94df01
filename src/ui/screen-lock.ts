// Keeps the screen on. Loaded only if `wake-lock` is set.

/**
 * Keeps the screen on until `signal` aborts, while `page` is visible: browsers release the lock of a hidden page. Does nothing if
 * the browser denies the lock, for example because the battery is low.
 */
export function lockScreen({ document, navigator }: Window, signal: AbortSignal): void {
  let lock: Promise<WakeLockSentinel | undefined> | undefined;
  const update = (): void => {
    if (!signal.aborted && document.visibilityState === 'visible') {
      lock ??= requestLock(navigator);
      return;
    }
    void lock?.then((sentinel) => sentinel?.release());
    lock = undefined;
  };
  document.addEventListener('visibilitychange', update, { signal });
  signal.addEventListener('abort', update);
  update();
}

/** Resolves with `undefined` if the browser has no screen locks or denies the lock. */
const requestLock = async ({ wakeLock }: Navigator): Promise<WakeLockSentinel | undefined> =>
  wakeLock?.request('screen').catch(() => undefined);
