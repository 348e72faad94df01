// Virtual scrolling: renders only the visible rows of a long list, and some rows above and below. Measures rendered rows, so rows
// can have any height. Works if the list scrolls, and if the page scrolls.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { RowRange } from './views/state.ts';

/** Number of rows up to which a list is rendered completely. */
const SHORT = 60;
/** Height above and below the visible part in which rows are also rendered, in pixels. */
const MARGIN = 600;
/** Estimated height of rows until the first rows are measured, in pixels. */
const GUESS = 72;

export type WindowHost = ReactiveControllerHost & { readonly renderRoot: HTMLElement | DocumentFragment };

/** Returns the rows to render, and requests a rendering when scrolling makes other rows visible. */
export class WindowController implements ReactiveController {
  readonly #host: WindowHost;
  readonly #heights = new Map<string, number>();
  #average = GUESS;
  #ids: readonly string[] = [];
  #range: RowRange | undefined;
  #frame = 0;
  #connection = new AbortController();

  constructor(host: WindowHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#connection = new AbortController();
    const options = { capture: true, signal: this.#connection.signal };
    const onMove = (): void => {
      if (this.#ids.length > SHORT) this.#askAgain();
    };
    globalThis.addEventListener('scroll', onMove, options);
    // The scroll event of the list does not leave the shadow root.
    this.#host.renderRoot.addEventListener('scroll', onMove, options);
    globalThis.addEventListener('resize', onMove, options);
  }

  hostDisconnected(): void {
    this.#connection.abort();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  /** Returns the rows to render now. */
  rangeOf(ids: readonly string[]): RowRange {
    this.#ids = ids;
    this.#range = ids.length <= SHORT ? { first: 0, last: ids.length, before: 0, after: 0 } : this.#compute();
    return this.#range;
  }

  hostUpdated(): void {
    if (this.#ids.length <= SHORT) return;
    const rows = this.#host.renderRoot.querySelectorAll<HTMLElement>('.row');
    let sum = 0;
    for (const row of rows) {
      const height = row.offsetHeight;
      sum += height;
      this.#heights.set(row.dataset.id ?? '', height);
    }
    if (sum) this.#average = sum / rows.length;
    if (this.#heights.size > this.#ids.length * 2) this.#heights.clear();
    this.#askAgain();
  }

  /** Computes the range again in the next frame, to avoid a forced layout. */
  #askAgain(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      const next = this.#compute();
      if (next.first !== this.#range?.first || next.last !== this.#range.last) this.#host.requestUpdate();
    });
  }

  #compute(): RowRange {
    const [top, bottom] = this.#visible();
    const count = this.#ids.length;
    let offset = 0;
    let start: Pick<RowRange, 'first' | 'before'> | undefined;
    let end: { readonly last: number; readonly offset: number } | undefined;
    for (let index = 0; index < count; index++) {
      const next = offset + (this.#heights.get(this.#ids[index] as string) ?? this.#average);
      if (!start && next > top - MARGIN) start = { first: index, before: offset };
      if (!end && offset > bottom + MARGIN) end = { last: index, offset };
      offset = next;
    }
    // When the list becomes shorter, the scroll position can be beyond the end of the list for one frame.
    start ??= { first: count - 10, before: offset - 10 * this.#average };
    return { ...start, last: end?.last ?? count, after: end ? offset - end.offset : 0 };
  }

  /** Returns the visible part of the list, in pixels from the top of the list. */
  #visible(): readonly [top: number, bottom: number] {
    const root = this.#host.renderRoot;
    const list = root.querySelector('.list')?.getBoundingClientRect();
    const scroller = root.querySelector('.scroller')?.getBoundingClientRect();
    if (!list || !scroller) return [0, 0];
    const top = Math.max(scroller.top, 0) - list.top;
    return [top, Math.max(top, Math.min(scroller.bottom, globalThis.innerHeight) - list.top)];
  }
}
