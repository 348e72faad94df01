// A button that opens further buttons in a popover. In a `fluid` menu, wide places show them in line, without the button
// (`styles/menu-styles.ts`).

import { html, noChange, nothing, type TemplateResult } from 'lit';
import { AsyncDirective } from 'lit/async-directive.js';
import { directive, type ElementPart } from 'lit/directive.js';
import { keyed } from 'lit/directives/keyed.js';
import { moreIcon } from './icons.ts';

/** Distance between the button and the popover, in pixels. */
const GAP = 4;

/**
 * What opens: `id` is unique in the shadow root. The buttons of a row are reached with the arrow keys, too. With other actions, an
 * open menu closes, so that none of them comes under the pointer.
 */
interface Menu {
  readonly id: string;
  readonly label: string;
  readonly actions: string;
  readonly items: unknown;
  readonly isFluid?: boolean;
  readonly tabindex?: -1 | undefined;
}

export function menu({ id, label, actions, items, isFluid = false, tabindex }: Menu): TemplateResult {
  const popover = html`<div class="menu ${isFluid ? 'fluid' : ''}" part="menu" popover="auto" id=${id}
    @toggle=${onToggle} @click=${onClick} @keydown=${onKey} ${placed()}>${items}</div>`;
  return html`<button type="button" class="icon-button ${isFluid ? 'fluid' : ''}" part="icon-button"
    data-action="more" title=${label} tabindex=${tabindex ?? nothing}
    popovertarget=${id}>${moreIcon}</button>${keyed(actions, popover)}`;
}

const menuOf = ({ currentTarget }: Event): HTMLElement => currentTarget as HTMLElement;
const isOpen = (part: Element): boolean => part.matches(':popover-open');
const openerOf = (part: Element): HTMLElement => part.previousElementSibling as HTMLElement;
const itemsOf = (part: Element): HTMLElement[] => [...part.querySelectorAll('button')];

/**
 * Puts the popover at its button, where the window has more room, and closes it when what contains the button scrolls. Gives the
 * focus back to the button: browsers would give it to the host of the shadow root.
 */
class Placed extends AsyncDirective {
  #part: HTMLElement | undefined;
  #closed = new AbortController();

  override render(): typeof noChange {
    return noChange;
  }

  override update({ element }: ElementPart): typeof noChange {
    if (!this.#part)
      element.addEventListener('beforetoggle', (event) => {
        if ((event as ToggleEvent).newState === 'open') this.#onOpen();
        else this.#onClose();
      });
    this.#part = element as HTMLElement;
    return noChange;
  }

  /** A popover that is removed while it is open closes without an event. */
  override disconnected(): void {
    this.#closed.abort();
  }

  #onClose(): void {
    this.#closed.abort();
    const part = this.#part as HTMLElement;
    if (part.matches(':focus-within')) openerOf(part).focus({ preventScroll: true });
  }

  #onOpen(): void {
    const part = this.#part as HTMLElement;
    const { ownerDocument: page } = part;
    const root = part.getRootNode() as ShadowRoot;
    place(part, page.documentElement);
    this.#closed = new AbortController();
    const { signal } = this.#closed;
    const close = (): void => part.hidePopover();
    // Scrolling inside the shadow root is not seen outside of it. Other parts of the page may scroll by themselves.
    const onScroll = ({ target }: Event): void => {
      if ([part, root.host].some((each) => (target as Node).contains(each))) close();
    };
    for (const each of [root, page]) each.addEventListener('scroll', onScroll, { capture: true, signal });
    page.defaultView?.addEventListener('resize', close, { signal });
  }
}

const placed = directive(Placed);

function place(part: HTMLElement, { clientWidth, clientHeight }: Element): void {
  const opener = openerOf(part);
  const { left, right, top, bottom } = opener.getBoundingClientRect();
  // In a page with `zoom`, styles have larger pixels than the window. WebKit measures elements in those of styles.
  const { currentCSSZoom } = opener as Partial<Element>;
  const scale = currentCSSZoom ?? 1;
  const windowScale = scale / (currentCSSZoom ?? zoomOf(opener));
  const isLeft = left + right < clientWidth * windowScale;
  const isTop = top + bottom < clientHeight * windowScale;
  const { style } = part;
  style.left = isLeft ? `${left / scale}px` : 'auto';
  style.right = isLeft ? 'auto' : `calc(100% - ${right / scale}px)`;
  style.top = isTop ? `${bottom / scale + GAP}px` : 'auto';
  style.bottom = isTop ? 'auto' : `calc(100% - ${top / scale - GAP}px)`;
}

function zoomOf(element: Element): number {
  const parent = element.parentElement ?? (element.getRootNode() as Partial<ShadowRoot>).host;
  return Number(getComputedStyle(element).zoom) * (parent ? zoomOf(parent) : 1);
}

function onToggle(event: ToggleEvent): void {
  if (event.newState === 'open') itemsOf(menuOf(event))[0]?.focus({ preventScroll: true });
}

function onClick(event: Event): void {
  if (isOpen(menuOf(event))) menuOf(event).hidePopover();
}

/**
 * The arrow keys move the focus, and Tab continues from the button of the menu. All other keys of an open menu are its own, because
 * the list has others for the same keys, but not those with Ctrl.
 */
function onKey(event: KeyboardEvent): void {
  const part = menuOf(event);
  if (!isOpen(part) || event.ctrlKey || event.metaKey) return;
  // WebKitGTK has another `key` for Shift+Tab.
  if ([event.key, event.code].includes('Tab')) part.hidePopover();
  event.stopPropagation();
  const items = itemsOf(part);
  const index = items.indexOf(event.target as HTMLElement);
  const targetIndex = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: -1 }[event.key];
  if (targetIndex === undefined) return;
  event.preventDefault();
  items.at(targetIndex % items.length)?.focus();
}
