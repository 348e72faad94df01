// Rows whose numbers moved: they are told together, a few times a second. It knows no queue.

import type { Row } from './row.ts';

/** Progress of a row is told this often at most. */
const PROGRESS_MS = 100;

export class Touched {
  readonly #rows = new Set<Row>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly touch = (row: Row): void => {
    this.#rows.add(row);
    this.#timer ??= setTimeout(() => this.#flush(), PROGRESS_MS);
  };

  /** What moved since it was told last is not lost when the row stops. */
  tell(row: Row): void {
    if (this.#rows.delete(row)) row.tellProgress();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #flush(): void {
    this.#timer = undefined;
    for (const row of this.#rows) if (row.isRunning) row.tellProgress();
    this.#rows.clear();
  }
}
