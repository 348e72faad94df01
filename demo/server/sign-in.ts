// The steps of a sign-in: the password, then the second step of users who have one. Only this module decides that a sign-in is
// complete, whichever page or call the steps came through.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { forgetAttempts, takeAttempt } from './attempts.ts';
import { beginChallenge, type Challenged, type Step, takeStep } from './challenge.ts';
import type { Parts, Purpose } from './parts.ts';
import { fingerprint } from './seal.ts';
import { demoPassword, findUser, type User } from './seed.ts';

/** Result of a step. */
export type Outcome = Completed | Challenged | { kind: 'refused' | 'locked' | 'expired' | 'unsupported' };

/** Proof that a user has completed all steps. `startLogin` requires it, and only `complete` creates it. */
class Completed {
  readonly kind = 'completed';
  // With a protected member, no other object has this type, even if it has the same properties.
  protected readonly isProof = true;
  readonly user: User;
  readonly idp: string;
  readonly codeChallenge: string | undefined;

  constructor(user: User, { idp, codeChallenge }: Purpose) {
    this.user = user;
    this.idp = idp;
    this.codeChallenge = codeChallenge;
  }
}

export type { Completed };

const derive = promisify(scrypt) as (password: string, salt: Uint8Array, length: number) => Promise<Buffer>;
const salt = randomBytes(16);
let derived: Promise<Buffer> | undefined;

/** The credentials of a sign-in, and the address of the client that sends them. */
export interface Credentials {
  email: string;
  password: string;
  client: string;
}

/**
 * Resolves with the user, with `refused` for wrong credentials, or with `locked`. Unknown email addresses take the same time and
 * are locked too, so that callers cannot find out which accounts exist. A lock applies to one client address, so that a stranger
 * cannot lock out the user.
 */
async function checkPassword(
  parts: Parts,
  { email, password, client }: Credentials,
): Promise<User | 'refused' | 'locked'> {
  const key = fingerprint(`${client} ${email.trim().toLowerCase()}`);
  if (!(await takeAttempt(parts, key))) return 'locked';
  derived ??= derive(demoPassword, salt, 32);
  const isRight = timingSafeEqual(await derive(password, salt, 32), await derived);
  const user = findUser(email);
  if (!user || !isRight) return 'refused';
  await forgetAttempts(parts, key);
  return user;
}

/** Takes the first step. */
export async function enterPassword(
  parts: Parts,
  credentials: Credentials,
  purpose: Purpose,
): Promise<Outcome> {
  const user = await checkPassword(parts, credentials);
  if (user === 'refused' || user === 'locked') return { kind: user };
  if (user.hindrance === 'locked') return { kind: 'locked' };
  if (user.hindrance === 'password-expired') return { kind: 'unsupported' };
  return complete(parts, user, purpose, false);
}

/** Takes the second step: starts a method, or checks an answer. */
export async function enterSecondStep(parts: Parts, step: Step): Promise<Outcome> {
  const outcome = await takeStep(parts, step);
  return outcome.kind === 'passed' ? complete(parts, outcome.user, outcome.purpose, true) : outcome;
}

/** The one place that decides that a sign-in is complete. */
function complete(
  parts: Parts,
  user: User,
  purpose: Purpose,
  hasSecondStep: boolean,
): Completed | Promise<Outcome> {
  if (user.methods.length > 0 && !hasSecondStep) return beginChallenge(parts, user, purpose);
  return new Completed(user, purpose);
}
