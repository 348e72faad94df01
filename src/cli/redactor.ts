// Texts of the service in reports. Reports are often printed in public logs and on terminals, so they contain no secrets and no
// control characters.

import type { Exchange } from './exchange.ts';

const LONGEST_LINE = 160;
/** Shorter values are not replaced: they would also occur by chance. */
const SHORTEST_SECRET = 4;
const SECRET_NAME = /auth|code|cookie|cred|key|pass|pwd|receipt|secret|session|sig|token/i;
/** Parts of a path that are words say what the URL is for. */
const WORD = /^[a-z]*$/;

/** Collects the secrets of responses, and returns texts without them. */
export class Redactor {
  readonly #secrets = new Set<string>();

  constructor(...secrets: readonly (string | undefined)[]) {
    for (const secret of secrets) this.#add(secret);
  }

  /** Remembers the secrets of a response: session, receipts, paths and signatures of URLs, and other values that are not words. */
  learn({ json, headers }: Pick<Exchange, 'json' | 'headers'>): void {
    JSON.stringify(json, (name, value: unknown) => {
      if (typeof value !== 'string') return value;
      if (URL.canParse(value)) this.#addUrl(value);
      else if (SECRET_NAME.test(name) || /^\S{20,}$/.test(value)) this.#add(value);
    });
    for (const [name, value] of Object.entries(headers)) if (SECRET_NAME.test(name)) this.#add(String(value));
  }

  /** Returns a text of at most 160 characters in one line. A number replaces each secret. */
  line = (text: string): string => {
    const line = this.text(text).replace(/\s+/g, ' ');
    return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
  };

  /** Like `line`, but keeps line breaks and length. */
  text = (text: string): string => {
    const secrets = [...this.#secrets];
    let redactedText = text;
    // A longer secret may contain a shorter one.
    for (const secret of secrets.toSorted((one, other) => other.length - one.length))
      redactedText = redactedText.replaceAll(secret, () => `<secret ${secrets.indexOf(secret)}>`);
    return redactedText.replace(
      /[^\P{Cc}\n\t]|[\p{Cf}\u2028\u2029]/gu,
      (letter) => `\\u${letter.codePointAt(0)?.toString(16).padStart(4, '0')}`,
    );
  };

  #addUrl(url: string): void {
    const { pathname, search } = new URL(url);
    this.#add(search);
    for (const part of pathname.split('/')) if (!WORD.test(part)) this.#add(part);
  }

  #add(secret: string | undefined): void {
    if (secret === undefined || secret.length < SHORTEST_SECRET) return;
    this.#secrets.add(secret).add(JSON.stringify(secret).slice(1, -1));
  }
}
