import type { Snapshot } from './types.ts';

/** The snapshot of a list without files, before a sign-in. */
export const EMPTY_SNAPSHOT: Snapshot = Object.freeze<Snapshot>({
  files: [],
  rejections: [],
  totals: {
    fileCount: 0,
    doneCount: 0,
    failedCount: 0,
    openCount: 0,
    sizeBytes: 0,
    sentBytes: 0,
    storedBytes: 0,
  },
  auth: { state: 'signed-out', mode: 'auto', required: false },
});
