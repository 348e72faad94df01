// What the answers to credentials and challenges mean. Words are read leniently, and trusted strictly: what stands in no
// table here never means that somebody is signed in. It sends nothing.

import type { ErrorCode } from '../core/errors.ts';
import { readExpiry } from './bearer.ts';
import type { Hints, Method } from './machine-types.ts';

/** What was asked when the answer came. */
export type Step = 'login' | 'start' | 'answer' | 'poll';

/** The meaning of an answer. `token` is the newest challenge token, where there is one. */
export type Reading = { readonly token?: string } & (
  | { readonly type: 'established'; readonly code?: string }
  | {
      readonly type: 'challenged';
      readonly methods: readonly Method[];
      readonly method?: Method;
      readonly hints: Hints;
    }
  | { readonly type: 'started' | 'wrong'; readonly hints: Hints }
  | { readonly type: 'pending'; readonly hints: Hints; readonly isSlower: boolean }
  | { readonly type: 'denied' | 'expired' }
  | {
      readonly type: 'refused' | 'failed';
      readonly error: { readonly code: ErrorCode; readonly status?: number };
    }
);

type Kind =
  | 'refused'
  | 'wrong'
  | 'locked'
  | 'expired'
  | 'elsewhere'
  | 'waiting'
  | 'slower'
  | 'challenge'
  | 'established';
type Family = Method['family'];
type Fields = Readonly<Record<string, unknown>>;

/** The most telling first: the stricter reading wins where words contradict each other. */
const WORDS: readonly (readonly [Kind, string])[] = [
  ['locked', 'locked lockedout accountlocked blocked disabled suspended toomanyattempts'],
  ['expired', 'expired timeout challengeexpired invalidsession'],
  ['wrong', 'invalidcode wrongcode incorrectcode badcode codeinvalid codemismatch invalidotp'],
  ['refused', 'denied rejected refused failed failure error invalidcredentials unauthorized accessdenied'],
  ['elsewhere', 'redirecttoweb redirect browser sso federated idpredirect'],
  ['elsewhere', 'enroll enrollment mfaenroll passwordexpired changepassword resetpassword terms'],
  ['slower', 'slowdown'],
  ['waiting', 'waiting pending pendingapproval authorizationpending polling'],
  [
    'challenge',
    'challenge challengerequired mfa mfarequired mfachallenge 2fa otprequired stepup verify verification',
  ],
  ['challenge', 'interactionrequired insufficientauthorization'],
  [
    'established',
    'ok success succeeded authenticated established sessionestablished complete completed loggedin active done',
  ],
];
const GOING_ON = new Set('authorize token exchange continue complete none'.split(' '));

const FAMILIES: readonly (readonly [Family, boolean, string])[] = [
  ['passkey', true, 'webauthn passkey fido2 fido securitykey u2f'],
  ['push', true, 'push pushnotification mobileapproval oktaverify'],
  [
    'totp',
    false,
    'totp otp authenticator authenticatorapp app googleotp softwaretotp tokensoftwaretotp mfaotp',
  ],
  ['email', true, 'email emailcode emailotp mail'],
  ['sms', true, 'sms smscode smsotp phone phonenumber text'],
  ['recovery', false, 'recovery recoverycode backupcode'],
];
const ORDER: readonly Family[] = [...FAMILIES.map(([family]) => family), 'code'];

/** A word as it is compared: `MFA_REQUIRED`, `mfa-required` and `mfaRequired` are one. */
export const normalize = (word: unknown): string =>
  typeof word === 'string' ? word.toLowerCase().replace(/[^a-z0-9]/g, '') : '';

const record = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 4096 ? value : undefined;
const count = (value: unknown): number | undefined => {
  const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  return number >= 0 && number < 1e6 ? number : undefined;
};
const defined = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

/** The page's own tables, merged over those here: its spelling of a word, and what it means. */
function kindOf(word: string, own: Fields): Kind | undefined {
  const told = Object.entries(own).find(([spelling]) => normalize(spelling) === word);
  if (told) return told[1] as Kind;
  return WORDS.find(([, words]) => words.split(' ').includes(word))?.[0];
}

/** The methods of an answer that can be used here, in the order in which they are offered (G17). */
export function readMethods(list: unknown, options: Fields, canUsePasskey: boolean): Method[] {
  const own = record(options.methods);
  const methods = (Array.isArray(list) ? list : []).slice(0, 50).flatMap((entry: unknown): Method[] => {
    const fields = typeof entry === 'string' ? { id: entry } : record(entry);
    const id = text(fields.id ?? fields.type ?? fields.method ?? fields.name);
    const spellings = [fields.type, fields.method, fields.id, fields.name].map(normalize);
    const told = Object.entries(own).find(([spelling]) => spellings.includes(normalize(spelling)))?.[1];
    const known = FAMILIES.find(
      ([family, , words]) =>
        family === told || (!told && spellings.some((word) => words.split(' ').includes(word))),
    );
    const family = known?.[0] ?? (told === 'code' || options.unknownMethod === 'code' ? 'code' : undefined);
    if (!id || !family || (family === 'passkey' && !canUsePasskey)) return [];
    const seen = defined({ label: text(fields.label), hint: text(fields.hint) });
    return [{ id, family, needsStart: known?.[1] ?? false, ...seen }];
  });
  return methods.sort((one, other) => ORDER.indexOf(one.family) - ORDER.indexOf(other.family));
}

