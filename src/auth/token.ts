// Reads tokens, and holds the current one.

import type { AuthOptions } from '../core/auth-options.ts';
import { readTimeMs } from '../core/read-time.ts';
import { record } from './calls.ts';
import type { Bearer, SealedToken } from './types.ts';

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
  const isToken = typeof value === 'string' && /^[\x21-\x7e]{1,16384}$/.test(value);
  // The browser keeps the last text that a regular expression has matched (`RegExp.input`), where any script can read it.
  /^/.test('');
  if (!isToken) return undefined;
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

/** Creates the only way of a token from the step that got it to the session, past everything that sees events and effects. */
export function createTokenDoor() {
  const tokens = new WeakMap<SealedToken, Bearer>();
  return {
    seal(bearer: Bearer): SealedToken {
      const sealed = Object.freeze({ lifetimeMs: bearer.lifetimeMs });
      tokens.set(sealed, bearer);
      return sealed;
    },
    /** Returns the token, but only once. */
    takeToken(sealed: SealedToken): Bearer | undefined {
      const bearer = tokens.get(sealed);
      tokens.delete(sealed);
      return bearer;
    },
  };
}

export type Keeper = ReturnType<typeof createKeeper>;

/** A call renews its token in the background at most this long before the token expires. */
const LEAD_MS = 60_000;

/**
 * Holds the token of a session. The token is not a property, so copying or logging the keeper does not expose it. With `owner`, all
 * tokens must belong to this user.
 */
export function createKeeper(owner?: string) {
  let bearer: Bearer | undefined;
  let keptAtMs = 0;
  let expiresAt: string | undefined;
  let userOfToken = owner;
  let isRejected = false;
  let isProven = false;
  let ownLeadMs = 0;

  const ageMs = (): number => performance.now() - keptAtMs;
  /** Forgets the token, but remembers the user: the next token must belong to the same user. */
  const drop = (): void => {
    bearer = undefined;
  };

  return {
    drop,
    keep(next: Bearer): void {
      const { lifetimeMs, isAssumed, user } = next;
      bearer = next;
      keptAtMs = performance.now();
      expiresAt = isAssumed ? undefined : new Date(Date.now() + lifetimeMs).toISOString();
      userOfToken = user ?? userOfToken;
      isRejected = isProven = false;
      // Jitter, so that many tabs and devices do not renew at the same moment.
      ownLeadMs = Math.min(LEAD_MS, lifetimeMs / 5) * (1 - Math.random() * 0.1);
    },
    forget(): void {
      drop();
      userOfToken = owner;
    },
    /**
     * Returns false if the token's user is neither `owner` nor the user of the previous token. A token without a user is accepted
     * from the page (`isFromPage`), or if there is no `owner`.
     */
    isSameUser: ({ user }: Bearer, isFromPage: boolean): boolean =>
      user === undefined ? isFromPage || owner === undefined : user === (userOfToken ?? user),
    /** Call this method after a successful call. */
    prove(): void {
      isProven = true;
    },
    /** Returns true if a call has succeeded since the last token arrived. */
    isProven: () => isProven,
    /** Marks the token `value` as refused by the service. Does nothing if a newer token has replaced this token. */
    reject(value: string): void {
      if (bearer?.value === value) isRejected = true;
    },
    /** Returns the token; `undefined` if the token is missing, refused or about to expire. */
    value(): string | undefined {
      if (!bearer || isRejected) return undefined;
      const { value, lifetimeMs, isAssumed } = bearer;
      const marginMs = Math.min(5_000, lifetimeMs / 20);
      return isAssumed || ageMs() < lifetimeMs - marginMs ? value : undefined;
    },
    /** Returns true if the token should be renewed now. */
    isDue: (): boolean => !!bearer && (isRejected || ageMs() >= bearer.lifetimeMs - ownLeadMs),
    isRejected: () => isRejected,
    /** Time when the token expires (ISO 8601); `undefined` if there is no token, or if its lifetime is a guess. */
    expiresAt: () => bearer && expiresAt,
  };
}
