// All settings, with type, default, parser and scope. Attributes and properties are parsed to the same frozen `Settings`.

import { readBaseUrl, readOrigins } from './addresses.ts';
import type { AuthOptions } from './auth-options.ts';
import { AUTH_TIMES } from './auth-times.ts';
import type { TokenInput } from './changes.ts';
import { contentOf } from './content.ts';
import { UploaderError } from './errors.ts';
import type { AuthMode, HashAlgorithm, SessionFile } from './types.ts';

/**
 * Settings for the points that the interface of the service leaves open (docs/service.md). `service/profile.ts` has the defaults.
 */
export interface Profile {
  /**
   * Returns the value to send as `x-service-uploadsession` (U1). `header` is the response header of that name; `null` if the page
   * cannot read the header.
   */
  sessionHeader?: (answer: { body: Readonly<Record<string, unknown>>; header: string | null }) => string;
  /** Returns the chunk size that the service chose, in bytes; `undefined` to use the setting `chunkSize` (U6a). */
  chunkSize?: (answer: { body: Readonly<Record<string, unknown>> }) => number | undefined;
  /**
   * Size of the smallest chunk that the storage takes, except the last one of a file, in bytes. Below 5 MiB, smaller chunks are
   * used. Defaults to `min_chunk_size` of the session, or 5 MiB (U6c). No smaller chunk is tried after the storage rejected one as
   * too large (413); without this setting and `min_chunk_size`, chunks of 1 MiB are the smallest (U6b).
   */
  minChunkSize?: number;
  /** Returns additional fields for the request that opens a session. Fields of the interface cannot be replaced (U21). */
  sessionFields?: (file: SessionFile) => Readonly<Record<string, unknown>>;
  /** Returns the key of a hash in `chunks` of the presign response (U2). */
  chunkKey?: (hash: string, position: number) => string;
  /** Meaning of a hash without an entry in the presign response (U3). */
  missingChunk?: 'error' | 'stored';
  /** Returns true if an entry means that the service already has the chunk (U4). By default, its `upload_url` is null or empty. */
  storedChunk?: (entry: Readonly<Record<string, unknown>>) => boolean;
  /** Encoding of hashes in requests (U5). */
  hashEncoding?: 'hex' | 'base64' | 'base64url';
  /** Returns headers for the PUT, in addition to the headers of the entry (U7). */
  putHeaders?: (hash: string, entry: Readonly<Record<string, unknown>>) => Readonly<Record<string, string>>;
  /** Special meanings of HTTP statuses of the PUT (U7a). `stored`: the bytes are stored. */
  putStatuses?: Readonly<Record<number, 'stored' | 'retry' | 'slow-down' | 'full' | 'refused'>>;
  /** Returns the lifetime of an upload URL in seconds; `undefined` if the lifetime is unknown (U8). */
  urlLifetime?: (url: string, entry: Readonly<Record<string, unknown>>) => number | undefined;
  /** Handling of an empty file (U13). */
  emptyFile?: 'session' | 'refuse';
  /** Value that is sent as `file_name` (U17). */
  fileName?: 'name' | 'path';
  /**
   * Returns true if the service is still completing the file, as with 202. The commit is then repeated until the file is complete
   * (U10a).
   */
  commitPending?: (answer: { status: number; body: unknown }) => boolean;
  /**
   * Adds `file_hash`, the SHA-256 of the whole file, to the commit, and `fileHash` to `upload-completed` (U10b). Reads every byte
   * of the file twice.
   */
  sendFileHash?: boolean;
  /** Adds `sizes` (bytes, in the order of `hashes`) to the presign request (U19). */
  sendSizes?: boolean;
  /** Special meanings of HTTP statuses of the upload operations (U12). */
  statuses?: Readonly<
    Record<number, 'retry' | 'slow-down' | 'full' | 'token' | 'forbidden' | 'gone' | 'refused' | 'too-large'>
  >;
}

