// The reason for which all files wait. The headline and the announcements say it once.

import { isActive, type PauseReason } from '../core/phases.ts';
import type { FileSnapshot } from '../core/types.ts';

/** Reasons that apply to the whole page. Their text does not depend on the file. */
const OF_ALL: readonly PauseReason[] = ['offline', 'signed-out', 'challenge', 'rate-limited'];

/**
 * Returns the reason in `OF_ALL` for which all unfinished files wait, if the list has several files. The headline shows it instead
 * of the rows. With `isManual`, queued files wait for the user.
 */
export function sharedReason(files: readonly FileSnapshot[], isManual: boolean): PauseReason | undefined {
  const isOpen = ({ phase }: FileSnapshot): boolean =>
    isActive(phase) || phase === 'paused' || (isManual && phase === 'queued');
  const reason = files.find(isOpen)?.pauseReason;
  const isShared =
    files.length > 1 &&
    reason &&
    OF_ALL.includes(reason) &&
    files.every((file) => !isOpen(file) || file.pauseReason === reason);
  return isShared ? reason : undefined;
}
