// Slots for concurrent PUTs, shared by all uploads. Each origin has its own number of slots.

import type { Host } from '../../core/host.ts';
import type { UploadSlot } from '../../pipeline/upload.ts';
import { AdaptiveConcurrency } from './adaptive-concurrency.ts';

/** An upload that uses slots. */
export interface SlotUser {
  /** A free slot goes to the waiting upload with the lowest number. */
  readonly slotOrder: number;
  /** Time at which the upload last got or released a slot, or sent bytes, on the clock of `performance.now()`. */
  usedSlotMs: number;
}

interface Waiting {
  readonly user: SlotUser;
  /** Place of the request in the upload. */
  readonly index: number;
  readonly lane: HostSlots;
  readonly enter: (slot: UploadSlot) => void;
}

/** A slot in use. `movedMs`: time of its start, or of the last bytes that it sent. */
interface Taken {
  movedMs: number;
}

/** The slots of one origin. */
interface HostSlots {
  readonly host: Host;
  /** Controller of the limit; `undefined` if `concurrency` is a number. */
  readonly adaptive: AdaptiveConcurrency | undefined;
  readonly taken: Set<Taken>;
}

/** Browsers open at most six HTTP/1.1 connections per host. With HTTP/2 and later, requests share one connection. */
const MAX_SLOTS = 6;
const MAX_MULTIPLEXED = 12;
/** Most slots that are taken for each slot of the limit, with those of silent PUTs. */
const TAKEN_PER_SLOT = 4;
/** Time without a sign of life after which a PUT leaves its slot to other origins, in milliseconds. */
const SILENT_MS = 2000;

/**
 * Grants slots. A free slot goes to the waiting upload with the lowest order, so that uploads finish in the order of the list. All
 * origins together have as many slots as the one with the most. A silent PUT counts only for its own origin.
 */
export class UploadSlots {
  readonly #waiting = new Set<Waiting>();
  readonly #lanes = new Map<Host, HostSlots>();
  #concurrency: number | 'auto';
  /** Timer for the time at which a PUT is silent. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(concurrency: number | 'auto') {
    this.#concurrency = concurrency;
  }

  /** Sets a fixed number of slots. With `auto`, adapts the number of slots to the measured rate. */
  configure(concurrency: number | 'auto'): void {
    if (concurrency === this.#concurrency) return;
    this.#concurrency = concurrency;
    for (const lane of this.#lanes.values())
      Object.assign(lane, this.#unusedSlotsOf(lane.host), { taken: lane.taken });
    this.#fill();
  }

  /** Upper bound of `limit`. */
  get maxSlots(): number {
    if (this.#concurrency !== 'auto') return this.#concurrency;
    return [...this.#lanes.keys()].some(({ isMultiplexed }) => isMultiplexed) ? MAX_MULTIPLEXED : MAX_SLOTS;
  }

  /** Number of PUTs that may run at the same time now. */
  get limit(): number {
    return Math.max(...[...this.#lanes.values()].map((lane) => this.#limitOf(lane)), 1);
  }

  /** The uploads that wait for a slot, except those that wait for an origin whose PUTs are all silent. */
  get waitingUsers(): ReadonlySet<SlotUser> {
    const users = new Set<SlotUser>();
    for (const { lane, user } of this.#waiting)
      if (lane.taken.size === 0 || movingCountOf(lane) > 0) users.add(user);
    return users;
  }

  /** Resolves when a slot of the origin is free. Rejects with the signal's reason if `signal` aborts. */
  acquireSlot(host: Host, user: SlotUser, signal: AbortSignal, index: number): Promise<UploadSlot> {
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
        index,
        lane: this.#laneOf(host),
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

  /** With `auto`, halves the slots of an origin. Call this on congestion, with the number of attempts for the same request. */
  slowDown(host: Host, attempts: number): void {
    this.#laneOf(host).adaptive?.halve(attempts);
  }

  #laneOf(host: Host): HostSlots {
    const lane = this.#lanes.get(host) ?? this.#unusedSlotsOf(host);
    this.#lanes.set(host, lane);
    return lane;
  }

  #unusedSlotsOf(host: Host): HostSlots {
    const adaptive = this.#concurrency === 'auto' ? new AdaptiveConcurrency(MAX_SLOTS) : undefined;
    return { host, adaptive, taken: new Set() };
  }

  #limitOf({ adaptive }: HostSlots): number {
    return adaptive?.limit ?? Number(this.#concurrency);
  }

  /** Returns the waiting request that gets the next slot; `undefined` if there is no room for any. */
  #next(): Waiting | undefined {
    const { limit } = this;
    let takenCount = 0;
    let movingCount = 0;
    for (const lane of this.#lanes.values()) {
      takenCount += lane.taken.size;
      movingCount += movingCountOf(lane);
    }
    if (takenCount >= limit * TAKEN_PER_SLOT) return undefined;
    let first: Waiting | undefined;
    for (const waiting of this.#waiting) {
      if (first && !isBefore(waiting, first)) continue;
      const { lane } = waiting;
      const ownCount = lane.taken.size;
      const hasRoom = ownCount < this.#limitOf(lane) && ownCount + movingCount - movingCountOf(lane) < limit;
      if (hasRoom) first = waiting;
    }
    return first;
  }

  #fill(): void {
    if (this.#waiting.size === 0) return;
    for (let next = this.#next(); next; next = this.#next()) {
      this.#waiting.delete(next);
      next.enter(this.#slot(next.lane, next.user));
    }
    // Only the slots of other origins become free without an event.
    if (this.#waiting.size > 0 && this.#lanes.size > 1)
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#fill();
      }, SILENT_MS);
  }

  #slot(lane: HostSlots, user: SlotUser): UploadSlot {
    const { host, taken } = lane;
    const startedMs = performance.now();
    const slot: Taken = { movedMs: startedMs };
    taken.add(slot);
    user.usedSlotMs = startedMs;
    let measuredBytes = 0;
    return {
      onSent: (sentBytes) => {
        const nowMs = performance.now();
        const bytes = sentBytes - measuredBytes;
        measuredBytes = sentBytes;
        if (bytes > 0) {
          slot.movedMs = nowMs;
          user.usedSlotMs = nowMs;
        }
        lane.adaptive?.measure({ nowMs, bytes, busy: taken.size });
        this.#fill();
      },
      onStored: () => {
        if (host.isMultiplexed) lane.adaptive?.setMaximum(MAX_MULTIPLEXED);
        lane.adaptive?.onChunkStored(performance.now() - startedMs);
        this.#fill();
      },
      release: () => {
        if (!taken.delete(slot)) return;
        user.usedSlotMs = performance.now();
        this.#fill();
      },
    };
  }
}

const isBefore = (one: Waiting, other: Waiting): boolean =>
  (one.user.slotOrder - other.user.slotOrder || one.index - other.index) < 0;

/** Returns the number of PUTs with a sign of life in the last seconds. */
function movingCountOf({ taken }: HostSlots): number {
  if (taken.size === 0) return 0;
  const sinceMs = performance.now() - SILENT_MS;
  return [...taken].filter(({ movedMs }) => movedMs > sinceMs).length;
}
