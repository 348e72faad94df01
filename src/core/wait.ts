// Every timer of the project: sleeping, deadlines, retries and the pauses that a service asks for.
// It knows errors and signals, not who waits for what.

import { isAbort, isRetryable, UploaderError } from './errors.ts';

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
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
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
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
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Resolves when the browser says that it is online; at once where it already does. */
export function online(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  if (globalThis.navigator?.onLine !== false) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const stop = new AbortController();
    globalThis.addEventListener(
      'online',
      () => {
        stop.abort();
        resolve();
      },
      { signal: stop.signal },
    );
    signal.addEventListener(
      'abort',
      () => {
        stop.abort();
        reject(signal.reason);
      },
      { signal: stop.signal },
    );
    if (signal.aborted) {
      stop.abort();
      reject(signal.reason);
    }
  });
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

/** A door in front of one host: shut for as long as its `Retry-After` says, for everybody who wants to go there. */
export class Gate {
  #opensAtMs = 0;

  shut(ms: number): void {
    this.#opensAtMs = Math.max(this.#opensAtMs, Date.now() + ms);
  }

  /** Epoch milliseconds when it opens; in the past where it is open. */
  get opensAtMs(): number {
    return this.#opensAtMs;
  }

  async pass(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    for (let left = this.#opensAtMs - Date.now(); left > 0; left = this.#opensAtMs - Date.now()) {
      await sleep(left, signal);
    }
  }
}

export interface RetryHooks {
  readonly policy: RetryPolicy;
  readonly gate: Gate;
  readonly signal: AbortSignal;
  /** Aborts when the line is another one, so that waiting longer makes no sense; asked before each wait. */
  readonly lineChange?: () => AbortSignal;
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
    const { policy, gate, signal, lineChange, onWait, onOffline } = this.#hooks;
    const { isWorthRetrying = isRetryable } = this.#hooks;
    signal.throwIfAborted();
    if (!(error instanceof UploaderError) || isAbort(error, signal) || !isWorthRetrying(error)) throw error;
    if (globalThis.navigator?.onLine === false) {
      onOffline?.(true);
      await online(signal);
      onOffline?.(false);
      return;
    }
    this.#attempt += 1;
    if (this.#attempt >= policy.attempts) throw error;
    if (error.retryAfterMs !== undefined) gate.shut(error.retryAfterMs);
    const waitMs = backoffMs(this.#attempt, policy);
    const atMs = Math.max(Date.now() + waitMs, gate.opensAtMs);
    onWait?.(atMs, error);
    await sleepUntil(waitMs, signal, lineChange?.());
    await gate.pass(signal);
    onWait?.(undefined, undefined);
  }
}

/** Calls `fn` until it succeeds, its error is not worth a retry, or the policy's tries are spent. */
export async function retrying<T>(fn: () => Promise<T>, hooks: RetryHooks): Promise<T> {
  const retries = new Retries(hooks);
  for (;;) {
    hooks.signal.throwIfAborted();
    await hooks.gate.pass(hooks.signal);
    try {
      return await fn();
    } catch (error) {
      await retries.again(error);
    }
  }
}
