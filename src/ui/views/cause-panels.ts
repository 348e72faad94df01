// Panels above the list: what several files failed for, or are warned of, with their names and one action for all of them.

import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Cause } from '../causes.ts';
import { button } from './buttons.ts';
import { isWorthRetrying, mayRetry } from './file-row.ts';
import { alertIcon } from './icons.ts';
import { nameList } from './rejections.ts';
import type { Commands, WidgetState } from './state.ts';

/** A panel for each cause, or nothing. */
export const causePanels = (state: WidgetState, commands: Commands): unknown =>
  state.causes.items.length === 0
    ? nothing
    : repeat(
        state.causes.items,
        // So that a button never becomes that of another cause.
        ({ code, isError }) => `${code} ${isError}`,
        (cause) => panelOf(cause, state, commands),
      );

function panelOf({ code, isError, files }: Cause, state: WidgetState, commands: Commands): TemplateResult {
  const { messages } = state;
  const sentence = messages[code];
  const kind = isError ? 'error' : 'warning';
  // While a retry can not help at once, it is not the main button.
  const [label, look] = files.some(isWorthRetrying)
    ? ([messages.retry, 'primary'] as const)
    : ([messages.tryAgain, undefined] as const);
  return html`<div class="panel message cause ${isError ? 'danger' : ''}" part="cause ${kind}" role="group"
    aria-label=${sentence}>
    <span class="badge ${kind}" part="cause-icon">${alertIcon}</span>
    <div class="body">
      <p class="title">${sentence}</p>
      <p class="refusals">${nameList(files, state)}</p>
    </div>
    ${
      files.some(mayRetry)
        ? button(
            'retry-cause',
            label,
            () => commands.retryFiles(files.filter(mayRetry).map(({ id }) => id)),
            { kind: look, name: messages.actionOn(label, sentence) },
          )
        : nothing
    }
  </div>`;
}
