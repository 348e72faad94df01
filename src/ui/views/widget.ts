// The complete interface as a function of its state.

import { html, nothing, type TemplateResult } from 'lit';
import { sharedReason } from '../shared-reason.ts';
import { button } from './buttons.ts';
import { dropZone } from './drop-zone.ts';
import { fileList } from './file-list.ts';
import { rejectionsPanel } from './rejections.ts';
import { signInPanel } from './sign-in.ts';
import type { Commands, WidgetState } from './state.ts';
import { totalsBar } from './totals-bar.ts';

/** Everything inside the shadow root. */
export function widget(state: WidgetState, commands: Commands): TemplateResult {
  const { messages, rules, snapshot, spoken } = state;
  const shared = sharedReason(snapshot.files, rules.manual);
  const rejections = rejectionsPanel(state, commands);
  const signIn = signInPanel(state, commands);
  const list = fileList(state, shared !== undefined, commands);
  // Without anything else, the buttons need no frame.
  const isBare =
    rules.layout === 'button' && !state.undo && [rejections, signIn, list].every((part) => part === nothing);
  const onChange = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    commands.addInput([...(input.files ?? [])]);
    // Otherwise, choosing the same file again would fire no event.
    input.value = '';
  };
  // A click that opens the picker is not one of the user.
  const onClick = (event: Event): void => event.stopPropagation();
  const { locale: lang } = messages;
  return html`<div class="base ${isBare ? 'bare' : ''}" part="base" role="group" tabindex="-1" lang=${lang} aria-label=${state.label || messages.label}>
      ${state.isMisconfigured ? html`<p class="fault" part="error" role="alert">${messages['bad-config']}</p>` : nothing}
      ${dropZone(state, commands)}
      ${
        state.restoredCount > 0
          ? html`<div class="panel restored" part="notice">
              <p class="body">${messages.allUploaded(state.restoredCount)}</p>
              ${button('drop-restored', messages.remove, () => commands.dropRestored())}
            </div>`
          : nothing
      }
      ${rejections}
      ${signIn}
      ${list}
      ${state.slots.has('footer') ? html`<slot name="footer"></slot>` : nothing}
      ${totalsBar(state, shared, commands)}
    </div>
    <input id="files" type="file" hidden ?multiple=${rules.multiple} accept=${rules.accept} @change=${onChange} @click=${onClick} />
    <input id="folder" type="file" hidden multiple .webkitdirectory=${true} @change=${onChange} @click=${onClick} />
    <div class="silent" lang=${lang} role="status" aria-live="polite">${spoken.polite}</div>
    <div class="silent" lang=${lang} role="alert" aria-live="assertive">${spoken.alert}</div>`;
}
