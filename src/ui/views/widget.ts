// The complete interface as a function of its state.

import { html, nothing, type TemplateResult } from 'lit';
import { dropZone } from './drop-zone.ts';
import { fileList } from './file-list.ts';
import { rejectionsPanel } from './rejections.ts';
import { signInPanel } from './sign-in.ts';
import type { Commands, WidgetState } from './state.ts';
import { totalsBar } from './totals-bar.ts';
import { undoNotice } from './undo-notice.ts';

/** Everything inside the shadow root. */
export function widget(state: WidgetState, commands: Commands): TemplateResult {
  const { messages, rules, spoken } = state;
  const onChange = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    commands.addFiles([...(input.files ?? [])]);
    // Otherwise, choosing the same file again would fire no event.
    input.value = '';
  };
  return html`<div class="base" part="base" role="group" tabindex="-1" aria-label=${messages.label}>
      ${state.isMisconfigured ? html`<p class="fault" part="error" role="alert">${messages['bad-config']}</p>` : nothing}
      ${dropZone(state, commands)}
      ${rejectionsPanel(state, commands)}
      ${signInPanel(state, commands)}
      ${fileList(state, commands)}
      ${totalsBar(state, commands)}
      ${undoNotice(state, commands)}
    </div>
    <input id="files" type="file" hidden ?multiple=${rules.multiple} accept=${rules.accept} @change=${onChange} />
    <input id="folder" type="file" hidden multiple .webkitdirectory=${true} @change=${onChange} />
    <div class="silent" role="status" aria-live="polite">${spoken.polite}</div>
    <div class="silent" role="alert" aria-live="assertive">${spoken.alert}</div>`;
}
