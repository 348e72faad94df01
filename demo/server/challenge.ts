// The second step of a sign-in. The client starts the step, then sends an answer or polls, until it succeeds, fails or expires.
// Each response has a new challenge token.
import { randomInt } from 'node:crypto';
import { attemptsLeft, forgetAttempts, takeAttempt } from './attempts.ts';
import { checkPasskey, checkRecovery, checkTotp, passkeyOptions, randomCode } from './factors.ts';
import type { Challenge, Message, Parts, Purpose } from './parts.ts';
import { fingerprint, isSame, randomId, randomToken } from './seal.ts';
import { type Method, type User, users } from './seed.ts';

/** Description of the current step for the client. `resend_after` and `poll_after` are in seconds. */
export interface ChallengeDetails {
  expires_at: string;
  method?: Method;
  delivery?: string;
  code_length?: number;
  code_kind?: 'numeric' | 'alphanumeric';
  resend_after?: number;
  poll_after?: number;
  attempts_left?: number;
  number?: number;
  public_key?: object;
}

/** A second step that is not finished. `token` is the next challenge token. */
export interface Challenged {
  kind: 'challenge' | 'wrong' | 'denied' | 'waiting' | 'slow-down';
  token: string;
  user: User;
  details: ChallengeDetails;
}

/** Result of a request. */
type StepOutcome =
  | Challenged
  | { kind: 'passed'; user: User; purpose: Purpose }
  | { kind: 'locked' | 'expired' };

/** A request of the client in the second step. */
export interface Step {
  token: string;
  origin: string;
  action: 'start' | 'answer' | 'poll';
  method: Method | undefined;
  code?: string;
  credential?: unknown;
}

const LIFETIME_MS = 5 * 60_000;
const RESEND_MS = 30_000;
const POLL_S = 4;
const sendable = ['email', 'sms', 'push'] as const;

/** Starts the second step. */
export async function beginChallenge(
  parts: Parts,
  user: User,
  purpose: Purpose,
): Promise<Challenged | { kind: 'locked' }> {
  if (await isLocked(parts, user)) return { kind: 'locked' };
  const expiresAt = parts.clock.now() + LIFETIME_MS;
  const row: Challenge = {
    purpose,
    id: randomId('challenge'),
    userId: user.id,
    expiresAt,
    keepUntil: expiresAt,
  };
  return goOn(parts, row, user, 'challenge');
}

/** Handles one request of the second step. The request's challenge token becomes invalid, unless starting a method is refused. */
export async function takeStep(parts: Parts, step: Step): Promise<StepOutcome> {
  const key = fingerprint(step.token);
  const row = await parts.tables.challenges.take(key);
  const user = users.find(({ id }) => id === row?.userId);
  if (!row || !user || row.expiresAt <= parts.clock.now() || row.purpose.origin !== step.origin) {
    return { kind: 'expired' };
  }
  if (await isLocked(parts, user)) return { kind: 'locked' };
  if (!step.method || !user.methods.includes(step.method)) return goOn(parts, row, user, 'challenge');
  if (step.action === 'start') {
    // If `start` throws a refusal, the old challenge token stays valid.
    return start(parts, row, user, step.method).catch(async (error: unknown) => {
      await parts.tables.challenges.put(key, row);
      throw error;
    });
  }
  if (step.action === 'poll') return poll(parts, row, user);
  return answer(parts, row, user, step.method, step);
}

async function start(parts: Parts, row: Challenge, user: User, method: Method): Promise<StepOutcome> {
  const now = parts.clock.now();
  const next: Challenge = { ...row, method };
  const isFresh = now - (row.sent?.[method]?.at ?? Number.NEGATIVE_INFINITY) < RESEND_MS;
  if (method === 'email' || method === 'sms') {
    if (!isFresh) {
      await parts.limits.message.count(user.id);
      const { code, key } = randomCode();
      next.sent = { ...row.sent, [method]: { at: now, codeKey: key } };
      await send(parts, row, { userId: user.id, method, text: code, at: now });
    }
  } else if (method === 'push') {
    if (!isFresh) {
      await parts.limits.message.count(user.id);
      const number = randomInt(10, 100);
      Object.assign(next, { number, polledAt: now, sent: { ...row.sent, push: { at: now } } });
      await send(parts, row, { userId: user.id, method, text: decoys(number).join(' '), at: now, number });
    }
  } else if (method === 'passkey') {
    const options = await passkeyOptions(parts, user.id);
    return goOn(parts, { ...next, passkeyChallenge: options.challenge }, user, 'challenge', {
      public_key: options,
    });
  }
  return goOn(parts, next, user, method === 'push' ? 'waiting' : 'challenge');
}

