// The question to the page, `auth-required`: whoever hears it may answer with a token there and then. It knows no states.

import type { Report, TokenInput } from '../core/changes.ts';
import type { Reason } from './machine-types.ts';

/** Asks the page for a token by event, and keeps an answer until it is wanted. */
export class PageQuestion {
  readonly #report: Report;
  #offer: Promise<TokenInput> | undefined;
  /** True once the page was told; set to false when the next need is a new one. */
  wasAsked = false;

  constructor(report: Report) {
    this.#report = report;
  }

  /** Asks; true where somebody answered while the event was dispatched. Only the first answer counts. */
  ask(reason: Reason): boolean {
    this.#offer = undefined;
    this.wasAsked = true;
    let isOpen = true;
    const respondWith = (token: Promise<TokenInput> | TokenInput): void => {
      if (!isOpen)
        throw new DOMException('auth-required was answered already, or is over', 'InvalidStateError');
      isOpen = false;
      this.#offer = Promise.resolve(token);
      this.#offer.catch(() => undefined);
    };
    this.#report({ name: 'auth-required', detail: Object.freeze({ reason, respondWith }) });
    isOpen = false;
    return this.#offer !== undefined;
  }

  /** The answer at hand, else that of asking now; `undefined` where nobody answers. */
  take(reason: Reason): Promise<TokenInput> | undefined {
    if (!this.#offer) this.ask(reason);
    const offer = this.#offer;
    this.#offer = undefined;
    return offer;
  }
}
