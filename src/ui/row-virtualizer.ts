// Virtual scrolling: renders only the visible rows of a long list, and some rows above and below. Measures rendered rows, so rows
// can have any height. Works whatever scrolls.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { pageOf } from './page.ts';
import type { RowRange } from './views/state.ts';

/** Number of rows up to which a list is rendered completely. */
const SHORT = 30;
/** Height above and below the visible part in which rows are also rendered, in pixels. */
const MARGIN = 600;
/**
 * Distance from the edges of the window, and of scrollers, at which a spacer is near. The sum is less than `MARGIN`, so that no
 * spacer is near after a rendering.
 */
const NEAR = '250px';
/** Estimated height of rows until the first rows are measured, in pixels. */
const GUESS = 72;

export type VirtualizerHost = ReactiveControllerHost & {
  readonly renderRoot: HTMLElement | DocumentFragment;
};

/** Returns the rows to render, and requests a rendering when scrolling makes other rows visible. */
export class RowVirtualizer implements ReactiveController {
  readonly #host: VirtualizerHost;
  readonly #heights = new Map<string, number>();
  #average = GUESS;
  #ids: readonly string[] = [];
  #range: RowRange | undefined;
  #observer: IntersectionObserver | undefined;

  constructor(host: VirtualizerHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    // Notices what fires no event here: scrolling in another shadow root or document, and changes of the layout.
    this.#observer = new IntersectionObserver(this.#look, { ...{ rootMargin: NEAR, scrollMargin: NEAR } });
    this.#observe();
  }

  hostDisconnected(): void {
    this.#observer?.disconnect();
    this.#observer = undefined;
  }

  /** Returns the rows to render now. */
  rangeOf(ids: readonly string[]): RowRange {
    this.#ids = ids;
    this.#range =
      ids.length <= SHORT ? { start: 0, end: ids.length, beforePx: 0, afterPx: 0 } : this.#compute();
    return this.#range;
  }

  hostUpdated(): void {
    this.#measure();
    this.#observe();
  }

  #measure(): void {
    if (this.#ids.length <= SHORT) return;
    const rows = this.#host.renderRoot.querySelectorAll<HTMLElement>('.row');
    let sum = 0;
    for (const row of rows) {
      const height = row.offsetHeight;
      sum += height;
      // A list that is not displayed has no heights.
      if (height) this.#heights.set(row.dataset.id ?? '', height);
    }
    if (sum) this.#average = sum / rows.length;
    if (this.#heights.size > this.#ids.length * 2) this.#heights.clear();
  }

  /** Looks at the spacers in the next frame, and when they come near. */
  #observe(): void {
    this.#observer?.disconnect();
    for (const spacer of this.#host.renderRoot?.querySelectorAll('.spacer') ?? [])
      this.#observer?.observe(spacer);
  }

  readonly #look = (entries: readonly IntersectionObserverEntry[]): void => {
    // A change of the layout, such as another font size, changes rows without a rendering.
    this.#measure();
    const range = this.#compute();
    if (range.start !== this.#range?.start || range.end !== this.#range.end) this.#host.requestUpdate();
    // The observer reports only that a spacer comes near, and not that it comes nearer.
    else if (entries.some((entry) => entry.isIntersecting))
      pageOf(this.#host.renderRoot).requestAnimationFrame(() => this.#observe());
  };

  #compute(): RowRange {
    const [top, bottom] = this.#visible();
    const count = this.#ids.length;
    let offset = 0;
    let start: Pick<RowRange, 'start' | 'beforePx'> | undefined;
    let end: { readonly index: number; readonly offset: number } | undefined;
    for (let index = 0; index < count; index++) {
      const rowEnd = offset + (this.#heights.get(this.#ids[index] as string) ?? this.#average);
      if (!start && rowEnd > top) start = { start: index, beforePx: offset };
      if (!end && offset > bottom) end = { index, offset };
      offset = rowEnd;
    }
    // When the list becomes shorter, the scroll position can be beyond the end of the list for one frame.
    start ??= { start: count - 10, beforePx: offset - 10 * this.#average };
    return { ...start, end: end?.index ?? count, afterPx: end ? offset - end.offset : 0 };
  }

  /** Returns the part of the list to render, in pixels of the list from its top. The page may be zoomed or scaled. */
  #visible(): readonly [top: number, bottom: number] {
    const root = this.#host.renderRoot;
    const list = root.querySelector<HTMLElement>('.list');
    const scroller = root.querySelector('.scroller')?.getBoundingClientRect();
    if (!list || !scroller) return [-MARGIN, MARGIN];
    const { top: start, height } = list.getBoundingClientRect();
    const { innerHeight } = pageOf(list);
    const scale = height / list.offsetHeight || 1;
    const top = Math.max(scroller.top, 0);
    const bottom = Math.max(top, Math.min(scroller.bottom, innerHeight));
    return [(top - start - MARGIN) / scale, (bottom - start + MARGIN) / scale];
  }
}
