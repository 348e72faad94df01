// Keeps the keyboard focus. When the focused button is removed, focuses the nearest remaining button.

import type { ReactiveController, ReactiveControllerHost } from 'lit';

export type FocusHost = ReactiveControllerHost & { readonly renderRoot: HTMLElement | DocumentFragment };

/** Restores the focus after each rendering of its host. */
export class FocusController implements ReactiveController {
  readonly #host: FocusHost;
  #focused: HTMLElement | undefined;
  /** Candidates for the focus, nearest first. */
  #places: readonly Element[] = [];

  constructor(host: FocusHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    globalThis.addEventListener('focus', this.#onReturn);
  }

  hostDisconnected(): void {
    globalThis.removeEventListener('focus', this.#onReturn);
  }

  hostUpdate(): void {
    const root = this.#host.renderRoot as Partial<ShadowRoot> | undefined;
    const focused = root?.activeElement;
    this.#focused = focused instanceof HTMLElement ? focused : undefined;
    if (!this.#focused) return;
    const row = this.#focused.closest('li');
    const group = this.#focused.closest('.actions, .bulk, .panel');
    this.#places = [group, row, ...(row ? siblingsOf(row) : [])].filter((place) => place !== null);
  }

  hostUpdated(): void {
    const focused = this.#focused;
    this.#focused = undefined;
    if (!focused || focused.isConnected) return;
    const action = focused.dataset.action ?? '';
    for (const place of this.#places) {
      if (!place.isConnected) continue;
      const next =
        place.querySelector<HTMLElement>(`[data-action="${action}"]`) ?? place.querySelector('button');
      if (next) {
        next.focus();
        return;
      }
    }
    this.#host.renderRoot.querySelector<HTMLElement>('[data-action="browse"]')?.focus();
  }

  /**
   * Focuses the panel with the button that opens the sign-in window again. Called when the user returns to the page, because the
   * user has probably closed the window.
   */
  readonly #onReturn = (): void => {
    this.#host.renderRoot.querySelector<HTMLElement>('[data-state="popup-lost"]')?.focus();
  };
}

/** Returns the rows after `row`, then the rows before `row`, nearest first. */
function siblingsOf(row: Element): Element[] {
  const all = [...(row.parentElement?.children ?? [])];
  const index = all.indexOf(row);
  return [...all.slice(index + 1), ...all.slice(0, index).reverse()];
}
