// Every deadline, brake and lifetime of sign-in, with its production value. Tests make them small.

import type { Settings } from '../core/config.ts';

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

export type AuthTimes = Readonly<typeof AUTH_TIMES>;

/** How long to pause: as told, else doubling, with a fifth of jitter so that many do not come back together. */
export const coolMs = (toldMs: number | undefined, count: number, times: AuthTimes): number =>
  toldMs ?? Math.min(times.coolMaxMs, times.coolBaseMs * 2 ** count) * (0.8 + Math.random() * 0.4);

/** The times of a session: those of `authOptions.times` and `authOptions.assumedLifetime` (seconds) over the usual ones. */
export function timesOf({ authOptions }: Settings): AuthTimes {
  const times: Record<string, number> = { ...AUTH_TIMES };
  const assumedLifetimeMs = Number(authOptions.assumedLifetime) * 1000;
  const told = { ...(authOptions.times as object), assumedLifetimeMs };
  for (const [name, value] of Object.entries(told))
    if (name in times && Number(value) > 0) times[name] = Number(value);
  return times as AuthTimes;
}
