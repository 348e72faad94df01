// The token: read leniently, checked against a clock that may be wrong, kept in one private field. It knows neither how a
// token was got nor who uses it.

import { record } from './post.ts';
import type { AuthTimes } from './times.ts';

/** A token as it was read. Secret. */
export interface Bearer {
  readonly value: string;
  /** Epoch milliseconds by the device's own clock. */
  readonly expiresAtMs: number;
  readonly lifetimeMs: number;
  /** The expiry is a guess, so only a 401 tells that the token is dead. */
  readonly isAssumed: boolean;
  /** Whose it is, where the page has said which field tells (G9). */
  readonly user?: string;
}

type Options = Readonly<Record<string, unknown>>;
const SECONDS_BELOW = 1e11;
const CLOCK_NOISE_MS = 2_000;
const SHORTEST_BELIEVED_MS = 5_000;

/** Epoch milliseconds of any documented form of `expires_at` (G8); `undefined` where it is none. */
export function readExpiry(value: unknown): number | undefined {
  if (typeof value === 'number' || (typeof value === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(value))) {
    const number = Number(value);
    if (!Number.isFinite(number) || number <= 0) return undefined;
    return number < SECONDS_BELOW ? number * 1000 : number;
  }
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const hasZone = /(?:z|[+-]\d\d:?\d\d)$/i.test(text);
  const parsed = Date.parse(hasZone ? text : `${text.includes('T') ? text : text.replace(' ', 'T')}Z`);
  return Number.isNaN(parsed) ? undefined : parsed;
}

/**
 * A token from a page (a string, or an object) or from the service (G7, G8). `undefined` where there is none, or where
 * it could not stand in a header. `offsetMs` is how far the service's clock is ahead, as far as known.
 */
export function readBearer(
  input: unknown,
  clock: { readonly nowMs: number; readonly offsetMs: number; readonly assumedLifetimeMs: number },
  authOptions: Options = {},
): Bearer | undefined {
  const body = typeof input === 'object' ? record(input) : { token: input };
  const fields = record(authOptions.fields);
  const field = (name: string): unknown => body[String(fields[name] ?? name)];
  const value = field('token') ?? body.access_token ?? body.accessToken;
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,16384}$/.test(value)) return undefined;
  const { nowMs, offsetMs, assumedLifetimeMs } = clock;
  const at = readExpiry(field('expires_at') ?? body.expiresAt);
  const told = field('expires_in') ?? body.expiresIn;
  // Never made a number of anything else: an object of the wire may have a `valueOf` that is none.
  const seconds = typeof told === 'number' || typeof told === 'string' ? Number(told) : Number.NaN;
  const toldMs = at !== undefined ? at - offsetMs - nowMs : seconds * 1000;
  // A token that arrives dead tells of a wrong clock, not of a dead token.
  const isAssumed = !(toldMs >= Math.min(SHORTEST_BELIEVED_MS, assumedLifetimeMs));
  const lifetimeMs = isAssumed ? assumedLifetimeMs : toldMs;
  const user = body[String(authOptions.sameUserField)];
  const isNamed = typeof user === 'string' || typeof user === 'number';
  return {
    value,
    lifetimeMs,
    expiresAtMs: nowMs + lifetimeMs,
    isAssumed,
    ...(isNamed && { user: `${user}` }),
  };
}

/** How far the service's clock is ahead of this device's, smoothed over its answers; noise below two seconds counts as none. */
export class Clock {
  #offsetMs: number | undefined;

  /** `dateMs` is the answer's `Date`; the request ran from `startMs` to `endMs`. */
  learn(dateMs: number | undefined, startMs: number, endMs: number): void {
    if (dateMs === undefined) return;
    // The header has whole seconds: half of one is the best guess of the rest.
    const offset = dateMs + 500 - (startMs + endMs) / 2;
    this.#offsetMs = this.#offsetMs === undefined ? offset : this.#offsetMs * 0.7 + offset * 0.3;
  }

  get offsetMs(): number {
    const offset = this.#offsetMs ?? 0;
    return Math.abs(offset) < CLOCK_NOISE_MS ? 0 : offset;
  }
}

/** Keeps the one token of a session and says how good it still is. */
export class Keeper {
  #bearer: Bearer | undefined;
  #user: string | undefined;
  #isRejected = false;
  #leadMs = 0;
  readonly #times: AuthTimes;

  constructor(times: AuthTimes) {
    this.#times = times;
  }

  keep(bearer: Bearer): void {
    this.#bearer = bearer;
    this.#user = bearer.user ?? this.#user;
    this.#isRejected = false;
    const lead = Math.min(this.#times.leadMs, bearer.lifetimeMs / 5);
    // Jitter, so that many tabs and devices do not renew at the same moment.
    this.#leadMs = lead * (1 - Math.random() * 0.1);
  }

  forget(): void {
    this.#bearer = undefined;
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
    const { expiresAtMs, lifetimeMs, isAssumed } = this.#bearer;
    const marginMs = Math.min(5_000, lifetimeMs / 20);
    return isAssumed || Date.now() < expiresAtMs - marginMs ? this.#bearer.value : undefined;
  }

  /** Whether it should be renewed by now. */
  get isDue(): boolean {
    if (!this.#bearer) return false;
    return this.#isRejected || Date.now() >= this.#bearer.expiresAtMs - this.#leadMs;
  }

  get isRejected(): boolean {
    return this.#isRejected;
  }

  get lifetimeMs(): number {
    return this.#bearer?.lifetimeMs ?? this.#times.assumedLifetimeMs;
  }

  /** ISO 8601, where the expiry is known. */
  get expiresAt(): string | undefined {
    if (!this.#bearer || this.#bearer.isAssumed) return undefined;
    return new Date(this.#bearer.expiresAtMs).toISOString();
  }
}

/** Keeps renewals apart, and ends them when they do not help. */
export class Brakes {
  readonly #times: AuthTimes;
  #lastMs = 0;
  #notBeforeMs = 0;
  #fruitless: number[] = [];

  constructor(times: AuthTimes) {
    this.#times = times;
  }

  /** A privileged call was answered: renewing helps. */
  release(): void {
    this.#fruitless = [];
  }

  /** No renewal for so long. */
  hold(ms: number): void {
    this.#notBeforeMs = Date.now() + ms;
  }

  count(): void {
    this.#lastMs = Date.now();
    this.#fruitless.push(this.#lastMs);
  }

  /** Milliseconds until a renewal may start; infinite where only the person can help. */
  waitMs(lifetimeMs: number): number {
    const now = Date.now();
    this.#fruitless = this.#fruitless.filter((at) => now - at < this.#times.brakeWindowMs);
    const heldMs = this.#notBeforeMs - now;
    const { brakeCount, coolCapMs } = this.#times;
    if (this.#fruitless.length >= brakeCount || heldMs > coolCapMs) return Number.POSITIVE_INFINITY;
    const gapMs = Math.min(this.#times.brakeMs, lifetimeMs / 5);
    return Math.max(0, this.#lastMs + gapMs - now, heldMs);
  }
}
