// Texts of an element: English, replaced by those of its language, replaced by the page's `messages`. The module
// `secure-uploader/locales` sets `textsFor`; without it, all texts stay English.

import type { ReactiveControllerHost } from 'lit';
import type { LoginMessages } from '../core/messages.ts';

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

/**
 * A `<font>` by which a translator has replaced a text, or which it has added beside a text. Lit sets the `data` of the text that
 * it changes, but of a `<font>` instead if there is one in its place.
 */
interface Translation extends HTMLElement {
  readonly data?: string;
}

/** Returns a function that returns the current texts of an element. Updates the element when it is moved in the page. */
export function textsOf<T>(host: TextHost, english: T): () => T {
  let checkedMessages: object | undefined;
  let translations: (readonly [Translation, string | null | undefined])[] = [];
  host.addController({
    hostConnected: () => {
      languages.hosts.add(host);
      if (languages.textsFor) updateTexts(host);
    },
    hostDisconnected: () => void languages.hosts.delete(host),
    hostUpdate() {
      const fonts = host.renderRoot?.querySelectorAll<Translation>('font') ?? [];
      translations = Array.from(fonts, (font) => [font, font.parentNode?.textContent]);
    },
    hostUpdated() {
      const { messages } = host;
      if (messages !== checkedMessages && Object.keys(messages ?? {}).length > 0)
        // Without this code, only the warnings are missing.
        import('./check-messages.ts')
          .then(({ warnOfMessages }) => warnOfMessages(messages))
          .catch(() => undefined);
      checkedMessages = messages;
      // Other translations stay: a click would be lost on a text that is replaced before the button is released, and an
      // announcement would be spoken again.
      for (const [font, textBefore] of translations)
        if (font.data !== undefined) font.replaceWith(font.data);
        // Before each text of Lit is a comment. Without, the translation was added beside a text.
        else if (font.previousSibling?.nodeType !== 8 && font.parentNode?.textContent !== textBefore)
          font.remove();
    },
  });
  return () => ({ ...english, ...languages.textsFor?.(host), ...host.messages });
}
