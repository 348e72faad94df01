// Decides which of the accepted commits (202) of a service is repeated next, and how many of them in a second.

/** Commits that are repeated in a second: at first, and at least and at most. */
const FIRST_RATE = 5;
const LOWEST_RATE = 4;
const HIGHEST_RATE = 50;
/** A completed file adds this to the rate. A file that is not complete yet multiplies the rate by this. */
const INCREASE = 1;
const DECREASE = 0.9;
/** Browsers delay timers of hidden pages by up to a minute. What was not sent meanwhile may be sent then. */
const LONGEST_DELAY_MS = 60_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Waiting {
  dueAtMs: number;
  readonly start: () => void;
}

/**
 * Spreads the repeated commits of all uploads of one service: the one that was asked longest ago is next. The rate grows with each
 * file that is complete, and shrinks with each that is not.
 */
export class CommitPoller {
  /** The one that was asked longest ago is the first. */
  readonly #waiting = new Set<Waiting>();
  #perSecond = FIRST_RATE;
  /** Commits that may be sent now, with fractions. */
  #allowance = FIRST_RATE;
  #allowedAtMs = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAtMs = 0;

  /** Resolves when the commit may be repeated: after `waitMs`, or when `change` aborts. Rejects with the signal's reason. */
  turn(waitMs: number, signal: AbortSignal, change: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { dueAtMs: performance.now() + waitMs, start: () => end(resolve) };
      const onAbort = (): void => end(() => reject(signal.reason));
      const onChange = (): void => {
        waiting.dueAtMs = performance.now();
        this.#startDue();
      };
      const end = (settle: () => void): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', onAbort);
        change.removeEventListener('abort', onChange);
        settle();
      };
      signal.addEventListener('abort', onAbort);
      change.addEventListener('abort', onChange);
      this.#waiting.add(waiting);
      if (signal.aborted) onAbort();
      else if (change.aborted) onChange();
      else if (this.#timer === undefined || waiting.dueAtMs < this.#timerAtMs) this.#startDue();
    });
  }

  /** Call this method after each repeated commit. */
  onAnswer(isComplete: boolean): void {
    this.#allow();
    this.#perSecond = isComplete
      ? Math.min(this.#perSecond + INCREASE, HIGHEST_RATE)
      : Math.max(this.#perSecond * DECREASE, LOWEST_RATE);
    this.#startDue();
  }

  /** Starts what is due, and sets the timer for the rest. */
  #startDue(): void {
    this.#allow();
    const nowMs = performance.now();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let nextAtMs = Number.POSITIVE_INFINITY;
    // In the order in which they were asked.
    for (const { dueAtMs, start } of this.#waiting) {
      if (dueAtMs > nowMs) nextAtMs = Math.min(nextAtMs, dueAtMs);
      else if (this.#allowance >= 1) {
        this.#allowance -= 1;
        start();
      } else {
        nextAtMs = nowMs + ((1 - this.#allowance) / this.#perSecond) * 1000;
        break;
      }
    }
    if (this.#waiting.size === 0) return;
    this.#timerAtMs = nextAtMs;
    this.#timer = setTimeout(() => this.#startDue(), Math.min(nextAtMs - nowMs, LONGEST_TIMER_MS));
  }

  /** Adds what the time since the last call allows: at most that of a second, or of the time by which the timer is late. */
  #allow(): void {
    const nowMs = performance.now();
    const passed = ((nowMs - this.#allowedAtMs) / 1000) * this.#perSecond;
    const lateMs =
      this.#timer === undefined ? 0 : Math.min(Math.max(0, nowMs - this.#timerAtMs), LONGEST_DELAY_MS);
    const most = this.#perSecond * (1 + lateMs / 1000);
    this.#allowance = Math.max(this.#allowance, Math.min(this.#allowance + passed, most));
    this.#allowedAtMs = nowMs;
  }
}
