// Encrypts and signs what the service issues: passports (JWE), receipts (JWS, Ed25519), presigned URLs (HMAC) and opaque tokens.
// Each installation has its own random keys, stored in the data folder.
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompactEncrypt, CompactSign, compactDecrypt, compactVerify, exportJWK, type JWK } from 'jose';

/** Content of a passport. `expiresAt` is in ms since 1970. */
export interface Passport {
  sessionId: string;
  userId: string;
  folderId: string;
  fileName: string;
  sizeBytes: number;
  expiresAt: number;
}

/** Content of a presigned URL. `expiresAt` is in ms since 1970. */
export interface Grant {
  sessionId: string;
  userId: string;
  hash: string;
  maxBytes: number;
  expiresAt: number;
}

/** Encryption and signing with the keys of one installation. */
export interface Seal {
  sealPassport(passport: Passport): Promise<string>;
  /** Decrypts a passport. Resolves with undefined if the passport was not made with these keys. Does not check the expiry. */
  openPassport(sealed: string): Promise<Passport | undefined>;
  /** Resolves with the receipt of a chunk. The same session and hash always give the same receipt. */
  signReceipt(sessionId: string, hash: string): Promise<string>;
  isReceipt(receipt: string, sessionId: string, hash: string): Promise<boolean>;
  /** Returns the path and query of a presigned URL. With `hideExpiry`, the parameter `Expires` has another name. */
  signUrl(grant: Grant, hideExpiry: boolean): string;
  /** Returns the content of a path and query, or undefined if `signUrl` did not return it. Does not check the expiry. */
  readUrl(pathAndQuery: string): Grant | undefined;
  /** Resolves with the public keys that verify receipts (RFC 7517). */
  jwks(): Promise<{ keys: JWK[] }>;
}

const HASH = /^[0-9a-f]{64}$/;

/** True for a valid chunk hash: 64 lowercase hex digits. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH.test(value);
}

/** Returns 256 random bits in base64url (43 characters). */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns a short random id. */
export function randomId(prefix: string): string {
  return `${prefix}_${randomBytes(15).toString('base64url')}`;
}

/**
 * Returns the hash of a secret. Tokens, codes and cookies are stored as fingerprints only, so that a stolen state does not contain
 * them.
 */
export function fingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** True if the strings are equal. Takes the same time wherever the strings differ. */
export function isSame(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

interface Keys {
  passport: Uint8Array;
  url: Uint8Array;
  receipt: KeyObject;
}

/** Loads the keys from `dataDir`, or creates them at the first start. */
export function openSeal(dataDir: string): Seal {
  const keys = loadKeys(dataDir);
  const publicKey = createPublicKey(keys.receipt);
  const keyId = fingerprint(publicKey.export({ type: 'spki', format: 'pem' }).toString()).slice(0, 16);
  const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

  return {
    sealPassport: (passport) =>
      new CompactEncrypt(encode(passport))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: 'passport' })
        .encrypt(keys.passport),
    async openPassport(sealed) {
      try {
        const { plaintext, protectedHeader } = await compactDecrypt(sealed, keys.passport, {
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
        });
        if (protectedHeader.typ !== 'passport') return undefined;
        return JSON.parse(new TextDecoder().decode(plaintext)) as Passport;
      } catch {
        return undefined;
      }
    },
    signReceipt: (sessionId, hash) =>
      new CompactSign(encode({ session: sessionId, hash }))
        .setProtectedHeader({ alg: 'EdDSA', kid: keyId, typ: 'receipt' })
        .sign(keys.receipt),
    async isReceipt(receipt, sessionId, hash) {
      try {
        const { payload } = await compactVerify(receipt, publicKey, { algorithms: ['EdDSA'] });
        const said = JSON.parse(new TextDecoder().decode(payload)) as { session?: unknown; hash?: unknown };
        return said.session === sessionId && said.hash === hash;
      } catch {
        return false;
      }
    },
    signUrl(grant, hideExpiry) {
      const query = new URLSearchParams({
        session: grant.sessionId,
        'max-length': String(grant.maxBytes),
        [hideExpiry ? 't' : 'Expires']: (grant.expiresAt / 1000).toFixed(3),
      });
      const signed = `/chunks/${grant.userId}/${grant.hash}?${query}`;
      return `${signed}&signature=${signUrlText(keys.url, signed)}`;
    },
    readUrl(pathAndQuery) {
      const [, signed = '', signature = ''] = /^(.*)&signature=([\w-]*)$/.exec(pathAndQuery) ?? [];
      if (!isSame(signature, signUrlText(keys.url, signed))) return undefined;
      // Only `signUrl` makes a text with this signature, so nothing has to be checked.
      const { pathname, searchParams: query } = new URL(signed, 'http://storage.invalid');
      const [, , userId = '', hash = ''] = pathname.split('/');
      return {
        sessionId: query.get('session') ?? '',
        userId,
        hash,
        maxBytes: Number(query.get('max-length')),
        expiresAt: Math.round(Number(query.get('Expires') ?? query.get('t')) * 1000),
      };
    },
    async jwks() {
      const key = await exportJWK(publicKey);
      return { keys: [{ ...key, kid: keyId, alg: 'EdDSA', use: 'sig' }] };
    },
  };
}

function signUrlText(key: Uint8Array, pathAndQuery: string): string {
  return createHmac('sha256', key).update(`PUT\n${pathAndQuery}`).digest('base64url');
}

function loadKeys(dataDir: string): Keys {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'keys.json');
  let stored: { passport: string; url: string; receipt: string };
  try {
    stored = JSON.parse(readFileSync(path, 'utf8')) as typeof stored;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const receipt = generateKeyPairSync('ed25519').privateKey;
    stored = {
      passport: randomToken(),
      url: randomToken(),
      receipt: receipt.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
    writeFileSync(path, JSON.stringify(stored), { mode: 0o600, flag: 'wx', flush: true });
  }
  return {
    passport: Buffer.from(stored.passport, 'base64url'),
    url: Buffer.from(stored.url, 'base64url'),
    receipt: createPrivateKey(stored.receipt),
  };
}
