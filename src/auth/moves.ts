// Moves of the sign-in table that several of its states share.

import type { ErrorCode } from '../core/errors.ts';
import type { AuthState } from '../core/types.ts';
import type { AuthModel, Effect, Failure, Move, Row } from './types.ts';

/** States without a deadline. */
const RESTS: readonly AuthState[] = ['signed-out', 'prompt', 'signed-in', 'cooling'];

/** Longest delay after which the same authorization code is sent again. After a longer delay, a new code is requested. */
const RESEND_MS = 30_000;

export const failure = (code: ErrorCode): Failure => ({ code });

export const inert = (model: AuthModel): Move => ({ model, effects: [] });

/** Enters a state with a new generation: running effects are aborted, and their late events are dropped. */
export function enter(
  model: AuthModel,
  state: AuthState,
  patch: Partial<AuthModel>,
  ...effects: Effect[]
): Move {
  const fresh = { error: undefined, background: undefined, ...patch };
  return {
    model: { ...model, ...fresh, state, generation: model.generation + 1 },
    effects: RESTS.includes(state) ? effects : [{ type: 'deadline', of: state }, ...effects],
  };
}

/** Asks the user to sign in, and shows the error, if any. */
export function prompt(model: AuthModel, error?: Failure, patch: Partial<AuthModel> = {}): Move {
  const { reason } = model;
  return enter(model, 'prompt', { challenge: undefined, ...patch, error }, { type: 'require', reason });
}

export const failWith =
  (code: ErrorCode) =>
  (model: AuthModel): Move =>
    prompt(model, failure(code));
export const fail: Row<'failed' | 'refused' | 'unable'> = (model, { error }) => prompt(model, error);

/** True if silent sign-in may work. */
export const canSilent = ({ frames }: Pick<AuthModel, 'frames'>): boolean =>
  frames === 'allowed' || frames === 'expected';

/** Waits for `ms` and until the browser is online, and then repeats the step `cooledFrom`. */
export const awaitNetwork = (
  model: AuthModel,
  cooledFrom: AuthState,
  patch?: Partial<AuthModel>,
  ms = 0,
): Move => enter(model, 'cooling', { ...patch, error: failure('offline'), cooledFrom }, { type: 'cool', ms });

/**
 * Starts silent sign-in if it may work, after a delay if the browser is offline. Otherwise asks the user to sign in. `cause` is the
 * error, if any, that the user sees if no session is found.
 */
export function silentOr(model: AuthModel, cause: Failure | undefined, patch: Partial<AuthModel> = {}): Move {
  const { frames = model.frames } = patch;
  if (!canSilent({ frames })) return prompt(model, cause, patch);
  const next = { ...patch, cause };
  if (model.isOffline) return awaitNetwork(model, 'silent', next);
  return enter(model, 'silent', next, { type: 'try-silent' });
}

/** Returns the next delay (`waitMs`): the one that the service requests, or a delay that doubles with each failure. */
export function delayOf({ times, waitedMs, jitter }: AuthModel, askedMs = 0) {
  if (askedMs > 0) return { waitMs: askedMs, waitedMs: waitedMs + askedMs };
  const ms = Math.min(times.coolMaxMs, times.coolBaseMs + waitedMs);
  return { waitMs: ms * jitter, waitedMs: waitedMs + ms };
}

/**
 * Waits before the next request. Asks the user to sign in instead if the sum of the delays would exceed `coolCapMs`, but not if the
 * page supplies the tokens: the user may be away, and a click would only ask the page again.
 */
export function pause(model: AuthModel, cause: Failure, cooledFrom: AuthState, askedMs?: number): Move {
  const { waitMs, waitedMs } = delayOf(model, askedMs);
  const error = { ...cause, retryAfterMs: waitMs };
  if (waitedMs > model.times.coolCapMs && cooledFrom !== 'asking-host')
    return prompt(model, error, { waitedMs: 0 });
  return enter(model, 'cooling', { waitedMs, cooledFrom, error }, { type: 'cool', ms: waitMs });
}

/** Handles 429, and 503 with `Retry-After`: the service has not processed the request. */
export const cool: Row<'rate-limited'> = (model, { waitMs }) => {
  const canResend = model.waitedMs === 0 && (waitMs ?? 0) <= RESEND_MS;
  const from = model.state === 'exchange' && !canResend ? 'silent' : model.state;
  return pause(model, failure('rate-limited'), from, waitMs);
};
