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
  readonly #waitingJobs = new Map<Start, unknown>();
  readonly #passedJobs = new Map<Start, unknown>();
  readonly #leftJobs = new Map<Start, unknown>();
  /** Jobs that have a place. */
  readonly #placedJobs = new Set<Start>();

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
    return this.#leftJobs.size > 0;
  }

  /**
   * Settles like the job. Rejects with the signal's reason at once if the signal aborts, also while the job waits. While a job of
   * `owner` was passed over or has left its place, and has not ended, no other job of `owner` starts.
   */
  run<T>(job: Job<T>, signal: AbortSignal, owner: unknown = job): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const endController = new AbortController();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const passOver = (): void => {
        this.#placedJobs.delete(start);
        this.#passedJobs.set(start, owner);
        endController.abort(new DOMException('The job has taken too long', 'TimeoutError'));
        this.#fill();
      };
      const renew = (limitMs: number): void => {
        clearTimeout(timer);
        if (this.#placedJobs.has(start)) timer = setTimeout(passOver, limitMs);
      };
      const leave = (): void => {
        clearTimeout(timer);
        if (!this.#placedJobs.delete(start) && !this.#passedJobs.delete(start)) return;
        this.#leftJobs.set(start, owner);
        this.#fill();
      };
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        for (const starts of [this.#waitingJobs, this.#placedJobs, this.#passedJobs, this.#leftJobs])
          starts.delete(start);
        this.#fill();
      };
      const onAbort = (): void => {
        endController.abort(signal.reason);
        reject(signal.reason);
        end();
      };
      const start = (): void => {
        // Several jobs may have the same signal, and this one is notified last.
        if (signal.aborted) return;
        this.#placedJobs.add(start);
        renew(this.#limitMs);
        // An error of the call itself is a rejection, too: otherwise its place would be lost.
        const runJob = async (): Promise<T> => job(endController.signal, { renew, leave });
        runJob().then(resolve, reject).finally(end);
      };
      signal.addEventListener('abort', onAbort);
      this.#waitingJobs.set(start, owner);
      this.#fill();
    });
  }

  #fill(): void {
    const hangingOwners = new Set([...this.#passedJobs.values(), ...this.#leftJobs.values()]);
    for (const [start, owner] of this.#waitingJobs) {
      if (this.#placedJobs.size >= this.#width) return;
      const runningCount = this.#placedJobs.size + this.#passedJobs.size;
      const mostPerPlace = this.#placedJobs.size > 0 ? RUNNING_PER_PLACE : MOST_PER_PLACE;
      if (runningCount >= mostPerPlace * this.#width) return;
      if (hangingOwners.has(owner)) continue;
      this.#waitingJobs.delete(start);
      start();
    }
  }
}
