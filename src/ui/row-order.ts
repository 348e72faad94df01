// The order of the rows in a long list: failed files are at the top, and what has ended at the end. Short lists keep the order of
// the files.

import type { ReactiveControllerHost } from 'lit';
import type { Phase } from '../core/phases.ts';
import type { FileId, FileSnapshot } from '../core/types.ts';

/** Number of files up to which rows never move. */
const SHORT = 10;

/** Groups of files, from top to bottom; files of all other phases are in group 1. */
const GROUPS: Partial<Record<Phase, 0 | 2>> = { failed: 0, done: 2, canceled: 2 };

/**
 * While rows are pointed at or have the focus of the keyboard, they keep their places. Touch screens keep `:hover` until the next
 * touch elsewhere.
 */
const HELD = '.list:is(:hover, :has(:focus-visible))';

/**
 * Returns a function that sorts files: first failed ones, then those that have not ended, then the others; each group in the order
 * of the list. Renders the host when its rows may move again.
 */
export function createRowOrder(
  host: ReactiveControllerHost & { readonly renderRoot: HTMLElement | DocumentFragment },
): (files: readonly FileSnapshot[]) => readonly FileSnapshot[] {
  let groupOf: ReadonlyMap<FileId, number> = new Map();
  let wasHeld = false;
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
  return (files) => {
    wasHeld = isHeld();
    if (!wasHeld)
      groupOf = new Map(files.length > SHORT ? files.map(({ id, phase }) => [id, GROUPS[phase] ?? 1]) : []);
    if (groupOf.size === 0) return files;
    const groups: [FileSnapshot[], FileSnapshot[], FileSnapshot[]] = [[], [], []];
    for (const file of files) groups[(groupOf.get(file.id) ?? 1) as 1].push(file);
    return groups.flat();
  };
}
