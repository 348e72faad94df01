// The token: reads it leniently, in spite of a clock that may be wrong, and keeps it in one private field. Also limits renewals.

import type { AuthOptions } from '../core/auth-options.ts';
import { record } from './post.ts';
import { type AuthTimes, coolMs } from './times.ts';

/** Secret. */
export interface Bearer {
  readonly value: string;
  /** Counted from when it was read; at most 30 days. */
  readonly lifetimeMs: number;
  /** The lifetime is a guess; only a 401 ends the token. */
  readonly isAssumed: boolean;
  /** Value of `sameUserField`. */
  readonly user?: string;
}

const SECONDS_BELOW = 1e11;
const SHORTEST_BELIEVED_MS = 5_000;
const LONGEST_LIFETIME_MS = 30 * 24 * 3_600_000;
/** The latest time that a `Date` can hold. */
const LATEST_MS = 8.64e15;

/** Epoch milliseconds of any documented form of `expires_at`; `undefined` for anything else, such as nanoseconds. */
export function readExpiry(value: unknown): number | undefined {
  if (typeof value === 'number' || (typeof value === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(value))) {
    const number = Number(value);
    const atMs = number < SECONDS_BELOW ? number * 1000 : number;
    return atMs > 0 && atMs <= LATEST_MS ? atMs : undefined;
  }
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const hasZone = /(?:z|[+-]\d\d:?\d\d)$/i.test(text);
  const parsed = Date.parse(hasZone ? text : `${text.includes('T') ? text : text.replace(' ', 'T')}Z`);
  return Number.isNaN(parsed) ? undefined : parsed;
}

/** Reads a token from a page (a string or an object) or from the service. `undefined` if it is missing or not valid in a header. */
export function readBearer(
  input: unknown,
  assumedLifetimeMs: number,
  { sameUserField = 'id' }: Pick<AuthOptions, 'sameUserField'> = {},
): Bearer | undefined {
  const body = typeof input === 'object' ? record(input) : { token: input };
  const value = body.token ?? body.access_token ?? body.accessToken;
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,16384}$/.test(value)) return undefined;
  const at = readExpiry(body.expires_at ?? body.expiresAt);
  const told = body.expires_in ?? body.expiresIn;
  // An object from the wire may have a `valueOf` that is not a function.
  const seconds = typeof told === 'number' || typeof told === 'string' ? Number(told) : Number.NaN;
  const toldMs = at !== undefined ? at - Date.now() : seconds * 1000;
  // A token that has ended on arrival means that the device's clock is wrong.
  const isAssumed = !(Number.isFinite(toldMs) && toldMs >= Math.min(SHORTEST_BELIEVED_MS, assumedLifetimeMs));
  const lifetimeMs = isAssumed ? assumedLifetimeMs : Math.min(toldMs, LONGEST_LIFETIME_MS);
  const user = body[sameUserField];
  const isNamed = typeof user === 'string' || typeof user === 'number';
  return { value, lifetimeMs, isAssumed, ...(isNamed && { user: `${user}` }) };
}

export type Keeper = ReturnType<typeof createKeeper>;
export type Brakes = ReturnType<typeof createBrakes>;

/** Holds the token of a session. Nothing of it is a property, so that no copy or log of the keeper shows the token. */
export function createKeeper({ leadMs, assumedLifetimeMs }: AuthTimes) {
  let bearer: Bearer | undefined;
  let keptAtMs = 0;
  let expiresAt: string | undefined;
  let userOfToken: string | undefined;
  let isRejected = false;
  let ownLeadMs = 0;

  const ageMs = (): number => performance.now() - keptAtMs;
  /** Forgets the token but not its user: the next token must be of the same one. */
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
      isRejected = false;
      // Jitter, so that many tabs and devices do not renew at the same moment.
      ownLeadMs = Math.min(leadMs, lifetimeMs / 5) * (1 - Math.random() * 0.1);
    },
    forget(): void {
      drop();
      userOfToken = undefined;
    },
    /** False if the token is known to belong to another user than the one before. */
    fits: ({ user }: Bearer): boolean =>
      user === undefined || userOfToken === undefined || user === userOfToken,
    /** The service refused exactly this token. */
    reject(value: string): void {
      if (bearer?.value === value) isRejected = true;
    },
    /** The token, if it can be used for another call. */
    value(): string | undefined {
      if (!bearer || isRejected) return undefined;
      const { value, lifetimeMs, isAssumed } = bearer;
      const marginMs = Math.min(5_000, lifetimeMs / 20);
      return isAssumed || ageMs() < lifetimeMs - marginMs ? value : undefined;
    },
    /** True if it should be renewed by now. */
    isDue: (): boolean => !!bearer && (isRejected || ageMs() >= bearer.lifetimeMs - ownLeadMs),
    isRejected: () => isRejected,
    lifetimeMs: () => bearer?.lifetimeMs ?? assumedLifetimeMs,
    /** ISO 8601; `undefined` if the lifetime is a guess. */
    expiresAt: () => bearer && expiresAt,
  };
}

/** Keeps renewals apart, and ends them when no call succeeds with the new tokens. */
export function createBrakes(times: AuthTimes) {
  let heldUntilMs = 0;
  /** Start times of the renewals since the last successful call. */
  let fruitless: number[] = [];
  let lastMs: number | undefined;
  /** Renewals in a row that failed. */
  let failures = 0;

  return {
    /** A call succeeded: renewing helps. */
    release(): void {
      fruitless = [];
    },
    /** The last renewal failed: the next one waits for `ms`, by default longer each time. */
    hold(ms?: number): void {
      // Without a token it does not show whether new tokens help.
      fruitless.pop();
      lastMs = undefined;
      heldUntilMs = performance.now() + (ms ?? coolMs(undefined, failures, times));
      failures += 1;
    },
    renewed(): void {
      failures = heldUntilMs = 0;
    },
    count(): void {
      lastMs = performance.now();
      fruitless.push(lastMs);
    },
    /** Milliseconds until a renewal may start; infinite if only the user can help. */
    waitMs(lifetimeMs: number): number {
      const { brakeMs, brakeCount, brakeWindowMs, coolCapMs } = times;
      const nowMs = performance.now();
      fruitless = fruitless.filter((atMs) => nowMs - atMs < brakeWindowMs);
      const heldMs = heldUntilMs - nowMs;
      if (fruitless.length >= brakeCount || heldMs > coolCapMs) return Number.POSITIVE_INFINITY;
      const gapMs = lastMs === undefined ? 0 : lastMs + Math.min(brakeMs, lifetimeMs / 5) - nowMs;
      return Math.max(0, gapMs, heldMs);
    },
  };
}
