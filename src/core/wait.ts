// Waiting: timers, and yielding to the page.

/** Longest delay of a timer. Browsers run a timer with a longer delay immediately. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves after `ms` (at most 24 days). Rejects with the signal's reason if `signal` aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(
      () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      },
      Math.min(ms, LONGEST_TIMER_MS),
    );
    signal.addEventListener('abort', onAbort);
  });
}

/** Calls `work` after `ms` (at most 24 days), unless `signal` aborts before. */
export function runAfter(ms: number, signal: AbortSignal, work: () => void): void {
  // `sleep` rejects only if `signal` aborts.
  void sleep(ms, signal).then(work, () => undefined);
}

/** Runs a loop that waits with `signal`, until `signal` aborts. No caller gets its other errors, so the browser reports them. */
export function runUntil(signal: AbortSignal, loop: () => Promise<void>): void {
  loop().catch((error) => {
    if (!signal.aborted) throw error;
  });
}

/** Like `sleep`, but resolves early when `endSignal` aborts. */
export async function sleepUntil(ms: number, signal: AbortSignal, endSignal: AbortSignal): Promise<void> {
  await sleep(ms, AbortSignal.any([signal, endSignal])).catch(() => signal.throwIfAborted());
}

/** Resolves in a new task, without the minimum delay of nested timers. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/** Calls `work` when the page has nothing else to do, or after half a second. Safari has no `requestIdleCallback`. */
export const whenIdle = (work: () => void): unknown =>
  globalThis.requestIdleCallback?.(work, { timeout: 500 }) ?? setTimeout(work);

/** Longest time that a loop may block the page, in milliseconds. */
const SLICE_MS = 8;
/** The same for the start of a loop. The rest of the task belongs to the caller, and to the rendering that the caller requests. */
const FIRST_SLICE_MS = 2;

/** Calls `work` with each item, and yields to the page from time to time; `onYield` is called after each yield. */
export async function inSlices<T>(
  items: Iterable<T>,
  work: (item: T) => void,
  onYield?: () => void,
): Promise<void> {
  let sliceEndsMs = performance.now() + FIRST_SLICE_MS;
  for (const item of items) {
    work(item);
    if (performance.now() <= sliceEndsMs) continue;
    await nextTask();
    onYield?.();
    sliceEndsMs = performance.now() + SLICE_MS;
  }
}

/**
 * Resolves when `promise` has settled. For what only waits for its turn: the error is that of the caller that awaits `promise`
 * itself.
 */
export const whenSettled = (promise: Promise<unknown>): Promise<void> =>
  promise.then(
    () => undefined,
    () => undefined,
  );

/**
 * Loads code before it is needed: after a release, its file may be gone. Never rejects, since what needs the code loads it again
 * and handles the error.
 */
export const loadEarly = (load: () => Promise<unknown>): Promise<void> => whenSettled(load());

/**
 * Returns `promise`, which is awaited later, or never if its result is no longer needed. Until then, the browser would report its
 * error as unhandled.
 */
export function awaitedLater<T>(promise: Promise<T>): Promise<T> {
  void whenSettled(promise);
  return promise;
}

/** Settles like `promise`, or rejects with the signal's reason if the signal aborts first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    void awaitedLater(promise);
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Returns a signal that aborts `ms` after `signal`, unless `endSignal` aborts before. */
export function delayAbort(signal: AbortSignal, ms: number, endSignal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const onAbort = (): void => runAfter(ms, endSignal, () => controller.abort(signal.reason));
  signal.addEventListener('abort', onAbort, { once: true, signal: endSignal });
  return controller.signal;
}

/** Resolves when the browser is online, or after `longestMs`, because browsers may be wrong. Rejects with the signal's reason. */
export async function online(longestMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (globalThis.navigator?.onLine !== false) return;
  const onlineController = new AbortController();
  globalThis.addEventListener('online', () => onlineController.abort(), { signal: onlineController.signal });
  await sleepUntil(longestMs, signal, onlineController.signal).finally(() => onlineController.abort());
}

/**
 * Returns a function that maps a URL to one object for each origin. `create` creates the object on the first call for an origin.
 */
export function perOrigin<T>(create: () => T): (url: string) => T {
  const objects = new Map<string, T>();
  return (url) => {
    const { origin } = new URL(url);
    const object = objects.get(origin) ?? create();
    objects.set(origin, object);
    return object;
  };
}
