// Texts of an element: English, replaced by those of its language, replaced by the page's `messages`. The module
// `secure-uploader/locales` sets `textsFor`; without it, all texts stay English.

import type { ReactiveControllerHost } from 'lit';
import type { LoginMessages } from './login-messages.ts';

/** An element with texts. */
export interface TextHost extends ReactiveControllerHost, HTMLElement {
  readonly messages: Partial<LoginMessages>;
  readonly renderRoot?: HTMLElement | DocumentFragment;
  requestUpdate(name?: 'messages', oldValue?: object): void;
}

interface Languages {
  /** All connected elements. */
  readonly hosts: Set<TextHost>;
  /** Returns the texts for the language of an element; `undefined` for English, and until they are loaded. */
  textsFor?: (host: TextHost) => LoginMessages | undefined;
}

const key = Symbol.for('secure-uploader.languages');
const shared = globalThis as { [key]?: Languages };

/** A property of the page, because the page may load its script and `secure-uploader/locales` from different files. */
shared[key] ??= { hosts: new Set() };
export const languages: Languages = shared[key];

/** Renders an element with its current texts. Lit skips an update if old and new value are equal, and `{}` equals no value. */
export const updateTexts = (host: TextHost): void => host.requestUpdate('messages', {});

/** Returns a function that returns the current texts of an element. Updates the element when it is moved in the page. */
export function textsOf<T>(host: TextHost, english: T): () => T {
  host.addController({
    hostConnected: () => {
      languages.hosts.add(host);
      if (languages.textsFor) updateTexts(host);
    },
    hostDisconnected: () => void languages.hosts.delete(host),
    hostUpdate() {
      // Lit cannot update a text that a translator has replaced by a <font>, and does not remove one beside the text. A changed
      // announcement would be spoken again.
      for (const font of host.renderRoot?.querySelectorAll('font:not([aria-live] *)') ?? [])
        font.replaceWith(font.className || font.previousSibling?.nodeType === 3 ? '' : font.textContent);
    },
  });
  return () => ({ ...english, ...languages.textsFor?.(host), ...host.messages });
}