async function answer(
  parts: Parts,
  row: Challenge,
  user: User,
  method: Method,
  { code = '', credential }: Step,
): Promise<StepOutcome> {
  if (method === 'push') return poll(parts, row, user);
  if (!(await takeAttempt(parts, attemptsKey(user.id)))) return { kind: 'locked' };
  if (await isRight(parts, row, method, code.replace(/[\s-]/g, ''), credential))
    return pass(parts, row, user);
  const left = await attemptsLeft(parts, attemptsKey(user.id));
  return left === 0 ? { kind: 'locked' } : goOn(parts, row, user, 'wrong', { attempts_left: left });
}

async function isRight(
  parts: Parts,
  row: Challenge,
  method: Method,
  code: string,
  credential: unknown,
): Promise<boolean> {
  switch (method) {
    case 'totp':
      return checkTotp(parts, row.userId, code);
    case 'recovery':
      return checkRecovery(parts, row.userId, code);
    case 'passkey':
      return (
        row.passkeyChallenge !== undefined &&
        checkPasskey(parts, row.userId, credential, row.passkeyChallenge)
      );
    case 'email':
    case 'sms':
      return isSentCode(row.sent?.[method]?.codeKey, code);
    case 'push':
      return false;
  }
}

function isSentCode(codeKey: string | undefined, code: string): boolean {
  return codeKey !== undefined && isSame(codeKey, fingerprint(code));
}

async function poll(parts: Parts, row: Challenge, user: User): Promise<StepOutcome> {
  const message = await parts.tables.messages.get(messageKey(row, 'push'));
  if (row.method !== 'push' || !message) return goOn(parts, row, user, 'challenge');
  if (message.decision === 'approved') return pass(parts, row, user);
  if (message.decision === 'denied') {
    await parts.tables.messages.take(messageKey(row, 'push'));
    const { method: _, number: __, sent: { push: ___, ...sent } = {}, ...rest } = row;
    // After a denial, a new push request may be sent immediately.
    return goOn(parts, { ...rest, sent }, user, 'denied');
  }
  const now = parts.clock.now();
  // Tolerates 500 ms of timer and network jitter.
  const isEarly = now - (row.polledAt ?? 0) < POLL_S * 1000 - 500;
  return goOn(parts, { ...row, polledAt: now }, user, isEarly ? 'slow-down' : 'waiting');
}

async function pass(parts: Parts, row: Challenge, user: User): Promise<StepOutcome> {
  for (const method of sendable) await parts.tables.messages.take(messageKey(row, method));
  await forgetAttempts(parts, attemptsKey(user.id));
  return { kind: 'passed', user, purpose: row.purpose };
}

async function goOn(
  parts: Parts,
  row: Challenge,
  user: User,
  kind: Challenged['kind'],
  more: Partial<ChallengeDetails> = {},
): Promise<Challenged> {
  const token = randomToken();
  await parts.tables.challenges.put(fingerprint(token), row);
  return { kind, token, user, details: { ...describe(parts, row, user), ...more } };
}

function describe({ clock }: Parts, row: Challenge, user: User): ChallengeDetails {
  const details: ChallengeDetails = { expires_at: new Date(row.expiresAt).toISOString() };
  const { method } = row;
  if (!method) return details;
  details.method = method;
  if (method === 'totp' || method === 'email' || method === 'sms') {
    Object.assign(details, { code_length: 6, code_kind: 'numeric' });
  }
  if (method === 'recovery') Object.assign(details, { code_length: 10, code_kind: 'alphanumeric' });
  if (method === 'email' || method === 'sms') {
    details.delivery = method === 'email' ? `${user.email[0]}•••@example.com` : '••• ••• 42';
    details.resend_after = Math.max(
      0,
      Math.ceil(((row.sent?.[method]?.at ?? 0) + RESEND_MS - clock.now()) / 1000),
    );
  }
  if (method === 'push') {
    details.poll_after = POLL_S;
    if (row.number !== undefined) details.number = row.number;
  }
  return details;
}

async function send({ tables }: Parts, row: Challenge, message: Message): Promise<void> {
  await tables.messages.put(messageKey(row, message.method), { ...message, keepUntil: row.expiresAt });
}

function messageKey({ id }: Challenge, method: Message['method']): string {
  return `${id} ${method}`;
}

// All sign-ins of a user share one count, because a client can start any number of sign-ins.
function attemptsKey(userId: string): string {
  return `second ${userId}`;
}

async function isLocked(parts: Parts, user: User): Promise<boolean> {
  return (await attemptsLeft(parts, attemptsKey(user.id))) === 0;
}

function decoys(number: number): number[] {
  const numbers = new Set([number]);
  while (numbers.size < 3) numbers.add(randomInt(10, 100));
  return [...numbers].sort((a, b) => a - b);
}
