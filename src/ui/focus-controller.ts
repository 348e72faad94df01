// Keeps the keyboard focus. When the focused button is removed, focuses the nearest remaining button. A row that moves keeps it.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { listenOnPage } from './page.ts';

export type FocusHost = ReactiveControllerHost & { readonly renderRoot: HTMLElement | DocumentFragment };

/** Buttons that may get the focus although the user was about to press another one. */
const SAFE = 'button:not([data-action=cancel-all], [data-action=clear])';

/** What may get the focus: the place, or the first visible button in it, that matches. */
type Candidate = readonly [place: Element, selector: string];

/** Restores the focus after each rendering of its host. */
export class FocusController implements ReactiveController {
  readonly #host: FocusHost;
  #focused: HTMLElement | undefined;
  /** Nearest first. */
  #candidates: readonly Candidate[] = [];

  constructor(host: FocusHost) {
    this.#host = host;
    host.addController(this);
    listenOnPage(host, 'focus', () => this.#onReturn());
  }

  hostUpdate(): void {
    const root = this.#host.renderRoot as Partial<ShadowRoot> | undefined;
    const focused = root?.activeElement;
    this.#focused = focused instanceof HTMLElement ? focused : undefined;
    if (this.#focused) this.#candidates = candidatesFor(this.#focused);
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
    for (const [place, selector] of this.#candidates) {
      if (!place.isConnected) continue;
      // Those of a closed menu can't get it.
      const target = [place as HTMLElement, ...place.querySelectorAll('button')].find(
        (each) => each.matches(selector) && each.checkVisibility(),
      );
      if (target) {
        // The row may have been scrolled away, and scrolling back would undo that.
        target.focus({ preventScroll: target === place });
        return;
      }
    }
    const fallback =
      root.querySelector<HTMLElement>('.row[tabindex="0"]') ??
      root.querySelector<HTMLElement>('[data-action="browse"]');
    fallback?.focus({ preventScroll: true });
  }

  /**
   * Focuses the panel with the button that opens the sign-in window again. Called when the user returns to the page, because the
   * user has probably closed the window.
   */
  #onReturn(): void {
    this.#host.renderRoot.querySelector<HTMLElement>('[data-state="popup-lost"]')?.focus();
  }
}

/** Returns what may get the focus if `focused` is removed. */
function candidatesFor(focused: Element): readonly Candidate[] {
  const action = focused.getAttribute('data-action');
  // The second press of "Undo" must not start another action: the focus goes to a row.
  if (action === 'undo') return [];
  const row = focused.closest('.row');
  const rows = row ? [row, ...siblingsOf(row)] : [];
  const group = focused.closest('.actions, .bulk, .panel');
  const places = group ? [group, ...rows] : rows;
  // Nor may a press that opens a menu, or is meant for it.
  if (focused.matches('[data-action=more], .menu:popover-open *'))
    return places.map((place) => [place, place === group ? '[data-action=more]' : '.row']);
  return places.flatMap((place): Candidate[] => [
    [place, `[data-action="${action}"]`],
    [place, SAFE],
  ]);
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
  const [target = root.querySelector<HTMLElement>('.base')] =
    row && isLeaving ? siblingsOf(row).filter((each) => !each.matches('[part~=folder]')) : [row];
  (target as HTMLElement | null)?.focus();
}

/** Returns the rows after `row`, then the rows before `row`, nearest first. */
function siblingsOf(row: Element): Element[] {
  const rows = [...(row.parentElement?.children ?? [])];
  const index = rows.indexOf(row);
  return [...rows.slice(index + 1), ...rows.slice(0, index).reverse()];
}
