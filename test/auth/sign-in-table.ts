// The states and events with which tests enter the sign-in table, and the document of the table (docs/sign-in-states.md).

import { challengeRows } from '../../src/auth/challenge.ts';
import { createModel, reduce } from '../../src/auth/machine.ts';
import type { AuthEvent, AuthModel, Effect, EventType, Method } from '../../src/auth/types.ts';
import { AUTH_TIMES } from '../../src/core/auth-times.ts';
import type { AuthState } from '../../src/core/types.ts';
import { changesOf, documentOf, fieldIn, labelOf } from '../core/state-tables.ts';

const first = createModel({
  frames: 'allowed',
  times: AUTH_TIMES,
  isSessionEnough: false,
  signedOut: 'no',
});
const token = { lifetimeMs: 1 };
const grant = { code: 'code', verifier: 'verifier', via: 'popup' as const };
export const totp: Method = { id: 'totp', family: 'totp', needsStart: false };
export const sms: Method = { id: 'sms', family: 'sms', needsStart: true };
export const push: Method = { id: 'push', family: 'push', needsStart: true };
const error = { code: 'network' as const };
export const generation = 7;

/** One event of each kind. */
export const EVENTS: { readonly [T in EventType]: AuthEvent } = {
  'need-token': { type: 'need-token', isFromPage: false },
  'sign-in': { type: 'sign-in', via: 'popup' },
  cancel: { type: 'cancel' },
  'sign-out': { type: 'sign-out', reason: 'user' },
  disconnected: { type: 'disconnected' },
  fault: { type: 'fault' },
  allowed: { type: 'allowed' },
  'renew-due': { type: 'renew-due', reason: 'expired' },
  returned: { type: 'returned', grant },
  unable: { type: 'unable', error: { code: 'state-mismatch' } },
  'step-up': { type: 'step-up' },
  'shown-again': { type: 'shown-again' },
  'submit-login': { type: 'submit-login' },
  pick: { type: 'pick', method: totp },
  submit: { type: 'submit' },
  resend: { type: 'resend' },
  'other-method': { type: 'other-method' },
  deadline: { type: 'deadline', generation },
  elapsed: { type: 'elapsed', generation },
  'closed-reading': { type: 'closed-reading', generation },
  'page-token': { type: 'page-token', generation, token },
  code: { type: 'code', generation, grant },
  token: { type: 'token', generation, token },
  failed: { type: 'failed', generation, error },
  'other-user': { type: 'other-user', generation },
  'code-spent': { type: 'code-spent', generation, error },
  'rate-limited': { type: 'rate-limited', generation, waitMs: 1000 },
  established: { type: 'established', generation },
  challenged: { type: 'challenged', generation, methods: [totp, sms], hints: {} },
  started: { type: 'started', generation, hints: {} },
  pending: { type: 'pending', generation, hints: {}, isSlower: false },
  wrong: { type: 'wrong', generation, hints: { attemptsLeft: 2 } },
  denied: { type: 'denied', generation },
  expired: { type: 'expired', generation },
  refused: { type: 'refused', generation, error: { code: 'credentials-rejected' } },
  unanswered: { type: 'unanswered', generation, error: { code: 'host-token-failed' } },
};

export type Where =
  | AuthState
  | 'renewing-host'
  | 'renewing-silent'
  | 'renewing-exchange'
  | 'renewing-cooling'
  | 'asking-again'
  | 'asking-later';
export const challenge = { methods: [totp, sms], method: sms };
/** Fields of the model in each state, except `state` itself. */
const WHERE: { readonly [W in Where]?: Partial<AuthModel> } = {
  choose: { challenge: { methods: [totp, sms] } },
  start: { challenge },
  answer: { challenge },
  verify: { challenge },
  wait: { challenge: { methods: [push, sms], method: push } },
  'signed-in': { isAlive: true },
  cooling: { cooledFrom: 'exchange', waitedMs: 1000 },
  'renewing-host': { background: 'asking-host', isAlive: true, isEarly: true, source: 'page' },
  'renewing-silent': { background: 'silent', isAlive: true, isEarly: true },
  'renewing-exchange': { background: 'exchange', isAlive: true, isEarly: true },
  'renewing-cooling': { background: 'cooling', cooledFrom: 'signed-in' },
  'asking-again': { background: 'asking-host', error: { code: 'host-token-failed' } },
  'asking-later': {
    ...{ background: 'cooling', renewableAtMs: 60_000, hasWaiters: true },
    error: { code: 'host-token-failed' },
  },
};

