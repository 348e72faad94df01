// What a step of the sign-in table means to those who watch: the snapshot, and the changes to report. Pure.

import type { Change } from '../core/changes.ts';
import { canRetry } from '../core/errors.ts';
import type { AuthMode, AuthSnapshot, AuthState } from '../core/types.ts';
import type { AuthEvent, AuthModel, Failure } from './machine-types.ts';

/** States that go on only if the person does something. */
const PERSON: ReadonlySet<AuthState> = new Set<AuthState>([
  'signed-out',
  'prompt',
  'popup',
  'popup-lost',
  'redirecting',
  'login',
  'choose',
  'start',
  'answer',
  'verify',
  'wait',
]);

const describe = (error: Failure): NonNullable<AuthSnapshot['error']> =>
  Object.freeze({ ...error, retryable: canRetry(error.code) });

/** The frozen snapshot; the one at hand where nothing in it would change. */
export function createSnapshot(
  model: AuthModel,
  mode: AuthMode,
  hasWaiters: boolean,
  at?: AuthSnapshot,
): AuthSnapshot {
  const { state, error } = model;
  const required = hasWaiters && PERSON.has(state);
  const isSameError = at?.error?.code === error?.code && at?.error?.retryAfterMs === error?.retryAfterMs;
  if (at && at.state === state && at.required === required && isSameError) return at;
  return Object.freeze({ state, mode, required, ...(error && { error: describe(error) }) });
}

/** What happened between two models, in the order in which it is told. */
export function changesBetween(
  before: AuthModel,
  after: AuthModel,
  event: AuthEvent,
  expiresAt?: string,
): Change[] {
  const changes: Change[] = [];
  const { state: previous } = before;
  const { state, error, challenge } = after;
  if (state !== previous) changes.push({ name: 'auth-changed', detail: { state, previous } });
  if (event.type === 'challenged' && challenge && challenge !== before.challenge) {
    changes.push({
      name: 'auth-challenged',
      detail: { methods: challenge.methods.map(({ family }) => family) },
    });
  }
  if (error && error !== before.error) changes.push({ name: 'auth-failed', detail: describe(error) });
  if (state === 'signed-in' && previous !== 'signed-in') {
    changes.push({ name: 'signed-in', detail: expiresAt === undefined ? {} : { expiresAt } });
  }
  if (previous === 'signed-in' && state === 'prompt')
    changes.push({ name: 'signed-out', detail: { reason: 'expired' } });
  if (event.type === 'sign-out') changes.push({ name: 'signed-out', detail: { reason: event.reason } });
  return changes.map(({ name, detail }) => Object.freeze({ name, detail: Object.freeze(detail) }) as Change);
}
