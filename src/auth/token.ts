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

/** The only way of a token from the step that got it to the session, past everything that sees events and effects. */
export class TokenDoor {
  readonly #bearers = new WeakMap<SealedToken, Bearer>();

  seal(bearer: Bearer): SealedToken {
    const sealed = Object.freeze({ lifetimeMs: bearer.lifetimeMs });
    this.#bearers.set(sealed, bearer);
    return sealed;
  }

  /** Returns the token, but only once. */
  takeToken(sealed: SealedToken): Bearer | undefined {
    const bearer = this.#bearers.get(sealed);
    this.#bearers.delete(sealed);
    return bearer;
  }
}

/** A call renews its token in the background at most this long before the token expires. */
const LEAD_MS = 60_000;

/**
 * Holds the token of a session. The token is no property that others see, so copying the holder does not expose it. With `owner`,
 * all tokens must belong to this user.
 */
export class CurrentToken {
  readonly #owner: string | undefined;
  #bearer: Bearer | undefined;
  #keptAtMs = 0;
  #expiresAt: string | undefined;
  #userOfToken: string | undefined;
  #isRejected = false;
  #isProven = false;
  #leadMs = 0;

  constructor(owner?: string) {
    this.#owner = owner;
    this.#userOfToken = owner;
  }

  /** The token; `undefined` if the token is missing, refused or about to expire. */
  get value(): string | undefined {
    if (!this.#bearer || this.#isRejected) return undefined;
    const { value, lifetimeMs, isAssumed } = this.#bearer;
    const marginMs = Math.min(5_000, lifetimeMs / 20);
    return isAssumed || this.#ageMs < lifetimeMs - marginMs ? value : undefined;
  }

  /** True if the token should be renewed now. */
  get isDue(): boolean {
    const bearer = this.#bearer;
    return !!bearer && (this.#isRejected || this.#ageMs >= bearer.lifetimeMs - this.#leadMs);
  }

  get isRejected(): boolean {
    return this.#isRejected;
  }

  /** True if a call has succeeded since the last token arrived. */
  get isProven(): boolean {
    return this.#isProven;
  }

  /** Time when the token expires (ISO 8601); `undefined` if there is no token, or if its lifetime is a guess. */
  get expiresAt(): string | undefined {
    return this.#bearer && this.#expiresAt;
  }

  get #ageMs(): number {
    return performance.now() - this.#keptAtMs;
  }

  /**
   * Returns false if the token's user is neither `owner` nor the user of the previous token. A token without a user is accepted
   * from the page (`isFromPage`), or if there is no `owner`.
   */
  isSameUser({ user }: Bearer, isFromPage: boolean): boolean {
    if (user === undefined) return isFromPage || this.#owner === undefined;
    return user === (this.#userOfToken ?? user);
  }

  keep(bearer: Bearer): void {
    const { lifetimeMs, isAssumed, user } = bearer;
    this.#bearer = bearer;
    this.#keptAtMs = performance.now();
    this.#expiresAt = isAssumed ? undefined : new Date(Date.now() + lifetimeMs).toISOString();
    this.#userOfToken = user ?? this.#userOfToken;
    this.#isRejected = this.#isProven = false;
    // Jitter, so that many tabs and devices do not renew at the same moment.
    this.#leadMs = Math.min(LEAD_MS, lifetimeMs / 5) * (1 - Math.random() * 0.1);
  }

  /** Forgets the token, but remembers the user: the next token must belong to the same user. */
  drop(): void {
    this.#bearer = undefined;
  }

  forget(): void {
    this.drop();
    this.#userOfToken = this.#owner;
  }

  /** Call this method after a successful call. */
  prove(): void {
    this.#isProven = true;
  }

  /** Marks the token `value` as refused by the service. Does nothing if a newer token has replaced this token. */
  reject(value: string): void {
    if (this.#bearer?.value === value) this.#isRejected = true;
  }
}
