// The few moves of which all rows of the sign-in table are made. They know no events.

import type { ErrorCode } from '../core/errors.ts';
import type { AuthState } from '../core/types.ts';
import type { AuthModel, Effect, Failure, Move } from './machine-types.ts';

/** States in which something is under way that must come to an end; each has a deadline of its own. */
const TIMED: ReadonlySet<AuthState> = new Set<AuthState>([
  'asking-host',
  'silent',
  'popup',
  'redirecting',
  'login',
  'choose',
  'start',
  'answer',
  'verify',
  'wait',
  'exchange',
]);

/** A failure that is told by its code alone. */
export const failure = (code: ErrorCode): Failure => ({ code });

/** Enters a state: a new generation, so that whatever was under way is aborted and its late events are dropped. */
export function enter(
  model: AuthModel,
  state: AuthState,
  patch: Partial<AuthModel>,
  ...effects: Effect[]
): Move {
  const timed: Effect[] = TIMED.has(state) ? [{ type: 'deadline', of: state }] : [];
  const next = {
    ...model,
    error: undefined,
    renewing: undefined,
    ...patch,
    state,
    generation: model.generation + 1,
  };
  return { model: next, effects: [...timed, ...effects] };
}

/** Asks the person, with what went wrong, if anything did. */
export function prompt(model: AuthModel, error?: Failure, patch: Partial<AuthModel> = {}): Move {
  return enter(
    model,
    'prompt',
    { challenge: undefined, ...patch, error },
    { type: 'require', reason: model.reason },
  );
}

/** A silent try where one may work, else the person. */
export function silentOr(model: AuthModel, error: Failure | undefined, patch: Partial<AuthModel> = {}): Move {
  if (model.canSilent) return enter(model, 'silent', patch, { type: 'try-silent' });
  return prompt(model, error, { ...patch, sessionMade: false });
}
