// The deadlines and lifetimes of sign-in, with their defaults. Pages can change these times in `authOptions.times`.

/** Default deadlines and delays in milliseconds; `brakeCount` is a number of renewals. */
export const AUTH_TIMES = {
  /** Timeout of `getToken` and `auth-required`. */
  hostMs: 60_000,
  silentMs: 10_000,
  popupMs: 300_000,
  /** Interval at which the window is checked. */
  closedPollMs: 200,
  /** Time to wait for a response after the window was closed. */
  closedGraceMs: 1_500,
  /** Timeout for leaving the page in redirect mode. */
  redirectMs: 30_000,
  /** Lifetime of an authorization request that redirect mode has stored. */
  transactionMs: 600_000,
  requestMs: 30_000,
  challengeMs: 300_000,
  pollMs: 4_000,
  lockMs: 15_000,
  /** Timeout of each step of a sign-out: canceling uploads with the old token, then the call to `logout-path`. */
  lastCallsMs: 5_000,
  /** Lifetime of a token without a credible expiry. */
  assumedLifetimeMs: 300_000,
  /** A call renews its token in the background at most this long before the token expires. */
  leadMs: 60_000,
  /** Shortest time between two renewals. */
  brakeMs: 30_000,
  /** Period for `brakeCount`: after so many renewals without a successful call, the user has to sign in. */
  brakeWindowMs: 300_000,
  brakeCount: 3,
  /** Longest delay after which the same authorization code is sent again. After a longer delay, a new code is requested. */
  resendMs: 30_000,
  /** Longest sum of consecutive delays. After that, the user has to sign in. */
  coolCapMs: 300_000,
  /** First delay if the service sends no `Retry-After`. */
  coolBaseMs: 2_000,
  /** Longest delay if the service sends no `Retry-After`. */
  coolMaxMs: 60_000,
};

/** Deadlines and delays in milliseconds; `brakeCount` is a number of renewals. */
export type AuthTimes = { readonly [K in keyof typeof AUTH_TIMES]: number };