/**
 * Returns the user's token, or a promise for it; `null` if the user has to act first. `signal` aborts when the token is no longer
 * needed.
 */
export type GetToken = (
  reason: 'first' | 'expired' | 'rejected',
  signal: AbortSignal,
) => Promise<TokenInput | null> | TokenInput | null;

/**
 * Returns the file to upload instead of `file`, or a promise for it. `signal` aborts when the upload is paused or canceled, or
 * takes too long.
 */
export type TransformFile = (file: File, signal: AbortSignal) => Promise<File> | File;

/** Pattern of a number with an optional unit: `B`, `MB` (powers of 1000), `MiB` or `M` (powers of 1024). */
const SIZE = /^\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?b)?|b)?\s*$/;

/** Returns the bytes for `8MiB`, `8 MB`, `8388608` or a number; `undefined` if the value is invalid or not positive. */
export function parseBytes(text: string | number): number | undefined {
  const [, number, prefix = '', unit] = SIZE.exec(String(text).toLowerCase()) ?? [];
  const bytes = Math.floor(Number(number) * (unit === 'b' ? 1000 : 1024) ** ' kmgt'.indexOf(prefix));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
}

/** Reports a problem to the developer of the page. */
export type Warn = (message: string) => void;

/**
 * Parses the value of a setting; `value` is `undefined` if the setting is unset. `warn` adds the attribute and the value to the
 * message.
 */
type Read<Input, Value> = (value: Input | undefined, warn: Warn) => Value;

const unparsed =
  <T>(fallback: T): Read<T, T> =>
  (value) =>
    value ?? fallback;

/** Returns a parser for text. An empty string means unset. */
const text =
  <Default>(fallback: Default): Read<string, string | Default> =>
  (value) =>
    value || fallback;

/** The keys of a type. A page that misspells one would otherwise get the default without a word. */
type Keys<T> = { readonly [K in keyof Required<T>]: 1 };

export const PROFILE_KEYS: Keys<Profile> = {
  sessionHeader: 1,
  chunkSize: 1,
  minChunkSize: 1,
  sessionFields: 1,
  chunkKey: 1,
  missingChunk: 1,
  storedChunk: 1,
  hashEncoding: 1,
  putHeaders: 1,
  putStatuses: 1,
  urlLifetime: 1,
  emptyFile: 1,
  fileName: 1,
  commitPending: 1,
  sendFileHash: 1,
  sendSizes: 1,
  statuses: 1,
};

const AUTH_KEYS: Keys<AuthOptions> = {
  params: 1,
  adapter: 1,
  credentialFields: 1,
  credentials: 1,
  promptAfterSignOut: 1,
  ownerField: 1,
  sameUserField: 1,
  rpId: 1,
  loginSendsChallenge: 1,
  showServerMessages: 1,
  autoSubmitCode: 1,
  times: 1,
};

function warnOfKeys(
  name: string,
  fields: object,
  known: object,
  warn: Warn,
  isValid: (value: unknown) => boolean = () => true,
): void {
  for (const [key, value] of Object.entries(fields))
    if (!(key in known)) warn(`${name}.${key} is unknown.`);
    else if (!isValid(value)) warn(`${name}.${key} is invalid.`);
}

type Words<T> = readonly NonNullable<T>[];

/** Meanings of HTTP statuses in `statuses` and `putStatuses`. */
const STATUS_MEANINGS: Words<NonNullable<Profile['statuses']>[number]> = [
  'retry',
  'slow-down',
  'full',
  'token',
  'forbidden',
  'gone',
  'refused',
  'too-large',
];
const PUT_MEANINGS: Words<NonNullable<Profile['putStatuses']>[number]> = [
  'stored',
  'retry',
  'slow-down',
  'full',
  'refused',
];

function warnOfStatuses(name: string, statuses: object, meanings: readonly string[], warn: Warn): void {
  for (const [status, meaning] of Object.entries(statuses))
    if (!meanings.includes(meaning))
      warn(`${name}[${status}] is ${JSON.stringify(meaning)}, which is not one of ${meanings.join(', ')}.`);
}

