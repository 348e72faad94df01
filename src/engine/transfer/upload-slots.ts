// Slots for concurrent PUTs, shared by all uploads.

import type { UploadSlot } from '../../pipeline/upload.ts';
import { AdaptiveConcurrency } from './adaptive-concurrency.ts';

/** An upload that uses slots. */
export interface SlotUser {
  /** Position in the list. A free slot goes to the waiting upload with the lowest number. */
  readonly order: number;
  /** Time at which the upload last got or released a slot, or sent bytes, on the clock of `performance.now()`. */
  usedSlotMs: number;
}

interface Waiting {
  readonly user: SlotUser;
  readonly enter: (slot: UploadSlot) => void;
}

/** Browsers open at most six HTTP/1.1 connections per host. With HTTP/2 and later, requests share one connection. */
const MAX_SLOTS = 6;
const MAX_MULTIPLEXED = 12;

/** Grants slots. A free slot goes to the waiting upload with the lowest order, so that uploads finish in the order of the list. */
export class UploadSlots {
  /** Controller of the limit; `undefined` if `concurrency` is a number. */
  #adaptive: AdaptiveConcurrency | undefined;
  readonly #waiting = new Set<Waiting>();
  #taken = 0;
  #concurrency: number | 'auto' | undefined;

  constructor(concurrency: number | 'auto') {
    this.configure(concurrency);
  }

  /** Sets a fixed number of slots. With `auto`, adapts the number of slots to the measured rate. */
  configure(concurrency: number | 'auto'): void {
    if (concurrency === this.#concurrency) return;
    this.#concurrency = concurrency;
    this.maxSlots = concurrency === 'auto' ? MAX_SLOTS : concurrency;
    this.#adaptive = concurrency === 'auto' ? new AdaptiveConcurrency(MAX_SLOTS) : undefined;
    this.#fill();
  }

  /** Upper bound of `limit`. */
  maxSlots = MAX_SLOTS;

  /** Number of PUTs that may run at the same time now. */
  get limit(): number {
    return this.#adaptive?.limit ?? this.maxSlots;
  }

  /** The uploads that wait for a slot. */
  get waitingUsers(): ReadonlySet<SlotUser> {
    return new Set([...this.#waiting].map(({ user }) => user));
  }

  /** Resolves when a slot is free. Rejects with the signal's reason if `signal` aborts. */
  acquireSlot(user: SlotUser, signal: AbortSignal): Promise<UploadSlot> {
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
        user,
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

  /** With `auto`, allows up to 12 slots. Call this method when PUTs share one connection (HTTP/2). */
  allowMultiplexed(): void {
    if (!this.#adaptive || this.maxSlots === MAX_MULTIPLEXED) return;
    this.maxSlots = MAX_MULTIPLEXED;
    this.#adaptive.setMaximum(MAX_MULTIPLEXED);
    this.#fill();
  }

  /** With `auto`, halves the number of slots. Call this method on congestion, with the number of attempts for the same request. */
  slowDown(attempts: number): void {
    this.#adaptive?.halve(attempts);
  }

  /** Measures the rate. Call this method when bytes were handed to the network. */
  onBytesSent(bytes: number): void {
    this.#adaptive?.measure({ nowMs: performance.now(), bytes, busy: this.#taken });
    this.#fill();
  }

  /** Adds a slot if the chunk was quick. Call this method when a chunk was stored, `tookMs` after its PUT started. */
  onChunkStored(tookMs: number): void {
    this.#adaptive?.onChunkStored(tookMs);
    this.#fill();
  }

  #fill(): void {
    while (this.#taken < this.limit && this.#waiting.size > 0) {
      let first: Waiting | undefined;
      for (const waiting of this.#waiting)
        if (!first || waiting.user.order < first.user.order) first = waiting;
      if (!first) return;
      this.#waiting.delete(first);
      this.#taken += 1;
      first.enter(this.#slot(first.user));
    }
  }

  #slot(user: SlotUser): UploadSlot {
    let isTaken = true;
    user.usedSlotMs = performance.now();
    return {
      release: () => {
        if (!isTaken) return;
        isTaken = false;
        user.usedSlotMs = performance.now();
        this.#taken -= 1;
        this.#fill();
      },
    };
  }
}