/** What an answer tells of the challenge (G19). */
export function readHints(body: Fields, nowMs: number, names: Fields = {}): Hints {
  const challenge = { ...record(body.challenge) };
  for (const [name, theirs] of Object.entries(names)) challenge[name] ??= challenge[String(theirs)];
  const seconds = count(challenge.expires_in);
  const resend = count(challenge.resend_after);
  const poll = count(challenge.poll_after);
  const kind = challenge.code_kind;
  const number = typeof challenge.number === 'number' ? String(challenge.number) : text(challenge.number);
  return defined({
    delivery: text(challenge.delivery)?.slice(0, 100),
    codeLength: count(challenge.code_length),
    codeKind: kind === 'numeric' || kind === 'alphanumeric' ? kind : undefined,
    attemptsLeft: count(challenge.attempts_left),
    number: number?.slice(0, 20),
    resendAtMs: resend === undefined ? undefined : nowMs + resend * 1000,
    pollMs: poll === undefined ? undefined : poll * 1000,
    expiresAtMs: seconds === undefined ? readExpiry(challenge.expires_at) : nowMs + seconds * 1000,
    publicKey: challenge.public_key === undefined ? undefined : record(challenge.public_key),
  });
}

export interface ReadOptions {
  readonly nowMs: number;
  readonly canUsePasskey: boolean;
  /** `authOptions` of the settings. */
  readonly options?: Fields;
}

/** Reads an answer that is neither a pause (429) nor without a body. */
export function readAnswer(
  step: Step,
  status: number,
  body: unknown,
  { nowMs, canUsePasskey, options = {} }: ReadOptions,
): Reading {
  if (status >= 500) return { type: 'failed', error: { code: 'service-failed', status } };
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { type: 'failed', error: { code: 'bad-response', status } };
  }
  const answer = body as Fields;
  const isError = status >= 400;
  const error = normalize(answer.error) || (isError ? normalize(answer.code) : '');
  const next = normalize(answer.next_step);
  const own = { ...record(options.statuses), ...record(options.errorCodes) };
  const said = [normalize(answer.status), error].filter(Boolean).map((word) => kindOf(word, own));
  const nextKind = kindOf(next, record(options.nextSteps));
  const says = (kind: Kind): boolean => said.includes(kind);
  const token = text(answer.challenge_token);
  const kept = token === undefined ? {} : { token };
  const hints = readHints(answer, nowMs, record(options.fields));
  const methods = readMethods(answer.available_methods, options, canUsePasskey);
  const hasMethods = Array.isArray(answer.available_methods) && answer.available_methods.length > 0;
  const refuse = (code: ErrorCode): Reading => ({ type: 'refused', error: { code, status } });

  if (says('locked')) return refuse('account-locked');
  if (says('expired') || status === 410)
    return step === 'login' ? refuse('step-unsupported') : { type: 'expired' };
  if (says('wrong') || says('refused')) {
    if (step === 'login') return refuse('credentials-rejected');
    return step === 'answer' ? { type: 'wrong', hints, ...kept } : { type: 'denied', ...kept };
  }
  if (says('elsewhere') || nextKind === 'elsewhere') return refuse('step-unsupported');
  const isSlower = says('slower');
  if (isSlower || says('waiting') || (token && step === 'poll')) {
    if (step === 'poll') return { type: 'pending', hints, isSlower, ...kept };
    if (step === 'start') return { type: 'started', hints, ...kept };
  }
  if (token || hasMethods || says('challenge') || nextKind === 'challenge') {
    if (step === 'start' && !isError) return { type: 'started', hints, ...kept };
    if (step === 'answer' && (isError || error)) return { type: 'wrong', hints, ...kept };
    const named = methods.find(({ id, family }) => normalize(id) === next || family === next);
    const method = methods.length === 1 ? methods[0] : named;
    if (!methods.length) return refuse(hasMethods ? 'method-unsupported' : 'step-unsupported');
    return { type: 'challenged', methods, hints, ...kept, ...(method && { method }) };
  }
  if (isError) {
    if (status === 401 || status === 403 || status === 422) {
      if (step === 'login') return refuse('credentials-rejected');
      if (step === 'answer') return { type: 'wrong', hints };
    }
    return { type: 'failed', error: { code: 'service-failed', status } };
  }
  // A word that is not known leaves it open, whatever stands beside it.
  const isEstablished = said.length
    ? said.every((kind) => kind === 'established')
    : GOING_ON.has(next) || nextKind === 'established';
  if (!isEstablished) return refuse('step-unsupported');
  const code = text(answer.code) ?? text(answer.authorization_code);
  return { type: 'established', ...(code && { code }) };
}
