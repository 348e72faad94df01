// The sums over files: of the whole list, and of a folder.

import { EMPTY_SNAPSHOT } from './empty-snapshot.ts';
import { isSettled, needsUser } from './phases.ts';
import type { FileSnapshot, ProgressNumbers, Totals } from './types.ts';

/** The numbers that are absent until the rate has been measured. */
export type Estimated = Pick<ProgressNumbers, 'bytesPerSecond' | 'remainingMs'>;

/** Returns the sums over `files`. `estimate` returns speed and time left of all uploads for the bytes that are left. */
export function totalsOf(
  files: Iterable<FileSnapshot>,
  estimate: (remainingBytes: number) => Estimated,
): Totals {
  const sums = { ...EMPTY_SNAPSHOT.totals };
  let remainingBytes = 0;
  let isMoving = false;
  for (const file of files) {
    sums.fileCount += 1;
    if (file.phase === 'canceled') continue;
    sums.sizeBytes += file.sizeBytes;
    sums.sentBytes += file.sentBytes;
    sums.storedBytes += file.storedBytes;
    if (file.phase === 'done') sums.doneCount += 1;
    if (file.phase === 'failed') sums.failedCount += 1;
    if (isSettled(file.phase)) continue;
    sums.openCount += 1;
    // The remaining time does not include files that wait for the user.
    if (!needsUser(file)) remainingBytes += file.sizeBytes - file.sentBytes;
    isMoving ||= file.phase === 'uploading';
  }
  const estimates = estimate(remainingBytes);
  return { ...(isMoving && estimates), ...sums };
}
