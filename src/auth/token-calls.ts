// Runs the calls of a session with its token.

import { UploaderError } from '../core/errors.ts';
import { Listeners } from '../core/listeners.ts';
import type { AuthMode } from '../core/types.ts';
import { abortable } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { record } from './calls.ts';
import { CallEvidence } from './evidence.ts';
import type { CurrentToken } from './token.ts';
import type { AuthModel } from './types.ts';

/** What calls need from their session. */
export interface TokenSource {
  /** Starts the step that gets a token in the current state. */
  demand(): void;
  /** Starts the renewal of the token in the background, if it is time. */
  renew(): void;
  /** Signs in again with the demands of this `WWW-Authenticate` header (RFC 9470). */
  stepUp(header: string): void;
  /** Called when a call no longer waits. */
  refresh(): void;
}

/** The calls of a session: those that wait for a token, and what the others show about the service. */
export class TokenCalls {
  readonly #mode: AuthMode;
  readonly #token: CurrentToken;
  readonly #source: TokenSource;
  readonly #evidence = new CallEvidence();
  readonly #waiters = new Listeners<void>();

  constructor(mode: AuthMode, token: CurrentToken, source: TokenSource) {
    this.#mode = mode;
    this.#token = token;
    this.#source = source;
  }

  /** True if a call waits for a token. */
  get isWaiting(): boolean {
    return this.#waiters.size > 0;
  }

  /** What the last calls show about the service. */
  get service(): AuthModel['service'] {
    return this.#evidence.service();
  }

  /** Continues the calls that wait. */
  wake(): void {
    this.#waiters.tell();
  }

  /** Makes a call with the token, as `withToken` of `AuthSession` does. */
  async make<T>(call: (value: string | undefined) => Promise<T>, signal: AbortSignal): Promise<T> {
    const token = this.#token;
    signal.throwIfAborted();
    if (this.#mode === 'none') return call(undefined);
    let hasRenewed = false;
    for (;;) {
      const value = await this.#obtain(signal);
      signal.throwIfAborted();
      try {
        const result = await this.#evidence.watch(() => call(value));
        token.prove();
        return result;
      } catch (error) {
        const isRejected = error instanceof UploaderError && error.code === 'token-rejected';
        if (isRejected && hasRenewed)
          warnOnceHere(
            'The service refused a new token, too (401). Has it expired, or is it for another service?',
          );
        if (!isRejected || hasRenewed) throw error;
        // A newer token arrived during the call: retry with the newer token.
        if (token.value !== undefined && token.value !== value) continue;
        hasRenewed = true;
        token.reject(value);
        // The service demands stronger authentication (RFC 9470). Works only if the page may read the header.
        const header = String(record(error.cause).wwwAuthenticate);
        if (header.includes('insufficient_user_authentication')) this.#source.stepUp(header);
      }
    }
  }

  /** Resolves with a usable token. Waits for sign-in if necessary. */
  async #obtain(signal: AbortSignal): Promise<string> {
    const { value, isDue } = this.#token;
    if (value !== undefined) {
      if (isDue) this.#source.renew();
      return value;
    }
    let leave = (): unknown => undefined;
    const woken = new Promise<void>((resolve) => {
      leave = this.#waiters.add(resolve);
    });
    try {
      this.#source.demand();
      await abortable(woken, signal);
    } finally {
      leave();
      this.#source.refresh();
    }
    return this.#obtain(signal);
  }
}
