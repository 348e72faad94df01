// The keyboard in the list: one tab stop, and arrow keys between and within rows.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { FileId } from '../core/types.ts';

export type ListKeysHost = ReactiveControllerHost & { readonly renderRoot: HTMLElement | DocumentFragment };

/**
 * Up and Down: the same control of the next row. Left and Right: the controls of a row. Home and End: the first and the last row.
 * Delete or Backspace: removes the file. Escape: leaves the list.
 */
export class ListKeys implements ReactiveController {
  /** The row that was focused last. */
  currentId: FileId | undefined;
  readonly #host: ListKeysHost;
  readonly #remove: (id: FileId) => void;
  /** The end of the list that will get the focus when its row has been rendered. */
  #wanted: 'first' | 'last' | undefined;

  constructor(host: ListKeysHost, remove: (id: FileId) => void) {
    this.#host = host;
    this.#remove = remove;
    host.addController(this);
  }

  hostConnected(): void {
    const { renderRoot } = this.#host;
    renderRoot.addEventListener('focusin', this.#onFocus);
    renderRoot.addEventListener('keydown', this.#onKey as EventListener);
  }

  hostUpdated(): void {
    if (this.#wanted) this.#goToEnd(this.#wanted);
  }

  readonly #onFocus = ({ target }: Event): void => {
    const row = this.#rowOf(target);
    if (!row || row.dataset.id === this.currentId) return;
    this.currentId = row.dataset.id;
    // In a microtask, because a rendering may set the focus.
    queueMicrotask(() => this.#host.requestUpdate());
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    const row = this.#rowOf(event.target);
    if (!row || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey)
      return;
    this.#wanted = undefined;
    const act = this.#actionOf(event, row);
    if (!act) return;
    event.preventDefault();
    // The page may have keys of its own.
    event.stopPropagation();
    act();
  };

  /** Returns the row that contains `target`. What is in slots has its own keys, and may be in a `.row` of the page. */
  #rowOf(target: EventTarget | null): HTMLElement | null {
    return this.#host.renderRoot.contains(target as Node) ? rowOf(target as Element) : null;
  }

  #actionOf({ key, repeat, target }: KeyboardEvent, row: HTMLElement): (() => void) | undefined {
    const toStart = getComputedStyle(row).direction === 'rtl' ? 'ArrowRight' : 'ArrowLeft';
    switch (key) {
      case 'ArrowUp':
        return () => focusIn(row.previousElementSibling, target as HTMLElement);
      case 'ArrowDown':
        return () => focusIn(row.nextElementSibling, target as HTMLElement);
      case 'ArrowLeft':
      case 'ArrowRight':
        return () => {
          const controls = [row, ...buttonsOf(row)];
          controls[controls.indexOf(target as HTMLElement) + (key === toStart ? -1 : 1)]?.focus();
        };
      case 'Home':
        return () => this.#goToEnd('first');
      case 'End':
        return () => this.#goToEnd('last');
      case 'Delete':
      case 'Backspace':
        return () => void (repeat || this.#remove(row.dataset.id ?? ''));
      case 'Escape':
        return () => this.#host.renderRoot.querySelector<HTMLElement>('.base')?.focus();
      default:
        return undefined;
    }
  }

  /** Focuses the first or last row. If it is not rendered, scrolls there, and tries again after the next rendering. */
  #goToEnd(end: 'first' | 'last'): void {
    const list = this.#host.renderRoot.querySelector('.list');
    const child = end === 'first' ? list?.firstElementChild : list?.lastElementChild;
    const row = rowOf(child);
    this.#wanted = child && !row ? end : undefined;
    row?.focus();
    // Needed even if the row has the focus: WebKit scrolls to the top when the focused row is replaced, and focus() does not scroll
    // back.
    child?.scrollIntoView({ block: row ? 'nearest' : end === 'first' ? 'start' : 'end' });
  }
}

const rowOf = (element: Element | null | undefined): HTMLElement | null =>
  element?.closest<HTMLElement>('.row') ?? null;

/** The buttons of a row, without those of a closed menu. */
const buttonsOf = (row: Element): HTMLElement[] =>
  [...row.querySelectorAll('button')].filter((each) => each.checkVisibility());

/** Focuses the control of `row` that has the same action as `control`, or else the row. */
function focusIn(row: Element | null, { dataset }: HTMLElement): void {
  const same = row && buttonsOf(row).find((each) => each.dataset.action === dataset.action);
  (same ?? rowOf(row))?.focus();
}
