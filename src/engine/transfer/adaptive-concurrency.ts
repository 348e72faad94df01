// Finds the best number of slots by measuring the rate with more and with fewer slots (decision 0023).

/** What was sent since the last reading. */
export interface Reading {
  readonly nowMs: number;
  /** Bytes handed to the network since the last reading. */
  readonly bytes: number;
  /** Slots in use. */
  readonly busy: number;
}

/** Above this rate per slot, the connection counts as fast and gets all slots immediately. */
const SLOW_SLOT_BYTES_PER_SECOND = 256 * 1024;
/** Length of the first measurement, and of all others, ms. */
const LOOK_MS = 50;
const WINDOW_MS = 3000;
/** Bytes per slot that local buffers accept before anything is sent over the network. */
const BUFFERED_BYTES = 2 ** 20;
/** A chunk that is stored faster than this, ms, is not slowed down by other slots. */
const QUICK_MS = 500;
/** Relative changes of the rate below this are treated as noise. */
const NOTICEABLE = 0.08;
/** Measurements to wait after a change that did not help. */
const REST_WINDOWS = 5;
/** Measurements after congestion in which the limit does not grow. */
const HELD_WINDOWS = 2;

/**
 * Starts with two slots. A fast connection gets all slots after the first measurement. On a slow one, hill climbing: adds or
 * removes one slot at a time, and keeps the change if it helps. If the rate stays the same, fewer slots win, since their PUTs are
 * less likely to stall.
 */
export class AdaptiveConcurrency {
  #maximum: number;
  #limit: number;
  #sinceMs: number | undefined;
  #bytes = 0;
  #wasSaturated = true;
  #isFirstLook = true;
  /** The change that is being measured, and the change to try next; 0 if none. */
  #step: -1 | 0 | 1 = 0;
  #turn: -1 | 0 | 1 = 0;
  #lastRate = 0;
  #rest = 0;
  /** Measurements left in which the limit does not grow. */
  #held = 0;

  constructor(maximum: number) {
    this.#maximum = maximum;
    this.#limit = Math.min(2, maximum);
  }

  get limit(): number {
    return this.#limit;
  }

  /** Changes the upper bound. A limit that was at the old bound moves to the new one. */
  setMaximum(maximum: number): void {
    const hadAll = !this.#isFirstLook && this.#limit === this.#maximum;
    this.#maximum = maximum;
    if (hadAll) this.#limit = maximum;
  }

  /** Halves the limit. Call it on congestion. */
  halve(): void {
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    this.#isFirstLook = false;
    this.#step = 0;
    this.#rest = REST_WINDOWS;
    this.#held = HELD_WINDOWS;
    this.#sinceMs = undefined;
  }

  /** Adds a slot after a quick chunk: such chunks are too short to measure a rate, and more slots do not slow them down. */
  onChunkStored(tookMs: number): void {
    if (tookMs < QUICK_MS && this.#held === 0) this.#limit = Math.min(this.#maximum, this.#limit + 1);
  }

  measure({ nowMs, bytes, busy }: Reading): void {
    if (this.#sinceMs === undefined || busy === 0) {
      // More than buffers alone accept, so the connection is fast.
      if (this.#isFirstLook && bytes > busy * BUFFERED_BYTES) this.#openAll();
      this.#begin(nowMs);
      return;
    }
    this.#bytes += bytes;
    this.#wasSaturated &&= busy >= this.#limit;
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < (this.#isFirstLook ? LOOK_MS : WINDOW_MS)) return;
    const rate = (this.#bytes / elapsedMs) * 1000;
    const wasSaturated = this.#wasSaturated;
    this.#begin(nowMs);
    const isHeld = this.#held > 0;
    if (isHeld) this.#held -= 1;
    if (!this.#isFirstLook) {
      if (wasSaturated) this.#climb(rate, isHeld);
      return;
    }
    this.#isFirstLook = false;
    this.#lastRate = rate;
    if (rate / busy >= SLOW_SLOT_BYTES_PER_SECOND) this.#openAll();
  }

  #openAll(): void {
    this.#isFirstLook = false;
    this.#limit = this.#maximum;
    this.#step = 0;
    this.#turn = 0;
  }

  #begin(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#bytes = 0;
    this.#wasSaturated = true;
  }

  #climb(rate: number, isHeld: boolean): void {
    const gain = this.#lastRate > 0 ? rate / this.#lastRate - 1 : 0;
    if (!isHeld && gain > 1 && rate / this.#limit >= SLOW_SLOT_BYTES_PER_SECOND) {
      this.#lastRate = rate;
      this.#openAll();
      return;
    }
    const hasPaid = this.#step > 0 ? gain > NOTICEABLE : gain > -NOTICEABLE;
    this.#lastRate = rate;
    if (this.#step !== 0 && !hasPaid) {
      // Undoes the change and tries the opposite next: if each connection is throttled, more slots help even if each is slow.
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
    const isThin = rate / this.#limit < SLOW_SLOT_BYTES_PER_SECOND;
    this.#step = this.#step || this.#turn || (isThin ? -1 : 1);
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
