// Types of the table rows, and of the objects that all routes share (`Parts`), which server.ts creates.
import type { HttpBindings } from '@hono/node-server';
import type { Clock } from './clock.ts';
import type { Fault, Faults, LogEntry } from './faults.ts';
import type { Limits, ReadClient } from './limits.ts';
import type { Locks } from './locks.ts';
import type { Network } from './network.ts';
import type { Settings } from './options.ts';
import type { Seal } from './seal.ts';
import type { Method, User } from './seed.ts';
import type { Row, State, Table } from './state.ts';
import type { Storage, StoredChunk } from './storage.ts';
import type { Usage } from './usage.ts';

/** A signed-in browser. The key is the fingerprint of its cookie. */
export interface Login extends Row {
  userId: string;
  /** Id of the login. Its codes and tokens have it too. */
  deviceId: string;
  /** The identity provider. */
  idp: string;
  expiresAt: number;
}

/** An authorization code. Kept after its use, to detect a second use. The key is its fingerprint. */
export interface Code extends Row {
  userId: string;
  deviceId: string;
  idp: string;
  challenge: string;
  expiresAt: number;
  /** Key of the token that was issued for it; empty if the verifier was wrong. */
  tokenKey?: string;
  replayed?: boolean;
}

/** A bearer token. The key is its fingerprint. */
export interface Token extends Row {
  userId: string;
  /** Id of the login that it was issued for. */
  deviceId: string | undefined;
  expiresAt: number;
}

/** An upload session. The key is its id. */
export interface UploadSession extends Row {
  id: string;
  userId: string;
  folderId: string;
  fileName: string;
  sizeBytes: number;
  /** Id of the future file. */
  fileId: string;
  expiresAt: number;
  phase: 'open' | 'finished' | 'canceled';
}

/** A finished file. The key is its id. */
export interface StoredFile extends Row {
  id: string;
  userId: string;
  folderId: string;
  name: string;
  sizeBytes: number;
  chunks: StoredChunk[];
  createdAt: number;
}

/** A file name in a folder that requires unique names. The key is made by `nameKey`. */
export interface Name extends Row {
  fileId: string;
}

/** Failed sign-ins with one email address. */
export interface Lockout extends Row {
  failures: number;
  lockedUntil: number;
}

/** A user's authentication factors. The key is the user's id. */
export interface Factors extends Row {
  totpSecret: string;
  /** Counter of the last accepted code, since each code is valid only once. */
  totpCounter: number;
  recoveryCodes: string[];
  passkeys: Passkey[];
}

/** A registered passkey. */
export interface Passkey {
  id: string;
  /** In COSE format, base64url. */
  publicKey: string;
  counter: number;
}

/** A sign-in in its second step. The key is the fingerprint of its newest challenge token. */
export interface Challenge extends Row {
  /** Does not change when the token does. */
  id: string;
  userId: string;
  idp: string;
  origin: string;
  expiresAt: number;
  attemptsLeft: number;
  /** PKCE challenge (S256), if the client requested an authorization code. */
  codeChallenge?: string;
  method?: Method;
  /** When the last code was sent, and its fingerprint, by method. */
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

/** A sign-in in progress at `corp`. The key is a fingerprint (see corp.ts). */
export interface Federation extends Row {
  /** The authorization request to continue with, or the key of the row that has it. */
  query: string;
  userId?: string;
  expiresAt: number;
}

export interface Tables {
  logins: Table<Login>;
  codes: Table<Code>;
  tokens: Table<Token>;
  sessions: Table<UploadSession>;
  files: Table<StoredFile>;
  names: Table<Name>;
  lockouts: Table<Lockout>;
  factors: Table<Factors>;
  challenges: Table<Challenge>;
  messages: Table<Message>;
  federations: Table<Federation>;
}

export interface Parts {
  settings: Settings;
  clock: Clock;
  tables: Tables;
  storage: Storage;
  seal: Seal;
  faults: Faults;
  network: Network;
  limits: Limits;
  locks: Locks;
  usage: Usage;
  readClient: ReadClient;
  /** The URLs end without a slash. */
  baseUrl: string;
  storageUrl: string;
  idpUrl: string;
}

/** Hono's type parameters for the routes. */
export interface Env {
  Bindings: HttpBindings;
  Variables: {
    entry: LogEntry;
    fault: Partial<Fault>;
    /** Aborts when the connection closes. */
    gone: AbortSignal;
    user: User;
  };
}

/** Returns the tables of an open state. */
export function openTables(state: State): Tables {
  return {
    logins: state.table('logins'),
    codes: state.table('codes'),
    tokens: state.table('tokens'),
    sessions: state.table('sessions'),
    files: state.table('files'),
    names: state.table('names'),
    lockouts: state.table('lockouts'),
    factors: state.table('factors'),
    challenges: state.table('challenges'),
    messages: state.table('messages'),
    federations: state.table('federations'),
  };
}
