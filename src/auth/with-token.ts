// Runs a call with the token. After a 401, retries with a newer token, or has the token renewed.

import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { WithToken } from '../core/types.ts';
import { record } from './post.ts';
import type { Keeper } from './token-keeper.ts';

/**
 * Creates the function that runs a call. `obtain` resolves with a usable token, and waits for sign-in if necessary. `onStepUp` is
 * called with the `WWW-Authenticate` header if the service demands stronger authentication.
 */
export function createWithToken(
  settings: Settings,
  keeper: Keeper,
  obtain: (signal: AbortSignal) => Promise<string>,
  onStepUp: (header: string) => void,
): WithToken {
  return async (call, signal) => {
    signal.throwIfAborted();
    if (settings.auth === 'none') return call(undefined);
    let hasRenewed = false;
    for (;;) {
      const token = await obtain(signal);
      signal.throwIfAborted();
      try {
        const result = await call(token);
        keeper.prove();
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
