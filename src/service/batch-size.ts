// How many files a batch has.

const MOST_FILES = 64;
/** By so many files, a batch that succeeds makes the next one larger, after one that failed has halved it. */
const GROWTH = 4;

export class BatchSize {
  /** Most files that the service takes. */
  #limit = MOST_FILES;
  #nextCount = MOST_FILES;

  /** Most files in the next batch. */
  get nextCount(): number {
    return this.#nextCount;
  }

  /**
   * Returns true if so many files need not wait for more. Batches that are small because one has failed do: there would be many.
   */
  isFull(count: number): boolean {
    return this.#nextCount === MOST_FILES && count >= MOST_FILES;
  }

  grow(): void {
    this.#nextCount = Math.min(this.#limit, this.#nextCount + GROWTH);
  }

  /** Halves the next batch, after one of so many files has failed. It has at least `leastCount` files. */
  halve(count: number, leastCount: number): void {
    this.#nextCount = Math.min(this.#nextCount, Math.max(leastCount, Math.ceil(count / 2)));
  }

  /** Halves all later batches, after one of so many files was too large. Returns false if none is small enough. */
  limitBelow(count: number): boolean {
    this.#limit = Math.min(this.#limit, Math.max(1, Math.floor(count / 2)));
    this.#nextCount = Math.min(this.#nextCount, this.#limit);
    return count >= 4;
  }
}
