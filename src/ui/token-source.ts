// The write-only `token` property, on top of `getToken`: a token is handed out until it is refused or runs out; then the next one
// that the page sets is waited for. The token is in a private field of this object.

import type { Change, TokenInput } from '../core/changes.ts';
import type { GetToken } from '../core/config.ts';
import { abortable } from '../core/wait.ts';

export class TokenSource {
  #token: TokenInput | undefined;
  #isUsed = false;
  /** Whose the token is, once that is known. */
  #owner = '';
  #onSet = (): void => undefined;
  #next = new Promise<void>((resolve) => {
    this.#onSet = resolve;
  });

  /** Sets the token; calls of `getToken` that wait get it. */
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

  /** Somebody signed out, in this tab or in another. */
  onChange(change: Change): void {
    if (change.name === 'signed-out' && change.detail.reason !== 'expired') this.clear();
  }

  /** A new token is that owner's from now on; the token of another owner is forgotten. */
  assign(owner = ''): void {
    if (this.#owner !== '' && this.#owner !== owner) this.clear();
    this.#owner = owner;
  }

  /** Always the same function, which waits until there is a token. */
  readonly getToken: GetToken = async (reason, signal) => {
    if (reason !== 'first' && this.#isUsed) this.clear();
    while (this.#token === undefined) await abortable(this.#next, signal);
    this.#isUsed = true;
    return this.#token;
  };
}

/** A token that was set before the element was defined: it must not stay readable on it. */
export function takeEarlyToken(host: object): TokenInput | undefined {
  const { value } = Object.getOwnPropertyDescriptor(host, 'token') ?? {};
  if (value !== undefined) delete (host as { token?: unknown }).token;
  return value;
}
