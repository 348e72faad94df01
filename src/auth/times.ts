// How sign-in reads its times: those of a session, and the pauses between tries.

import { AUTH_TIMES, type AuthTimes } from '../core/auth-times.ts';
import type { Settings } from '../core/config.ts';

export { AUTH_TIMES, type AuthTimes };

/** How long to pause: as told, else doubling, with a fifth of jitter so that many do not come back together. */
export const coolMs = (toldMs: number | undefined, count: number, times: AuthTimes): number =>
  toldMs ?? Math.min(times.coolMaxMs, times.coolBaseMs * 2 ** count) * (0.8 + Math.random() * 0.4);

/** The times of a session: those of `authOptions.times` and `authOptions.assumedLifetime` (seconds) over the usual ones. */
export function timesOf({ authOptions }: Settings): AuthTimes {
  const times: Record<string, number> = { ...AUTH_TIMES };
  const assumedLifetimeMs = Number(authOptions.assumedLifetime) * 1000;
  const told = { ...authOptions.times, ...(assumedLifetimeMs > 0 && { assumedLifetimeMs }) };
  for (const [name, value] of Object.entries(told))
    if (name in times && Number(value) > 0) times[name] = Number(value);
  return times as AuthTimes;
}
