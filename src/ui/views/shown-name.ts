// The name of a file in its row: one text if it fits. Otherwise, the middle is hidden and an ellipsis is in its place; the hidden
// part stays in the text, so that a name is read, found and copied whole.

import { noChange } from 'lit';
import { AsyncDirective } from 'lit/async-directive.js';
import { directive, type ElementPart } from 'lit/directive.js';
import { cutName } from '../cut-name.ts';
import { pageOf } from '../page.ts';

/** The whole name that each element shows, unless an add-on has translated it. */
const names = new WeakMap<Element, string>();
const nameIn = (element: Element): string => names.get(element) ?? '';

const BORDER_BOX = { box: 'border-box' } as const;

/** The observer of each window. It reports new names, and all whose space, font or size has changed, before they are painted. */
const observers = new WeakMap<Window, ResizeObserver>();

function observerOf(page: ReturnType<typeof pageOf>): ResizeObserver {
  const cached = observers.get(page);
  if (cached) return cached;
  const observedBoxes = new Set<Element>();
  const observer = new page.ResizeObserver((entries) => {
    for (const { target } of entries) observedBoxes.add(target);
    for (const box of observedBoxes) if (!box.isConnected) observedBoxes.delete(box);
    fit(entries.map(({ target }) => target).filter((box) => observedBoxes.has(box)));
  });
  // A font for some letters only, which loads late, changes no size.
  page.document.fonts.addEventListener('loadingdone', () => fit([...observedBoxes]));
  observers.set(page, observer);
  return observer;
}

/**
 * Shows each name whole, or without its middle if it does not fit into its box. Reads all sizes at once, between the changes.
 * Leaves out names that wrap, whose parts styles show whole, and names that an add-on has translated: another height in the
 * callback of an observer is an error on the page.
 */
function fit(boxes: readonly Element[]): void {
  const elements = boxes
    .flatMap(({ firstElementChild }) => firstElementChild ?? [])
    .filter(
      (element) => element.textContent === nameIn(element) && getComputedStyle(element).whiteSpace === 'pre',
    );
  for (const element of elements) if (element.childElementCount > 0) element.textContent = nameIn(element);
  const cuts = elements.map(cutOf);
  for (const [index, cut] of cuts.entries()) if (cut) hide(elements[index] as Element, ...cut);
}

/** Returns the part of a whole name to hide, or nothing if the name fits. */
function cutOf(name: Element): readonly [start: number, end: number] | undefined {
  const [text, box] = [name.firstChild, name.parentElement];
  if (!text || !box?.offsetWidth) return undefined;
  const { width } = box.getBoundingClientRect();
  // The page may be scaled.
  const scale = width / box.offsetWidth;
  const style = getComputedStyle(name);
  const wordSpacing = (parseFloat(style.wordSpacing) || 0) * scale;
  const range = text.ownerDocument?.createRange() as Range;
  const widthOf = (start: number, end: number): number => {
    range.setStart(text, start);
    range.setEnd(text, end);
    const rects = [...range.getClientRects()].sort((one, other) => one.left - other.left);
    return rects.reduce((sum, rect, index) => {
      // WebKit leaves out the spacing of words between them.
      const gap = rect.left - (rects[index - 1]?.right ?? rect.left);
      return sum + rect.width + (gap > 0 && gap <= wordSpacing + 0.5 ? gap : 0);
    }, 0);
  };
  const whole = nameIn(name);
  // Half a pixel, for the rounding of layout.
  if (widthOf(0, whole.length) <= width + 0.5) return undefined;
  // An ellipsis has at most the width of an em.
  const ellipsis = parseFloat(style.fontSize) + (parseFloat(style.letterSpacing) || 0);
  return cutName(whole, width - ellipsis * scale, widthOf);
}

/** Hides a part of a name. Parts of a line of text, so that letters keep the order that they have in the whole name. */
function hide(name: Element, start: number, end: number): void {
  const whole = nameIn(name);
  const part = (className: string, text: string): Element => {
    const span = name.ownerDocument.createElement('span');
    span.className = className;
    span.textContent = text;
    return span;
  };
  name.replaceChildren(
    whole.slice(0, start),
    part('cut', whole.slice(start, end)),
    part('end', whole.slice(end)),
  );
}

class ShownName extends AsyncDirective {
  #name: string | undefined;
  #box: Element | undefined;
  #observer: ResizeObserver | undefined;

  override render(_name: string): typeof noChange {
    return noChange;
  }

  override update({ element }: ElementPart, [name]: [string]): typeof noChange {
    if (name === this.#name) return noChange;
    names.set(element, name);
    element.textContent = name;
    this.#name = name;
    this.#box = element.parentElement as Element;
    // A new row is in the document of its window only after the rendering.
    queueMicrotask(() => {
      this.disconnected();
      if (this.isConnected) this.reconnected();
    });
    return noChange;
  }

  /** A page that moves the element also calls this: an observer of another window would cause errors on the page. */
  override disconnected(): void {
    if (this.#box) this.#observer?.unobserve(this.#box);
  }

  override reconnected(): void {
    if (!this.#box) return;
    this.#observer = observerOf(pageOf(this.#box));
    this.#observer.observe(this.#box, BORDER_BOX);
  }
}

/** A directive that shows a name in its element, which has a box of its own. It is written in the tag. */
export const shownName = directive(ShownName);
