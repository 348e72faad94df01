// The drop zone: large while the list is empty, otherwise one line above the list.

import { html, nothing, type TemplateResult } from 'lit';
import type { Format } from '../format.ts';
import type { Messages } from '../messages.ts';
import { uploadIcon } from './icons.ts';
import type { Commands, Rules, WidgetState } from './state.ts';

/** The drop zone with its buttons, and a note about what was skipped in the last drop. */
export function dropZone(state: WidgetState, commands: Commands): TemplateResult {
  const { messages, rules, snapshot, intake, format } = state;
  const { dragging, readingCount, emptyFolderCount, unreadableCount } = intake;
  const isClosed = rules.disabled || state.isMisconfigured;
  const isCompact = snapshot.files.length > 0;
  const hint = isCompact ? '' : hintOf(rules, messages, format);
  const title = dragging ? messages.dropNow : rules.multiple ? messages.dropFiles : messages.dropFile;
  const onClick = (event: MouseEvent): void => {
    const isOnButton = (event.target as Element).closest('button') !== null;
    if (!isOnButton && !isClosed) commands.browse('files');
  };
  return html`<div
      class="zone ${isCompact ? 'compact' : ''} ${dragging ? 'dragging' : isClosed ? 'closed' : ''}"
      part="drop-zone ${dragging ? 'dragging' : ''}"
      @click=${onClick}
    >
      <span class="badge">${uploadIcon}</span>
      <p class="invitation">
        ${isClosed ? nothing : html`<span class="title">${title}</span>`}
        <slot name="hint">${hint ? html`<span class="hint">${hint}</span>` : nothing}</slot>
      </p>
      <div class="choices">
        <button type="button" class=${isCompact ? nothing : 'primary'} part="button browse-button" data-action="browse" ?disabled=${isClosed} @click=${() => commands.browse('files')}>
          ${rules.multiple ? messages.chooseFiles : messages.chooseFile}
        </button>
        ${
          rules.directory
            ? html`<button type="button" part="button folder-button" data-action="folder" ?disabled=${isClosed} @click=${() => commands.browse('folder')}>
                ${messages.chooseFolder}
              </button>`
            : nothing
        }
      </div>
    </div>
    ${readingCount === undefined ? nothing : html`<p class="notice" part="notice">${messages.reading(readingCount)}</p>`}
    ${notice(emptyFolderCount > 0 && messages.emptyFolders(emptyFolderCount))}
    ${notice(unreadableCount > 0 && messages.unreadable(unreadableCount))}`;
}

const notice = (text: string | false): TemplateResult | typeof nothing =>
  text === false ? nothing : html`<p class="notice" part="notice" role="status">${text}</p>`;

/** The limits in one line: types, size, number. */
function hintOf(rules: Rules, messages: Messages, format: Format): string {
  return [
    shownTypes(rules.accept),
    Number.isFinite(rules.maxFileSizeBytes) ? messages.upTo(format.size(rules.maxFileSizeBytes)) : '',
    rules.multiple && Number.isFinite(rules.maxFiles) ? messages.atMost(rules.maxFiles) : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Converts an `accept` list for users: `image/*,.pdf` becomes `image, PDF`. */
export const shownTypes = (accept: string): string =>
  accept
    .split(',')
    .map((type) => type.trim())
    .filter(Boolean)
    .map((type) => (type.startsWith('.') ? type.slice(1).toUpperCase() : type.replace('/*', '')))
    .join(', ');
