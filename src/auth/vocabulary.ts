// What the answers to credentials and challenges mean. Words are read leniently, and trusted strictly: what stands in no
// table here never means that somebody is signed in. It sends nothing.

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
const table = (...lines: string[]): readonly (readonly string[])[] => lines.map((line) => line.split(' '));

/** Each line is a meaning, named by its first word. */
const WORDS = table(
  'locked lockedout accountlocked blocked disabled suspended toomanyattempts',
  'expired timeout challengeexpired invalidsession',
  'wrong invalidcode wrongcode incorrectcode badcode codeinvalid codemismatch invalidotp',
  'refused denied rejected failed failure error invalidcredentials unauthorized accessdenied',
  'elsewhere redirecttoweb redirect browser sso federated idpredirect ' +
    'enroll enrollment mfaenroll passwordexpired changepassword resetpassword terms',
  'slower slowdown',
  'waiting pending pendingapproval authorizationpending polling',
  'challenge challengerequired mfa mfarequired mfachallenge 2fa otprequired stepup verify verification ' +
    'interactionrequired insufficientauthorization',
  'established ok success succeeded authenticated sessionestablished complete completed loggedin active done',
);
/** As a next step, these say that nothing more is asked. */
const NEXT_WORDS = [...WORDS, ...table('established authorize token exchange continue none')];

/** Each line is a way of answering, named by its first word, in the order in which they are offered. */
const FAMILIES = table(
  'passkey webauthn fido2 fido securitykey u2f',
  'push pushnotification mobileapproval oktaverify',
  'totp otp authenticator authenticatorapp app googleotp softwaretotp tokensoftwaretotp mfaotp',
  'email emailcode emailotp mail',
  'sms smscode smsotp phone phonenumber text',
  'recovery recoverycode backupcode',
);
const ORDER = [...FAMILIES.map(([family]) => family), 'code'];
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
const defined = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

/** What words mean: by the page's own spellings (`own`) first, then by the table. */
function meaningOf(words: readonly string[], own: unknown, known: ReturnType<typeof table>): unknown {
  const told = Object.entries(record(own)).find(([spelling]) => words.includes(normalize(spelling)));
  return told ? told[1] : known.find((line) => words.some((word) => line.includes(word)))?.[0];
}

/** The methods of an answer that can be used here, in the order in which they are offered (G17). */
export function readMethods(list: unknown, options: Fields, canUsePasskey: boolean): Method[] {
  const methods = (Array.isArray(list) ? list : []).slice(0, 50).flatMap((entry: unknown): Method[] => {
    const { type, method, name, label, hint, ...rest } =
      typeof entry === 'string' ? ({ id: entry } as Fields) : record(entry);
    const id = text(rest.id ?? type ?? method ?? name);
    const spellings = [type, method, rest.id, name].map(normalize);
    const told = meaningOf(spellings, options.methods, FAMILIES) ?? options.unknownMethod;
    const family = told as Method['family'];
    if (!id || !ORDER.includes(family) || (family === 'passkey' && !canUsePasskey)) return [];
    const seen = defined({ label: text(label), hint: text(hint) });
    return [{ id, family, needsStart: !STARTED_BY_ITSELF.has(family), ...seen }];
  });
  return methods.sort((one, other) => ORDER.indexOf(one.family) - ORDER.indexOf(other.family));
}

/** What an answer tells of the challenge (G19); `names` are other names of its fields. */
export function readHints(body: Fields, nowMs: number, names: Fields = {}): Hints {
  const challenge = record(body.challenge);
  const field = (name: string): unknown => challenge[name] ?? challenge[String(names[name])];
  const inMs = (name: string, fromMs = 0): number | undefined => {
    const seconds = count(field(name));
    return seconds === undefined ? undefined : fromMs + seconds * 1000;
  };
  const kind = field('code_kind');
  const number = field('number');
  const publicKey = field('public_key');
  return defined({
    delivery: text(field('delivery'))?.slice(0, 100),
    codeLength: count(field('code_length')),
    codeKind: kind === 'numeric' || kind === 'alphanumeric' ? kind : undefined,
    attemptsLeft: count(field('attempts_left')),
    number: text(typeof number === 'number' ? String(number) : number)?.slice(0, 20),
    resendAtMs: inMs('resend_after', nowMs),
    pollMs: inMs('poll_after'),
    expiresAtMs: inMs('expires_in', nowMs) ?? readExpiry(field('expires_at')),
    publicKey: publicKey === undefined ? undefined : record(publicKey),
  });
}

export interface ReadOptions {
  readonly nowMs: number;
  readonly canUsePasskey: boolean;
  /** `authOptions` of the settings. */
  readonly options?: Fields;
}

/** Reads an answer that is no pause (429). The most telling first: the stricter reading wins where words contradict each other. */
export function readAnswer(step: Step, status: number, body: unknown, how: ReadOptions): Reading {
  if (status >= 500) return { type: 'failed', error: { code: 'service-failed', status } };
  const answer = record(body);
  if (answer !== body) return { type: 'failed', error: { code: 'bad-response', status } };
  const token = text(answer.challenge_token);
  const code = text(answer.code) ?? text(answer.authorization_code);
  const event = readEvent(step, status, answer, how);
  return { ...event, ...(token && { token }), ...(event.type === 'established' && code && { code }) };
}

function readEvent(step: Step, status: number, answer: Fields, how: ReadOptions): Event {
  const { nowMs, canUsePasskey, options = {} } = how;
  const isError = status >= 400;
  const error = normalize(answer.error) || (isError ? normalize(answer.code) : '');
  const next = normalize(answer.next_step);
  const own = { ...record(options.statuses), ...record(options.errorCodes) };
  const said = [normalize(answer.status), error].filter(Boolean).map((word) => meaningOf([word], own, WORDS));
  const nextKind = meaningOf([next], options.nextSteps, NEXT_WORDS);
  const says = (kind: string): boolean => said.includes(kind);
  const hasToken = text(answer.challenge_token) !== undefined;
  const hints = readHints(answer, nowMs, record(options.fields));
  const refuse = (code: ErrorCode): Event => ({ type: 'refused', error: { code, status } });
  // What was entered is not right, where something was.
  const wrong: Event | undefined = step === 'answer' ? { type: 'wrong', hints } : undefined;
  const rejected = step === 'login' ? refuse('credentials-rejected') : wrong;

  if (says('locked')) return refuse('account-locked');
  if (says('expired') || status === 410)
    return step === 'login' ? refuse('step-unsupported') : { type: 'expired' };
  if (says('wrong') || says('refused')) return rejected ?? { type: 'denied' };
  if (says('elsewhere') || nextKind === 'elsewhere') return refuse('step-unsupported');
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
    const methods = readMethods(offered, options, canUsePasskey);
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
