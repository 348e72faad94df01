// Rows that wait for their turn, in the order of the list. It does not know what a turn is.

import type { Row } from './row.ts';

export class Queue {
  readonly #isQueued: (row: Row) => boolean;
  #rows: Row[] = [];
  #isSorted = true;

  /** `isQueued` tells whether a row still waits: one that does not is dropped. */
  constructor(isQueued: (row: Row) => boolean) {
    this.#isQueued = isQueued;
  }

  add(row: Row): void {
    if (row.order < (this.#rows.at(-1)?.order ?? 0)) this.#isSorted = false;
    this.#rows.push(row);
  }

  /** After the order of the list changed. */
  sort(): void {
    this.#isSorted = false;
  }

  /** True where a row waits that nobody holds. */
  get isWaiting(): boolean {
    return this.#rows.some((row) => this.#isQueued(row) && !row.isHeld);
  }

  /** The first row that may begin, and is wanted; it leaves the queue. */
  take(isWanted: (row: Row) => boolean): Row | undefined {
    if (!this.#isSorted) this.#rows.sort((one, other) => one.order - other.order);
    this.#isSorted = true;
    const at = this.#rows.findIndex((row) => this.#isQueued(row) && mayBegin(row) && isWanted(row));
    const row = this.#rows[at];
    const before = (row ? this.#rows.slice(0, at) : this.#rows).filter(this.#isQueued);
    this.#rows = row ? before.concat(this.#rows.slice(at + 1)) : before;
    return row;
  }
}

/** Not held by the page, and nothing of an earlier run is still under way. */
export const mayBegin = (row: Row): boolean => !row.isHeld && !row.isRunning && row.endingCount === 0;
