// The deadlines and delays of a sign-in session.

import { AUTH_TIMES, type AuthTimes } from '../core/auth-times.ts';
import type { Settings } from '../core/config.ts';
import type { AuthState } from '../core/types.ts';

export { AUTH_TIMES, type AuthTimes };

/** Names of the deadlines of states, if they differ from `requestMs`. */
export const DEADLINES: { readonly [S in AuthState]?: keyof AuthTimes } = {
  'asking-host': 'hostMs',
  silent: 'silentMs',
  popup: 'popupMs',
  choose: 'challengeMs',
  answer: 'challengeMs',
  wait: 'challengeMs',
};

/** Returns the default times, overridden by valid values of `authOptions.times`. */
export function timesOf({ authOptions }: Settings): AuthTimes {
  const times: Record<string, number> = { ...AUTH_TIMES };
  for (const [name, value] of Object.entries(authOptions.times ?? {}))
    if (name in times && Number(value) > 0) times[name] = Number(value);
  return times as AuthTimes;
}
