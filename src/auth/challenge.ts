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
export function readResponse(step: Step, status: number, body: unknown, options: ReadOptions): Reading {
  if (status >= 500) return { type: 'failed', error: { code: 'service-failed', status } };
  const fields = record(body);
  if (fields !== body) return { type: 'failed', error: { code: 'bad-response', status } };
  const event = readEvent({ step, status, fields, ...wordsOf(fields), ...options });
  const code = event.type === 'established' ? text(fields.code) : undefined;
  return defined({ ...event, token: text(fields.challenge_token), code });
}

interface Words {
  /** The words of the response fields `status` and `error`. */
  readonly words: readonly string[];
  readonly error: string;
  readonly nextStep: string;
}

interface StepResponse extends Words, ReadOptions {
  readonly step: Step;
  readonly status: number;
  readonly fields: Fields;
}

function wordsOf(fields: Fields): Words {
  const error = normalize(fields.error);
  const words = [normalize(fields.status), error].filter(Boolean);
  return { words, error, nextStep: normalize(fields.next_step) };
}

const says = ({ words }: StepResponse, ...meanings: string[]): boolean =>
  meanings.some((word) => words.includes(word));
const isError = ({ status }: StepResponse): boolean => status >= 400;
const hasToken = ({ fields }: StepResponse): boolean => text(fields.challenge_token) !== undefined;
const hasMethods = ({ fields: { available_methods: methods } }: StepResponse): boolean =>
  Array.isArray(methods) && methods.length > 0;
const hintsIn = ({ fields, nowMs }: StepResponse): Hints => readHints(fields, nowMs);
const refuse = ({ status }: StepResponse, code: ErrorCode): Event => ({
  type: 'refused',
  error: { code, status },
});

/** Returns the event for credentials or an answer that the service rejects; `undefined` for steps that have neither. */
function rejectionOf(response: StepResponse): Event | undefined {
  if (response.step === 'login') return refuse(response, 'credentials-rejected');
  return response.step === 'answer' ? { type: 'wrong', hints: hintsIn(response) } : undefined;
}

/** What a response may mean. The first meaning that applies counts, so the stricter ones come first. */
const MEANINGS: readonly ((response: StepResponse) => Event | undefined | false)[] = [
  (response) => says(response, 'locked') && refuse(response, 'account-locked'),
  readExpired,
  (response) =>
    says(response, 'denied', 'invalidcredentials', 'invalidcode') &&
    (rejectionOf(response) ?? { type: 'denied' }),
  // A start is no success, so its words do not matter.
  (response) =>
    response.step === 'start' && !isError(response) && { type: 'started', hints: hintsIn(response) },
  readPending,
  readChallenge,
  readError,
  (response) => isEstablished(response) && { type: 'established' },
];

function readEvent(response: StepResponse): Event {
  for (const meaning of MEANINGS) {
    const event = meaning(response);
    if (event) return event;
  }
  return refuse(response, 'step-unsupported');
}

function readExpired(response: StepResponse): Event | undefined {
  if (!says(response, 'expired', 'challengeexpired') && response.status !== 410) return undefined;
  return response.step === 'login' ? refuse(response, 'step-unsupported') : { type: 'expired' };
}

function readPending(response: StepResponse): Event | undefined {
  const isSlower = says(response, 'slowdown');
  const isPending = isSlower || says(response, 'waiting') || hasToken(response);
  if (response.step !== 'poll' || !isPending) return undefined;
  return { type: 'pending', hints: hintsIn(response), isSlower };
}

function readChallenge(response: StepResponse): Event | undefined {
  const { step, fields, error, nextStep, canUsePasskey } = response;
  const isNamed = says(response, 'challenge') || nextStep === 'challenge';
  if (!isNamed && !hasToken(response) && !hasMethods(response)) return undefined;
  if (step === 'answer' && (isError(response) || error)) return rejectionOf(response);
  const methods = readMethods(fields.available_methods, canUsePasskey);
  if (methods.length === 0)
    return refuse(response, hasMethods(response) ? 'method-unsupported' : 'step-unsupported');
  const preferred = methods.find(({ id, family }) => normalize(id) === nextStep || family === nextStep);
  const method = methods.length === 1 ? methods[0] : preferred;
  return { type: 'challenged', methods, hints: hintsIn(response), ...(method && { method }) };
}

function readError(response: StepResponse): Event | undefined {
  const { status } = response;
  if (!isError(response)) return undefined;
  const rejection = [401, 403, 422].includes(status) ? rejectionOf(response) : undefined;
  return rejection ?? { type: 'failed', error: { code: 'service-failed', status } };
}

/** A single unknown word makes the whole response invalid. */
function isEstablished({ words, nextStep }: StepResponse): boolean {
  if (!words.every((word) => ESTABLISHED.includes(word))) return false;
  return nextStep ? NEXT_ESTABLISHED.includes(nextStep) : words.length > 0;
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
