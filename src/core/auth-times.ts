// The deadlines and lifetimes of sign-in, with their defaults. Pages can change them in `authOptions.times`.

/** In milliseconds, except `brakeCount`. */
export const AUTH_TIMES = {
  /** Timeout of `getToken` and `auth-required`. */
  hostMs: 60_000,
  silentMs: 10_000,
  popupMs: 300_000,
  /** Interval at which the window is checked. */
  closedPollMs: 200,
  /** How long to wait for a response after the window was closed. */
  closedGraceMs: 1_500,
  /** Timeout for leaving the page in redirect mode. */
  redirectMs: 30_000,
  /** Lifetime of an authorization request that redirect mode has stored. */
  transactionMs: 600_000,
  /** Timeout of a request. */
  requestMs: 30_000,
  /** Timeout of a challenge. */
  challengeMs: 300_000,
  pollMs: 4_000,
  lockMs: 15_000,
  /** Timeout of each step of a sign-out: canceling uploads with the old token, then the call to `logout-path`. */
  lastCallsMs: 5_000,
  /** Lifetime of a token without a credible expiry. */
  assumedLifetimeMs: 300_000,
  /** A token is renewed at most this long before it expires. */
  leadMs: 60_000,
  /** Shortest time between two renewals. */
  brakeMs: 30_000,
  /** After `brakeCount` renewals in this time without a successful call, the user has to sign in. */
  brakeWindowMs: 300_000,
  brakeCount: 3,
  /** Interval at which the token is checked while it is in use. */
  checkMs: 15_000,
  /** How long after the last call the token counts as in use. */
  workMs: 60_000,
  /** Longest delay after which the same code is sent again. */
  resendMs: 30_000,
  /** Longest sum of delays in a row; after that, the user has to sign in. */
  coolCapMs: 300_000,
  /** First delay if the service names none. */
  coolBaseMs: 2_000,
  /** Longest delay if the service names none. */
  coolMaxMs: 60_000,
};

/** In milliseconds, except `brakeCount`. */
export type AuthTimes = { readonly [K in keyof typeof AUTH_TIMES]: number };
