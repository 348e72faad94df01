// Every deadline, brake and lifetime of sign-in, with its production value. Pages set them in `authOptions.times`; tests make them small.

/** All in milliseconds, but for `brakeCount`. */
export const AUTH_TIMES = {
  /** For the page to answer `getToken` or `auth-required`. */
  hostMs: 60_000,
  silentMs: 10_000,
  popupMs: 300_000,
  /** How often the window is looked at, and how long after it read as closed an answer may still come. */
  closedPollMs: 200,
  closedGraceMs: 1_500,
  /** For the page to be left in redirect mode, and how long the stored transaction is good. */
  redirectMs: 30_000,
  transactionMs: 600_000,
  /** For one request, and for the person to answer a challenge. */
  requestMs: 30_000,
  challengeMs: 300_000,
  pollMs: 4_000,
  lockMs: 15_000,
  /** After a sign-out: for the uploads to be canceled with the token of before, and again for the call to `logout-path`. */
  lastCallsMs: 5_000,
  assumedLifetimeMs: 300_000,
  /** The longest time before its end at which a token is renewed. */
  leadMs: 60_000,
  brakeMs: 30_000,
  brakeWindowMs: 300_000,
  brakeCount: 3,
  /** How often the token is looked at while work goes on, and how long after the last call it still counts as work. */
  checkMs: 15_000,
  workMs: 60_000,
  /** The longest pause after which a code may be sent again, the longest pauses in a row, and the first and the longest guess. */
  resendMs: 30_000,
  coolCapMs: 300_000,
  coolBaseMs: 2_000,
  coolMaxMs: 60_000,
};

/** Milliseconds, but for `brakeCount`. */
export type AuthTimes = { readonly [K in keyof typeof AUTH_TIMES]: number };