/** State that is shown while something runs in the background. */
const SHOWN: { readonly [W in Where]?: AuthState } = {
  'renewing-host': 'signed-in',
  'renewing-silent': 'signed-in',
  'renewing-exchange': 'signed-in',
  'renewing-cooling': 'signed-in',
  'asking-again': 'prompt',
  'asking-later': 'prompt',
};

export const at = (where: Where, patch: Partial<AuthModel> = {}): AuthModel => {
  const state = SHOWN[where] ?? (where as AuthState);
  return { ...first, generation, ...WHERE[where], ...patch, state };
};

/** The states, with their meanings. */
const MEANINGS: { readonly [W in Where]: string } = {
  'signed-out': 'no call has needed a token yet, or the user has signed out',
  'asking-host': 'the page is asked for a token (`getToken`, `auth-required`)',
  silent: 'a hidden frame asks the service for a code, without the user',
  'silent-early':
    'the same after the network was away, perhaps too early: without a response, it is tried once more',
  prompt: 'the user has to sign in',
  popup: 'the sign-in window is open',
  'popup-lost': 'the sign-in window looks closed, but may still respond',
  redirecting: 'the page is being left for the sign-in page',
  login: 'the credentials of the form were sent',
  choose: 'the user chooses how to verify',
  start: 'the service is asked to send a code, to notify a phone, or to create a passkey request',
  answer: 'the user enters a code, or uses a passkey',
  verify: 'the answer was sent',
  wait: 'the user has to approve on a phone',
  exchange: 'a code is exchanged for a token',
  'signed-in': 'there is a token, or the session of the service is enough',
  cooling: 'a delay before the next request; the table shows one before the exchange of a code',
  'renewing-host': 'in the background, the page is asked for the next token; `signed-in` is shown',
  'renewing-silent': 'in the background, a hidden frame asks for a code; `signed-in` is shown',
  'renewing-exchange': 'in the background, a code is exchanged for the next token; `signed-in` is shown',
  'renewing-cooling': 'a delay before the renewal of a token; `signed-in` is shown',
  'asking-again': 'the user is asked, and in the background the page is asked again; `prompt` is shown',
  'asking-later': 'the user is asked; a delay before the page is asked again; `prompt` is shown',
};

export const PLACES = Object.keys(MEANINGS) as Where[];

const HEADING = `# The states of sign-in

Generated by \`node --import tsx scripts/state-tables.mjs\` from \`src/auth/machine.ts\` and \`src/auth/challenge.ts\`; do not edit it by hand.

Each row of a table is an event, with the next state and then the effects in order. An event that a table does not list changes
nothing in that state. \`!\` after a state: the generation increases, so that running effects are aborted. Fields of the model that
change, and data of effects, are in braces; \`event.error\` is data of the event.

\`deadline\` limits the time in the state, \`cool\` waits for a delay, \`keep\` keeps the token, \`drop\` forgets it, and \`forget\` also forgets
the user. \`require\` dispatches \`auth-required\` if calls are waiting. The other effects make the request of that name.`;

/** Returns the document of the sign-in table. */
export const signInStates = (): string =>
  documentOf<AuthModel, AuthEvent, Effect>({
    heading: HEADING,
    states: Object.fromEntries(
      PLACES.map((where) => [
        where,
        { model: at(where), meaning: `${MEANINGS[where].replace(/^./, (first) => first.toUpperCase())}.` },
      ]),
    ),
    events: EVENTS,
    reduce: (model, event) => reduce(model, event, challengeRows),
    stateOf: ({ before, event, after }) => {
      const { state: _, ...others } = changesOf(before, after);
      return labelOf(after.state, others, fieldIn({ event, model: before }));
    },
    effectOf: ({ type, ...data }, { before, event }) =>
      labelOf(type, data, fieldIn({ event, model: before })),
  });
