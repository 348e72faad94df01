// Retries: when a failed request is repeated, and when it fails for good. `Retry-After` delays all requests to an origin. While an
// origin is down, requests to it start one at a time.

import { codeFacts, isRetryable } from './error-codes.ts';
import { UploaderError } from './errors.ts';
import { sleepUntil } from './wait.ts';
import { warnOnceHere } from './warn.ts';

/** When a failed request is repeated, and when it fails for good. Times in milliseconds. */
export interface RetryPolicy {
  /**
   * Maximum number of attempts for a request. By default, a request fails when it was refused or its response was invalid 8 times,
   * and attempts are unlimited while the server can't be reached, is busy or has an error (5xx).
   */
  readonly attempts?: number;
  /** Shortest delay. Defaults to 500. */
  readonly baseMs?: number;
  /** Longest delay. Defaults to 30,000. */
  readonly capMs?: number;
  /**
   * Time that a request may keep failing while other requests to the same origin succeed, and at least 8 attempts. Defaults to five
   * minutes.
   */
  readonly limitMs?: number;
  /** Time that a request may keep failing in any case. Defaults to the setting `retry-minutes`, which is unlimited by default. */
  readonly maxMs?: number;
}

/** Defaults of `baseMs` and `capMs`. */
const BASE_MS = 500;
const CAP_MS = 30_000;
/** Maximum number of attempts that fail without an outage, and smallest number of attempts before `limitMs` applies. */
const ATTEMPTS = 8;
/** The console names the error after this number of attempts. */
const WARN_AFTER = 8;
/** Longest times of an attempt, and from a failure to the next attempt, that count. A longer time means that the device slept. */
const LONGEST_ATTEMPT_MS = 900_000;
const LONGEST_GAP_MS = 120_000;
/** While the browser is offline, the delay is as long as after this number of failed attempts. */
const OFFLINE_ATTEMPT = 6;
/** Time without a success after which an outage counts: when it ends, failed requests are repeated immediately. */
const OUTAGE_MS = 5000;
/** Number of failures without a success in between after which an origin is down. A single request may fail for its own reason. */
const DOWN_AFTER = 2;
/** An outage is forgotten if no request has failed for this time, in milliseconds: the uploads may have been paused. */
const FORGET_MS = 120_000;
/** While an origin is down: factor from one gap between two requests to the next gap, and longest gap in milliseconds. */
const GAP_FACTOR = 1.3;
const LONGEST_REQUEST_GAP_MS = 12_000;

/** Returns a random delay before the next attempt, in milliseconds: exponential backoff with jitter, from `baseMs` to `capMs`. */
export function backoffMs(
  attempt: number,
  { baseMs = BASE_MS, capMs = CAP_MS }: RetryPolicy,
  random: () => number = Math.random,
): number {
  const longestMs = Math.min(capMs, baseMs * 2 ** attempt);
  return Math.round(baseMs + random() * Math.max(0, longestMs - baseMs));
}

/** What is kept of an error. The error itself keeps the upload that failed in memory, also after a sign-out: by its stack. */
type Failure = Pick<UploaderError, 'code' | 'message' | 'status'>;

/** How requests to an origin are spaced that fails or does not respond. */
interface Outage {
  /** Failures in succession on the same network, and the last of them. */
  failureCount: number;
  last: Failure;
  failedAtMs: number;
  /** Gap after the next request, in milliseconds. */
  gapMs: number;
  readonly longestGapMs: number;
  /** Time from which the next request may be sent. */
  nextAtMs: number;
  /** Signal that aborts when the network changes. Then the origin may be reachable again. */
  readonly change: AbortSignal;
}

const NEVER = new AbortController().signal;

/**
 * What all requests to one origin share: the delay of `Retry-After`, the time of the last success, and the gaps between requests
 * while the origin is down. Times are those of `performance.now()`.
 */
