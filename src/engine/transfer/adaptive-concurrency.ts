// Finds the best number of slots by measuring the rate with more and with fewer slots (decision 0023).

/** A measurement of the bytes that were sent. */
export interface Reading {
  readonly nowMs: number;
  /** Bytes handed to the network since the last reading. */
  readonly bytes: number;
  /** Number of slots in use. */
  readonly busy: number;
}

/** Growth after congestion, until the limit is back at `target`. */
interface Recovery {
  readonly target: number;
  /** Largest number of attempts for the same request. */
  readonly attempts: number;
  /** Number of chunks stored since the congestion, and the number at which the limit grows next. */
  storedCount: number;
  growsAt: number;
}

/** Rate for which one slot is enough. A chunk of 1 MiB takes two seconds then. */
const SLOT_BYTES_PER_SECOND = 512 * 1024;
/** Time after which the rate of the first measurement counts (`LOOK_MS`), and length of all measurements, in milliseconds. */
const LOOK_MS = 50;
const WINDOW_MS = 3000;
/** Bytes per slot that local buffers accept before anything is sent over the network. */
const BUFFERED_BYTES = 2 ** 20;
/** Duration below which a chunk counts as quick, in milliseconds. Quick chunks are not slowed down by other slots. */
const QUICK_MS = 500;
/** Relative change of the rate below which the change counts as noise. */
const NOTICEABLE = 0.08;
/** Number of measurements to wait after a change that did not help. */
const REST_WINDOWS = 5;

/**
 * Starts with two slots. During the first measurement, opens as many as the rate needs. Then adds or removes one slot at a time,
 * and keeps each change that helps (hill climbing). If the rate stays the same, the fewest slots that it needs win, since a
 * connection that breaks loses what is under way. On congestion, halves the number of slots, then adds one slot whenever as many
 * chunks are stored as there are slots (additive increase, multiplicative decrease).
 */
export class AdaptiveConcurrency {
  #maximum: number;
  #limit: number;
  #sinceMs: number | undefined;
  #bytes = 0;
  #wasSaturated = true;
  #isFirst = true;
  /** Change that is being measured (`#step`), and change to try next (`#turn`); 0 if there is none. */
  #step: -1 | 0 | 1 = 0;
  #turn: -1 | 0 | 1 = 0;
  #lastRate = 0;
  #rest = 0;
  #recovery: Recovery | undefined;

  constructor(maximum: number) {
    this.#maximum = maximum;
    this.#limit = Math.min(2, maximum);
  }

  get limit(): number {
    return this.#limit;
  }

  /** Changes the upper bound. If the limit was equal to the old bound, the limit becomes the new bound. */
  setMaximum(maximum: number): void {
    const hadAll = this.#limit === this.#maximum;
    this.#maximum = maximum;
    if (hadAll) this.#limit = maximum;
  }

  /**
   * Halves the limit. Call this method on congestion. Until a chunk is stored, further calls count as the same congestion, unless a
   * request has failed more often.
   */
  halve(attempts = 1): void {
    if (this.#recovery?.storedCount === 0 && attempts <= this.#recovery.attempts) return;
    const target = Math.max(this.#limit, this.#recovery?.target ?? 0);
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    this.#recovery = { target, attempts, storedCount: 0, growsAt: this.#limit };
    this.#isFirst = false;
    this.#step = 0;
  }

  /** Adds a slot after a quick chunk. Quick chunks are too short to measure a rate, and more slots do not slow them down. */
  onChunkStored(tookMs: number): void {
    if (this.#recovery) this.#recover(this.#recovery);
    else if (tookMs < QUICK_MS) this.#move(1);
  }

  measure({ nowMs, bytes, busy }: Reading): void {
    if (this.#recovery) return;
    if (this.#sinceMs === undefined || busy === 0) {
      // Buffers alone would not have accepted so many bytes, so the connection is fast.
      if (this.#isFirst && bytes > busy * BUFFERED_BYTES) this.#open(Number.POSITIVE_INFINITY);
      this.#begin(nowMs);
      return;
    }
    this.#bytes += bytes;
    this.#wasSaturated &&= busy >= this.#limit;
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < LOOK_MS) return;
    const rate = (this.#bytes / elapsedMs) * 1000;
    if (this.#isFirst) this.#open(rate);
    if (elapsedMs < WINDOW_MS) return;
    this.#isFirst = false;
    const wasSaturated = this.#wasSaturated;
    this.#begin(nowMs);
    if (wasSaturated) this.#climb(rate);
  }

  /** Opens as many slots as the rate needs. */
  #open(rate: number): void {
    this.#limit = Math.max(this.#limit, Math.min(this.#maximum, Math.ceil(rate / SLOT_BYTES_PER_SECOND)));
    this.#step = 0;
    this.#turn = 0;
  }

  #begin(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#bytes = 0;
    this.#wasSaturated = true;
  }

  #recover(recovery: Recovery): void {
    recovery.storedCount += 1;
    if (recovery.storedCount < recovery.growsAt) return;
    this.#move(1);
    recovery.growsAt += this.#limit;
    if (this.#limit < Math.min(recovery.target, this.#maximum)) return;
    this.#recovery = undefined;
    this.#sinceMs = undefined;
  }

  #climb(rate: number): void {
    const gain = this.#lastRate > 0 ? rate / this.#lastRate - 1 : 0;
    // One slot fewer is enough for the rate.
    const isThin = rate <= (this.#limit - 1) * SLOT_BYTES_PER_SECOND;
    if (gain > 1 && !isThin) {
      this.#lastRate = rate;
      this.#open(rate);
      return;
    }
    const hasPaid = this.#step > 0 ? gain > NOTICEABLE : gain > -NOTICEABLE;
    this.#lastRate = rate;
    if (this.#step !== 0 && !hasPaid) {
      // Undoes the change, and tries the opposite change next. If each connection is throttled, more slots help although each slot
      // is slow.
      this.#turn = this.#step > 0 ? -1 : 1;
      this.#move(this.#turn);
      this.#step = 0;
      this.#rest = REST_WINDOWS;
      return;
    }
    if (this.#rest > 0) {
      this.#rest -= 1;
      this.#step = 0;
      return;
    }
    this.#step = isThin ? this.#step || this.#turn || -1 : 1;
    this.#turn = 0;
    if (this.#move(this.#step)) return;
    this.#turn = this.#step > 0 ? 0 : 1;
    this.#rest = REST_WINDOWS;
    this.#step = 0;
  }

  #move(step: -1 | 1): boolean {
    const before = this.#limit;
    this.#limit = Math.min(this.#maximum, Math.max(1, this.#limit + step));
    return this.#limit !== before;
  }
}
