// Keeps the screen on. Loaded only if `wake-lock` is set.

/** How often a lock is asked for that the system has taken or denied, in milliseconds. Tests replace it. */
export const lockTimes = { againMs: 30_000 };

/**
 * Keeps the screen on until `signal` aborts, while `page` is visible: browsers release the lock of a hidden page. The system may
 * deny or take the lock, for example because the battery is low. It is asked again when the user touches the page, and from time to
 * time.
 */
export function lockScreen(page: Window, signal: AbortSignal): void {
  const { document, navigator } = page;
  /** The lock that is held or asked for. */
  let lock: { readonly sentinel: Promise<WakeLockSentinel | undefined> } | undefined;
  const update = (): void => {
    if (signal.aborted || document.visibilityState !== 'visible') {
      void lock?.sentinel.then((sentinel) => sentinel?.release());
      lock = undefined;
      return;
    }
    if (lock) return;
    const request = { sentinel: requestLock(navigator) };
    lock = request;
    const drop = (): void => {
      if (lock === request) lock = undefined;
    };
    void request.sentinel.then((sentinel) => {
      if (sentinel) sentinel.addEventListener('release', drop);
      else drop();
    });
  };
  document.addEventListener('visibilitychange', update, { signal });
  for (const type of ['pointerdown', 'keydown'])
    document.addEventListener(type, update, { capture: true, passive: true, signal });
  const timer = page.setInterval(update, lockTimes.againMs);
  signal.addEventListener('abort', () => {
    page.clearInterval(timer);
    update();
  });
  update();
}

/** Resolves with `undefined` if the browser has no screen locks or denies the lock. */
const requestLock = async ({ wakeLock }: Navigator): Promise<WakeLockSentinel | undefined> =>
  wakeLock?.request('screen').catch(() => undefined);
