// The buttons of all views. `action` is the name of a button in parts, in tests, and for the focus.

import { html, nothing, type TemplateResult } from 'lit';

/** What buttons have beside their action and label. `kind` is the class of a text button; a row's buttons have `tabindex` -1. */
export interface ButtonOptions {
  readonly kind?: 'primary' | 'plain' | undefined;
  readonly isDisabled?: boolean;
  readonly tabindex?: -1;
  /** For a button that unfolds something: true while it is unfolded. */
  readonly isExpanded?: boolean | undefined;
  /** The label is the title then, which is also the name: with a separate `aria-label`, screen readers read both. */
  readonly icon?: TemplateResult;
  /** The word that menus show beside the icon. */
  readonly word?: string;
  /** The name for screen readers, if the label is not enough. It starts with the label. */
  readonly name?: string;
}

/** A button with a text or an icon. */
export const button = (
  action: string,
  label: string,
  run: (() => void) | undefined,
  { kind, isDisabled = false, tabindex, icon, word, name, isExpanded }: ButtonOptions = {},
): TemplateResult => {
  const wordBeside = word ? html`<span class="word" aria-hidden="true">${word}</span>` : nothing;
  return html`<button type="button" class=${(icon ? 'icon-button' : kind) ?? nothing}
    part=${icon ? 'icon-button' : `button ${action}-button`} data-action=${action}
    tabindex=${tabindex ?? nothing} title=${icon ? label : nothing} aria-label=${name ?? nothing}
    aria-expanded=${isExpanded ?? nothing} ?disabled=${isDisabled}
    @click=${run && (() => run())}>${icon ? html`${icon}${wordBeside}` : label}</button>`;
};