/** True for a number of bytes that may be the smallest chunk of a storage. Several chunks have to fit into memory. */
export const isMinChunkSize = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= 64 * 2 ** 20;

const profile: Read<Profile, Profile> = (value = {}, warn) => {
  warnOfKeys('profile', value, PROFILE_KEYS, warn);
  warnOfStatuses('profile.statuses', value.statuses ?? {}, STATUS_MEANINGS, warn);
  warnOfStatuses('profile.putStatuses', value.putStatuses ?? {}, PUT_MEANINGS, warn);
  if (value.minChunkSize !== undefined && !isMinChunkSize(value.minChunkSize))
    warn('profile.minChunkSize is ignored. It must be a whole number of bytes, at most 64 MiB.');
  return value;
};

const authOptions: Read<AuthOptions, AuthOptions> = (value = {}, warn) => {
  warnOfKeys('authOptions', value, AUTH_KEYS, warn);
  warnOfKeys('authOptions.times', value.times ?? {}, AUTH_TIMES, warn, (ms) => Number(ms) > 0);
  return value;
};

/** Returns a parser for one of `words`. The first word is the default. */
const oneOf =
  <T extends string>(...words: readonly [T, ...T[]]): Read<T, T> =>
  (value, warn) => {
    const word = words.find((each) => each === String(value).trim().toLowerCase());
    if (value && !word) warn(`is not one of ${words.join(', ')}; using ${words[0]}.`);
    return word ?? words[0];
  };

const number =
  <Default>(
    parse: (value: string | number) => number | undefined,
    problem: string,
    fallback: Default,
  ): Read<number | string, number | Default> =>
  (value, warn) => {
    if (value === undefined || value === '' || value === 'auto') return fallback;
    const parsed = parse(value);
    if (parsed === undefined) warn(`${problem}; using the default.`);
    return parsed ?? fallback;
  };

const bytes = <const Default>(fallback: Default) =>
  number(parseBytes, 'is not a size such as 8MiB or 500MB', fallback);

const count = <const Default>(max: number, fallback: Default, min = 1) => {
  const parse = (value: string | number): number | undefined =>
    Number.isInteger(Number(value)) && Number(value) >= min && Number(value) <= max
      ? Number(value)
      : undefined;
  return number(parse, `is not a whole number from ${min} to ${max}`, fallback);
};

/** Converts the result of `read` from a unit of `unitMs` milliseconds to milliseconds. */
const inMs =
  <Input>(read: Read<Input, number>, unitMs: number): Read<Input, number> =>
  (value, warn) =>
    read(value, warn) * unitMs;

