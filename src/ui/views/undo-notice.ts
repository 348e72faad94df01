// What was canceled or removed a moment ago, with a button that undoes it. Screen readers get the same text from the live region.

import { html, nothing, type TemplateResult } from 'lit';
import { button } from './buttons.ts';
import type { Commands, WidgetState } from './state.ts';

/** The notice, or nothing if no command can be undone. */
export function undoNotice(
  { messages, undo }: WidgetState,
  commands: Commands,
): TemplateResult | typeof nothing {
  if (!undo) return nothing;
  const hold = ({ type, currentTarget }: Event): void => {
    const notice = currentTarget as Element;
    commands.holdUndo(
      type === 'pointerleave'
        ? notice.matches(':focus-within')
        : type === 'focusout'
          ? notice.matches(':hover')
          : true,
    );
  };
  return html`<div
    class="panel undo"
    part="undo"
    @pointerenter=${hold}
    @pointerleave=${hold}
    @focusin=${hold}
    @focusout=${hold}
  >
    <p class="body">${undo.text}</p>
    ${button('undo', messages.undo, () => commands.undo())}
  </div>`;
}
