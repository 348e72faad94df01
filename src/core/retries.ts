// Retries: when a failed request is repeated, and when it fails for good.

import { codeFacts, isRetryable } from './error-codes.ts';
import { UploaderError } from './errors.ts';
import { BASE_MS, CAP_MS, type Delay, type HostBackoff, type WaitingRequest } from './host-backoff.ts';
import { warnOnceHere } from './warn.ts';

/** When a failed request is repeated, and when it fails for good. Times in milliseconds. */
export interface RetryPolicy {
  /**
   * Maximum number of attempts for a request. By default, a request fails when it was refused or its response was invalid 8 times,
   * and attempts are unlimited while the server can't be reached, is busy or has an error (5xx).
   */
  readonly attempts?: number;
  /** Shortest delay, and shortest gap between two requests to an origin that is down. Defaults to 500. */
  readonly baseMs?: number;
  /**
   * Longest delay. Defaults to 30,000. While the origin is down, requests without `attempts` follow each other in gaps of at most
   * 10,000, also if `capMs` is longer; only `baseMs` makes the gaps longer.
   */
  readonly capMs?: number;
  /**
   * Time that a call may keep failing while other calls to the same origin succeed, or a PUT while other PUTs do, and at least 8
   * attempts. Defaults to five minutes.
   */
  readonly limitMs?: number;
  /** Time that a request may keep failing in any case. Defaults to the setting `retry-minutes`, which is unlimited by default. */
  readonly maxMs?: number;
}

/** Maximum number of attempts that fail without an outage, and smallest number of attempts before `limitMs` applies. */
const ATTEMPTS = 8;
/** The console names the error after this number of attempts. */
const WARN_AFTER = 8;
/** Longest times of an attempt, and from a failure to the next attempt, that count. A longer time means that the device slept. */
const LONGEST_ATTEMPT_MS = 900_000;
const LONGEST_GAP_MS = 120_000;
/** While the browser is offline, the delay is as long as after this number of failed attempts. */
const OFFLINE_ATTEMPT = 6;

/** Returns a random delay before the next attempt, in milliseconds: exponential backoff with jitter, from `baseMs` to `capMs`. */
export function backoffMs(
  attempt: number,
  { baseMs = BASE_MS, capMs = CAP_MS }: RetryPolicy,
  random: () => number = Math.random,
): number {
  const longestMs = Math.min(capMs, baseMs * 2 ** attempt);
  return Math.round(baseMs + random() * Math.max(0, longestMs - baseMs));
}

export interface RetryHooks {
  readonly policy: RetryPolicy;
  readonly backoff: HostBackoff;
  readonly signal: AbortSignal;
  /** Returns the place of the upload in the list. Requests of uploads with lower numbers come first. Defaults to 0. */
  readonly order?: () => number;
  /** Place of the request in the upload. Defaults to 0. */
  readonly index?: number;
  /** Called before each wait. Returns a signal that aborts when the network changes; the first wait then ends early. */
  readonly connectionChange?: () => AbortSignal;
  /** Called before each wait with the time of the next attempt (epoch milliseconds), and the number of attempts so far. */
  readonly onWait?: (atMs: number, error: UploaderError, attempts: number) => void;
  /** Called when the request has succeeded after a wait. */
  readonly onRecovered?: () => void;
  /**
   * Called with true if the request failed because the browser is offline, which does not count as an attempt. Called with false
   * when the browser is online again, or when a request shows that it is.
   */
  readonly onOffline?: (isOffline: boolean) => void;
  /** Returns true for errors to retry. Defaults to `isRetryable`. */
  readonly isWorthRetrying?: (error: UploaderError) => boolean;
}

const isOfflineError = ({ code }: UploaderError): boolean =>
  code === 'offline' && globalThis.navigator?.onLine === false;

/** Counts the attempts of one request, and waits between them. */
export class Retries implements WaitingRequest {
  /** Present from a failure until the wait is over. */
  delay: Delay | undefined;
  turn: object | undefined;
  readonly #hooks: RetryHooks;
  #attempt = 0;
  #hasWaited = false;
  /** True if the wait was reported with `onOffline(true)`. */
  #isOffline = false;
  /** Number of attempts that failed without an outage. */
  #refusedCount = 0;
  #failedAtMs: number | undefined;
  #beganAtMs: number | undefined;
  /** Aborts if the network changed, or the device slept, during the attempt. */
  #change: AbortSignal | undefined;
  /** Time that the request kept failing while other requests to the origin succeeded (`#aloneMs`), and in total. */
  #aloneMs = 0;
  #totalMs = 0;

  constructor(hooks: RetryHooks) {
    this.#hooks = hooks;
  }

  get order(): number {
    return this.#hooks.order?.() ?? 0;
  }

  get index(): number {
    return this.#hooks.index ?? 0;
  }

  /** Returns true if the request may be prepared now. */
  takeTurn(): boolean {
    return !this.delay && this.#hooks.backoff.takeTurn(this);
  }

  /** Returns true if the request may be sent now. Then call `begin()`. */
  enter(): boolean {
    return !this.delay && this.#hooks.backoff.enter(this);
  }

  /** Call this method when an attempt starts. */
  begin(): void {
    this.#beganAtMs = performance.now();
    this.#change = this.#hooks.connectionChange?.();
  }

