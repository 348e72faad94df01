// Types of the rows, and of the parts that all routes share. server.ts creates the parts.
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

/** A browser that is signed in, keyed by the fingerprint of its cookie. */
export interface Login extends Row {
  userId: string;
  /** Id of the login, also in its codes and tokens. */
  deviceId: string;
  /** The identity provider. */
  idp: string;
  expiresAt: number;
}

/** A code, kept after its use so that a second use is noticed. Keyed by its fingerprint. */
export interface Code extends Row {
  userId: string;
  deviceId: string;
  idp: string;
  challenge: string;
  expiresAt: number;
  /** Key of its token; empty after a wrong verifier. */
  tokenKey?: string;
  replayed?: boolean;
}

/** A bearer token, keyed by its fingerprint. */
export interface Token extends Row {
  userId: string;
  /** Its login. */
  deviceId: string | undefined;
  expiresAt: number;
}

/** An upload session, keyed by its id. */
export interface UploadSession extends Row {
  id: string;
  userId: string;
  folderId: string;
  fileName: string;
  sizeBytes: number;
  /** The id that the file will have. */
  fileId: string;
  expiresAt: number;
  phase: 'open' | 'finished' | 'canceled';
}

/** A finished file, keyed by its id. */
export interface StoredFile extends Row {
  id: string;
  userId: string;
  folderId: string;
  name: string;
  sizeBytes: number;
  chunks: StoredChunk[];
  createdAt: number;
}

/** A name in a folder with unique names. Keyed by folder and name. */
export interface Name extends Row {
  fileId: string;
}

/** Failed sign-ins of one address. */
export interface Lockout extends Row {
  failures: number;
  lockedUntil: number;
}

/** Secrets of a user's second steps, keyed by user. */
export interface Factors extends Row {
  totpSecret: string;
  /** Counter of the last accepted code: a code is valid once. */
  totpCounter: number;
  recoveryCodes: string[];
  passkeys: Passkey[];
}

/** A registered passkey. */
export interface Passkey {
  id: string;
  /** COSE, base64url. */
  publicKey: string;
  counter: number;
}

/** A login that waits for its second step, keyed by the fingerprint of its newest challenge token. */
export interface Challenge extends Row {
  /** Stays the same while the token rotates. */
  id: string;
  userId: string;
  idp: string;
  origin: string;
  expiresAt: number;
  attemptsLeft: number;
  /** S256 challenge, if the client wants a code with the answer. */
  codeChallenge?: string;
  method?: Method;
  /** Time and fingerprint of the last code, by method. */
  sent?: Partial<Record<Method, { at: number; codeKey?: string }>>;
  /** Challenge for a passkey. */
  passkeyChallenge?: string;
  /** The number that the phone must show. */
  number?: number;
  polledAt?: number;
}

/** A message to a user, or a request on a phone. Keyed by the challenge's id and the method. */
export interface Message extends Row {
  userId: string;
  method: 'email' | 'sms' | 'push';
  /** The code, or the numbers to choose from. */
  text: string;
  at: number;
  number?: number;
  decision?: 'approved' | 'denied';
}

/** A running sign-in at the other identity provider, keyed by a fingerprint (see corp.ts). */
export interface Federation extends Row {
  /** The request for a code to continue with, or the key of the row that has it. */
  query: string;
  userId?: string;
  expiresAt: number;
}

/** All tables. */
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
  /** Addresses without a slash at the end. */
  baseUrl: string;
  storageUrl: string;
  idpUrl: string;
}

/** Hono's types for our routes. */
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

/** Names the tables of an open state. */
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
