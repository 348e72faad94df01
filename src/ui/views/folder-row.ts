// The row of a folder: the sums of its files, and buttons for all of them.

import { nothing, type TemplateResult } from 'lit';
import { shownText } from '../../core/names.ts';
import type { FolderLine } from '../row-order.ts';
import { button } from './buttons.ts';
import { closeIcon, folderIcon, foldIcon } from './icons.ts';
import { facts, inRowOf, type Place, row, rowButton, rowMenu, statusLine } from './row.ts';
import { rowProgress } from './row-progress.ts';
import type { Commands, WidgetState } from './state.ts';

export function folderRow(
  folder: FolderLine,
  place: Place,
  state: WidgetState,
  commands: Commands,
): TemplateResult {
  const { id, totals, phase, lostCount } = folder;
  const { messages } = state;
  const name = shownText(id.slice(0, -1));
  const { bar, percent, size } = rowProgress(phase, totals, name, state);
  const word =
    lostCount > 0 ? messages.chooseAllAgain(lostCount) : messages.doneOf(totals.doneCount, totals.fileCount);
  return row(
    {
      id,
      name,
      title: name,
      phase,
      classes: lostCount > 0 ? 'needs-file' : '',
      parts: ' folder',
      needsFile: lostCount > 0,
      badge: folderIcon,
      bar,
      status: statusLine(
        word,
        facts(percent, totals.failedCount > 0 && messages.failed(totals.failedCount), size),
      ),
      problem: nothing,
      action:
        lostCount > 0
          ? button('choose', messages.chooseFolder, () => commands.chooseFolder(id), {
              ...inRowOf(place),
              name: messages.actionOn(messages.chooseFolder, name),
            })
          : nothing,
      buttons: actionsOf(folder, name, place, state, commands),
    },
    place,
    state,
  );
}

function actionsOf(
  { id, totals, isFolded, toggle }: FolderLine,
  name: string,
  place: Place,
  { messages }: WidgetState,
  commands: Commands,
): readonly TemplateResult[] {
  const fold = { action: 'fold', word: messages.list, icon: foldIcon, run: toggle, isExpanded: !isFolded };
  const end = {
    action: 'end',
    word: messages.cancel,
    icon: closeIcon,
    run: () => commands.cancelFolder(id),
  };
  const hasEnded = totals.openCount + totals.failedCount === 0;
  return [
    rowButton(fold, name, messages, place),
    ...(hasEnded
      ? []
      : [rowMenu(id, name, end.word, rowButton(end, name, messages, place), messages, place)]),
  ];
}
