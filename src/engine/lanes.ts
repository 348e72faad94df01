// The places for PUTs that all files share. It knows how many there may be and who is next, not what is sent.

import type { Lane } from '../pipeline/upload.ts';

interface Waiting {
  readonly order: () => number;
  readonly enter: (lane: Lane) => void;
}

/** HTTP/1.1 lets six through to one host, whatever is asked for. */
export const MOST_LANES = 6;

/** Whoever has the lowest order gets the next free lane, so that a file begun is finished before others starve it. */
export class Lanes {
  readonly #most: number;
  readonly #isFixed: boolean;
  readonly #waiting = new Set<Waiting>();
  #limit: number;
  #taken = 0;
  #storedSinceSlowdown = 0;

  constructor(concurrency: number | 'auto') {
    this.#isFixed = concurrency !== 'auto';
    this.#most = concurrency === 'auto' ? MOST_LANES : concurrency;
    this.#limit = this.#most;
  }

  get limit(): number {
    return this.#limit;
  }

  get hasIdle(): boolean {
    return this.#taken < this.#limit;
  }

  /** Rejects with the signal's reason. */
  acquire(order: () => number, signal: AbortSignal): Promise<Lane> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        order,
        enter: (lane) => {
          signal.removeEventListener('abort', onAbort);
          resolve(lane);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiting);
      this.#fill();
    });
  }

  /** The service or the line asked for less: half the lanes. A number that the page set stays. */
  slowDown(): void {
    this.#storedSinceSlowdown = 0;
    if (!this.#isFixed) this.#limit = Math.max(1, Math.floor(this.#limit / 2));
  }

  /** A chunk was stored: after a lane's worth of them, one lane more. */
  onStored(): void {
    this.#storedSinceSlowdown += 1;
    if (this.#limit < this.#most && this.#storedSinceSlowdown >= this.#limit) {
      this.#storedSinceSlowdown = 0;
      this.#limit += 1;
      this.#fill();
    }
  }

  #fill(): void {
    while (this.#taken < this.#limit && this.#waiting.size > 0) {
      let first: Waiting | undefined;
      for (const waiting of this.#waiting) if (!first || waiting.order() < first.order()) first = waiting;
      if (!first) return;
      this.#waiting.delete(first);
      this.#taken += 1;
      first.enter(this.#lane());
    }
  }

  #lane(): Lane {
    let isTaken = true;
    return {
      release: () => {
        if (!isTaken) return;
        isTaken = false;
        this.#taken -= 1;
        this.#fill();
      },
    };
  }
}
