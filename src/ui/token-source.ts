// Implements the write-only property `token` by means of `getToken`: returns the token until it is rejected or
// expires, then waits until the page sets a new one.

import type { Change, TokenInput } from '../core/changes.ts';
import type { GetToken } from '../core/config.ts';
import { abortable } from '../core/wait.ts';

export class TokenSource {
  #token: TokenInput | undefined;
  #isUsed = false;
  /** The owner of the token; empty until `assign()`. */
  #owner = '';
  #onSet = (): void => undefined;
  #next = new Promise<void>((resolve) => {
    this.#onSet = resolve;
  });

  /** Sets the token and resolves waiting calls of `getToken`. */
  set(token: TokenInput): void {
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

  /** Drops the token when the user signs out, here or in another tab. */
  onChange(change: Change): void {
    if (change.name === 'signed-out' && change.detail.reason !== 'expired') this.clear();
  }

  /** Assigns the token to this owner. Drops it if it belongs to another owner. */
  assign(owner = ''): void {
    if (this.#owner !== '' && this.#owner !== owner) this.clear();
    this.#owner = owner;
  }

  /** The `getToken` for the engine. Waits until there is a token. */
  readonly getToken: GetToken = async (reason, signal) => {
    if (reason !== 'first' && this.#isUsed) this.clear();
    while (this.#token === undefined) await abortable(this.#next, signal);
    this.#isUsed = true;
    return this.#token;
  };
}

/** Removes and returns a token that was set before the element was defined: as a plain property, it would stay readable. */
export function takeEarlyToken(host: object): TokenInput | undefined {
  const { value } = Object.getOwnPropertyDescriptor(host, 'token') ?? {};
  if (value !== undefined) delete (host as { token?: unknown }).token;
  return value;
}
