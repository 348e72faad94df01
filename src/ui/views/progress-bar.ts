// A progress bar. Sets widths through the CSSOM, because a Content Security Policy without 'unsafe-inline' blocks the style
// attribute that `styleMap` writes on the first rendering.

import { html, nothing, type TemplateResult } from 'lit';
import { Directive, directive, type ElementPart } from 'lit/directive.js';

class StyleProperty extends Directive {
  override render(_name: string, _value: string): undefined {
    return undefined;
  }

  override update(part: ElementPart, [name, value]: [string, string]): void {
    (part.element as HTMLElement).style.setProperty(name, value);
  }
}

/** A directive that sets one style property of its element. It is written in the tag, not in an attribute. */
export const styleProperty = directive(StyleProperty);

/** `share` is between 0 and 1; `valueText` is the same for screen readers. */
export interface BarState {
  readonly label: string;
  readonly valueText: string;
  readonly share: number;
  /** True while the file is being hashed and no bytes are sent yet. */
  readonly checking?: boolean;
  readonly part: string;
}

/** The bar with its name and value for screen readers; without a value while only hashes are computed. */
export function progressBar(bar: BarState): TemplateResult {
  const isUnknown = bar.checking && bar.share === 0;
  return html`<div
    class="bar ${bar.checking ? 'checking' : ''}"
    part=${bar.part}
    role="progressbar"
    aria-label=${bar.label}
    aria-valuemin="0"
    aria-valuemax="100"
    aria-valuenow=${isUnknown ? nothing : Math.floor(bar.share * 100 + 1e-9)}
    aria-valuetext=${isUnknown ? nothing : bar.valueText}
  >
    <span class="sent" ${styleProperty('--_share', percent(bar.share))}></span>
  </div>`;
}

const percent = (share: number): string => `${Math.round(share * 1000) / 10}%`;

/** Returns the progress of an upload that is not done, at most 0.99: after all bytes are stored, the commit still has to follow. */
export const shareOf = (bytes: number, sizeBytes: number): number =>
  sizeBytes === 0 ? 0 : Math.min(0.99, bytes / sizeBytes);
