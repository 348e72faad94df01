// The write-only `token` property as a `getToken`: a token is handed out, and when it is refused or runs out the next one
// that the page sets is waited for. The token lives in this closure and nowhere else.

import type { TokenInput } from '../core/changes.ts';
import type { GetToken } from '../core/config.ts';
import { abortable } from '../core/wait.ts';

/** Where tokens are put, and the function that takes them out. */
export interface TokenSource {
  /** Sets the token; whoever waits gets it. */
  set(token: TokenInput): void;
  /** Forgets the token: somebody signed out. */
  clear(): void;
  readonly getToken: GetToken;
}

/** An empty source: `getToken` waits until the first `set`. */
export function createTokenSource(): TokenSource {
  let token: TokenInput | undefined;
  let isUsed = false;
  let onSet: () => void = () => undefined;
  let next = new Promise<void>((resolve) => {
    onSet = resolve;
  });
  return {
    set(value) {
      token = value;
      isUsed = false;
      onSet();
      next = new Promise((resolve) => {
        onSet = resolve;
      });
    },
    clear() {
      token = undefined;
    },
    async getToken(reason, signal) {
      if (reason !== 'first' && isUsed) token = undefined;
      while (token === undefined) await abortable(next, signal);
      isUsed = true;
      return token;
    },
  };
}

/** A token that was set before the element was defined: it must not stay readable on it. */
export function takeEarlyToken(host: object): TokenInput | undefined {
  const { value } = Object.getOwnPropertyDescriptor(host, 'token') ?? {};
  if (value !== undefined) delete (host as { token?: unknown }).token;
  return value;
}