const acceptList: Read<string, string> = (given = '', warn) => {
  const value = String(given);
  if (typeof given !== 'string')
    warn('accept is no text. Write the types with commas, as in ".pdf,image/*".');
  const misfit = value.split(',').find((entry) => !/^\s*(\.|\*?\s*$)|\//.test(entry));
  if (misfit)
    warn(`has the invalid entry "${misfit}". Use an extension such as .pdf or a type such as image/*.`);
  return value;
};

/**
 * What a setting applies to. `upload`: one upload, or the list. `service`: the service client; uploads with equal `service` and
 * `sign-in` settings share a client. `sign-in`: the session; clients with equal `sign-in` settings share a session.
 */
type Scope = 'upload' | 'service' | 'sign-in';

/**
 * Defines a setting. `as` is the name in `Settings` if the two names differ; for example, a name in `Settings` may end with a unit.
 */
const setting = <Input, Value, const Name extends string = never>(
  scope: Scope,
  read: Read<Input, Value>,
  as?: Name,
) => ({ scope, read, as });

/** All settings. A path is below `baseUrl`, or an absolute URL. If a path is `undefined`, the call is not made. */
const SETTINGS = {
  /** URL of the service: absolute, without a trailing slash. May have a path prefix. */
  baseUrl: setting('sign-in', readBaseUrl),
  parentId: setting('upload', text('')),
  auth: setting('sign-in', oneOf<AuthMode>('auto', 'token', 'popup', 'redirect', 'local', 'none')),
  clientId: setting('sign-in', unparsed('secure-uploader')),
  redirectUri: setting('sign-in', text(undefined)),
  responseMode: setting('sign-in', (value: 'query' | 'fragment' | undefined, warn) =>
    value ? oneOf('query', 'fragment')(value, warn) : undefined,
  ),
  silent: setting('sign-in', oneOf('auto', 'off')),
  issuer: setting('sign-in', (value: string | undefined) => {
    // Without an issuer, responses are checked less.
    if (value === '') throw new UploaderError('bad-config', 'issuer is empty');
    return value;
  }),
  idpId: setting('sign-in', text(undefined)),
  scope: setting('sign-in', text(undefined)),
  authHeader: setting('sign-in', text('Authorization')),
  authScheme: setting('sign-in', unparsed('Bearer')),
  allowFramedLogin: setting('service', unparsed<boolean>(false)),
  /** Origins that a presigned URL may have. An empty list allows any https origin. */
  uploadOrigins: setting('service', readOrigins),
  owner: setting('sign-in', (value: string | undefined, warn) => {
    if (value === '') warn('is empty, so all users count as one.');
    return `${value ?? ''}`;
  }),
  accept: setting('upload', acceptList),
  multiple: setting('upload', unparsed<boolean>(false)),
  /** Number of uploaded files that the form of the element needs. */
  minFiles: setting('upload', count(Number.MAX_SAFE_INTEGER, 0, 0)),
  maxFiles: setting('upload', count(Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY)),
  maxFileSize: setting('upload', bytes(Number.POSITIVE_INFINITY), 'maxFileSizeBytes'),
  chunkSize: setting('upload', bytes('auto'), 'chunkSizeBytes'),
  concurrency: setting('upload', count(64, 'auto')),
  batchSize: setting('upload', count(10_000, 64)),
  /** Limit for all uploads together, in bytes per second. */
  throttle: setting('upload', bytes(Number.POSITIVE_INFINITY), 'throttleBytesPerSecond'),
  hash: setting('service', oneOf<HashAlgorithm>('sha-256', 'blake3')),
  manual: setting('upload', unparsed<boolean>(false)),
  noResume: setting('upload', unparsed<boolean>(false)),
  /** Saves small files until they are uploaded. After a reload, these files resume without being picked again. */
  keepFiles: setting('upload', unparsed<boolean>(false)),
  /** Number of days without a newly stored chunk after which a saved upload expires. */
  keepDays: setting('upload', inMs(count(3650, 7), 24 * 3_600_000), 'keepMs'),
  /** Time after which a request that keeps failing fails its upload. */
  retryMinutes: setting('upload', inMs(count(525_600, Number.POSITIVE_INFINITY), 60_000), 'retryMs'),
  /** Action if the folder already has a file with the same name. */
  onConflict: setting('upload', oneOf('fail', 'rename')),
  workerUrl: setting('service', text(undefined)),
  keeperUrl: setting('upload', text(undefined)),
  sessionPath: setting('service', text('/files/uploadsession')),
  chunksPath: setting('service', text('/files/uploadsession/chunks')),
  commitPath: setting('service', text(undefined)),
  cancelPath: setting('service', text(undefined)),
  authorizePath: setting('sign-in', text('/authorize')),
  tokenPath: setting('sign-in', text('/auth/token')),
  loginPath: setting('sign-in', text('/auth/login')),
  challengePath: setting('sign-in', text('/auth/challenge')),
  logoutPath: setting('sign-in', text(undefined)),
  getToken: setting('sign-in', (value: GetToken | undefined, warn) => {
    if (value === undefined || typeof value === 'function') return value;
    warn('getToken is no function. A token itself is the property `token`.');
    return undefined;
  }),
  parentFor: setting('upload', unparsed<((relativePath: string) => string) | undefined>(undefined)),
  /** Greatest width and height of photos, in pixels. */
  imageMaxEdge: setting('upload', count(65_535, Number.POSITIVE_INFINITY)),
  stripLocation: setting('upload', unparsed<boolean>(false)),
  transformFile: setting('upload', unparsed<TransformFile | undefined>(undefined)),
  profile: setting('service', profile),
  authOptions: setting('sign-in', authOptions),
};

type Schema = typeof SETTINGS;
type NameOf<K extends keyof Schema> = Exclude<Schema[K]['as'], undefined>;

/** Settings as a page sets them, as attributes or properties. Unset settings get their defaults. */
export type SettingsInput = { [K in keyof Schema]?: Parameters<Schema[K]['read']>[0] };

/** Parsed settings: valid, complete and frozen. Sizes in bytes, times in milliseconds. */
export type Settings = {
  readonly [K in keyof Schema as [NameOf<K>] extends [never] ? K : NameOf<K>]: ReturnType<Schema[K]['read']>;
};

const ROWS = Object.entries(SETTINGS) as readonly (readonly [
  keyof SettingsInput,
  { readonly scope: Scope; readonly read: Read<never, unknown>; readonly as: keyof Settings | undefined },
])[];

/** Returns the attribute for a property: `upload-origins` for `uploadOrigins`. */
export const attributeOf = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function parse(input: SettingsInput, rows: typeof ROWS, warn: Warn): Settings {
  const entries = rows.map(([name, { read, as = name }]) => {
    const value = input[name] ?? undefined;
    const explain = (reason: string): string =>
      // A page may have set `getToken` to its token, which must not be on the console.
      typeof value === 'object' || name === 'getToken' ? reason : `${attributeOf(name)}="${value}" ${reason}`;
    return [as, read(value as never, (reason) => warn(explain(reason)))];
  });
  return Object.freeze(Object.fromEntries(entries));
}

/**
 * Parses settings. An invalid value is reported to `warn` and replaced by the default. Throws `bad-config` if `baseUrl` is missing
 * or invalid, `uploadOrigins` is empty or has an invalid entry, or `issuer` is empty. `getToken` is dropped if `auth` does not use
 * it.
 */
export function createSettings(input: SettingsInput, warn: Warn = () => undefined): Settings {
  const settings = parse(input, ROWS, warn);
  const { auth, getToken } = settings;
  if (!getToken || auth === 'auto' || auth === 'token') return settings;
  warn(`getToken is not used with auth="${auth}".`);
  return Object.freeze({ ...settings, getToken: undefined });
}

/** Settings that limit which files may be picked. These settings can be parsed without `baseUrl`. */
export type FileRules = Pick<
  Settings,
  'accept' | 'maxFileSizeBytes' | 'maxFiles' | 'minFiles' | 'multiple' | 'manual'
>;

export const readFileRules = (input: SettingsInput): FileRules =>
  parse(
    input,
    ROWS.filter(([, { scope }]) => scope === 'upload'),
    () => undefined,
  );

const keyOf = (settings: Settings, ...scopes: readonly Scope[]): string => {
  const rows = ROWS.filter(([, { scope }]) => scopes.includes(scope));
  return contentOf(rows.map(([name, { as = name }]) => settings[as as keyof Settings]));
};

/** Returns a key that is equal for settings that share a sign-in session. */
export const signInKeyOf = (settings: Settings): string => keyOf(settings, 'sign-in');

/** Returns a key that is equal for settings that share a service client. */
export const serviceKeyOf = (settings: Settings): string => keyOf(settings, 'service', 'sign-in');

/** Returns `settings` with the sign-in settings of `newer`. */
export function withSignInOf(settings: Settings, newer: Settings): Settings {
  const rows = ROWS.filter(([, { scope }]) => scope === 'sign-in');
  const changed = rows.map(([name, { as = name }]) => [as, newer[as as keyof Settings]]);
  return Object.freeze({ ...settings, ...Object.fromEntries(changed) });
}
