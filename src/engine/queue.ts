// Rows that wait for their turn, in the order of the list. It does not know what a turn is.

import type { Row } from './row.ts';

export class Queue {
  readonly #isQueued: (row: Row) => boolean;
  readonly #rows: Row[] = [];

  /** `isQueued` tells whether a row still waits: one that does not is dropped. */
  constructor(isQueued: (row: Row) => boolean) {
    this.#isQueued = isQueued;
  }

  add(row: Row): void {
    this.#rows.push(row);
  }

  /** After the order of the list changed. */
  sort(): void {
    this.#rows.sort((one, other) => one.order - other.order);
  }

  /** The first row that may begin; it leaves the queue. */
  take(): Row | undefined {
    let at = 0;
    for (let row = this.#rows[at]; row; row = this.#rows[at]) {
      const isQueued = this.#isQueued(row);
      if (isQueued && !mayBegin(row)) {
        at += 1;
        continue;
      }
      this.#rows.splice(at, 1);
      if (isQueued) return row;
    }
    return undefined;
  }
}

/** Not held by the page, and nothing of an earlier run is still under way. */
export const mayBegin = (row: Row): boolean => !row.isHeld && !row.isRunning && row.endingCount === 0;
