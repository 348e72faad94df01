// Asks the page for a token by its event `auth-required`.

import type { Change, TokenInput } from '../core/changes.ts';
import { awaitedLater } from '../core/wait.ts';
import type { Reason } from './types.ts';

/** The token that a listener of `auth-required` provided, until it is used. */
export class PageOffer {
  readonly #report: (change: Change) => void;
  #token: Promise<TokenInput> | undefined;
  #wasAsked = false;

  constructor(report: (change: Change) => void) {
    this.#report = report;
  }

  /** True if the page was asked since the last token arrived. */
  get wasAsked(): boolean {
    return this.#wasAsked;
  }

  /** Dispatches `auth-required`. Returns true if a listener called `respondWith`. Later calls of `respondWith` throw. */
  ask(reason: Reason): boolean {
    this.#token = undefined;
    this.#wasAsked = true;
    let isOpen = true;
    const respondWith = (token: Promise<TokenInput> | TokenInput): void => {
      if (!isOpen) throw new DOMException('respondWith: called twice or too late', 'InvalidStateError');
      isOpen = false;
      this.#token = awaitedLater(Promise.resolve(token));
    };
    this.#report({ name: 'auth-required', detail: Object.freeze({ reason, respondWith }) });
    isOpen = false;
    return this.#token !== undefined;
  }

  /** Returns the token, but only once. */
  take(): Promise<TokenInput> | undefined {
    const token = this.#token;
    this.#token = undefined;
    return token;
  }

  /** Forgets the token, and that the page was asked. */
  forget(): void {
    this.#token = undefined;
    this.#wasAsked = false;
  }
}
