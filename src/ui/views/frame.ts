// Everything inside of the shadow root that is there before the first file: drop zone, messages, live regions. The rest is
// `contents`.

import { html, nothing, type TemplateResult } from 'lit';
import { button } from './buttons.ts';
import { dropZone } from './drop-zone.ts';
import type { FrameCommands, FrameState } from './state.ts';

/** What the frame contains below the drop zone. */
export interface Contents {
  readonly panels: unknown;
  readonly list: unknown;
  readonly totals: unknown;
  /** True if there is nothing to see. */
  readonly isEmpty: boolean;
  /** Wraps the button for folders. */
  readonly folderMenu: (item: TemplateResult) => TemplateResult;
}

const NO_CONTENTS: Contents = {
  panels: nothing,
  list: nothing,
  totals: nothing,
  isEmpty: true,
  folderMenu: (item) => item,
};

export function frame(
  state: FrameState,
  commands: FrameCommands,
  contents: Contents = NO_CONTENTS,
): TemplateResult {
  const { messages, rules, spoken, failure } = state;
  // Without anything else, the buttons need no frame.
  const isBare = rules.layout === 'button' && contents.isEmpty && !failure;
  const onChange = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    commands.addInput([...(input.files ?? [])]);
    // Otherwise, choosing the same file again would fire no event.
    input.value = '';
  };
  // A click that opens the picker is not one of the user.
  const onClick = (event: Event): void => event.stopPropagation();
  const { locale: lang } = messages;
  return html`<div class="base ${isBare ? 'bare' : ''}" part="base" role="group" tabindex="-1" lang=${lang}
      aria-label=${state.label || messages.label}>
      ${
        state.isMisconfigured
          ? html`<p class="fault" part="error" role="alert">${messages['bad-config']}</p>`
          : nothing
      }
      ${
        failure
          ? html`<div class="panel message" part="error" role="alert">
              <p class="body error">${failure === 'again' ? messages.loadFailed : messages.reload}</p>
              ${failure === 'again' ? button('try-again', messages.tryAgain, () => commands.tryAgain()) : nothing}
            </div>`
          : nothing
      }
      ${dropZone(state, commands, contents.folderMenu)}
      ${
        state.restoredCount > 0
          ? html`<div class="panel message" part="notice">
              <p class="body">${messages.allUploaded(state.restoredCount)}</p>
              ${button('drop-restored', messages.remove, () => commands.dropRestored())}
            </div>`
          : nothing
      }
      ${contents.panels}
      ${contents.list}
      ${state.slots.has('footer') ? html`<slot name="footer"></slot>` : nothing}
      ${contents.totals}
    </div>
    <input id="files" type="file" hidden ?multiple=${rules.multiple} accept=${rules.accept}
      @change=${onChange} @click=${onClick} />
    <input id="folder" type="file" hidden multiple .webkitdirectory=${true} @change=${onChange} @click=${onClick} />
    <div class="silent" lang=${lang} role="status" aria-live="polite">${spoken.polite}</div>
    <div class="silent" lang=${lang} role="alert" aria-live="assertive">${spoken.alert}</div>`;
}
