// Runs a call with the token. After a 401, retries with a newer token, or has the token renewed.

import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { WithToken } from '../core/types.ts';
import { record } from './post.ts';
import type { Brakes, Keeper } from './token-keeper.ts';

export interface TokenHooks {
  readonly keeper: Keeper;
  readonly brakes: Brakes;
  /** Resolves with a usable token. Waits for sign-in if necessary. */
  readonly obtain: (signal: AbortSignal) => Promise<string>;
  /** Called with the `WWW-Authenticate` header if the service demands stronger authentication. */
  readonly onStepUp: (header: string) => void;
}

export function createWithToken(settings: Settings, hooks: TokenHooks): WithToken {
  const { keeper, brakes, obtain, onStepUp } = hooks;
  return async (call, signal) => {
    signal.throwIfAborted();
    if (settings.auth === 'none') return call(undefined);
    let hasRenewed = false;
    for (;;) {
      const token = await obtain(signal);
      signal.throwIfAborted();
      try {
        const result = await call(token);
        brakes.release();
        return result;
      } catch (error) {
        if (!(error instanceof UploaderError) || error.code !== 'token-rejected') throw error;
        if (hasRenewed)
          throw new UploaderError('token-rejected', 'The service rejected a new token', {
            cause: error,
            status: 401,
          });
        // A newer token arrived during the call: retry with the newer token.
        if (keeper.value() !== undefined && keeper.value() !== token) continue;
        hasRenewed = true;
        keeper.reject(token);
        // Stronger authentication (RFC 9470). Works only if the page may read the header.
        const asked = String(record(error.cause).wwwAuthenticate);
        if (asked.includes('insufficient_user_authentication')) onStepUp(asked);
      }
    }
  };
}
