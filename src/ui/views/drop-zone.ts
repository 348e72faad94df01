// The drop zone: one line above the list, or large while the list is empty and `layout` is `area`.

import { html, nothing, type TemplateResult } from 'lit';
import { acceptedTypes } from '../accepted-types.ts';
import { button } from './buttons.ts';
import { uploadIcon } from './icons.ts';
import type { FrameCommands, FrameState } from './state.ts';

/** Layouts in which the drop zone is one line. */
const COMPACT: readonly (string | undefined)[] = ['bar', 'button', 'overlay'];

/** True if the uploader can't work at all. A message above the zone says why. */
const isBroken = ({ isMisconfigured, failure }: FrameState): boolean =>
  isMisconfigured || failure === 'reload';

/**
 * The drop zone with its buttons, and a note about what was skipped in the last drop. `folderMenu` wraps the button for folders
 * once there is a list.
 */
export function dropZone(
  state: FrameState,
  commands: FrameCommands,
  folderMenu: (item: TemplateResult) => TemplateResult,
): TemplateResult {
  const { rules, snapshot, slots } = state;
  const { dragging } = state.intake;
  const isClosed = rules.disabled || isBroken(state);
  const isEmpty = snapshot.files.length === 0;
  const isCompact = !isEmpty || COMPACT.includes(rules.layout);
  // In narrow places, the buttons say what it is. What the page has put there stays, and why the buttons do nothing.
  const isTitled = isEmpty || isClosed || slots.has('invitation') || slots.has('hint');
  const stateClass = dragging ? 'dragging' : isClosed ? 'closed' : '';
  const onClick = (event: MouseEvent): void => {
    if (!isClosed && isOnSurface(event)) commands.browse('files');
  };
  const content = html`<span class="badge"><slot name="icon">${uploadIcon}</slot></span>
      ${invitation(state)}
      <div class="choices"><slot name="buttons">
        ${browseButton(state, isClosed, commands)}
        ${folderButton(state, isClosed, commands, folderMenu)}
      </slot></div>`;
  return html`<div
      class="zone ${isCompact ? 'compact' : ''} ${isTitled ? '' : 'listed'} ${stateClass}"
      part="drop-zone ${dragging ? 'dragging' : ''}"
      @click=${onClick}
>${isEmpty ? html`<slot name="empty">${content}</slot>` : content}</div>
    ${overlay(state)}
    ${notices(state)}`;
}

/** What the zone is for, and the limits while the list is empty. */
function invitation(state: FrameState): TemplateResult {
  const title = html`<span class="title"><slot name="invitation">${titleOf(state)}</slot></span>`;
  const hint = state.snapshot.files.length === 0 ? hintOf(state) : '';
  return html`<p class="invitation">
        ${isBroken(state) ? nothing : title}
        <slot name="hint">${hint ? html`<span class="hint">${hint}</span>` : nothing}</slot>
      </p>`;
}

function titleOf({ messages, rules, intake }: FrameState): string {
  if (intake.dragging) return messages.dropNow;
  if (rules.disabled) return messages.turnedOff;
  if (matchMedia('(pointer: coarse)').matches) return messages.label;
  return rules.multiple ? messages.dropFiles : messages.dropFile;
}

function browseButton(
  { messages, rules, snapshot }: FrameState,
  isDisabled: boolean,
  commands: FrameCommands,
): TemplateResult {
  const label = rules.multiple ? messages.chooseFiles : messages.chooseFile;
  const kind = snapshot.files.length === 0 ? 'primary' : undefined;
  return button('browse', label, () => commands.browse('files'), { kind, isDisabled });
}

/** The button for folders, if the page allows them and the browser can choose them. */
function folderButton(
  { messages, rules }: FrameState,
  isDisabled: boolean,
  commands: FrameCommands,
  folderMenu: (item: TemplateResult) => TemplateResult,
): TemplateResult | typeof nothing {
  if (!rules.directory || !('webkitdirectory' in HTMLInputElement.prototype)) return nothing;
  return folderMenu(button('folder', messages.chooseFolder, () => commands.browse('folder'), { isDisabled }));
}

/** What covers the page while files are dragged over it, in the layout `overlay`. */
const overlay = ({ messages, rules, intake }: FrameState): TemplateResult | typeof nothing =>
  intake.dragging && rules.layout === 'overlay'
    ? html`<div class="overlay" part="overlay" popover="manual"><span class="badge">${uploadIcon}</span>${
        messages.dropNow
      }</div>`
    : nothing;

/** How many files a drop has so far, and which folders it skipped. */
const notices = ({ messages, intake: { readingCount, emptyFolderCount } }: FrameState): TemplateResult =>
  html`${
    readingCount === undefined
      ? nothing
      : html`<p class="notice" part="notice">${messages.reading(readingCount)}</p>`
  }
    ${
      emptyFolderCount > 0
        ? html`<p class="notice" part="notice" role="status">${messages.emptyFolders(emptyFolderCount)}</p>`
        : nothing
    }`;

/** Elements in slots that do something themselves when they are clicked. */
const ACTIVE = [
  'a,area,button,input,select,textarea,label,summary,audio,video',
  '[slot=buttons],[contenteditable],[popover],[tabindex],[role]:not([role=img])',
].join();

/** True for elements that do nothing themselves when they are clicked. A custom element may do anything. */
const isSurface = (element: HTMLElement): boolean =>
  !(element.localName?.includes('-') || element.matches?.(ACTIVE));

/** True for a click that neither an element in a slot nor the page handles, and that selects no text. */
function isOnSurface(event: MouseEvent): boolean {
  const path = event.composedPath() as HTMLElement[];
  const inside = path.slice(0, path.indexOf(event.currentTarget as HTMLElement));
  return inside.every(isSurface) && !event.defaultPrevented && !isTextSelected(path);
}

/** True if the click ended a selection of text. */
function isTextSelected([target]: readonly HTMLElement[]): boolean {
  const selection = target?.ownerDocument.getSelection();
  return Boolean(target && selection?.type === 'Range' && selection.containsNode(target, true));
}

/** The limits in one line: types, size, number. */
function hintOf({ rules, messages, format }: FrameState): string {
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
