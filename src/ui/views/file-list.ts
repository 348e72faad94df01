// The list of files. Renders only the rows in and near the visible part; two spacers replace the others.

import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { fileRow } from './file-row.ts';
import { styleProperty } from './progress-bar.ts';
import type { Commands, WidgetState } from './state.ts';

/** The list, or nothing while there are no files. */
export function fileList(state: WidgetState, commands: Commands): TemplateResult | typeof nothing {
  const { files } = state.snapshot;
  if (files.length === 0) return nothing;
  const { first, last, before, after } = state.rows;
  return html`<div class="scroller" part="list-scroller">
    <ul class="list" part="list" aria-label=${state.messages.list}>
      ${spacer(before)}${repeat(
        files.slice(first, last),
        (file) => file.id,
        (file, index) => fileRow(file, first + index + 1, state, commands),
      )}${spacer(after)}
    </ul>
  </div>`;
}

const spacer = (height: number): TemplateResult | typeof nothing =>
  height > 0
    ? html`<li class="spacer" aria-hidden="true" ${styleProperty('block-size', `${Math.round(height)}px`)}></li>`
    : nothing;
