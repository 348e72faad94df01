// The window in which an element is now: pages can move elements to a frame or to another window.

import type { ReactiveControllerHost } from 'lit';

type Page = Window & typeof globalThis;

/** Returns the window in which `node` is shown. */
export const pageOf = (node: Node): Page => node.ownerDocument?.defaultView ?? globalThis.window;

/** Calls `listener` for the events of the window in which `host` is; with `isFirst`, before the listeners of all elements. */
export function listenOnPage(
  host: ReactiveControllerHost & { readonly renderRoot: Node },
  type: string,
  listener: (event: Event) => void,
  isFirst = false,
): void {
  let page: Page;
  host.addController({
    hostConnected() {
      page = pageOf(host.renderRoot);
      page.addEventListener(type, listener, isFirst);
    },
    hostDisconnected() {
      page.removeEventListener(type, listener, isFirst);
    },
  });
}
