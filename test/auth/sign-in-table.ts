// The expected sign-in table, written independently of the code: the result of each event in each state.
import { createModel } from '../../src/auth/machine.ts';
import type { AuthEvent, AuthModel, EventType, Method } from '../../src/auth/types.ts';
import { AUTH_TIMES } from '../../src/core/auth-times.ts';
import type { AuthState } from '../../src/core/types.ts';

const first = createModel({
  frames: 'allowed',
  times: AUTH_TIMES,
  isSessionEnough: false,
  signedOut: 'no',
});
const bearer = { value: 'opaque', lifetimeMs: 1, isAssumed: false };
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
  'page-token': { type: 'page-token', generation, bearer },
  code: { type: 'code', generation, grant },
  token: { type: 'token', generation, bearer },
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
};

export type Where =
  | AuthState
  | 'renewing-host'
  | 'renewing-silent'
  | 'renewing-exchange'
  | 'renewing-cooling';
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
  'renewing-host': { renewing: 'asking-host', isAlive: true, source: 'page' },
  'renewing-silent': { renewing: 'silent', isAlive: true },
  'renewing-exchange': { renewing: 'exchange', isAlive: true },
  'renewing-cooling': { renewing: 'cooling', cooledFrom: 'signed-in' },
};

export const at = (where: Where, patch: Partial<AuthModel> = {}): AuthModel => {
  const state = where.startsWith('renewing') ? 'signed-in' : (where as AuthState);
  return { ...first, generation, ...WHERE[where], ...patch, state };
};

/** Results by state and event, as a text: next state, code of the shown error (or `-`), and effects. */
export const TABLE: { readonly [W in Where]: { readonly [T in EventType]?: string } } = {
  'signed-out': {
    'need-token': 'silent - deadline try-silent',
    'sign-in': 'popup - deadline run-popup',
    'submit-login': 'login - deadline login',
    returned: 'exchange - deadline redeem',
    unable: 'signed-out state-mismatch',
  },
  'asking-host': {
    'page-token': 'signed-in - keep',
    failed: 'cooling network cool',
    deadline: 'prompt host-token-failed require',
    cancel: 'prompt canceled require',
  },
  silent: {
    code: 'exchange - deadline redeem',
    failed: 'prompt network require',
    deadline: 'prompt silent-timeout require',
    'sign-in': 'popup - deadline run-popup',
    returned: 'exchange - deadline redeem',
    cancel: 'prompt canceled require',
  },
  prompt: {
    'need-token': 'prompt - require',
    'sign-in': 'popup - deadline run-popup',
    returned: 'exchange - deadline redeem',
    unable: 'prompt state-mismatch require',
    'submit-login': 'login - deadline login',
  },
  popup: {
    code: 'exchange - deadline redeem',
    'closed-reading': 'popup-lost -',
    failed: 'prompt network require',
    deadline: 'prompt popup-timeout require',
    'sign-in': 'popup - deadline run-popup',
    cancel: 'prompt popup-closed require',
  },
  'popup-lost': {
    code: 'exchange - deadline redeem',
    failed: 'prompt network require',
    deadline: 'prompt popup-closed require',
    'sign-in': 'popup - deadline run-popup',
    cancel: 'prompt popup-closed require',
  },
  redirecting: {
    failed: 'prompt network require',
    deadline: 'prompt authorize-failed require',
    'shown-again': 'prompt - require',
    cancel: 'prompt canceled require',
  },
  login: {
    code: 'exchange - deadline redeem',
    established: 'silent - deadline try-silent',
    challenged: 'choose - deadline',
    refused: 'prompt credentials-rejected require',
    'rate-limited': 'cooling rate-limited cool',
    failed: 'prompt network require',
    deadline: 'prompt timeout require',
    cancel: 'prompt canceled require',
  },
  choose: {
    pick: 'answer - deadline',
    deadline: 'prompt challenge-expired require',
    expired: 'prompt challenge-expired require',
    cancel: 'prompt canceled require',
  },
  start: {
    started: 'answer - deadline',
    refused: 'prompt credentials-rejected require',
    denied: 'choose challenge-denied deadline',
    expired: 'prompt challenge-expired require',
    'rate-limited': 'cooling rate-limited cool',
    failed: 'choose network deadline',
    deadline: 'choose timeout deadline',
    cancel: 'prompt canceled require',
  },
  answer: {
    submit: 'verify - deadline answer',
    resend: 'start - deadline start',
    'other-method': 'choose - deadline',
    failed: 'answer network deadline',
    deadline: 'prompt challenge-expired require',
    expired: 'prompt challenge-expired require',
    cancel: 'prompt canceled require',
  },
  verify: {
    code: 'exchange - deadline redeem',
    established: 'silent - deadline try-silent',
    challenged: 'choose - deadline',
    refused: 'prompt credentials-rejected require',
    denied: 'choose challenge-denied deadline',
    expired: 'prompt challenge-expired require',
    wrong: 'answer challenge-failed deadline',
    'rate-limited': 'cooling rate-limited cool',
    failed: 'answer network deadline',
    deadline: 'answer timeout deadline',
    cancel: 'prompt canceled require',
  },
  wait: {
    code: 'exchange - deadline redeem',
    established: 'silent - deadline try-silent',
    challenged: 'choose - deadline',
    refused: 'prompt credentials-rejected require',
    denied: 'choose challenge-denied deadline',
    expired: 'prompt challenge-expired require',
    pending: 'wait - poll',
    failed: 'wait - poll',
    'rate-limited': 'cooling rate-limited cool',
    'other-method': 'choose - deadline',
    deadline: 'prompt challenge-expired require',
    cancel: 'prompt canceled require',
  },
  exchange: {
    token: 'signed-in - keep',
    failed: 'prompt network require',
    'code-spent': 'silent - deadline try-silent',
    deadline: 'silent - deadline try-silent',
    'rate-limited': 'cooling rate-limited cool',
    cancel: 'prompt canceled require',
  },
  'signed-in': { 'renew-due': 'signed-in - deadline try-silent', 'step-up': 'prompt - require' },
  cooling: { elapsed: 'exchange - deadline redeem-again', cancel: 'prompt canceled require' },
  'renewing-host': {
    'page-token': 'signed-in - keep',
    failed: 'signed-in -',
    deadline: 'signed-in -',
  },
  'renewing-silent': {
    code: 'signed-in - deadline redeem',
    failed: 'signed-in -',
    deadline: 'signed-in -',
    'step-up': 'prompt - require',
  },
  'renewing-exchange': {
    token: 'signed-in - keep',
    failed: 'signed-in -',
    'code-spent': 'signed-in - deadline try-silent',
    deadline: 'signed-in - deadline try-silent',
    'rate-limited': 'signed-in -',
    'step-up': 'prompt - require',
  },
  'renewing-cooling': { elapsed: 'signed-in -', 'step-up': 'prompt - require' },
};
