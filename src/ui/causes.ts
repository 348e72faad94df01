// What several files have in common: why they failed, what warns of them, or what they wait for. It is said once.

import type { ErrorCode } from '../core/error-codes.ts';
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

/** Files that failed for one reason, or have one warning. */
export interface Cause {
  readonly code: ErrorCode;
  readonly isError: boolean;
  readonly files: readonly FileSnapshot[];
}

/** The causes that several files have, errors first. */
export interface Causes {
  readonly items: readonly Cause[];
  /** True for a file that has one of them. */
  has(file: FileSnapshot): boolean;
}

/** Returns what may be the same for other files. If a name is taken, each file needs a name of its own. */
function codeOf({ error, warning }: FileSnapshot, isError: boolean): ErrorCode | undefined {
  const code = error ? isError && error.code : !isError && warning;
  return code && code !== 'name-taken' ? code : undefined;
}

/**
 * Returns the causes that at least two files have. A panel above the list shows each of them, not the rows. While rows have to keep
 * their places, only `heldCauses` are returned, and those that have left at most one file stay.
 */
export function causesOf(files: readonly FileSnapshot[], heldCauses?: Causes): Causes {
  const those = files.filter(({ error, warning }) => error ?? warning);
  const causes = [true, false].flatMap((isError) =>
    [...Map.groupBy(those, (file) => codeOf(file, isError))]
      .flatMap(([code, same]): readonly Cause[] => {
        const isHeld = heldCauses?.items.some((cause) => cause.code === code && cause.isError === isError);
        return code && (isHeld ?? same.length > 1) ? [{ code, isError, files: same }] : [];
      })
      // In an order that no file changes.
      .sort((a, b) => (a.code < b.code ? -1 : 1)),
  );
  return { items: causes, has: (file) => causes.some(({ code, isError }) => codeOf(file, isError) === code) };
}
