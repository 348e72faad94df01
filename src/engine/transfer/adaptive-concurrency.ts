// How many slots are worth having, found out by trying: it hears what moved and when, and says a number. It knows no slot.

/** What it hears of the line at one moment. */
export interface Reading {
  readonly nowMs: number;
  /** Bytes handed to the network since the last reading. */
  readonly bytes: number;
  /** UploadSlots with a PUT in them. */
  readonly busy: number;
}

/** A line that moves more than this in one slot is not slow, and is given all slots at once. */
const SLOW_SLOT_BYTES_PER_SECOND = 256 * 1024;
/** How long a first look takes (what fills buffers at once is left out of it), and how long it takes to judge a change, ms. */
const LOOK_MS = 50;
const WINDOW_MS = 3000;
/** What is handed over at once before anything moves, for each slot. */
const BUFFERED_BYTES = 2 ** 20;
/** A chunk that takes no longer than this is not kept waiting by other slots. */
const QUICK_MS = 500;
/** A change that moves this much more, or costs this much, was one. */
const NOTICEABLE = 0.08;
/** After a change that did not pay, so many windows pass before the next. */
const REST_WINDOWS = 5;
/** After it was asked for less, so many windows pass before it takes more: many who ask are done with it in a moment. */
const HELD_WINDOWS = 2;

/**
 * Starts with two slots. A line that is not slow has all of them after a first look; a slow one is climbed like a hill: one
 * slot more or less at a time, kept where it pays. Fewer slots win a draw, since each of them is then less likely to stall.
 */
export class AdaptiveConcurrency {
  #most: number;
  #limit: number;
  #sinceMs: number | undefined;
  #bytes = 0;
  #wasSaturated = true;
  #isFirstLook = true;
  /** The change that is being judged, and the one to try next where that is known. */
  #step: -1 | 0 | 1 = 0;
  #turn: -1 | 0 | 1 = 0;
  #lastRate = 0;
  #rest = 0;
  /** Windows left in which nobody may have more, since somebody asked for less. */
  #held = 0;

  constructor(most: number) {
    this.#most = most;
    this.#limit = Math.min(2, most);
  }

  get limit(): number {
    return this.#limit;
  }

  /** More slots may be had than it was told first. */
  setMaximum(most: number): void {
    const hadAll = !this.#isFirstLook && this.#limit === this.#most;
    this.#most = most;
    if (hadAll) this.#limit = most;
  }

  /** Somebody asked for less, or the line broke down: half as many, and no new try for a while. */
  halve(): void {
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    this.#isFirstLook = false;
    this.#step = 0;
    this.#rest = REST_WINDOWS;
    this.#held = HELD_WINDOWS;
    this.#sinceMs = undefined;
  }

  /** A chunk was stored, so long after it went. Small ones say nothing of what a slot can move, but slots cost them nothing. */
  onChunkStored(tookMs: number): void {
    if (tookMs < QUICK_MS && this.#held === 0) this.#limit = Math.min(this.#most, this.#limit + 1);
  }

  measure({ nowMs, bytes, busy }: Reading): void {
    if (this.#sinceMs === undefined || busy === 0) {
      // More than buffers take: no slow line swallows that at once.
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

  /** The line is not slow, or not any more. */
  #openAll(): void {
    this.#isFirstLook = false;
    this.#limit = this.#most;
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
      // Back, and the other way next time: on a way that limits each connection, more slots pay however thin they are.
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
    this.#limit = Math.min(this.#most, Math.max(1, this.#limit + step));
    return this.#limit !== before;
  }
}
