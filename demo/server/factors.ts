// Verifies TOTP codes, recovery codes and passkeys. Each installation has its own random secrets.
import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  verifyAuthenticationResponse,
} from '@simplewebauthn/server';
import { Secret, TOTP } from 'otpauth';
import type { Factors, Parts } from './parts.ts';
import { fingerprint, isSame } from './seal.ts';

const PERIOD_S = 30;
const RECOVERY_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Resolves with the user's authentication factors; creates them on first use. */
export async function factorsOf({ tables }: Parts, userId: string): Promise<Factors> {
  const factors = await tables.factors.update(userId, (row) =>
    row
      ? undefined
      : {
          totpSecret: new Secret({ size: 20 }).base32,
          totpCounter: 0,
          recoveryCodes: Array.from({ length: 8 }, randomRecoveryCode),
          passkeys: [],
        },
  );
  if (!factors) throw new Error('the second steps were not kept');
  return factors;
}

/** Verifies a TOTP code of the previous, current or next period. Accepts only codes that are newer than the last accepted one. */
export async function checkTotp(parts: Parts, userId: string, code: string): Promise<boolean> {
  const { totpSecret } = await factorsOf(parts, userId);
  const now = parts.clock.now();
  const delta = totp(totpSecret).validate({ token: code, timestamp: now, window: 1 });
  if (delta === null) return false;
  const counter = Math.floor(now / 1000 / PERIOD_S) + delta;
  let isNew = false;
  await parts.tables.factors.update(userId, (row) => {
    isNew = row !== undefined && counter > row.totpCounter;
    return isNew && row ? { ...row, totpCounter: counter } : undefined;
  });
  return isNew;
}

/** Resolves with a TOTP code that `checkTotp` accepts: the current one, or the next one if the current one was used. */
export async function currentTotp(parts: Parts, userId: string): Promise<string> {
  const { totpSecret, totpCounter } = await factorsOf(parts, userId);
  const now = Math.floor(parts.clock.now() / 1000 / PERIOD_S);
  const counter = totpCounter >= now ? now + 1 : now;
  return totp(totpSecret).generate({ timestamp: counter * PERIOD_S * 1000 });
}

/** Verifies a recovery code. A correct code is removed. */
export async function checkRecovery(parts: Parts, userId: string, code: string): Promise<boolean> {
  await factorsOf(parts, userId);
  const said = code.toLowerCase();
  let isRight = false;
  await parts.tables.factors.update(userId, (row) => {
    const left = row?.recoveryCodes.filter((known) => !isSame(known, said)) ?? [];
    isRight = row !== undefined && left.length < row.recoveryCodes.length;
    return isRight && row ? { ...row, recoveryCodes: left } : undefined;
  });
  return isRight;
}

/** Creates the WebAuthn request options. `rpId` is the host of the service. */
export async function passkeyOptions(
  parts: Parts,
  userId: string,
): Promise<Awaited<ReturnType<typeof generateAuthenticationOptions>>> {
  const { passkeys } = await factorsOf(parts, userId);
  return generateAuthenticationOptions({
    rpID: hostOf(parts),
    allowCredentials: passkeys.map(({ id }) => ({ id })),
    userVerification: 'preferred',
  });
}

/** Verifies the signature of a passkey. Resolves with false for malformed input too. */
export async function checkPasskey(
  parts: Parts,
  userId: string,
  credential: unknown,
  expectedChallenge: string,
): Promise<boolean> {
  const { passkeys } = await factorsOf(parts, userId);
  const response = credential as AuthenticationResponseJSON;
  const passkey = passkeys.find(({ id }) => id === response?.id);
  if (!passkey) return false;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge,
      expectedOrigin: [parts.baseUrl, ...parts.settings.appOrigins],
      expectedRPID: hostOf(parts),
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        counter: passkey.counter,
      },
      requireUserVerification: false,
    });
    if (!verified) return false;
    const counter = authenticationInfo.newCounter;
    await parts.tables.factors.update(userId, (row) =>
      row
        ? { ...row, passkeys: row.passkeys.map((key) => (key.id === passkey.id ? { ...key, counter } : key)) }
        : undefined,
    );
    return true;
  } catch {
    return false;
  }
}

/** A passkey for a virtual authenticator. All values are base64url. */
export interface TestPasskey {
  credentialId: string;
  /** Private key in PKCS #8 format. */
  privateKey: string;
  rpId: string;
  userHandle: string;
}

/** Registers a new passkey for the user. Resolves with its data for a virtual authenticator. For tests only. */
export async function createTestPasskey(parts: Parts, userId: string): Promise<TestPasskey> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16).toString('base64url');
  // An ES256 public key in COSE format (RFC 9052): kty 2, alg -7, crv 1, x, y.
  const cose = Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
    Buffer.from(x, 'base64url'),
    Buffer.from([0x22, 0x58, 0x20]),
    Buffer.from(y, 'base64url'),
  ]);
  await factorsOf(parts, userId);
  await parts.tables.factors.update(userId, (row) =>
    row
      ? { ...row, passkeys: [...row.passkeys, { id, publicKey: cose.toString('base64url'), counter: 0 }] }
      : undefined,
  );
  return {
    credentialId: id,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64url'),
    rpId: hostOf(parts),
    userHandle: Buffer.from(userId).toString('base64url'),
  };
}

function hostOf({ baseUrl }: Parts): string {
  return new URL(baseUrl).hostname;
}

/** Creates a six-digit code, and the fingerprint to store for it. */
export function randomCode(): { code: string; key: string } {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  return { code, key: fingerprint(code) };
}

function randomRecoveryCode(): string {
  return Array.from({ length: 10 }, () => RECOVERY_ALPHABET[randomInt(RECOVERY_ALPHABET.length)]).join('');
}

function totp(secret: string): TOTP {
  return new TOTP({
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_S,
    issuer: 'Secure Uploader demo',
  });
}
