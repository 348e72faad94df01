// The deadlines and pauses that the sign-in table asks for. It knows no states but by the length of their deadlines.

import type { AuthState } from '../core/types.ts';
import { sleep } from '../core/wait.ts';
import type { Effect, FlowEvent } from './machine-types.ts';
import type { AuthTimes } from './times.ts';

/** States that wait for something else than one request. */
const DEADLINES: { readonly [S in AuthState]?: keyof AuthTimes } = {
  'asking-host': 'hostMs',
  silent: 'silentMs',
  popup: 'popupMs',
  redirecting: 'redirectMs',
  choose: 'challengeMs',
  answer: 'challengeMs',
  wait: 'challengeMs',
};

/** Carries out `deadline` and `cool`; ends without a word when the signal is aborted. */
export function runTimer(
  effect: Effect,
  times: AuthTimes,
  signal: AbortSignal,
  send: (event: FlowEvent) => void,
): void {
  const wait = (ms: number, event: FlowEvent): void => {
    sleep(ms, signal).then(
      () => send(event),
      () => undefined,
    );
  };
  if (effect.type === 'deadline') wait(times[DEADLINES[effect.of] ?? 'requestMs'], { type: 'deadline' });
  if (effect.type === 'cool') wait(effect.ms, { type: 'elapsed' });
}
