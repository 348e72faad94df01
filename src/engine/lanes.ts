// The places for PUTs that all files share. It knows how many there may be and who is next, not what is sent.

import type { Lane } from '../pipeline/upload.ts';
import { Pace } from './pace.ts';

interface Waiting {
  readonly order: () => number;
  readonly enter: (lane: Lane) => void;
}

/** HTTP/1.1 lets six through to one host, whatever is asked for; later ones many. */
const MOST_LANES = 6;
const MOST_MULTIPLEXED = 12;

/** Whoever has the lowest order gets the next free lane, so that a file begun is finished before others starve it. */
export class Lanes {
  /** Absent where the page set a number: that stays. */
  #pace: Pace | undefined;
  readonly #waiting = new Set<Waiting>();
  #taken = 0;
  #concurrency: number | 'auto' | undefined;

  constructor(concurrency: number | 'auto') {
    this.configure(concurrency);
  }

  /** A number stays; `auto` finds it out, beginning anew. */
  configure(concurrency: number | 'auto'): void {
    if (concurrency === this.#concurrency) return;
    this.#concurrency = concurrency;
    this.most = concurrency === 'auto' ? MOST_LANES : concurrency;
    this.#pace = concurrency === 'auto' ? new Pace(MOST_LANES) : undefined;
    this.#fill();
  }

  /** How many PUTs there may ever be at once. */
  most = MOST_LANES;

  /** How many PUTs may be under way now. */
  get limit(): number {
    return this.#pace?.limit ?? this.most;
  }

  get hasIdle(): boolean {
    return this.#taken < this.limit;
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

  /** Many PUTs share one connection, so that more of them pay. */
  multiplex(): void {
    if (!this.#pace || this.most === MOST_MULTIPLEXED) return;
    this.most = MOST_MULTIPLEXED;
    this.#pace.allow(MOST_MULTIPLEXED);
    this.#fill();
  }

  /** The service or the line asked for less: half the lanes. */
  slowDown(): void {
    this.#pace?.halve();
  }

  /** Bytes were handed to the network. */
  onMoved(bytes: number): void {
    this.#pace?.read({ nowMs: performance.now(), bytes, busy: this.#taken });
    this.#fill();
  }

  /** A chunk was stored, so many milliseconds after its PUT began. */
  onStored(tookMs: number): void {
    this.#pace?.onStored(tookMs);
    this.#fill();
  }

  #fill(): void {
    while (this.#taken < this.limit && this.#waiting.size > 0) {
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
