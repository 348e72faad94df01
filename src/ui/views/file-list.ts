// The list of files and folders. Renders only the rows in and near the visible part; two spacers replace the others.

import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { fileRow } from './file-row.ts';
import { folderRow } from './folder-row.ts';
import { styleProperty } from './progress-bar.ts';
import type { Commands, WidgetState } from './state.ts';

/** The list, or nothing while there are no files. `hasSharedReason` is true if the footer shows the reason why all files wait. */
export function fileList(
  state: WidgetState,
  hasSharedReason: boolean,
  commands: Commands,
): TemplateResult | typeof nothing {
  const { lines } = state;
  if (lines.length === 0) return nothing;
  const { start, end, beforePx, afterPx } = state.rows;
  const rendered = lines.slice(start, end);
  // One tab stop for the whole list; arrow keys move it (list-keys.ts).
  const tabStop = rendered.find(({ id }) => id === state.currentId) ?? rendered[0];
  return html`<div class="scroller" part="list-scroller">
    <div class="list" part="list" role="grid" aria-label=${state.messages.list} aria-rowcount=${lines.length}>
      ${spacer(beforePx)}${repeat(
        rendered,
        ({ id }) => id,
        (line, index) => {
          const place = { position: start + index + 1, isTabStop: line === tabStop };
          return line.kind === 'folder'
            ? folderRow(line, place, state, commands)
            : fileRow(line.file, place, hasSharedReason, state, commands);
        },
      )}${spacer(afterPx)}
    </div>
  </div>`;
}

const spacer = (heightPx: number): TemplateResult | typeof nothing =>
  heightPx > 0
    ? html`<div class="spacer" aria-hidden="true" ${styleProperty('block-size', `${Math.round(heightPx)}px`)}></div>`
    : nothing;
