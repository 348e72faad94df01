// Implements the write-only property `token` with `getToken`: returns the token until it is rejected or
// expires, then waits until the page sets the next one.

import type { Change, TokenInput } from '../core/changes.ts';
import type { GetToken } from '../core/config.ts';
import { abortable } from '../core/wait.ts';

export class TokenSource {
  #token: TokenInput | undefined;
  #isUsed = false;
  /** Owner of the token, once known. */
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

  /** Handles a sign-out, in this tab or in another. */
  onChange(change: Change): void {
    if (change.name === 'signed-out' && change.detail.reason !== 'expired') this.clear();
  }

  /** Assigns a new token to the owner; drops the token of another owner. */
  assign(owner = ''): void {
    if (this.#owner !== '' && this.#owner !== owner) this.clear();
    this.#owner = owner;
  }

  /** Always the same function; resolves when there is a token. */
  readonly getToken: GetToken = async (reason, signal) => {
    if (reason !== 'first' && this.#isUsed) this.clear();
    while (this.#token === undefined) await abortable(this.#next, signal);
    this.#isUsed = true;
    return this.#token;
  };
}

/** Takes a token that was set before the element was defined, since it would stay readable. */
export function takeEarlyToken(host: object): TokenInput | undefined {
  const { value } = Object.getOwnPropertyDescriptor(host, 'token') ?? {};
  if (value !== undefined) delete (host as { token?: unknown }).token;
  return value;
}
