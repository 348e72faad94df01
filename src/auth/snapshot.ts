// What pages see of sign-in: its snapshot, and the changes between two models of the table.

import type { Change } from '../core/changes.ts';
import { canRetry } from '../core/error-codes.ts';
import type { AuthMode, AuthSnapshot, AuthState } from '../core/types.ts';
import type { AuthEvent, AuthModel, Failure } from './types.ts';

/** States in which the user does not have to act. */
const ALONE: readonly AuthState[] = [
  ...(['asking-host', 'silent', 'silent-early'] as const),
  ...(['exchange', 'signed-in', 'cooling'] as const),
];

const describe = (error: Failure): NonNullable<AuthSnapshot['error']> =>
  Object.freeze({ ...error, retryable: canRetry(error.code) });

/** Creates a snapshot of sign-in. Returns the previous snapshot `at` if nothing has changed. */
export function createSnapshot(
  { state, error }: AuthModel,
  mode: AuthMode,
  hasWaiters: boolean,
  at?: AuthSnapshot,
): AuthSnapshot {
  const required = hasWaiters && !ALONE.includes(state);
  const isSameError = at?.error?.code === error?.code && at?.error?.retryAfterMs === error?.retryAfterMs;
  if (at && at.state === state && at.required === required && isSameError) return at;
  const retryAfterMs = error?.retryAfterMs;
  const wait = retryAfterMs !== undefined && { retryAtMs: Date.now() + retryAfterMs };
  return Object.freeze({ state, mode, required, ...(error && { error: describe(error) }), ...wait });
}

/** Returns the changes between two models, in the order of their reports. */
export function changesBetween(
  previousModel: AuthModel,
  { state, error, challenge }: AuthModel,
  event: AuthEvent,
  expiresAt?: string,
): Change[] {
  const changes: Change[] = [];
  const tell = ({ name, detail }: Change): unknown =>
    changes.push(Object.freeze({ name, detail: Object.freeze(detail) }) as Change);
  const { state: previous } = previousModel;
  if (state !== previous) tell({ name: 'auth-changed', detail: { state, previous } });
  if (event.type === 'challenged' && challenge && challenge !== previousModel.challenge) {
    const methods = challenge.methods.map(({ family }) => family);
    tell({ name: 'auth-challenged', detail: { methods } });
  }
  if (error && error !== previousModel.error) tell({ name: 'auth-failed', detail: describe(error) });
  if (state === 'signed-in' && previous !== 'signed-in')
    tell({ name: 'signed-in', detail: expiresAt === undefined ? {} : { expiresAt } });
  if (event.type === 'sign-out') tell({ name: 'signed-out', detail: { reason: event.reason } });
  else if (previous === 'signed-in' && state === 'prompt')
    tell({ name: 'signed-out', detail: { reason: 'expired' } });
  return changes;
}
