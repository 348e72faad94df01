// The part of the sign-in table that is about forms: credentials and the challenge that may follow. It knows neither the
// texts that were typed nor the challenge token.

import type { AuthState } from '../core/types.ts';
import type { AuthModel, Challenge, Failure, Method, Move, Row, Rows } from './machine-types.ts';
import { enter, failure, prompt, silentOr } from './moves.ts';

const withHints = (model: AuthModel, hints: Partial<Challenge>): Challenge => ({
  methods: [],
  ...model.challenge,
  ...hints,
});

/** Rows 20 and 24: nothing is sent where there is nothing to start. */
function begin(model: AuthModel, challenge: Challenge, method: Method): Move {
  const patch = { challenge: { ...challenge, method } };
  return method.needsStart ? enter(model, 'start', patch, { type: 'start' }) : enter(model, 'answer', patch);
}

/** Rows 17 and 18: the session is made; the code came with the answer, or a hidden frame fetches it. */
const takeCode: Row<'code'> = (model, { grant }) =>
  enter(model, 'exchange', { challenge: undefined }, { type: 'redeem', grant });
const established: Row<'established'> = (model) =>
  silentOr(model, failure('sign-in-required'), { challenge: undefined, sessionMade: true });

const challenged: Row<'challenged'> = (model, { methods, method, hints }) => {
  const challenge = { ...hints, methods };
  return method ? begin(model, challenge, method) : enter(model, 'choose', { challenge });
};

const cool: Row<'rate-limited'> = (model, { waitMs }) => {
  const error: Failure = { code: 'rate-limited', retryAfterMs: waitMs };
  if (waitMs > model.limits.coolCapMs) return prompt(model, error);
  return enter(model, 'cooling', { error, cooledFrom: model.state }, { type: 'cool', ms: waitMs });
};

/** Row 46: back to the step before, never sent again by itself, since an attempt may have been counted. */
const backTo =
  (state: AuthState): Row<'failed'> =>
  (model, { error }) =>
    enter(model, state, { error });
const timedOut =
  (state: AuthState) =>
  (model: AuthModel): Move =>
    enter(model, state, { error: failure('timeout') });
const refused: Row<'refused'> = (model, { error }) => prompt(model, error);
const ended = (model: AuthModel): Move => prompt(model, failure('challenge-expired'));
const cancel: Row<'cancel'> = (model) => prompt(model, failure('canceled'));
const otherMethod: Row<'other-method'> = (model) => enter(model, 'choose', {});
const denied = (model: AuthModel): Move => enter(model, 'choose', { error: failure('challenge-denied') });

/** The rows of the states `login`, `choose`, `start`, `answer`, `verify` and `wait`. */
export const challengeRows: Rows = {
  login: {
    code: takeCode,
    established,
    challenged,
    refused,
    'rate-limited': cool,
    cancel,
    failed: (model, { error }) => prompt(model, error),
    deadline: (model) => prompt(model, failure('timeout')),
  },
  choose: {
    pick: (model, { method }) => {
      // What is known of another method says nothing about this one.
      const { methods = [], expiresAtMs } = model.challenge ?? {};
      return begin(model, { methods, ...(expiresAtMs && { expiresAtMs }) }, method);
    },
    deadline: ended,
    expired: ended,
    cancel,
  },
  start: {
    started: (model, { hints }) => {
      const challenge = withHints(model, hints);
      if (challenge.method?.family !== 'push') return enter(model, 'answer', { challenge });
      return enter(model, 'wait', { challenge }, { type: 'poll', isSlower: false });
    },
    refused,
    denied,
    expired: ended,
    'rate-limited': cool,
    cancel,
    failed: backTo('choose'),
    deadline: timedOut('choose'),
  },
  answer: {
    submit: (model) => enter(model, 'verify', {}, { type: 'verify' }),
    resend: (model) =>
      model.challenge?.method?.needsStart
        ? enter(model, 'start', {}, { type: 'start' })
        : { model, effects: [] },
    'other-method': otherMethod,
    failed: backTo('answer'),
    deadline: ended,
    expired: ended,
    cancel,
  },
  verify: {
    code: takeCode,
    established,
    challenged,
    refused,
    denied,
    expired: ended,
    'rate-limited': cool,
    cancel,
    wrong: (model, { hints }) =>
      enter(model, 'answer', { challenge: withHints(model, hints), error: failure('challenge-failed') }),
    failed: backTo('answer'),
    deadline: timedOut('answer'),
  },
  wait: {
    code: takeCode,
    established,
    challenged,
    refused,
    denied,
    expired: ended,
    'rate-limited': cool,
    cancel,
    // The same wait goes on, under the same deadline.
    pending: (model, { hints, isSlower }) => ({
      model: { ...model, challenge: withHints(model, hints), error: undefined },
      effects: [{ type: 'poll', isSlower }],
    }),
    // A poll that got lost is no failure of the person: the next one tells.
    failed: (model) => ({ model, effects: [{ type: 'poll', isSlower: true }] }),
    'other-method': otherMethod,
    deadline: ended,
  },
};
