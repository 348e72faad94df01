// Loads the code for batches on demand (`batch-path`).

import type { Batches, SharedRules } from './batches.ts';

/** The batches of a service. Without them, files go alone: while the code loads, or if it cannot be loaded. */
export interface LateBatches {
  readonly open?: Batches;
  readonly commit?: Batches;
}

export function createLateBatches(
  rules: SharedRules,
  importBatches: () => Promise<Pick<typeof import('./batches.ts'), 'createBatches'>> = () =>
    import('./batches.ts'),
): LateBatches {
  const late = {};
  importBatches().then(
    ({ createBatches }) => Object.assign(late, createBatches(rules)),
    () => undefined,
  );
  return late;
}
