// Implements the write-only property `token` with a function for the setting `getToken`, which only the engine gets. The function
// returns the token until it is rejected or expires, then waits until the page sets a new token.

import type { TokenInput } from '../core/changes.ts';
import type { GetToken } from '../core/settings-table.ts';
import { abortable } from '../core/wait.ts';

export class TokenSource {
  #token: TokenInput | undefined;
  #isUsed = false;
  /** Owner of the token; empty until `assign()` is called. */
  #owner = '';
  #onSet = (): void => undefined;
  #next = new Promise<void>((resolve) => {
    this.#onSet = resolve;
  });

  /** Value of the setting `getToken`; `undefined` until the page has set a token. */
  source: GetToken | undefined;

  /** Sets the token and resolves waiting calls of `source`. */
  set(token: TokenInput): void {
    this.source = this.getToken;
    this.#token = token;
    this.#isUsed = false;
    this.#owner = '';
    this.#onSet();
    this.#next = new Promise((resolve) => {
      this.#onSet = resolve;
    });
  }

  clear(): void {
    this.#token = undefined;
  }

  /** Assigns the token to `owner`. Drops the token if the token belongs to another owner. */
  assign(owner = ''): void {
    if (this.#owner !== '' && this.#owner !== owner) this.clear();
    this.#owner = owner;
  }

  /** Waits until there is a token. */
  readonly getToken: GetToken = async (reason, signal) => {
    if (reason !== 'first' && this.#isUsed) this.clear();
    while (this.#token === undefined) await abortable(this.#next, signal);
    this.#isUsed = true;
    return this.#token;
  };
}

/** Removes and returns a token that was set before the element was defined. As a plain property, the token would stay readable. */
export function takeEarlyToken(host: object): TokenInput | undefined {
  const { value } = Object.getOwnPropertyDescriptor(host, 'token') ?? {};
  if (value !== undefined) delete (host as { token?: unknown }).token;
  return value;
}
