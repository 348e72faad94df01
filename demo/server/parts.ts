// Types of the table rows, and of the objects that all routes share (`Parts`), which server.ts creates. In the descriptions of
// rows, "the key" is the key of the row in its table.
import type { HttpBindings } from '@hono/node-server';
import type { Background } from './background.ts';
import type { Clock } from './clock.ts';
import type { Limits, ReadClient } from './limits.ts';
import type { Locks } from './locks.ts';
import type { Settings } from './options.ts';
import type { Seal } from './seal.ts';
import type { Method, User } from './seed.ts';
import type { Row, State, Table } from './state.ts';
import type { Storage, StoredChunk } from './storage.ts';
import type { Usage } from './usage.ts';

/** A signed-in browser. The key is `deviceId`. Its cookies, codes and tokens are valid only while this row exists. */
export interface Login extends Row {
  userId: string;
  deviceId: string;
  /** Name of the identity provider. */
  idp: string;
  expiresAt: number;
}

/** A session cookie. The key is its fingerprint. */
export interface Cookie extends Row {
  deviceId: string;
}

/** An authorization code. The row stays after the first use, to detect a second use. The key is the code's fingerprint. */
export interface Code extends Row {
  deviceId: string;
  challenge: string;
  expiresAt: number;
  /** Key of the token that was issued for the code. Empty if the first use failed; missing before that. */
  tokenKey?: string;
}

/** A bearer token. The key is the token's fingerprint. */
export interface Token extends Row {
  deviceId: string;
  expiresAt: number;
}

/** An upload session. The key is `id`. */
export interface UploadSession extends Row {
  id: string;
  userId: string;
  folderId: string;
  fileName: string;
  sizeBytes: number;
  /** Id of the file that the commit will create. */
  fileId: string;
  expiresAt: number;
  phase: 'open' | 'finished' | 'canceled';
}

/** A finished file. The key is `id`. */
export interface StoredFile extends Row {
  id: string;
  userId: string;
  folderId: string;
  name: string;
  sizeBytes: number;
  chunks: StoredChunk[];
  createdAt: number;
}

/** Attempts at a password or a second step since the last correct one. attempts.ts has the rules. */
export interface Attempts extends Row {
  count: number;
  waitUntil: number;
  keepUntil: number;
}

/** A user's authentication factors. The key is the user's id. */
export interface Factors extends Row {
  totpSecret: string;
  /** Counter of the last accepted TOTP code. Only newer codes are accepted. */
  totpCounter: number;
  recoveryCodes: string[];
  passkeys: Passkey[];
}

/** A registered passkey. */
export interface Passkey {
  id: string;
  /** Public key in COSE format, base64url. */
  publicKey: string;
  counter: number;
}

/** What a sign-in is for: its identity provider, the origin of its page, and a PKCE challenge (S256) if it asks for a code. */
export interface Purpose {
  idp: string;
  origin: string;
  codeChallenge?: string;
}

/** A sign-in in its second step. The key is the fingerprint of the newest challenge token. */
export interface Challenge extends Row {
  /** Id of the sign-in, which stays the same when the challenge token changes. */
  id: string;
  userId: string;
  purpose: Purpose;
  expiresAt: number;
  method?: Method;
  /** For each method, the time of the last message, and the fingerprint of the code in that message. */
  sent?: Partial<Record<Method, { at: number; codeKey?: string }>>;
  /** WebAuthn challenge for a passkey. */
  passkeyChallenge?: string;
  /** The number that the user must select on the phone. */
  number?: number;
  polledAt?: number;
}

/** A message to a user, or a push request on a phone. The key is the challenge's id and the method. */
export interface Message extends Row {
  userId: string;
  method: 'email' | 'sms' | 'push';
  /** The code, or for push requests the numbers to choose from. */
  text: string;
  at: number;
  number?: number;
  decision?: 'approved' | 'denied';
}

export interface Tables {
  logins: Table<Login>;
  cookies: Table<Cookie>;
  codes: Table<Code>;
  tokens: Table<Token>;
  sessions: Table<UploadSession>;
  files: Table<StoredFile>;
  attempts: Table<Attempts>;
  factors: Table<Factors>;
  challenges: Table<Challenge>;
  messages: Table<Message>;
}

export interface Parts {
  settings: Settings;
  clock: Clock;
  tables: Tables;
  storage: Storage;
  seal: Seal;
  limits: Limits;
  locks: Locks;
  background: Background;
  usage: Usage;
  readClient: ReadClient;
  /** Public origin of the service. Neither of the two URLs ends with a slash. */
  baseUrl: string;
  storageUrl: string;
}

/** Type parameters of Hono for the routes. */
export interface Env {
  Bindings: HttpBindings;
  Variables: {
    /** Aborts when the connection closes. */
    gone: AbortSignal;
    user: User;
  };
}

/** Returns the tables of an open state. */
export function openTables(state: State): Tables {
  return {
    logins: state.table('logins'),
    cookies: state.table('cookies'),
    codes: state.table('codes'),
    tokens: state.table('tokens'),
    sessions: state.table('sessions', ['userId']),
    files: state.table('files', ['userId', 'folderId', 'name']),
    attempts: state.table('attempts'),
    factors: state.table('factors'),
    challenges: state.table('challenges'),
    messages: state.table('messages'),
  };
}
