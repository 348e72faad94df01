// The places for PUTs that all files share. It knows how many there may be and who is next, not what is sent.

import type { UploadSlot } from '../../pipeline/upload.ts';
import { AdaptiveConcurrency } from './adaptive-concurrency.ts';

interface Waiting {
  readonly order: () => number;
  readonly enter: (slot: UploadSlot) => void;
}

/** HTTP/1.1 lets six through to one host, whatever is asked for; later ones many. */
const MOST_SLOTS = 6;
const MOST_MULTIPLEXED = 12;

/** Whoever has the lowest order gets the next free slot, so that a file begun is finished before others starve it. */
export class UploadSlots {
  /** Absent where the page set a number: that stays. */
  #adaptive: AdaptiveConcurrency | undefined;
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
    this.maxSlots = concurrency === 'auto' ? MOST_SLOTS : concurrency;
    this.#adaptive = concurrency === 'auto' ? new AdaptiveConcurrency(MOST_SLOTS) : undefined;
    this.#fill();
  }

  /** How often a slot was entered. */
  grantedCount = 0;
  /** How many PUTs there may ever be at once. */
  maxSlots = MOST_SLOTS;

  /** How many PUTs may be under way now. */
  get limit(): number {
    return this.#adaptive?.limit ?? this.maxSlots;
  }

  get hasIdleSlot(): boolean {
    return this.#taken < this.limit;
  }

  /** Rejects with the signal's reason. */
  acquireSlot(order: () => number, signal: AbortSignal): Promise<UploadSlot> {
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
        enter: (slot) => {
          signal.removeEventListener('abort', onAbort);
          resolve(slot);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiting);
      this.#fill();
    });
  }

  /** Many PUTs share one connection, so that more of them pay. */
  allowMultiplexed(): void {
    if (!this.#adaptive || this.maxSlots === MOST_MULTIPLEXED) return;
    this.maxSlots = MOST_MULTIPLEXED;
    this.#adaptive.setMaximum(MOST_MULTIPLEXED);
    this.#fill();
  }

  /** The service or the line asked for less: half the slots. */
  slowDown(): void {
    this.#adaptive?.halve();
  }

  /** Bytes were handed to the network. */
  onBytesSent(bytes: number): void {
    this.#adaptive?.measure({ nowMs: performance.now(), bytes, busy: this.#taken });
    this.#fill();
  }

  /** A chunk was stored, so many milliseconds after its PUT began. */
  onChunkStored(tookMs: number): void {
    this.#adaptive?.onChunkStored(tookMs);
    this.#fill();
  }

  #fill(): void {
    while (this.#taken < this.limit && this.#waiting.size > 0) {
      let first: Waiting | undefined;
      for (const waiting of this.#waiting) if (!first || waiting.order() < first.order()) first = waiting;
      if (!first) return;
      this.#waiting.delete(first);
      this.#taken += 1;
      this.grantedCount += 1;
      first.enter(this.#slot());
    }
  }

  #slot(): UploadSlot {
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
