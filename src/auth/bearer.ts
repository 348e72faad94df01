// Reads tokens.

import type { AuthOptions } from '../core/auth-options.ts';
import { readTimeMs } from '../core/read-time.ts';
import { record } from './post.ts';

/** A token of the user. Secret: never log or store a token. */
export interface Bearer {
  readonly value: string;
  /** Time from reading the token to the token's expiry; at most 30 days. */
  readonly lifetimeMs: number;
  /** True if the token came without a credible expiry. `lifetimeMs` is then a guess: it sets the time of the renewal only. */
  readonly isAssumed: boolean;
  /** User of the token: the value of the field that `sameUserField` or `ownerField` names. */
  readonly user?: string;
}

const SHORTEST_BELIEVED_MS = 5_000;
const LONGEST_LIFETIME_MS = 30 * 24 * 3_600_000;

/** Returns the number in a field. Returns `NaN` for other values, such as `true` and `{"toString": 1}`. */
export const readNumber = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;

/**
 * Reads a token from the page (a string or an object) or from the service (an object). Returns `undefined` if there is no token, or
 * if the token cannot be sent in a header.
 */
export function readBearer(
  input: unknown,
  assumedLifetimeMs: number,
  { sameUserField = 'id', ownerField }: Pick<AuthOptions, 'ownerField' | 'sameUserField'> = {},
): Bearer | undefined {
  const body = typeof input === 'object' ? record(input) : { token: input };
  const value = body.token ?? body.access_token;
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,16384}$/.test(value)) return undefined;
  const at = readTimeMs(body.expires_at);
  const expiresInMs = at === undefined ? readNumber(body.expires_in) * 1000 : at - Date.now();
  // A new token that seems to have expired shows that the device's clock is wrong.
  const isAssumed = !(
    Number.isFinite(expiresInMs) && expiresInMs >= Math.min(SHORTEST_BELIEVED_MS, assumedLifetimeMs)
  );
  const lifetimeMs = isAssumed ? assumedLifetimeMs : Math.min(expiresInMs, LONGEST_LIFETIME_MS);
  const user = body[ownerField || sameUserField];
  // Larger numbers are not exact: two users could have the same one.
  const isNamed = typeof user === 'string' || Number.isSafeInteger(user);
  return { value, lifetimeMs, isAssumed, ...(isNamed && { user: `${user}` }) };
}
