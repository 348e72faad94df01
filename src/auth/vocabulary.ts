// What the answers to credentials and challenges mean. A word that is in no table here never means that somebody is signed in; an
// adapter translates those of another service.

import type { ErrorCode } from '../core/errors.ts';
import { readExpiry } from './bearer.ts';
import type { Failure, FlowEvent, Hints, Method } from './machine-types.ts';
import { record } from './post.ts';

/** What was asked when the answer came. */
export type Step = 'login' | 'start' | 'answer' | 'poll';

type Event = Extract<
  FlowEvent,
  | { readonly hints: Hints }
  | { readonly error: Failure }
  | { readonly type: 'established' | 'denied' | 'expired' }
>;
/** The meaning of an answer, with the newest challenge token and the code, where there are such. */
export type Reading = { readonly token?: string; readonly code?: string } & Event;

type Fields = Readonly<Record<string, unknown>>;
/** What the words of `status` and `error` mean; a word that is not here never means that somebody is signed in. */
const WORDS: Readonly<Record<string, string>> = {
  locked: 'locked',
  expired: 'expired',
  challengeexpired: 'expired',
  invalidcode: 'wrong',
  denied: 'refused',
  invalidcredentials: 'refused',
  slowdown: 'slower',
  waiting: 'waiting',
  challenge: 'challenge',
  ok: 'established',
  success: 'established',
  established: 'established',
};
/** As a next step, these say that nothing more is asked. */
const NEXT_WORDS: Readonly<Record<string, string>> = {
  ...WORDS,
  authorize: 'established',
  none: 'established',
};

/** The ways of answering, in the order in which they are offered. */
const ORDER: readonly string[] = ['passkey', 'push', 'totp', 'email', 'sms', 'recovery', 'code'];
const SHORTEST_POLL_MS = 1000;
const STARTED_BY_ITSELF = new Set(['totp', 'recovery', 'code']);

/** A word as it is compared: `MFA_REQUIRED`, `mfa-required` and `mfaRequired` are one. */
export const normalize = (word: unknown): string =>
  typeof word === 'string' ? word.toLowerCase().replace(/[^a-z0-9]/g, '') : '';

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 4096 ? value : undefined;
const count = (value: unknown): number | undefined => {
  const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  return number >= 0 && number < 1e6 ? number : undefined;
};
/** Only the table's own words: an object has others, such as `constructor`. */
const own = (words: Readonly<Record<string, string>>, word: string): string | undefined =>
  Object.hasOwn(words, word) ? words[word] : undefined;
const defined = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

/** The methods of an answer that can be used here, in the order in which they are offered. */
export function readMethods(list: unknown, canUsePasskey: boolean): Method[] {
  const methods = (Array.isArray(list) ? list : []).slice(0, 50).flatMap((entry: unknown): Method[] => {
    const {
      id: named,
      type,
      label,
      hint,
    } = typeof entry === 'string' ? ({ id: entry } as Fields) : record(entry);
    const id = text(named ?? type);
    const spellings = [type, named].map(normalize);
    const family = ORDER.find((known) => spellings.includes(known)) as Method['family'] | undefined;
    if (!id || !family || (family === 'passkey' && !canUsePasskey)) return [];
    const seen = defined({ label: text(label), hint: text(hint) });
    return [{ id, family, needsStart: !STARTED_BY_ITSELF.has(family), ...seen }];
  });
  return methods.sort((one, other) => ORDER.indexOf(one.family) - ORDER.indexOf(other.family));
}

