// The drop zone: one line above the list, or large while the list is empty and `layout` is `area`.

import { html, nothing, type TemplateResult } from 'lit';
import type { Messages } from '../../core/messages.ts';
import { acceptedTypes } from '../accepted-types.ts';
import type { Format } from '../format.ts';
import { button } from './buttons.ts';
import { uploadIcon } from './icons.ts';
import type { FrameCommands, FrameState, Rules } from './state.ts';

/** Layouts in which the drop zone is one line. */
const COMPACT: readonly (string | undefined)[] = ['bar', 'button', 'overlay'];

/**
 * The drop zone with its buttons, and a note about what was skipped in the last drop. `folderMenu` wraps the button for folders
 * once there is a list.
 */
export function dropZone(
  state: FrameState,
  commands: FrameCommands,
  folderMenu: (item: TemplateResult) => TemplateResult,
): TemplateResult {
  const { messages, rules, snapshot, intake, format } = state;
  const { dragging, readingCount, emptyFolderCount } = intake;
  const isClosed = rules.disabled || state.isMisconfigured || state.failure === 'reload';
  const isEmpty = snapshot.files.length === 0;
  const isCompact = !isEmpty || COMPACT.includes(rules.layout);
  const hint = isEmpty ? hintOf(rules, messages, format) : '';
  const title = dragging
    ? messages.dropNow
    : rules.disabled
      ? messages.turnedOff
      : matchMedia('(pointer: coarse)').matches
        ? messages.label
        : rules.multiple
          ? messages.dropFiles
          : messages.dropFile;
  // In narrow places, the buttons say what it is. What the page has put there stays, and why the buttons do nothing.
  const isTitled = isEmpty || isClosed || ['invitation', 'hint'].some((slot) => state.slots.has(slot));
  const onClick = (event: MouseEvent): void => {
    const path = event.composedPath() as HTMLElement[];
    const isOnSurface = path.slice(0, path.indexOf(event.currentTarget as HTMLElement)).every(isSurface);
    if (isOnSurface && !isClosed && !event.defaultPrevented && !isTextSelected(path))
      commands.browse('files');
  };
  const content = html`<span class="badge"><slot name="icon">${uploadIcon}</slot></span>
      <p class="invitation">
        ${state.isMisconfigured || state.failure === 'reload' ? nothing : html`<span class="title"><slot name="invitation">${title}</slot></span>`}
        <slot name="hint">${hint ? html`<span class="hint">${hint}</span>` : nothing}</slot>
      </p>
      <div class="choices"><slot name="buttons">
        ${button('browse', rules.multiple ? messages.chooseFiles : messages.chooseFile, () => commands.browse('files'), { kind: isEmpty ? 'primary' : undefined, isDisabled: isClosed })}
        ${rules.directory && 'webkitdirectory' in HTMLInputElement.prototype ? folderMenu(button('folder', messages.chooseFolder, () => commands.browse('folder'), { isDisabled: isClosed })) : nothing}
      </slot></div>`;
  return html`<div
      class="zone ${isCompact ? 'compact' : ''} ${isTitled ? '' : 'listed'} ${dragging ? 'dragging' : isClosed ? 'closed' : ''}"
      part="drop-zone ${dragging ? 'dragging' : ''}"
      @click=${onClick}
>${isEmpty ? html`<slot name="empty">${content}</slot>` : content}</div>
    ${dragging && rules.layout === 'overlay' ? html`<div class="overlay" part="overlay" popover="manual"><span class="badge">${uploadIcon}</span>${messages.dropNow}</div>` : nothing}
    ${readingCount === undefined ? nothing : html`<p class="notice" part="notice">${messages.reading(readingCount)}</p>`}
    ${emptyFolderCount > 0 ? html`<p class="notice" part="notice" role="status">${messages.emptyFolders(emptyFolderCount)}</p>` : nothing}`;
}

/** Elements in slots that do something themselves when they are clicked. */
const ACTIVE =
  'a,area,button,input,select,textarea,label,summary,audio,video,[slot=buttons],[contenteditable],[popover],[tabindex],[role]:not([role=img])';

/** True for elements that do nothing themselves when they are clicked. A custom element may do anything. */
const isSurface = (element: HTMLElement): boolean =>
  !(element.localName?.includes('-') || element.matches?.(ACTIVE));

/** True if the click ended a selection of text. */
function isTextSelected([target]: readonly HTMLElement[]): boolean {
  const selection = target?.ownerDocument.getSelection();
  return Boolean(target && selection?.type === 'Range' && selection.containsNode(target, true));
}

/** The limits in one line: types, size, number. */
function hintOf(rules: Rules, messages: Messages, format: Format): string {
  const hint = [
    acceptedTypes(rules.accept, messages, format),
    rules.maxFileSize < Infinity && messages.upTo(format.size(rules.maxFileSize)),
    rules.multiple && rules.maxFiles < Infinity && messages.atMost(rules.maxFiles),
  ]
    .filter(Boolean)
    .join(' · ');
  // Not with `::first-letter`, because Firefox then does not wrap texts that mix left to right and right to left.
  return hint.charAt(0).toUpperCase() + hint.slice(1);
}
