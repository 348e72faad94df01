// How many slots are worth having, found by measuring the rate with more and with fewer of them (decision 0023).

/** What was sent since the last reading. */
export interface Reading {
  readonly nowMs: number;
  /** Bytes handed to the network since the last reading. */
  readonly bytes: number;
  /** Slots with a PUT. */
  readonly busy: number;
}

/** A connection with a higher rate than this for each slot is not slow, and gets all slots at once. */
const SLOW_SLOT_BYTES_PER_SECOND = 256 * 1024;
/** Length of the first measurement, which leaves out what fills buffers at once, and of all others, ms. */
const LOOK_MS = 50;
const WINDOW_MS = 3000;
/** Bytes for each slot that buffers accept before anything is sent. */
const BUFFERED_BYTES = 2 ** 20;
/** A chunk stored within this time is not slowed down by other slots. */
const QUICK_MS = 500;
/** Smallest relative change of the rate that counts. */
const NOTICEABLE = 0.08;
/** Windows between a change that did not help and the next change. */
const REST_WINDOWS = 5;
/** Windows after congestion in which the limit does not grow. */
const HELD_WINDOWS = 2;

/**
 * Starts with two slots. A connection that is not slow gets all slots after the first measurement. On a slow one this is hill
 * climbing: one slot more or less at a time, kept if the rate is higher. With equal rates fewer slots win, since each is less
 * likely to stall.
 */
export class AdaptiveConcurrency {
  #maximum: number;
  #limit: number;
  #sinceMs: number | undefined;
  #bytes = 0;
  #wasSaturated = true;
  #isFirstLook = true;
  /** The change that is being measured, and the one to try next if that is known. */
  #step: -1 | 0 | 1 = 0;
  #turn: -1 | 0 | 1 = 0;
  #lastRate = 0;
  #rest = 0;
  /** Windows left in which the limit does not grow, after congestion. */
  #held = 0;

  constructor(maximum: number) {
    this.#maximum = maximum;
    this.#limit = Math.min(2, maximum);
  }

  get limit(): number {
    return this.#limit;
  }

  /** Raises the upper bound; a limit that had reached the old one follows. */
  setMaximum(maximum: number): void {
    const hadAll = !this.#isFirstLook && this.#limit === this.#maximum;
    this.#maximum = maximum;
    if (hadAll) this.#limit = maximum;
  }

  /** Called on congestion. */
  halve(): void {
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    this.#isFirstLook = false;
    this.#step = 0;
    this.#rest = REST_WINDOWS;
    this.#held = HELD_WINDOWS;
    this.#sinceMs = undefined;
  }

  /** Called when a chunk was stored. Small chunks do not show the rate of a slot, but more slots do not slow them down. */
  onChunkStored(tookMs: number): void {
    if (tookMs < QUICK_MS && this.#held === 0) this.#limit = Math.min(this.#maximum, this.#limit + 1);
  }

  measure({ nowMs, bytes, busy }: Reading): void {
    if (this.#sinceMs === undefined || busy === 0) {
      // More than buffers accept: the connection is not slow.
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
      // Undone; the next change goes the other way: where each connection is limited, more slots help however slow each is.
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
