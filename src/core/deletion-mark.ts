// The mark in `localStorage` of a deletion of saved uploads: set before a sign-out deletes them, and removed after that. The page
// that finds it later finishes the deletion before it lists, reads or saves uploads, so that the next user sees none of them. If
// two tabs delete at once and one fails, what the next user has saved meanwhile may be deleted, too: it is then sent again.

import { createId } from './create-id.ts';

const NAME = 'secure-uploader:delete';

/** The mark while the storage is blocked or full. No other document has it. */
let unstoredMark: string | undefined;
/** The deletions that this page is doing, by their marks. */
const deletionsByMark = new Map<string, Promise<void>>();

function readMark(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? unstoredMark;
  } catch {
    return unstoredMark;
  }
}

function writeMark(mark: string | undefined): void {
  unstoredMark = undefined;
  try {
    if (mark === undefined) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, mark);
  } catch {
    unstoredMark = mark;
  }
}

/** Leaves a deletion to the next uploader that uses saved uploads. Returns its mark. */
export function leaveDeletion(): string {
  const mark = createId();
  writeMark(mark);
  return mark;
}

/** Returns true if a deletion was left: its page is closed, or it has failed. */
export function isDeletionLeft(): boolean {
  const mark = readMark();
  return mark !== undefined && !deletionsByMark.has(mark);
}

/** The deletions that this page is doing. */
export const runningDeletions = (): Iterable<Promise<void>> => deletionsByMark.values();

/** Deletes with `run`. If that fails, or the page is closed, the deletion is left. Also finishes those that were left. */
export async function completeDeletion(run: () => Promise<void>): Promise<void> {
  const mark = leaveDeletion();
  const deletion = run();
  deletionsByMark.set(mark, deletion);
  try {
    await deletion;
  } catch (error) {
    deletionsByMark.delete(mark);
    leaveDeletion();
    throw error;
  }
  deletionsByMark.delete(mark);
  // Another deletion has set its mark instead. If it ends first, the mark is that of one that is still running.
  const [otherMark] = deletionsByMark.keys();
  if (readMark() === mark) writeMark(otherMark);
}