/** What an answer tells of the challenge. */
export function readHints(body: Fields, nowMs: number): Hints {
  const challenge = record(body.challenge);
  const inMs = (seconds: unknown, fromMs = 0): number | undefined => {
    const told = count(seconds);
    return told === undefined ? undefined : fromMs + told * 1000;
  };
  const pollMs = inMs(challenge.poll_after);
  const { code_kind: kind, number, public_key: publicKey } = challenge;
  return defined({
    delivery: text(challenge.delivery)?.slice(0, 100),
    codeLength: count(challenge.code_length),
    codeKind: kind === 'numeric' || kind === 'alphanumeric' ? kind : undefined,
    attemptsLeft: count(challenge.attempts_left),
    number: text(typeof number === 'number' ? String(number) : number)?.slice(0, 20),
    resendAtMs: inMs(challenge.resend_after, nowMs),
    pollMs: pollMs === undefined ? undefined : Math.max(SHORTEST_POLL_MS, pollMs),
    expiresAtMs: inMs(challenge.expires_in, nowMs) ?? readExpiry(challenge.expires_at),
    publicKey: publicKey === undefined ? undefined : record(publicKey),
  });
}

export interface ReadOptions {
  readonly nowMs: number;
  readonly canUsePasskey: boolean;
}

/** Reads an answer that is no pause (429). The most telling first: the stricter reading wins where words contradict each other. */
export function readAnswer(step: Step, status: number, body: unknown, how: ReadOptions): Reading {
  if (status >= 500) return { type: 'failed', error: { code: 'service-failed', status } };
  const answer = record(body);
  if (answer !== body) return { type: 'failed', error: { code: 'bad-response', status } };
  const token = text(answer.challenge_token);
  const code = text(answer.code);
  const event = readEvent(step, status, answer, how);
  return { ...event, ...(token && { token }), ...(event.type === 'established' && code && { code }) };
}

function readEvent(step: Step, status: number, answer: Fields, how: ReadOptions): Event {
  const { nowMs, canUsePasskey } = how;
  const isError = status >= 400;
  const error = normalize(answer.error);
  const next = normalize(answer.next_step);
  const said = [normalize(answer.status), error].filter(Boolean).map((word) => own(WORDS, word));
  const nextKind = own(NEXT_WORDS, next);
  const says = (kind: string): boolean => said.includes(kind);
  const hasToken = text(answer.challenge_token) !== undefined;
  const hints = readHints(answer, nowMs);
  const refuse = (code: ErrorCode): Event => ({ type: 'refused', error: { code, status } });
  // What was entered is not right, where something was.
  const wrong: Event | undefined = step === 'answer' ? { type: 'wrong', hints } : undefined;
  const rejected = step === 'login' ? refuse('credentials-rejected') : wrong;

  if (says('locked')) return refuse('account-locked');
  if (says('expired') || status === 410)
    return step === 'login' ? refuse('step-unsupported') : { type: 'expired' };
  if (says('wrong') || says('refused')) return rejected ?? { type: 'denied' };
  const isSlower = says('slower');
  if (isSlower || says('waiting') || (hasToken && step === 'poll')) {
    if (step === 'poll') return { type: 'pending', hints, isSlower };
    if (step === 'start') return { type: 'started', hints };
  }
  const offered: unknown = answer.available_methods;
  const hasMethods = Array.isArray(offered) && offered.length > 0;
  if (hasToken || hasMethods || says('challenge') || nextKind === 'challenge') {
    if (step === 'start' && !isError) return { type: 'started', hints };
    if (wrong && (isError || error)) return wrong;
    const methods = readMethods(offered, canUsePasskey);
    if (methods.length === 0) return refuse(hasMethods ? 'method-unsupported' : 'step-unsupported');
    const named = methods.find(({ id, family }) => normalize(id) === next || family === next);
    const method = methods.length === 1 ? methods[0] : named;
    return { type: 'challenged', methods, hints, ...(method && { method }) };
  }
  if (isError) {
    const isRejection = [401, 403, 422].includes(status);
    return (isRejection && rejected) || { type: 'failed', error: { code: 'service-failed', status } };
  }
  // A word that is not known leaves it open, whatever stands beside it.
  const kinds = next ? [...said, nextKind] : said;
  const isEstablished = kinds.length > 0 && kinds.every((kind) => kind === 'established');
  return isEstablished ? { type: 'established' } : refuse('step-unsupported');
}
