// A thin bar in two shades, stored and in flight. Sizes are set through CSSOM: a style attribute, which `styleMap`
// writes at first, would be refused by a page whose policy has no 'unsafe-inline'.

import { html, type TemplateResult } from 'lit';
import { Directive, directive, type ElementPart, type PartInfo, PartType } from 'lit/directive.js';

class StyleProperty extends Directive {
  constructor(info: PartInfo) {
    super(info);
    if (info.type !== PartType.ELEMENT)
      throw new Error('styleProperty stands in the tag, not in an attribute');
  }

  override render(_name: string, _value: string): undefined {
    return undefined;
  }

  override update(part: ElementPart, [name, value]: [string, string]): void {
    (part.element as HTMLElement).style.setProperty(name, value);
  }
}

/** Sets one style property of the element in whose tag it stands. */
export const styleProperty = directive(StyleProperty);

/** Shares are from 0 to 1; `shown` is what a screen reader reads. */
export interface BarState {
  readonly label: string;
  readonly shown: string;
  readonly stored: number;
  readonly sent: number;
  /** Bytes are being checked and none has been sent yet. */
  readonly checking?: boolean;
  readonly part: string;
}

/** The bar, with its name and value for screen readers. */
export function progressBar(bar: BarState): TemplateResult {
  return html`<div
    class="bar ${bar.checking ? 'checking' : ''}"
    part=${bar.part}
    role="progressbar"
    aria-label=${bar.label}
    aria-valuemin="0"
    aria-valuemax="100"
    aria-valuenow=${Math.floor(bar.sent * 100 + 1e-9)}
    aria-valuetext=${bar.shown}
  >
    <span class="sent" ${styleProperty('--_share', percent(bar.sent))}></span>
    <span class="stored" ${styleProperty('--_share', percent(bar.stored))}></span>
  </div>`;
}

const percent = (share: number): string => `${Math.round(share * 1000) / 10}%`;

/** A share that is never full before the service said so, since storing all bytes is not yet being done. */
export function shareOf(bytes: number, sizeBytes: number, isDone: boolean): number {
  if (isDone) return 1;
  return sizeBytes === 0 ? 0 : Math.min(0.99, bytes / sizeBytes);
}
