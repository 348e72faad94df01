// A bounded queue for work that may hang.

/** What a job can say about its place in the lane. */
export interface Place {
  /** Sets the time that is left from now on, in milliseconds. */
  readonly renew: (limitMs: number) => void;
  /** Gives up the place. For a job that only waits and uses nothing, such as one whose file does not answer. */
  readonly leave: () => void;
}

/** Work that waits in a lane. Its signal aborts when its time is over, or when the caller aborts. */
export type Job<T> = (signal: AbortSignal, place: Place) => Promise<T>;

/**
 * Most jobs that run at the same time for each place of a lane, with those that were passed over. If all of them were passed over,
 * one more runs, up to the second number: jobs of other owners may be quick.
 */
const RUNNING_PER_PLACE = 4;
const MOST_PER_PLACE = 16;

type Start = () => void;

/**
 * Runs jobs in the order of the calls, `width` at the same time. The time of a job, `limitMs`, begins when the job starts. When it
 * is over, the job is passed over: it loses its place to the next one. A job that ignores its signal then continues without a
 * place.
 */
export class Lane {
  #width: number;
  readonly #limitMs: number;
  /** Jobs that wait, and those that were passed over or have left their place and have not ended, with their owners. */
  readonly #waiting = new Map<Start, unknown>();
  readonly #passed = new Map<Start, unknown>();
  readonly #left = new Map<Start, unknown>();
  /** Jobs that have a place. */
  readonly #placed = new Set<Start>();

  constructor(width: number, limitMs: number) {
    this.#width = width;
    this.#limitMs = limitMs;
  }

  /** Number of places. */
  set width(width: number) {
    this.#width = width;
    this.#fill();
  }

  /** True while a job that has left its place has not ended. */
  get hasLeft(): boolean {
    return this.#left.size > 0;
  }

  /**
   * Settles like the job. Rejects with the signal's reason at once if the signal aborts, also while the job waits. While a job of
   * `owner` was passed over or has left its place, and has not ended, no other job of `owner` starts.
   */
  run<T>(job: Job<T>, signal: AbortSignal, owner: unknown = job): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const over = new AbortController();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const passOver = (): void => {
        this.#placed.delete(start);
        this.#passed.set(start, owner);
        over.abort(new DOMException('The job has taken too long', 'TimeoutError'));
        this.#fill();
      };
      const renew = (limitMs: number): void => {
        clearTimeout(timer);
        if (this.#placed.has(start)) timer = setTimeout(passOver, limitMs);
      };
      const leave = (): void => {
        clearTimeout(timer);
        if (!this.#placed.delete(start) && !this.#passed.delete(start)) return;
        this.#left.set(start, owner);
        this.#fill();
      };
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        for (const starts of [this.#waiting, this.#placed, this.#passed, this.#left]) starts.delete(start);
        this.#fill();
      };
      const onAbort = (): void => {
        over.abort(signal.reason);
        reject(signal.reason);
        end();
      };
      const start = (): void => {
        // Several jobs may have the same signal, and this one is notified last.
        if (signal.aborted) return;
        this.#placed.add(start);
        renew(this.#limitMs);
        // An error of the call itself is a rejection, too: otherwise its place would be lost.
        const running = async (): Promise<T> => job(over.signal, { renew, leave });
        running().then(resolve, reject).finally(end);
      };
      signal.addEventListener('abort', onAbort);
      this.#waiting.set(start, owner);
      this.#fill();
    });
  }

  #fill(): void {
    const hanging = new Set([...this.#passed.values(), ...this.#left.values()]);
    for (const [start, owner] of this.#waiting) {
      if (this.#placed.size >= this.#width) return;
      const runningCount = this.#placed.size + this.#passed.size;
      const most = this.#placed.size > 0 ? RUNNING_PER_PLACE : MOST_PER_PLACE;
      if (runningCount >= most * this.#width) return;
      if (hanging.has(owner)) continue;
      this.#waiting.delete(start);
      start();
    }
  }
}
