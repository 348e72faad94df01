// Holds the current token, and limits how often the token is renewed.

import type { Bearer } from './bearer.ts';
import { type AuthTimes, coolMs } from './times.ts';

export type Keeper = ReturnType<typeof createKeeper>;
export type Brakes = ReturnType<typeof createBrakes>;

/**
 * Holds the token of a session. The token is not a property, so copying or logging the keeper does not expose it. With `owner`, all
 * tokens must belong to this user.
 */
export function createKeeper({ leadMs, assumedLifetimeMs }: AuthTimes, owner?: string) {
  let bearer: Bearer | undefined;
  let keptAtMs = 0;
  let expiresAt: string | undefined;
  let userOfToken = owner;
  let isRejected = false;
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
      isRejected = false;
      // Jitter, so that many tabs and devices do not renew at the same moment.
      ownLeadMs = Math.min(leadMs, lifetimeMs / 5) * (1 - Math.random() * 0.1);
    },
    forget(): void {
      drop();
      userOfToken = owner;
    },
    /**
     * Returns false if the token's user is neither `owner` nor the user of the previous token. A token without a user is accepted
     * from the page (`isFromPage`), or if there is no `owner`.
     */
    fits: ({ user }: Bearer, isFromPage: boolean): boolean =>
      user === undefined ? isFromPage || owner === undefined : user === (userOfToken ?? user),
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
    lifetimeMs: () => bearer?.lifetimeMs ?? assumedLifetimeMs,
    /** Time when the token expires (ISO 8601); `undefined` if there is no token, or if its lifetime is a guess. */
    expiresAt: () => bearer && expiresAt,
  };
}

/**
 * Limits renewals of the token: keeps a minimum time between renewals, and stops renewals if no call succeeds with the new tokens.
 */
export function createBrakes(times: AuthTimes) {
  let heldUntilMs = 0;
  /** Start times of the renewals since the last successful call. */
  let fruitless: number[] = [];
  let lastMs: number | undefined;
  /** Number of failed renewals in a row. */
  let failures = 0;

  return {
    /** Call this method after a successful call: renewals are counted again from zero. */
    release(): void {
      fruitless = [];
    },
    /** Delays the next renewal by `ms` after a failed renewal. By default, the delay doubles with each failure. */
    hold(ms?: number): void {
      // `fruitless` counts only renewals that returned a token; the failed renewal did not.
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
    /** Returns the milliseconds until a renewal may start; `Infinity` if the user has to sign in instead. */
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
