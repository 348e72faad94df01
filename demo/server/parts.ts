// The parts that every route works with, and the rows that the service keeps. Only types: what fills them is put
// together in server.ts.
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
  /** Names the login; its codes and tokens carry it too. */
  deviceId: string;
  /** The identity provider that it was made with. */
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
  /** Key of the token that it was exchanged for; empty when it was burnt by a wrong verifier. */
  tokenKey?: string;
  replayed?: boolean;
}

/** A bearer token, keyed by its fingerprint. */
export interface Token extends Row {
  userId: string;
  /** The login that it came from. */
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

/** Who has a name in a folder where each is there once. Keyed by folder and name. */
export interface Name extends Row {
  fileId: string;
}

/** Failed sign-ins of one address. */
export interface Lockout extends Row {
  failures: number;
  lockedUntil: number;
}

/** What a user's second steps are checked against, keyed by user. */
export interface Factors extends Row {
  totpSecret: string;
  /** The last counter whose code was taken: a code is good once. */
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
  /** S256 challenge of a client that wants its code with the answer. */
  codeChallenge?: string;
  method?: Method;
  /** What was sent last by each method: when, and the fingerprint of its code. */
  sent?: Partial<Record<Method, { at: number; codeKey?: string }>>;
  /** What a passkey has to sign. */
  passkeyChallenge?: string;
  /** The number that the phone must show. */
  number?: number;
  polledAt?: number;
}

/** What was sent to a user, or waits on a phone. Keyed by the challenge's id and the method. */
export interface Message extends Row {
  userId: string;
  method: 'email' | 'sms' | 'push';
  /** The code, or the numbers to choose from. */
  text: string;
  at: number;
  number?: number;
  decision?: 'approved' | 'denied';
}

/** A sign-in under way at the other identity provider, keyed by a fingerprint (corp.ts says of what). */
export interface Federation extends Row {
  /** The request for a code to come back to; or the key of the row that has it. */
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

/** What the routes are made of. */
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
    /** Aborts when the connection is gone. */
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
