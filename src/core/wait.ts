// Every timer of the project: sleeping, deadlines, retries and the pauses that a service asks for.
// It knows errors and signals, not who waits for what.

import { isRetryable, UploaderError } from './errors.ts';

/** Browsers run a timer of a longer delay at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves after `ms` (at most 24 days); rejects with the signal's reason as soon as it is aborted. */
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

/** As `sleep`, but ends early, and well, when `over` is aborted. */
export async function sleepUntil(
  ms: number,
  signal: AbortSignal,
  over: AbortSignal | undefined,
): Promise<void> {
  if (!over) return sleep(ms, signal);
  await sleep(ms, AbortSignal.any([signal, over])).catch(() => signal.throwIfAborted());
}

/** Lets the page breathe: resolves in a task of its own, without the delay that nested timers get. */
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

/** A page that does no more than this at a time answers whoever uses it. */
const SLICE_MS = 8;

/** Does something with each item, and lets the page breathe whenever that has taken a while. */
export async function inSlices<T>(
  items: Iterable<T>,
  work: (item: T) => void,
  onBreath?: () => void,
): Promise<void> {
  let sliceEndsMs = performance.now() + SLICE_MS;
  for (const item of items) {
    work(item);
    if (performance.now() <= sliceEndsMs) continue;
    await nextTask();
    onBreath?.();
    sliceEndsMs = performance.now() + SLICE_MS;
  }
}

/** A promise that rejects when the signal is aborted, and follows `promise` otherwise. */
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

/** How often and how long to wait between tries of one request. Times in milliseconds. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
}

export const RETRY_POLICY: RetryPolicy = { attempts: 8, baseMs: 500, capMs: 30_000 };

/** Full jitter: anything from nothing to the doubled delay, so that many clients do not come back at once. */
export function backoffMs(attempt: number, policy: RetryPolicy, random: () => number = Math.random): number {
  return Math.round(random() * Math.min(policy.capMs, policy.baseMs * 2 ** (attempt - 1)));
}

/** Holds back all calls to one host for as long as its `Retry-After` says. */
export class HostBackoff {
  /** By `performance.now()`, so that a wall clock that is set back keeps nothing waiting. */
  #opensAtMs = 0;

  backOff(ms: number): void {
    this.#opensAtMs = Math.max(this.#opensAtMs, performance.now() + ms);
  }

  /** Milliseconds until it opens; 0 where it is open. */
  get remainingMs(): number {
    return Math.max(0, this.#opensAtMs - performance.now());
  }

  async waitUntilOver(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (this.remainingMs > 0) await sleep(this.remainingMs, signal);
  }
}

/** Returns a function that finds the backoff of a URL: one for each origin. */
export function createHostBackoffs(): (url: string) => HostBackoff {
  const backoffs = new Map<string, HostBackoff>();
  return (url) => {
    const { origin } = new URL(url);
    const backoff = backoffs.get(origin) ?? new HostBackoff();
    backoffs.set(origin, backoff);
    return backoff;
  };
}

export interface RetryHooks {
  readonly policy: RetryPolicy;
  readonly backoff: HostBackoff;
  readonly signal: AbortSignal;
  /** Aborts when the line is another one, so that waiting longer makes no sense; asked before each wait. */
  readonly connectionChange?: () => AbortSignal;
  /** Told before each wait (`atMs` epoch milliseconds) and, with `undefined`, when the next try begins. */
  readonly onWait?: (atMs: number | undefined, error: UploaderError | undefined) => void;
  /** Told when the browser went offline (`true`) and came back (`false`); waiting for that spends no try. */
  readonly onOffline?: (isOffline: boolean) => void;
  /** Which errors are worth another try; the shared set unless told. */
  readonly isWorthRetrying?: (error: UploaderError) => boolean;
}

/**
 * Counts tries of one thing and waits between them. One object for one request; `again(error)` resolves when the next try may start, or rejects with the error.
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

/** Calls `fn` until it succeeds, its error is not worth a retry, or the policy's tries are spent. */
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
