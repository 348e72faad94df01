// Waiting: timers, yielding to the page, retries, and `Retry-After`.

import { isRetryable, UploaderError } from './errors.ts';

/** Longest delay of a timer. Browsers run a timer with a longer delay immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

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

/** Like `sleep`, but resolves early when `over` aborts. */
export async function sleepUntil(
  ms: number,
  signal: AbortSignal,
  over: AbortSignal | undefined,
): Promise<void> {
  if (!over) return sleep(ms, signal);
  await sleep(ms, AbortSignal.any([signal, over])).catch(() => signal.throwIfAborted());
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

/** Longest time that a loop may block the page, in milliseconds. */
const SLICE_MS = 8;

/** Calls `work` with each item, and yields to the page from time to time; `onYield` is called after each yield. */
export async function inSlices<T>(
  items: Iterable<T>,
  work: (item: T) => void,
  onYield?: () => void,
): Promise<void> {
  let sliceEndsMs = performance.now() + SLICE_MS;
  for (const item of items) {
    work(item);
    if (performance.now() <= sliceEndsMs) continue;
    await nextTask();
    onYield?.();
    sliceEndsMs = performance.now() + SLICE_MS;
  }
}

/** Settles like `promise`, or rejects with the signal's reason if the signal aborts first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Resolves when the browser is online; rejects with the signal's reason. */
export async function online(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (globalThis.navigator?.onLine !== false) return;
  const stop = new AbortController();
  const isBack = new Promise<Event>((resolve) =>
    globalThis.addEventListener('online', resolve, { signal: stop.signal }),
  );
  await abortable(isBack, signal).finally(() => stop.abort());
}

/** Number of attempts for one request, and the delays between the attempts in milliseconds. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
}

export const RETRY_POLICY: RetryPolicy = { attempts: 8, baseMs: 500, capMs: 30_000 };

/** Returns a random delay before the next attempt, in milliseconds (exponential backoff with full jitter). */
export function backoffMs(attempt: number, policy: RetryPolicy, random: () => number = Math.random): number {
  return Math.round(random() * Math.min(policy.capMs, policy.baseMs * 2 ** (attempt - 1)));
}

/** Delays all requests to one host until the delay of its `Retry-After` is over. */
export class HostBackoff {
  /** Time from which requests may be sent, by `performance.now()`, which does not depend on the system clock. */
  #opensAtMs = 0;

  backOff(ms: number): void {
    this.#opensAtMs = Math.max(this.#opensAtMs, performance.now() + ms);
  }

  /** Milliseconds until requests may be sent; 0 if requests may be sent now. */
  get remainingMs(): number {
    return Math.max(0, this.#opensAtMs - performance.now());
  }

  async waitUntilOver(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (this.remainingMs > 0) await sleep(this.remainingMs, signal);
  }
}

/**
 * Returns a function that maps a URL to one object for each origin. `create` creates the object on the first call for an origin.
 */
export function perOrigin<T>(create: () => T): (url: string) => T {
  const objects = new Map<string, T>();
  return (url) => {
    const { origin } = new URL(url);
    const found = objects.get(origin) ?? create();
    objects.set(origin, found);
    return found;
  };
}

/** Returns a function that maps a URL to the backoff of its origin. */
export const createHostBackoffs = (): ((url: string) => HostBackoff) => perOrigin(() => new HostBackoff());

export interface RetryHooks {
  readonly policy: RetryPolicy;
  readonly backoff: HostBackoff;
  readonly signal: AbortSignal;
  /** Called before each wait. Returns a signal that aborts when the network changes; the wait then ends early. */
  readonly connectionChange?: () => AbortSignal;
  /** Called before each wait with the time of the next attempt, epoch milliseconds, and after the wait with `undefined`. */
  readonly onWait?: (atMs: number | undefined, error: UploaderError | undefined) => void;
  /**
   * Called with true if the browser is offline, and with false when the browser is online again. This wait does not count as an
   * attempt.
   */
  readonly onOffline?: (isOffline: boolean) => void;
  /** Returns true for errors to retry. Defaults to `isRetryable`. */
  readonly isWorthRetrying?: (error: UploaderError) => boolean;
}

/**
 * Counts the attempts of one request, and waits between them. `again(error)` resolves when the next attempt may start, or rejects
 * with `error` if there is no further attempt.
 */
export class Retries {
  readonly #hooks: RetryHooks;
  #attempt = 0;

  constructor(hooks: RetryHooks) {
    this.#hooks = hooks;
  }

  async again(error: unknown): Promise<void> {
    const { policy, backoff, signal, connectionChange, onWait, onOffline } = this.#hooks;
    const { isWorthRetrying = isRetryable } = this.#hooks;
    signal.throwIfAborted();
    if (!(error instanceof UploaderError) || !isWorthRetrying(error)) throw error;
    if (globalThis.navigator?.onLine === false) {
      onOffline?.(true);
      await online(signal);
      onOffline?.(false);
      return;
    }
    this.#attempt += 1;
    if (this.#attempt >= policy.attempts) throw error;
    if (error.retryAfterMs !== undefined) backoff.backOff(error.retryAfterMs);
    const waitMs = backoffMs(this.#attempt, policy);
    onWait?.(Date.now() + Math.max(waitMs, backoff.remainingMs), error);
    await sleepUntil(waitMs, signal, connectionChange?.());
    await backoff.waitUntilOver(signal);
    onWait?.(undefined, undefined);
  }
}

/** Calls `fn` until a call succeeds. Rejects with the error of `fn` after the last attempt, or if the error must not be retried. */
export async function retrying<T>(fn: () => Promise<T>, hooks: RetryHooks): Promise<T> {
  const retries = new Retries(hooks);
  for (;;) {
    await hooks.backoff.waitUntilOver(hooks.signal);
    try {
      return await fn();
    } catch (error) {
      await retries.again(error);
    }
  }
}
