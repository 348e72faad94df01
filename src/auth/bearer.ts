// The token: read leniently, checked against a clock that may be wrong, kept in one private field. It knows neither how a
// token was got nor who uses it.

import type { AuthOptions } from '../core/auth-options.ts';
import { record } from './post.ts';
import { type AuthTimes, coolMs } from './times.ts';

/** A token as it was read. Secret. */
export interface Bearer {
  readonly value: string;
  /** From when it was read; at most 30 days. */
  readonly lifetimeMs: number;
  /** The expiry is a guess, so only a 401 tells that the token is dead. */
  readonly isAssumed: boolean;
  /** Whose it is, where the page has said which field tells. */
  readonly user?: string;
}

const SECONDS_BELOW = 1e11;
const SHORTEST_BELIEVED_MS = 5_000;
const LONGEST_LIFETIME_MS = 30 * 24 * 3_600_000;
/** The last moment that a `Date` can hold. */
const LATEST_MS = 8.64e15;

/** Epoch milliseconds of any documented form of `expires_at`; `undefined` for everything that is no date, also for nanoseconds. */
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

/**
 * A token from a page (a string, or an object) or from the service. `undefined` where there is none, or where
 * it could not stand in a header.
 */
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
  // Never made a number of anything else: an object of the wire may have a `valueOf` that is none.
  const seconds = typeof told === 'number' || typeof told === 'string' ? Number(told) : Number.NaN;
  const toldMs = at !== undefined ? at - Date.now() : seconds * 1000;
  // A token that is dead on arrival means that the device's clock is wrong: the token is used until a 401.
  const isAssumed = !(Number.isFinite(toldMs) && toldMs >= Math.min(SHORTEST_BELIEVED_MS, assumedLifetimeMs));
  const lifetimeMs = isAssumed ? assumedLifetimeMs : Math.min(toldMs, LONGEST_LIFETIME_MS);
  const user = body[sameUserField];
  const isNamed = typeof user === 'string' || typeof user === 'number';
  return {
    value,
    lifetimeMs,
    isAssumed,
    ...(isNamed && { user: `${user}` }),
  };
}

/** Keeps the one token of a session and says how good it still is. */
export class Keeper {
  #bearer: Bearer | undefined;
  #keptAtMs = 0;
  #expiresAt: string | undefined;
  #user: string | undefined;
  #isRejected = false;
  #leadMs = 0;
  readonly #times: AuthTimes;

  constructor(times: AuthTimes) {
    this.#times = times;
  }

  keep(bearer: Bearer): void {
    this.#bearer = bearer;
    this.#keptAtMs = performance.now();
    this.#expiresAt = new Date(Date.now() + bearer.lifetimeMs).toISOString();
    this.#user = bearer.user ?? this.#user;
    this.#isRejected = false;
    const lead = Math.min(this.#times.leadMs, bearer.lifetimeMs / 5);
    // Jitter, so that many tabs and devices do not renew at the same moment.
    this.#leadMs = lead * (1 - Math.random() * 0.1);
  }

  /** Forgets the token; whose it was is kept, so that the next one must be of the same person. */
  drop(): void {
    this.#bearer = undefined;
  }

  forget(): void {
    this.drop();
    this.#user = undefined;
  }

  /** False where it is told that this token is somebody else's than the one before. */
  fits({ user }: Bearer): boolean {
    return user === undefined || this.#user === undefined || user === this.#user;
  }

  /** The service refused exactly this token. */
  reject(value: string): void {
    if (this.#bearer?.value === value) this.#isRejected = true;
  }

  /** The token, if it is good for another call. */
  get value(): string | undefined {
    if (!this.#bearer || this.#isRejected) return undefined;
    const { value, lifetimeMs, isAssumed } = this.#bearer;
    const marginMs = Math.min(5_000, lifetimeMs / 20);
    return isAssumed || this.#ageMs < lifetimeMs - marginMs ? value : undefined;
  }

  /** Whether it should be renewed by now. */
  get isDue(): boolean {
    if (!this.#bearer) return false;
    return this.#isRejected || this.#ageMs >= this.#bearer.lifetimeMs - this.#leadMs;
  }

  get #ageMs(): number {
    return performance.now() - this.#keptAtMs;
  }

  get isRejected(): boolean {
    return this.#isRejected;
  }

  get lifetimeMs(): number {
    return this.#bearer?.lifetimeMs ?? this.#times.assumedLifetimeMs;
  }

  /** ISO 8601, where the expiry is known. */
  get expiresAt(): string | undefined {
    return this.#bearer?.isAssumed === false ? this.#expiresAt : undefined;
  }
}

/** Spaces renewals out, and ends them when no call succeeds with the new tokens. */
export class Brakes {
  readonly #times: AuthTimes;
  #heldUntilMs = 0;
  /** When renewals began that no call has profited from yet. */
  #fruitless: number[] = [];
  #lastMs: number | undefined;
  /** Renewals in a row that failed. */
  #failures = 0;

  constructor(times: AuthTimes) {
    this.#times = times;
  }

  /** A privileged call succeeded: renewing helps. */
  release(): void {
    this.#fruitless = [];
  }

  /** The renewal that was counted last failed: the next one waits for `ms`, or longer each time. */
  hold(ms?: number): void {
    // It gave no token, so it does not show whether new tokens help.
    this.#fruitless.pop();
    this.#lastMs = undefined;
    this.#heldUntilMs = performance.now() + (ms ?? coolMs(undefined, this.#failures, this.#times));
    this.#failures += 1;
  }

  /** There is a new token. */
  renewed(): void {
    this.#failures = 0;
    this.#heldUntilMs = 0;
  }

  count(): void {
    this.#lastMs = performance.now();
    this.#fruitless.push(this.#lastMs);
  }

  /** Milliseconds until a renewal may start; infinite where only the person can help. */
  waitMs(lifetimeMs: number): number {
    const { brakeMs, brakeCount, brakeWindowMs, coolCapMs } = this.#times;
    const nowMs = performance.now();
    this.#fruitless = this.#fruitless.filter((atMs) => nowMs - atMs < brakeWindowMs);
    const heldMs = this.#heldUntilMs - nowMs;
    if (this.#fruitless.length >= brakeCount || heldMs > coolCapMs) return Number.POSITIVE_INFINITY;
    const gapMs = this.#lastMs === undefined ? 0 : this.#lastMs + Math.min(brakeMs, lifetimeMs / 5) - nowMs;
    return Math.max(0, gapMs, heldMs);
  }
}
