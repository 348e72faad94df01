// Keeps the keyboard focus. When the focused button is removed, focuses the nearest remaining button. A row that moves keeps it.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { listenOnPage } from './page.ts';

export type FocusHost = ReactiveControllerHost & { readonly renderRoot: HTMLElement | DocumentFragment };

/** Buttons that may get the focus although the user was about to press another one. */
const SAFE = 'button:not([data-action=cancel-all], [data-action=clear])';

/** Restores the focus after each rendering of its host. */
export class FocusController implements ReactiveController {
  readonly #host: FocusHost;
  #focused: HTMLElement | undefined;
  #isMenu = false;
  /** Candidates for the focus, nearest first. */
  #places: readonly Element[] = [];

  constructor(host: FocusHost) {
    this.#host = host;
    host.addController(this);
    listenOnPage(host, 'focus', () => this.#onReturn());
  }

  hostUpdate(): void {
    const root = this.#host.renderRoot as Partial<ShadowRoot> | undefined;
    const focused = root?.activeElement;
    this.#focused = focused instanceof HTMLElement ? focused : undefined;
    if (!this.#focused) return;
    const row = this.#focused.closest('.row');
    const group = this.#focused.closest('.actions, .bulk, .panel');
    // The second press of "Undo" must not start another action: the focus goes to a row.
    const isUndo = this.#focused.dataset.action === 'undo';
    // Nor may a press that opens a menu, or is meant for it.
    this.#isMenu = this.#focused.matches('[data-action=more], .menu:popover-open *');
    this.#places = isUndo
      ? []
      : [group, ...(row ? [row, ...siblingsOf(row)] : [])].filter((place) => place !== null);
  }

  hostUpdated(): void {
    const focused = this.#focused;
    this.#focused = undefined;
    const root = this.#host.renderRoot as Partial<ShadowRoot> & ParentNode;
    if (!focused || root.activeElement) return;
    if (focused.isConnected) {
      focused.focus({ preventScroll: true });
      return;
    }
    const action = focused.dataset.action ?? '';
    for (const place of this.#places) {
      if (!place.isConnected) continue;
      // Those of a closed menu can't get it.
      const all = [...place.querySelectorAll('button')].filter((each) => each.checkVisibility());
      if (this.#isMenu && !place.matches('.actions, .bulk')) continue;
      const next = this.#isMenu
        ? all.find((each) => each.dataset.action === 'more')
        : (all.find((each) => each.dataset.action === action) ?? all.find((each) => each.matches(SAFE)));
      if (next) {
        next.focus();
        return;
      }
    }
    const row = this.#places.find((place) => place.isConnected && place.matches('.row'));
    const rest =
      (this.#isMenu ? (row as HTMLElement | undefined) : undefined) ??
      root.querySelector<HTMLElement>('.row[tabindex="0"]') ??
      root.querySelector<HTMLElement>('[data-action="browse"]');
    // The focused row may have been scrolled away, and scrolling back would undo that.
    rest?.focus({ preventScroll: true });
  }

  /**
   * Focuses the panel with the button that opens the sign-in window again. Called when the user returns to the page, because the
   * user has probably closed the window.
   */
  #onReturn(): void {
    this.#host.renderRoot.querySelector<HTMLElement>('[data-state="popup-lost"]')?.focus();
  }
}

/**
 * Focuses the row `id`; with `isLeaving`, a row beside it, which stays when `id` is removed. Without such a row, focuses the whole
 * interface. Rows have no action on Enter, so a key that is pressed once more does nothing. Leaves a focus outside of `root` there.
 */
export function focusRow(
  root: HTMLElement | DocumentFragment,
  id: string | undefined,
  isLeaving: boolean,
): void {
  if (!(root as Partial<ShadowRoot>).activeElement) return;
  const rows = [...root.querySelectorAll<HTMLElement>('.row')];
  const row = rows.find((each) => each.dataset.id === id) ?? rows[0];
  // The row of a folder may leave with its last file.
  const [next = root.querySelector<HTMLElement>('.base')] =
    row && isLeaving ? siblingsOf(row).filter((each) => !each.matches('[part~=folder]')) : [row];
  (next as HTMLElement | null)?.focus();
}

/** Returns the rows after `row`, then the rows before `row`, nearest first. */
function siblingsOf(row: Element): Element[] {
  const all = [...(row.parentElement?.children ?? [])];
  const index = all.indexOf(row);
  return [...all.slice(index + 1), ...all.slice(0, index).reverse()];
}
