// The deadlines and lifetimes of sign-in, with their defaults. Pages can change them in `authOptions.times`.

/** In milliseconds, except `brakeCount`. */
export const AUTH_TIMES = {
  /** Timeout of `getToken` and `auth-required`. */
  hostMs: 60_000,
  silentMs: 10_000,
  popupMs: 300_000,
  /** How often the window is checked, and how long its answer is awaited after it was closed. */
  closedPollMs: 200,
  closedGraceMs: 1_500,
  /** Timeout for leaving the page in redirect mode, and lifetime of the stored transaction. */
  redirectMs: 30_000,
  transactionMs: 600_000,
  /** Timeout of a request, and of a challenge. */
  requestMs: 30_000,
  challengeMs: 300_000,
  pollMs: 4_000,
  lockMs: 15_000,
  /** On sign-out: timeout of canceling the uploads with the old token, and again of the call to `logout-path`. */
  lastCallsMs: 5_000,
  assumedLifetimeMs: 300_000,
  /** A token is renewed at most this long before it expires. */
  leadMs: 60_000,
  brakeMs: 30_000,
  brakeWindowMs: 300_000,
  brakeCount: 3,
  /** How often the token is checked while it is used, and how long after the last call it counts as used. */
  checkMs: 15_000,
  workMs: 60_000,
  /**
   * Longest delay after which a code is sent again; longest total of delays in a row; first and longest delay if the service names
   * none.
   */
  resendMs: 30_000,
  coolCapMs: 300_000,
  coolBaseMs: 2_000,
  coolMaxMs: 60_000,
};

/** In milliseconds, except `brakeCount`. */
export type AuthTimes = { readonly [K in keyof typeof AUTH_TIMES]: number };