  /** Call this method when an attempt has failed. Throws `error` if there is no further attempt. */
  fail(error: unknown): void {
    const { policy, backoff, signal, connectionChange } = this.#hooks;
    const { isWorthRetrying = isRetryable } = this.#hooks;
    signal.throwIfAborted();
    if (!(error instanceof UploaderError)) throw error;
    const { isOutage } = codeFacts(error.code);
    // An answer from before these retries says nothing about the origin now.
    const isNews = this.#beganAtMs !== undefined;
    if (isNews && !isOutage && error.status !== undefined) backoff.onRefusal();
    if (!isWorthRetrying(error)) throw error;
    const isOffline = isOfflineError(error);
    if (isOffline) this.#failedAtMs = undefined;
    else {
      this.#hooks.onOffline?.(false);
      this.#attempt += 1;
      if (!isOutage) this.#refusedCount += 1;
      this.#count(backoff);
      if (this.#isOver()) throw error;
    }
    if (isNews && isOutage) backoff.onFailure(error, policy, connectionChange);
    if (isOutage && this.#attempt >= WARN_AFTER)
      warnOnceHere(`Requests keep failing (${error.status ?? error.code}). See retry-minutes.`);
    if (isNews && error.retryAfterMs !== undefined) backoff.backOff(error.retryAfterMs);
    const failedAtMs = performance.now();
    // Browsers may be wrong about being offline, so the request is repeated from time to time.
    const untilMs = failedAtMs + backoffMs(isOffline ? OFFLINE_ATTEMPT : this.#attempt, policy);
    // The delay of a single request would be longer than the gaps. But limited attempts must not be used sooner.
    const isLimited = !isOutage || policy.attempts !== undefined;
    const downUntilMs = isLimited ? untilMs : failedAtMs + (policy.baseMs ?? BASE_MS);
    this.delay = { error, failedAtMs, untilMs, downUntilMs };
  }

  /** Waits until `takeTurn()` may return true, and reports why. */
  async waitForTurn(): Promise<void> {
    this.#hooks.signal.throwIfAborted();
    if (this.takeTurn()) return;
    // `backoff` is read once, because the backoff of an upload changes with the origin of its URL.
    const { backoff, signal, connectionChange, onOffline } = this.#hooks;
    const { failedAtMs } = this.delay ?? { failedAtMs: performance.now() };
    const change = connectionChange?.();
    this.#report();
    try {
      await backoff.wait(this, connectionChange, signal);
    } finally {
      this.delay = undefined;
      const isBack = change?.aborted || backoff.hasSucceededSince(failedAtMs);
      if (this.#isOffline && (signal.aborted || isBack)) onOffline?.(false);
      this.#isOffline = false;
    }
  }

  onPassedOver(): void {
    this.#report();
  }

  /** Reports why the request waits. */
  #report(): void {
    const { backoff, onOffline, onWait } = this.#hooks;
    const waitMs = backoff.remainingMsOf(this);
    const error = this.delay?.error ?? (waitMs > 0 ? backoff.outageError : undefined);
    const isOffline = error !== undefined && isOfflineError(error);
    if (isOffline || this.#isOffline) onOffline?.(isOffline);
    this.#isOffline = isOffline;
    if (!error) return;
    this.#hasWaited = true;
    if (!isOffline) onWait?.(Date.now() + waitMs, error, this.#attempt);
  }

  /** Number of attempts that have failed. */
  get attemptCount(): number {
    return this.#attempt;
  }

  /** True if the request has failed too often without an outage. */
  get isRefused(): boolean {
    return this.#refusedCount >= (this.#hooks.policy.attempts ?? ATTEMPTS);
  }

  /** Call this method when the request has succeeded. */
  succeed(): void {
    const { backoff, onOffline, onRecovered } = this.#hooks;
    backoff.onSuccess();
    onOffline?.(false);
    if (this.#attempt > 0 || this.#hasWaited) onRecovered?.();
  }

  /** Adds the time since the last failure: the wait, and the attempt. The first attempt does not count. */
  #count(backoff: HostBackoff): void {
    const nowMs = performance.now();
    const sinceMs = this.#failedAtMs ?? nowMs;
    const beganAtMs = Math.max(sinceMs, this.#beganAtMs ?? nowMs);
    const longestMs = this.#change?.aborted ? LONGEST_GAP_MS : LONGEST_ATTEMPT_MS;
    const passedMs = Math.min(beganAtMs - sinceMs, LONGEST_GAP_MS) + Math.min(nowMs - beganAtMs, longestMs);
    this.#failedAtMs = nowMs;
    this.#totalMs += passedMs;
    if (backoff.hasSucceededSince(sinceMs)) this.#aloneMs += passedMs;
  }

  #isOver(): boolean {
    const { attempts = Infinity, limitMs = 300_000, maxMs = Infinity } = this.#hooks.policy;
    const isAlone = this.#aloneMs >= limitMs && this.#attempt >= ATTEMPTS;
    return this.#attempt >= attempts || this.isRefused || isAlone || this.#totalMs >= maxMs;
  }
}

/**
 * Calls `fn` until a call succeeds. `firstCall` was made before. Rejects with the error of a call after the last attempt, or if the
 * error must not be retried.
 */
export async function retrying<T>(
  fn: () => Promise<T>,
  hooks: RetryHooks,
  firstCall?: Promise<T>,
): Promise<T> {
  const retries = new Retries(hooks);
  for (let earlierCall = firstCall; ; earlierCall = undefined) {
    try {
      if (earlierCall !== undefined) return await earlierCall;
      do await retries.waitForTurn();
      while (!retries.enter());
      retries.begin();
      const result = await fn();
      retries.succeed();
      return result;
    } catch (error) {
      retries.fail(error);
    }
  }
}
