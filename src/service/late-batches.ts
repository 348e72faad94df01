// Loads the code for batches on demand (`batch-path`).

import type { SharedRules } from './batch-calls.ts';
import type { Batches } from './batches.ts';

/** Longest time that calls wait for the code, in milliseconds. */
const LOAD_MS = 1000;

/** The batches of a service. Without them, files go alone: if the code cannot be loaded, or takes too long. */
export interface LateBatches {
  readonly open?: Batches;
  readonly commit?: Batches;
  /** Resolves when calls no longer wait for the code. */
  readonly whenLoaded: Promise<void>;
}

export function createLateBatches(
  rules: SharedRules,
  importBatches: () => Promise<Pick<typeof import('./batches.ts'), 'createBatches'>> = () =>
    import('./batches.ts'),
): LateBatches {
  const whenLoaded = new Promise<void>((resolve) => {
    setTimeout(resolve, LOAD_MS);
    importBatches()
      .then(({ createBatches }) => Object.assign(batches, createBatches(rules)))
      // Without this code, files go alone.
      .catch(() => undefined)
      .finally(resolve);
  });
  const batches: LateBatches = { whenLoaded };
  return batches;
}
