// Credentials and challenges, without effects: what the responses of the service mean, and the rows of the sign-in table for the
// form. An unknown word in a response never means success. The page's adapter can translate the words of another service. The rows
// contain no user input and no challenge token.

import type { ErrorCode } from '../core/errors.ts';
import { shownText } from '../core/names.ts';
import { readTimeMs } from '../core/read-time.ts';
import type { AuthState } from '../core/types.ts';
import { record } from './calls.ts';
import { framesAfterSignIn, takeCode } from './machine.ts';
import { cool, enter, fail, failure, failWith, inert, silentOr } from './moves.ts';
import { readNumber } from './token.ts';
import type {
  AuthModel,
  Challenge,
  Failure,
  FlowEvent,
  Hints,
  Method,
  Move,
  Row,
  Rows,
  StateRows,
} from './types.ts';

export type Step = 'login' | 'start' | 'answer' | 'poll';

type Event = Extract<
  FlowEvent,
  | { readonly hints: Hints }
  | { readonly error: Failure }
  | { readonly type: 'established' | 'denied' | 'expired' }
>;
/** An event with the challenge token and the code of the response. */
export type Reading = { readonly token?: string; readonly code?: string } & Event;

type Fields = Readonly<Record<string, unknown>>;
/** Words that mean success, and those that mean it only in the response field `next_step`. */
const ESTABLISHED = ['ok', 'success', 'established'];
const NEXT_ESTABLISHED = [...ESTABLISHED, 'authorize', 'none'];

/** Kinds of methods, in the order in which the form offers them. */
const ORDER: readonly string[] = ['passkey', 'push', 'totp', 'email', 'sms', 'recovery', 'code'];
const SHORTEST_POLL_S = 1;
const STARTED_BY_ITSELF = ['totp', 'recovery', 'code'];

/** Turns `MFA_REQUIRED`, `mfa-required` and `mfaRequired` into the same word. */
export const normalize = (word: unknown): string =>
  typeof word === 'string' ? word.toLowerCase().replace(/[^a-z0-9]/g, '') : '';

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 4096 ? value : undefined;
/** A text that the form shows. */
const shown = (value: unknown): string | undefined => text(shownText(text(value) ?? '').slice(0, 100));
const count = (value: unknown): number | undefined => {
  const number = readNumber(value);
  return number >= 0 && number < 1e6 ? number : undefined;
};
const defined = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

/** Returns the methods in a response that the form supports, in the order of `ORDER`. */
export function readMethods(list: unknown, canUsePasskey: boolean): Method[] {
  const methods = (Array.isArray(list) ? list : []).slice(0, 50).flatMap((entry: unknown): Method[] => {
    const { id: named, type, label, hint } = record(typeof entry === 'string' ? { id: entry } : entry);
    const id = text(named ?? type);
    const spellings = [type, named].map(normalize);
    const family = ORDER.find((supported) => spellings.includes(supported)) as Method['family'] | undefined;
    if (!id || !family || (family === 'passkey' && !canUsePasskey)) return [];
    const needsStart = !STARTED_BY_ITSELF.includes(family);
    return [defined({ id, family, needsStart, label: shown(label), hint: shown(hint) })];
  });
  return methods.sort((one, other) => ORDER.indexOf(one.family) - ORDER.indexOf(other.family));
}

export function readHints(body: Fields, nowMs: number): Hints {
  const challenge = record(body.challenge);
  const inMs = (seconds: unknown, fromMs: number, leastS = 0): number | undefined => {
    const delayS = count(seconds);
    return delayS === undefined ? undefined : fromMs + Math.max(leastS, delayS) * 1000;
  };
  const { code_kind: kind, number, public_key: publicKey } = challenge;
  return defined({
    delivery: shown(challenge.delivery),
    codeLength: count(challenge.code_length),
    codeKind: kind === 'numeric' || kind === 'alphanumeric' ? kind : undefined,
    attemptsLeft: count(challenge.attempts_left),
    number: shown(typeof number === 'number' ? String(number) : number),
    resendAtMs: inMs(challenge.resend_after, nowMs),
    pollMs: inMs(challenge.poll_after, 0, SHORTEST_POLL_S),
    expiresAtMs: inMs(challenge.expires_in, nowMs) ?? readTimeMs(challenge.expires_at),
    publicKey: publicKey === undefined ? undefined : record(publicKey),
  });
}

export interface ReadOptions {
  readonly nowMs: number;
  readonly canUsePasskey: boolean;
}

/**
 * Returns the event for a response that `isPause` does not recognize. If words of the response contradict each other, the stricter
 * meaning counts.
 */
export function readResponse(step: Step, status: number, body: unknown, how: ReadOptions): Reading {
  if (status >= 500) return { type: 'failed', error: { code: 'service-failed', status } };
  const answer = record(body);
  if (answer !== body) return { type: 'failed', error: { code: 'bad-response', status } };
  const event = readEvent(step, status, answer, how);
  const code = event.type === 'established' ? text(answer.code) : undefined;
  return defined({ ...event, token: text(answer.challenge_token), code });
}

function readEvent(step: Step, status: number, answer: Fields, how: ReadOptions): Event {
  const isError = status >= 400;
  const error = normalize(answer.error);
  const next = normalize(answer.next_step);
  const said = [normalize(answer.status), error].filter(Boolean);
  const says = (...words: string[]): boolean => words.some((word) => said.includes(word));
  const hints = readHints(answer, how.nowMs);
  const refuse = (code: ErrorCode): Event => ({ type: 'refused', error: { code, status } });
  const wrong: Event | undefined = step === 'answer' ? { type: 'wrong', hints } : undefined;
  const rejected = step === 'login' ? refuse('credentials-rejected') : wrong;

  if (says('locked')) return refuse('account-locked');
  if (says('expired', 'challengeexpired') || status === 410)
    return step === 'login' ? refuse('step-unsupported') : { type: 'expired' };
  if (says('denied', 'invalidcredentials', 'invalidcode')) return rejected ?? { type: 'denied' };
  // A start is no success, so its words do not matter.
  if (step === 'start' && !isError) return { type: 'started', hints };
  const hasToken = text(answer.challenge_token) !== undefined;
  const isSlower = says('slowdown');
  if (step === 'poll' && (isSlower || says('waiting') || hasToken))
    return { type: 'pending', hints, isSlower };
  const offered: unknown = answer.available_methods;
  const hasMethods = Array.isArray(offered) && offered.length > 0;
  if (hasToken || hasMethods || says('challenge') || next === 'challenge') {
    if (wrong && (isError || error)) return wrong;
    const methods = readMethods(offered, how.canUsePasskey);
    if (methods.length === 0) return refuse(hasMethods ? 'method-unsupported' : 'step-unsupported');
    const named = methods.find(({ id, family }) => normalize(id) === next || family === next);
    const method = methods.length === 1 ? methods[0] : named;
    return { type: 'challenged', methods, hints, ...(method && { method }) };
  }
  if (isError) {
    const isRejection = [401, 403, 422].includes(status);
    return (isRejection && rejected) || { type: 'failed', error: { code: 'service-failed', status } };
  }
  // A single unknown word makes the whole response invalid.
  const isKnown = said.every((word) => ESTABLISHED.includes(word));
  const isEstablished = isKnown && (next ? NEXT_ESTABLISHED.includes(next) : said.length > 0);
  return isEstablished ? { type: 'established' } : refuse('step-unsupported');
}

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