export class HostBackoff {
  /** Time from which `Retry-After` allows requests. */
  #opensAtMs = 0;
  #succeededAtMs = Number.NEGATIVE_INFINITY;
  /** Time of the first failure since the last success. */
  #failingSinceMs: number | undefined;
  #lastOutage: Outage | undefined;
  #recovery = new AbortController();

  backOff(ms: number): void {
    this.#opensAtMs = Math.max(this.#opensAtMs, performance.now() + ms);
  }

  /** True if requests may be sent side by side: no outage, and no `Retry-After`. */
  get isOpen(): boolean {
    return !this.#outage && this.remainingMs === 0;
  }

  /** Milliseconds until a request may be sent; 0 if a request may be sent now. */
  get remainingMs(): number {
    return Math.max(0, Math.max(this.#opensAtMs, this.#outage?.nextAtMs ?? 0) - performance.now());
  }

  /**
   * Returns true if a request may be sent now. If the origin is down, this takes the turn: the next request may be sent after a
   * gap, and each gap is longer than the one before. Without gaps, each chunk of each file would repeat its request on its own.
   */
  enter(): boolean {
    if (this.remainingMs > 0) return false;
    const outage = this.#outage;
    if (outage && outage.failureCount >= DOWN_AFTER) {
      // Random, so that the pages of many users don't send their requests at the same time. Never longer than `capMs`.
      outage.nextAtMs = performance.now() + outage.gapMs * (1 - Math.random() / 4);
      outage.gapMs = Math.min(outage.gapMs * GAP_FACTOR, outage.longestGapMs);
    }
    return true;
  }

  /** Resolves when a request may be sent. Several callers may wait for it: `enter()` tells which one may send. */
  async waitUntilOver(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (this.remainingMs > 0) {
      const isOver = AbortSignal.any([this.recovery, this.#outage?.change ?? NEVER]);
      await sleepUntil(this.remainingMs, signal, isOver);
    }
  }

  /** Signal that aborts when the first request succeeds after an outage. */
  get recovery(): AbortSignal {
    return this.#recovery.signal;
  }

  hasSucceededSince(ms: number): boolean {
    return this.#succeededAtMs >= ms;
  }

  /**
   * Call this method when a request failed with an error that means an outage. `change` is a signal that aborts when the network
   * changes.
   */
  onFailure(
    { code, message, status }: UploaderError,
    { baseMs = BASE_MS, capMs = CAP_MS }: RetryPolicy = {},
    change = NEVER,
  ): void {
    const failedAtMs = performance.now();
    const last = { code, message, ...(status !== undefined && { status }) };
    this.#failingSinceMs ??= failedAtMs;
    const longestGapMs = Math.min(capMs, LONGEST_REQUEST_GAP_MS);
    const gaps = { gapMs: Math.min(baseMs / 2, longestGapMs), longestGapMs, nextAtMs: 0 };
    const outage = this.#outage ?? { ...gaps, failureCount: 0, change, last, failedAtMs };
    outage.failureCount += 1;
    if (outage.failureCount === DOWN_AFTER) outage.nextAtMs = failedAtMs + outage.gapMs;
    this.#lastOutage = Object.assign(outage, { last, failedAtMs });
  }

  /** Call this method when the origin has refused a request: it is not down. */
  onRefusal(): void {
    this.#lastOutage = undefined;
  }

  onSuccess(): void {
    this.#succeededAtMs = performance.now();
    this.#lastOutage = undefined;
    const wasOutage = this.#succeededAtMs - (this.#failingSinceMs ?? this.#succeededAtMs) >= OUTAGE_MS;
    this.#failingSinceMs = undefined;
    if (!wasOutage) return;
    const before = this.#recovery;
    this.#recovery = new AbortController();
    before.abort();
  }

  /** The error of the last request in an outage; `undefined` without an outage. */
  get outageError(): UploaderError | undefined {
    const last = this.#outage?.last;
    return last && new UploaderError(last.code, last.message, last);
  }

  /** The outage on this network. */
  get #outage(): Outage | undefined {
    const outage = this.#lastOutage;
    const isOver = !outage || outage.change.aborted || performance.now() - outage.failedAtMs > FORGET_MS;
    return isOver ? undefined : outage;
  }
}

export interface RetryHooks {
  readonly policy: RetryPolicy;
  readonly backoff: HostBackoff;
  readonly signal: AbortSignal;
  /** Called before each wait. Returns a signal that aborts when the network changes; the wait then ends early. */
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

/**
 * Counts the attempts of one request, and waits between them. `again(error)` resolves when the next attempt may start, or rejects
 * with `error` if there is no further attempt.
 */
export class Retries {
  readonly #hooks: RetryHooks;
  #attempt = 0;
  #hasWaited = false;
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

  /** Call this method when an attempt starts. */
  begin(): void {
    this.#beganAtMs = performance.now();
    this.#change = this.#hooks.connectionChange?.();
  }

  async again(error: unknown): Promise<void> {
    // `backoff` is read once, because the backoff of an upload changes with the origin of its URL.
    const { policy, backoff, signal, connectionChange, onWait, onOffline } = this.#hooks;
    const { isWorthRetrying = isRetryable } = this.#hooks;
    signal.throwIfAborted();
    if (!(error instanceof UploaderError)) throw error;
    const { isOutage } = codeFacts(error.code);
    if (!isOutage && error.status !== undefined) backoff.onRefusal();
    if (!isWorthRetrying(error)) throw error;
    const change = connectionChange?.();
    const isOffline = isOfflineError(error);
    onOffline?.(isOffline);
    if (isOffline) this.#failedAtMs = undefined;
    else {
      this.#attempt += 1;
      if (!isOutage) this.#refusedCount += 1;
      this.#count(backoff);
      if (this.#isOver()) throw error;
    }
    if (isOutage) {
      backoff.onFailure(error, policy, change);
      if (this.#attempt >= WARN_AFTER)
        warnOnceHere(`Requests keep failing (${error.status ?? error.code}). See retry-minutes.`);
    }
    if (error.retryAfterMs !== undefined) backoff.backOff(error.retryAfterMs);
    // Browsers may be wrong about being offline, so the request is repeated from time to time.
    const waitMs = backoffMs(isOffline ? OFFLINE_ATTEMPT : this.#attempt, policy);
    if (!isOffline) onWait?.(Date.now() + Math.max(waitMs, backoff.remainingMs), error, this.#attempt);
    const isOver = change ? AbortSignal.any([change, backoff.recovery]) : backoff.recovery;
    try {
      await sleepUntil(waitMs, signal, isOver);
      await backoff.waitUntilOver(signal);
    } finally {
      if (isOffline && (signal.aborted || isOver.aborted)) onOffline?.(false);
    }
  }

  /** Waits until the request may take a turn, and reports why. `backoff.enter()` tells whether it gets this turn. */
  async waitForTurn(): Promise<void> {
    const { backoff, onOffline, onWait, signal } = this.#hooks;
    const { outageError, remainingMs } = backoff;
    if (outageError && remainingMs > 0) {
      this.#hasWaited = true;
      if (isOfflineError(outageError)) onOffline?.(true);
      else onWait?.(Date.now() + remainingMs, outageError, this.#attempt);
    }
    await backoff.waitUntilOver(signal);
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

/** Calls `fn` until a call succeeds. Rejects with the error of `fn` after the last attempt, or if the error must not be retried. */
export async function retrying<T>(fn: () => Promise<T>, hooks: RetryHooks): Promise<T> {
  const retries = new Retries(hooks);
  for (;;) {
    do await retries.waitForTurn();
    while (!hooks.backoff.enter());
    try {
      retries.begin();
      const result = await fn();
      retries.succeed();
      return result;
    } catch (error) {
      await retries.again(error);
    }
  }
}
