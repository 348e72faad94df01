// Transitions of the sign-in state machine (`machine.ts`) for the form: sending credentials and answering a challenge. The
// transitions contain no user input and no challenge token.

import type { AuthState } from '../core/types.ts';
import {
  cool,
  enter,
  fail,
  failure,
  failWith,
  framesAfterSignIn,
  inert,
  silentOr,
  takeCode,
} from './machine.ts';
import type { AuthModel, Challenge, Hints, Method, Move, Row, Rows, StateRows } from './machine-types.ts';

const withHints = ({ challenge }: AuthModel, hints: Hints): Challenge => ({
  methods: [],
  ...challenge,
  ...hints,
});

const begin = (model: AuthModel, challenge: Challenge, method: Method): Move =>
  method.needsStart
    ? enter(model, 'start', { challenge: { ...challenge, method } }, { type: 'start' })
    : enter(model, 'answer', { challenge: { ...challenge, method } });

/** Handles a session that the service has just created. If a token is needed, silent sign-in requests a code for the token. */
const established: Row<'established'> = (model) => {
  const made = { challenge: undefined, frames: framesAfterSignIn(model) };
  if (model.isSessionEnough) return enter(model, 'signed-in', made);
  return silentOr(model, failure('sign-in-required'), made);
};

const challenged: Row<'challenged'> = (model, { methods, method, hints }) => {
  const challenge = { ...hints, methods };
  return method ? begin(model, challenge, method) : enter(model, 'choose', { challenge });
};

/**
 * Returns rows that enter `state` after a failure. The request is not repeated, since the service may have counted the first
 * attempt.
 */
const backTo = (state: AuthState): StateRows => ({
  failed: (model, { error }) => enter(model, state, { error }),
  deadline: (model) => enter(model, state, { error: failure('timeout') }),
});

const expired = failWith('challenge-expired');
const cancel = failWith('canceled');
const ended: StateRows = { deadline: expired, expired, cancel };
const choose = (model: AuthModel): Move => enter(model, 'choose', {});
const refusable: StateRows = { refused: fail, 'rate-limited': cool, cancel };
const asked: StateRows = {
  ...refusable,
  denied: (model) => enter(model, 'choose', { error: failure('challenge-denied') }),
  expired,
};
const answered: StateRows = { ...refusable, code: takeCode, established, challenged };

/** The rows of the states `login`, `choose`, `start`, `answer`, `verify` and `wait`. */
export const challengeRows: Rows = {
  login: { ...answered, failed: fail, deadline: failWith('timeout') },
  choose: {
    ...ended,
    pick: (model, { method }) => {
      // The hints for the previous method do not apply to the new method.
      const { methods = [], expiresAtMs } = model.challenge ?? {};
      return begin(model, { methods, ...(expiresAtMs && { expiresAtMs }) }, method);
    },
  },
  start: {
    ...asked,
    ...backTo('choose'),
    started: (model, { hints }) => {
      const challenge = withHints(model, hints);
      if (challenge.method?.family !== 'push') return enter(model, 'answer', { challenge });
      return enter(model, 'wait', { challenge }, { type: 'poll', isSlower: false });
    },
  },
  answer: {
    ...backTo('answer'),
    ...ended,
    submit: (model) => enter(model, 'verify', {}, { type: 'answer' }),
    resend: (model) =>
      model.challenge?.method?.needsStart ? enter(model, 'start', {}, { type: 'start' }) : inert(model),
    'other-method': choose,
  },
  verify: {
    ...asked,
    ...answered,
    ...backTo('answer'),
    wrong: (model, { hints }) =>
      enter(model, 'answer', { challenge: withHints(model, hints), error: failure('challenge-failed') }),
  },
  wait: {
    ...asked,
    ...answered,
    // Does not use `enter`: the generation stays the same, so the deadline of `wait` still applies.
    pending: (model, { hints, isSlower }) => ({
      model: { ...model, challenge: withHints(model, hints), error: undefined },
      effects: [{ type: 'poll', isSlower }],
    }),
    // A failed poll does not end the challenge.
    failed: (model) => ({ model, effects: [{ type: 'poll', isSlower: true }] }),
    'other-method': choose,
    deadline: expired,
  },
};
