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

/** Holds the token of a session. */
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

  /** Forgets the token but not its user: the next token must be of the same one. */
  drop(): void {
    this.#bearer = undefined;
  }

  forget(): void {
    this.drop();
    this.#user = undefined;
  }

  /** False if the token is known to belong to another user than the one before. */
  fits({ user }: Bearer): boolean {
    return user === undefined || this.#user === undefined || user === this.#user;
  }

  /** The service refused exactly this token. */
  reject(value: string): void {
    if (this.#bearer?.value === value) this.#isRejected = true;
  }

  /** The token, if it can be used for another call. */
  get value(): string | undefined {
    if (!this.#bearer || this.#isRejected) return undefined;
    const { value, lifetimeMs, isAssumed } = this.#bearer;
    const marginMs = Math.min(5_000, lifetimeMs / 20);
    return isAssumed || this.#ageMs < lifetimeMs - marginMs ? value : undefined;
  }

  /** True if it should be renewed by now. */
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

  /** ISO 8601; `undefined` if the lifetime is a guess. */
  get expiresAt(): string | undefined {
    return this.#bearer?.isAssumed === false ? this.#expiresAt : undefined;
  }
}

/** Keeps renewals apart, and ends them when no call succeeds with the new tokens. */
export class Brakes {
  readonly #times: AuthTimes;
  #heldUntilMs = 0;
  /** Start times of the renewals since the last successful call. */
  #fruitless: number[] = [];
  #lastMs: number | undefined;
  /** Renewals in a row that failed. */
  #failures = 0;

  constructor(times: AuthTimes) {
    this.#times = times;
  }

  /** A call succeeded: renewing helps. */
  release(): void {
    this.#fruitless = [];
  }

  /** The last renewal failed: the next one waits for `ms`, by default longer each time. */
  hold(ms?: number): void {
    // Without a token it does not show whether new tokens help.
    this.#fruitless.pop();
    this.#lastMs = undefined;
    this.#heldUntilMs = performance.now() + (ms ?? coolMs(undefined, this.#failures, this.#times));
    this.#failures += 1;
  }

  renewed(): void {
    this.#failures = 0;
    this.#heldUntilMs = 0;
  }

  count(): void {
    this.#lastMs = performance.now();
    this.#fruitless.push(this.#lastMs);
  }

  /** Milliseconds until a renewal may start; infinite if only the user can help. */
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
