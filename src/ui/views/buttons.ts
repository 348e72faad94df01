// The buttons of all views. `action` is the name of a button in parts, in tests, and for the focus.

import { html, nothing, type TemplateResult } from 'lit';

/** What buttons have beside their action and label. `kind` is the class of a text button; a row's buttons have `tabindex` -1. */
export interface ButtonOptions {
  readonly kind?: 'primary' | 'plain' | undefined;
  readonly isDisabled?: boolean;
  readonly tabindex?: -1;
  /** The label is the title then, which is also the name: with a separate `aria-label`, screen readers read both. */
  readonly icon?: TemplateResult;
  /** The id of the popover that the button opens. */
  readonly opens?: string;
}

/** A button with a text or an icon. */
export const button = (
  action: string,
  label: string,
  run: (() => void) | undefined,
  { kind, isDisabled = false, tabindex, icon, opens }: ButtonOptions = {},
): TemplateResult =>
  html`<button type="button" class=${(icon ? 'icon-button' : kind) ?? nothing} part=${icon ? 'icon-button' : `button ${action}-button`} data-action=${action} tabindex=${tabindex ?? nothing} title=${icon ? label : nothing} popovertarget=${opens ?? nothing} ?disabled=${isDisabled} @click=${run && (() => run())}>${icon ?? label}</button>`;
