// What the requests of one kind to one origin share: calls, or PUTs. While they fail, they take turns, and the gaps between the
// turns replace their delays.

import { UploaderError } from './errors.ts';
import { LONGEST_TIMER_MS } from './wait.ts';

/** Defaults of `baseMs` and `capMs`. */
export const BASE_MS = 500;
export const CAP_MS = 30_000;
/** Time without a success after which an outage counts: when it ends, failed requests are repeated immediately. */
const OUTAGE_MS = 5000;
/** Number of failures without a success in between after which an origin is down. A single request may fail for its own reason. */
const DOWN_AFTER = 2;
/**
 * An outage is forgotten if no request waits or has failed for this time, in milliseconds: the uploads may have been paused. Longer
 * than a request may be silent.
 */
const FORGET_MS = 900_000;
/**
 * Gaps between two requests while an origin is down, in milliseconds: a third of the outage so far. At most `SHORT_GAP_MS` while
 * the outage is short, then `LONG_GAP_MS`. `baseMs` is a longer gap, and `capMs` a shorter one.
 */
const GAP_PART = 3;
const SHORT_OUTAGE_MS = 50_000;
const SHORT_GAP_MS = 2000;
const LONG_GAP_MS = 10_000;

/**
 * Number of waits that end with each success: a long list must not start at once. Timers are late in a hidden tab, and would send
 * everything to an origin that is silent after one success.
 */
const WAITS_PER_SUCCESS = 2;
/** Time from one wait that ends to one that ends without a success, in milliseconds: the requests before may have none. */
const UNANSWERED_MS = 1000;
/** Time without a turn after which the gaps begin again if no request waits, in milliseconds. */
const IDLE_MS = 60_000;

/** Returns a signal that aborts when the network changes; after that, another one. */
type ConnectionChange = (() => AbortSignal) | undefined;

/** What is kept of an error. The error itself keeps the upload that failed in memory, also after a sign-out: by its stack. */
type Failure = Pick<UploaderError, 'code' | 'message' | 'status'>;

/** Shortest and longest delay of a `RetryPolicy`. */
interface GapTimes {
  readonly baseMs?: number;
  readonly capMs?: number;
}

/**
 * Returns a random gap after a request that starts `downMs` after the first failure, in milliseconds. Random, so that the pages of
 * many users don't send their requests at the same time.
 */
function gapMs(downMs: number, { baseMs = BASE_MS, capMs = CAP_MS }: GapTimes): number {
  const ownMs = Math.min(downMs / GAP_PART, downMs < SHORT_OUTAGE_MS ? SHORT_GAP_MS : LONG_GAP_MS);
  return Math.min(Math.max(baseMs, ownMs), capMs) * (1 - Math.random() / 4);
}

/** How requests to an origin are spaced that fails or does not respond. */
interface Outage {
  /** Failures in succession, and the last of them. */
  failureCount: number;
  lastFailure: Failure;
  failedAtMs: number;
  readonly policy: GapTimes;
  /** Time from which the gaps grow: of the first failure, the first refusal, or the last change of the network. */
  sinceMs: number;
  /** Time of the first refusal. */
  refusedAtMs?: number;
  /** Identifies the last turn until its request is sent. The request itself would keep its file in memory. */
  turn: object;
  /** Number of times that a request was sent in this outage. */
  readonly sentCounts: WeakMap<WaitingRequest, number>;
}

/** Until when a request that failed waits. The times are those of `performance.now()`. */
export interface Delay {
  readonly error: UploaderError;
  readonly failedAtMs: number;
  readonly untilMs: number;
  /** The same while the origin is down. */
  readonly downUntilMs: number;
}

/** A request that may have to wait. */
export interface WaitingRequest {
  /** Place of the upload in the list, and of the request in the upload. */
  readonly order: number;
  readonly index: number;
  /** Present until the request's own delay is over. */
  delay: Delay | undefined;
  /** The last turn that the request got. */
  turn: object | undefined;
  /** Called when requests of other uploads come first. */
  onPassedOver(): void;
}

/** Time from which the `Retry-After` of an origin allows requests. All requests to the origin share it. */
export interface RetryAfter {
  untilMs: number;
}

/**
 * What the requests of one kind to one origin share: the time of the last success, and the turns while the origin is down. Times
 * are those of `performance.now()`.
 */
export class HostBackoff {
  readonly #retryAfter: RetryAfter;
  #succeededAtMs = Number.NEGATIVE_INFINITY;
  /** Time of the first failure since the last success. */
  #failingSinceMs: number | undefined;
  #lastOutage: Outage | undefined;
  /** The requests that wait, and what ends their waits. */
  readonly #waitEnds = new Map<WaitingRequest, () => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Time from which the next wait may end without a success. While the origin is down, no request gets a turn before. */
  #nextAtMs = 0;
  /** Signal that aborts when the network changes. */
  #change: AbortSignal | undefined;

