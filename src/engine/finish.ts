// When everything is over: told once, after something ran and something came to its end. It knows rows as the snapshot has them.

import type { Change } from '../core/changes.ts';
import type { Phase } from '../core/phases.ts';
import type { FileSnapshot } from '../core/types.ts';

export class Finish {
  readonly #report: (change: Change) => void;
  /** Something ran since it was told last. */
  #isBusy = false;
  /** A row was settled since: a pause alone finishes nothing. */
  #hasNews = false;

  constructor(report: (change: Change) => void) {
    this.#report = report;
  }

  began(): void {
    this.#isBusy = true;
  }

  settled(): void {
    this.#hasNews = true;
  }

  /** To be called while nothing runs; `isWaiting` where something will. */
  tell(files: Iterable<FileSnapshot>, isWaiting: () => boolean): void {
    if (!this.#isBusy || !this.#hasNews || isWaiting()) return;
    const counts: Partial<Record<Phase, number>> = {};
    let waitingCount = 0;
    for (const { phase, pauseReason } of files) {
      if (pauseReason === 'needs-file') waitingCount += 1;
      counts[phase] = (counts[phase] ?? 0) + 1;
    }
    this.#isBusy = false;
    this.#hasNews = false;
    const { done: doneCount = 0, failed: failedCount = 0, canceled: canceledCount = 0 } = counts;
    this.#report({
      name: 'uploads-finished',
      detail: { doneCount, failedCount, canceledCount, waitingCount },
    });
  }
}
