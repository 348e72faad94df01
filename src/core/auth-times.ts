// The deadlines and lifetimes of sign-in, with their defaults. Pages can change these times in `authOptions.times`.

/** Default deadlines and delays in milliseconds; `renewalLimit` is a number of renewals. */
export const AUTH_TIMES = {
  /** Timeout of `getToken` and `auth-required`. */
  hostMs: 60_000,
  silentMs: 10_000,
  popupMs: 300_000,
  /** Time to wait for a response after the window was closed. */
  closedGraceMs: 1_500,
  requestMs: 30_000,
  challengeMs: 300_000,
  pollMs: 4_000,
  /** Timeout of each step of a sign-out: canceling uploads with the old token, then the call to `logout-path`. */
  lastCallsMs: 5_000,
  /** Lifetime of a token without a credible expiry. */
  assumedLifetimeMs: 300_000,
  /** Shortest time between two renewals. */
  renewalGapMs: 30_000,
  /** After so many renewals of rejected tokens without a successful call, the user has to sign in. */
  renewalLimit: 3,
  /**
   * Longest sum of consecutive delays. After that, the user has to sign in. For `getToken`: longest outage that is assumed while
   * nothing is known about the service.
   */
  coolCapMs: 300_000,
  /** First delay if the service sends no `Retry-After`. */
  coolBaseMs: 2_000,
  /** Longest delay if the service sends no `Retry-After`. Also the time between calls of `getToken` while the user is asked. */
  coolMaxMs: 60_000,
};

/** Deadlines and delays in milliseconds; `renewalLimit` is a number of renewals. */
export type AuthTimes = { readonly [K in keyof typeof AUTH_TIMES]: number };