  constructor(retryAfter: RetryAfter) {
    this.#retryAfter = retryAfter;
  }

  backOff(ms: number): void {
    this.#retryAfter.untilMs = Math.max(this.#retryAfter.untilMs, performance.now() + ms);
  }

  /** True if requests may be sent side by side: no outage, and no `Retry-After`. */
  get isOpen(): boolean {
    return !this.#outage && this.remainingMs === 0;
  }

  /** Milliseconds until a request may be sent; 0 if a request may be sent now. */
  get remainingMs(): number {
    return Math.max(
      0,
      Math.max(this.#retryAfter.untilMs, this.#down ? this.#nextAtMs : 0) - performance.now(),
    );
  }

  /** Milliseconds until the request may be sent, if no other one comes first. */
  remainingMsOf({ delay }: WaitingRequest): number {
    const untilMs = (this.#down ? delay?.downUntilMs : delay?.untilMs) ?? 0;
    return Math.max(this.remainingMs, untilMs - performance.now());
  }

  /**
   * Returns true if the request may be prepared now. If the origin is down, this takes the turn for one gap. Without turns, each
   * chunk of each file would repeat its request on its own.
   */
  takeTurn(request: WaitingRequest): boolean {
    const outage = this.#down;
    if (outage && outage.turn === request.turn && performance.now() >= this.#retryAfter.untilMs) return true;
    if (this.remainingMsOf(request) > 0) return false;
    if (outage) {
      outage.turn = {};
      request.turn = outage.turn;
      this.#beginGap(outage);
    }
    return true;
  }

  /** Returns true if the request may be sent now. If the origin is down, this uses its turn, and the next gap begins. */
  enter(request: WaitingRequest): boolean {
    if (!this.takeTurn(request)) return false;
    const outage = this.#down;
    if (outage) {
      outage.sentCounts.set(request, sentCountOf(request, outage) + 1);
      outage.turn = {};
      // Not from the turn on: the preparation may have taken the whole gap.
      this.#beginGap(outage);
    }
    return true;
  }

  #beginGap(outage: Outage): void {
    const nowMs = performance.now();
    // The uploads may have been paused meanwhile.
    if (this.#waitEnds.size === 0 && nowMs - this.#nextAtMs > IDLE_MS) outage.sinceMs = nowMs;
    // Nothing was tried before the end of `Retry-After`.
    const sinceMs = Math.max(outage.sinceMs, this.#retryAfter.untilMs);
    this.#nextAtMs = nowMs + gapMs(Math.max(0, nowMs - sinceMs), outage.policy);
  }

  /** Resolves when `takeTurn(request)` may return true. */
  wait(request: WaitingRequest, connectionChange: ConnectionChange, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      // An outage that is forgotten does not come back because a request waits.
      if (!this.#outage) this.#lastOutage = undefined;
      const leave = (): void => {
        this.#waitEnds.delete(request);
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        leave();
        if (this.#waitEnds.size === 0) clearTimeout(this.#timer);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort);
      this.#waitEnds.set(request, () => {
        leave();
        resolve();
      });
      this.#watch(connectionChange);
      this.#plan();
    });
  }

  /** Ends up to `count` waits. While the origin is down, only one of them gets a turn. */
  #fill(count: number): void {
    const releasedRequests: WaitingRequest[] = [];
    for (
      let nextRequest = this.#first();
      nextRequest && releasedRequests.length < count;
      nextRequest = this.#first()
    ) {
      this.takeTurn(nextRequest);
      this.#waitEnds.get(nextRequest)?.();
      releasedRequests.push(nextRequest);
    }
    if (releasedRequests.length > 0) {
      if (!this.#down) this.#nextAtMs = performance.now() + UNANSWERED_MS;
      this.#passOver(releasedRequests);
    }
    this.#plan();
  }

  /** Returns the first request of the list, of those that may be sent. While the origin is down, of those sent least often. */
  #first(): WaitingRequest | undefined {
    const outage = this.#down;
    let firstRequest: WaitingRequest | undefined;
    for (const request of this.#waitEnds.keys())
      if (this.remainingMsOf(request) <= 0 && (!firstRequest || compare(request, firstRequest, outage) < 0))
        firstRequest = request;
    return firstRequest;
  }

  /** Tells each upload once that others come first. */
  #passOver(earlierRequests: readonly WaitingRequest[]): void {
    const notifiedOrders = new Set(earlierRequests.map(({ order }) => order));
    for (const request of this.#waitEnds.keys()) {
      if (notifiedOrders.has(request.order)) continue;
      notifiedOrders.add(request.order);
      request.onPassedOver();
    }
  }

  /** Sets the timer for the next request that may be sent. */
  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#waitEnds.size === 0) return;
    let waitMs = LONGEST_TIMER_MS;
    for (const request of this.#waitEnds.keys()) waitMs = Math.min(waitMs, this.remainingMsOf(request));
    this.#timer = setTimeout(() => this.#fill(1), Math.max(waitMs, this.#nextAtMs - performance.now()));
  }

  /** One listener, however many requests wait. Each change needs another signal. */
  #watch(connectionChange: ConnectionChange): void {
    const change = connectionChange?.();
    if (!change || change === this.#change) return;
    this.#change = change;
    change.addEventListener('abort', () => this.#onChange(connectionChange), { once: true });
  }

  /** The origin may be reachable again: the first request is sent now, and the gaps begin again. */
  #onChange(connectionChange: ConnectionChange): void {
    this.#watch(connectionChange);
    const outage = this.#down;
    if (outage) outage.sinceMs = performance.now();
    else this.#lastOutage = undefined;
    this.#nextAtMs = 0;
    this.#endDelays();
    this.#fill(1);
  }

  #endDelays(): void {
    for (const request of this.#waitEnds.keys()) request.delay = undefined;
  }

  hasSucceededSince(ms: number): boolean {
    return this.#succeededAtMs >= ms;
  }

  /** Call this method when a request failed with an error that means an outage. */
  onFailure(
    { code, message, status }: UploaderError,
    policy: GapTimes = {},
    connectionChange?: ConnectionChange,
  ): void {
    const failedAtMs = performance.now();
    const lastFailure = { code, message, ...(status !== undefined && { status }) };
    this.#watch(connectionChange);
    this.#failingSinceMs ??= failedAtMs;
    const outage: Outage = this.#outage ?? {
      failureCount: 0,
      lastFailure,
      failedAtMs,
      policy,
      sinceMs: failedAtMs,
      turn: {},
      sentCounts: new WeakMap(),
    };
    Object.assign(outage, { lastFailure, failedAtMs });
    outage.failureCount += 1;
    this.#lastOutage = outage;
    if (outage.failureCount !== DOWN_AFTER) return;
    this.#beginGap(outage);
    this.#plan();
  }

  /**
   * Call this method when the origin has refused a request. It may be back, or a proxy refuses everything in its place: the gaps
   * begin again, once. Without gaps, all requests that wait would be sent at once, and refused.
   */
  onRefusal(): void {
    const outage = this.#down;
    if (!outage) this.#lastOutage = undefined;
    if (!outage || outage.refusedAtMs !== undefined) return;
    outage.refusedAtMs = performance.now();
    outage.sinceMs = outage.refusedAtMs;
    this.#beginGap(outage);
    this.#plan();
  }

  onSuccess(): void {
    this.#succeededAtMs = performance.now();
    // The gap of an outage ends with it.
    if (this.#down) this.#nextAtMs = 0;
    this.#lastOutage = undefined;
    const failingMs = this.#succeededAtMs - (this.#failingSinceMs ?? this.#succeededAtMs);
    this.#failingSinceMs = undefined;
    if (failingMs >= OUTAGE_MS) this.#endDelays();
    this.#fill(WAITS_PER_SUCCESS);
  }

  /** The error of the last request in an outage; `undefined` without an outage. */
  get outageError(): UploaderError | undefined {
    const lastFailure = this.#outage?.lastFailure;
    return lastFailure && new UploaderError(lastFailure.code, lastFailure.message, lastFailure);
  }

  get #outage(): Outage | undefined {
    const outage = this.#lastOutage;
    if (!outage) return undefined;
    const isForgotten = this.#waitEnds.size === 0 && performance.now() - outage.failedAtMs > FORGET_MS;
    return isForgotten ? undefined : outage;
  }

  /** The outage, once the origin is down. */
  get #down(): Outage | undefined {
    const outage = this.#outage;
    return outage && outage.failureCount >= DOWN_AFTER ? outage : undefined;
  }
}

/** Compares two requests by which comes first. A request that fails for its own reason must not get each turn of an outage. */
const compare = (one: WaitingRequest, other: WaitingRequest, outage: Outage | undefined): number =>
  sentCountOf(one, outage) - sentCountOf(other, outage) || one.order - other.order || one.index - other.index;

const sentCountOf = (request: WaitingRequest, outage: Outage | undefined): number =>
  outage?.sentCounts.get(request) ?? 0;
