// The rows of the list. In a long list, failed files are at the top, and what has ended is at the end; a short list keeps the order
// of the files. The files of a folder are below its row, which can be folded.

import type { ReactiveControllerHost } from 'lit';
import { hasActive, type Phase } from '../core/phases.ts';
import { totalsOf } from '../core/totals.ts';
import type { FileId, FileSnapshot, Snapshot, Totals } from '../core/types.ts';
import { type Causes, causesOf } from './causes.ts';
import { withSignInReason } from './sign-in-reason.ts';

/** Number of files up to which rows never move, and up to which a folder is unfolded at first. */
const SHORT = 10;

/** Groups of files, from top to bottom; files of all other phases are in group 1. */
const GROUPS: Partial<Record<Phase, 0 | 2>> = { failed: 0, done: 2, canceled: 2 };

/**
 * While rows are pointed at, have the focus of the keyboard or an open menu, they keep their places. Touch screens keep `:hover`
 * until the next touch elsewhere.
 */
const HELD = '.list:is(:hover, :has(:focus-visible, :popover-open))';

/** The row of a folder. */
export interface FolderLine {
  readonly kind: 'folder';
  /** The path of the folder, such as `photos/`. */
  readonly id: string;
  readonly totals: Totals;
  readonly phase: Phase;
  /** Number of files that the user has to choose again. */
  readonly lostCount: number;
  readonly isFolded: boolean;
  /** Folds or unfolds the folder. */
  toggle(): void;
}

/** The row of a file. */
export interface FileLine {
  readonly kind: 'file';
  readonly id: FileId;
  readonly file: FileSnapshot;
}

export type Line = FileLine | FolderLine;

export interface RowOrder {
  /**
   * Sorts the files: failed ones, then those that have not ended, then the others; each group in the order of the list. Files that
   * wait for the sign-in have that reason.
   */
  sort(snapshot: Snapshot): Snapshot;
  /** Returns what several files have in common. While rows keep their places, no panel comes or goes above them. */
  causesOf(files: readonly FileSnapshot[]): Causes;
  /** Puts a row before the first file of each folder, and its other files below. A folded folder shows only failed ones. */
  linesOf(files: readonly FileSnapshot[]): readonly Line[];
}

/** Returns the path of the outermost folder of a file, such as `photos/`; empty for a file without a folder. */
export const folderOf = ({ relativePath }: FileSnapshot): string =>
  /^\/?[^/]+\//.exec(relativePath)?.[0] ?? '';

/** Renders the host when its rows may move again, and when a folder is folded. */
export function createRowOrder(
  host: ReactiveControllerHost & { readonly renderRoot: HTMLElement | DocumentFragment },
): RowOrder {
  let groupOf: ReadonlyMap<FileId, number> = new Map();
  let wasHeld = false;
  let causes: Causes | undefined;
  const folds = new Map<string, boolean>();
  const isHeld = (): boolean => host.renderRoot.querySelector(HELD) !== null;
  // In the next frame: between two rows, focus and pointer are nowhere for a moment.
  const onLeave = (): void => {
    if (wasHeld) requestAnimationFrame(() => isHeld() || host.requestUpdate());
  };
  host.addController({
    hostConnected() {
      for (const type of ['pointerout', 'focusout']) host.renderRoot.addEventListener(type, onLeave);
    },
  });
  return {
    sort(engineSnapshot) {
      const files = withSignInReason(engineSnapshot.auth, engineSnapshot.files);
      const snapshot = { ...engineSnapshot, files };
      wasHeld = isHeld();
      if (!wasHeld) groupOf = new Map(files.map(({ id, phase }) => [id, GROUPS[phase] ?? 1]));
      if (groupOf.size <= SHORT) return snapshot;
      const groups = Map.groupBy(files, ({ id }) => groupOf.get(id) ?? 1);
      return { ...snapshot, files: [0, 1, 2].flatMap((group) => groups.get(group) ?? []) };
    },
    causesOf(files) {
      causes = causesOf(files, wasHeld ? causes : undefined);
      return causes;
    },
    linesOf(files) {
      const groups = Map.groupBy(files, (file) => folderOf(file) || file.id);
      return [...groups].flatMap(([id, inside]): readonly Line[] => {
        if (!id.endsWith('/')) return inside.map(lineOf);
        // It does not unfold by itself when one of eleven files is removed.
        if (!folds.has(id) && inside.length > SHORT) folds.set(id, true);
        const isFolded = folds.get(id) === true;
        const toggle = (): void => {
          folds.set(id, !isFolded);
          host.requestUpdate();
        };
        const shownFiles = isFolded ? inside.filter((each) => groupOf.get(each.id) === 0) : inside;
        return [folderLineOf(id, inside, { isFolded, toggle }), ...shownFiles.map(lineOf)];
      });
    },
  };
}

const lineOf = (file: FileSnapshot): FileLine => ({ kind: 'file', id: file.id, file });

/** Returns the row of a folder with `files`. */
function folderLineOf(
  id: string,
  files: readonly FileSnapshot[],
  fold: Pick<FolderLine, 'isFolded' | 'toggle'>,
): FolderLine {
  const totals = totalsOf(files, () => ({}));
  const lostCount = files.filter((file) => file.pauseReason === 'needs-file').length;
  return { kind: 'folder', id, totals, phase: phaseOf(files, totals), lostCount, ...fold };
}

/** Returns the phase of a folder: what the user should know first of its files. */
function phaseOf(
  files: readonly FileSnapshot[],
  { doneCount, failedCount, fileCount, openCount }: Totals,
): Phase {
  if (hasActive(files)) return 'uploading';
  if (failedCount > 0) return 'failed';
  if (openCount > 0) return 'paused';
  return doneCount === fileCount ? 'done' : 'canceled';
}
