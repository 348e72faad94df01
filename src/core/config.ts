// What a page may set, with the defaults, read leniently and checked once. HTML gives strings, script gives values;
// both come out as the same frozen `Settings`. It knows nothing of attributes: the element maps names to these keys.

import { readBaseUrl, readOrigin } from './addresses.ts';
import type { TokenInput } from './changes.ts';
import type { AuthMode, HashAlgorithm } from './types.ts';

export { isLoopback } from './addresses.ts';

/** How the points that the interface leaves open are filled. Each is optional; `service/profile.ts` has the defaults. */
export interface Profile {
  /** What goes in `x-service-uploadsession` (U1), from the answer's body and its header of that name, if readable. */
  sessionHeader?: (answer: { body: Readonly<Record<string, unknown>>; header: string | null }) => string;
  /** The entry for a hash among the keys of `chunks` (U2). */
  chunkKey?: (hash: string, position: number) => string;
  /** What a hash without an entry means (U3). */
  missingChunk?: 'error' | 'stored';
  /** Whether an entry says that the service has the chunk already (U4). */
  storedChunk?: (entry: Readonly<Record<string, unknown>>) => boolean;
  /** How a hash is written on the wire (U5). */
  hashEncoding?: 'hex' | 'base64' | 'base64url';
  /** Headers for the PUT beside those that the entry lists (U7). */
  putHeaders?: (hash: string, entry: Readonly<Record<string, unknown>>) => Readonly<Record<string, string>>;
  /** Overrides of what a status of the PUT means (U7a), by status; `stored` believes that the bytes lie there. */
  putStatuses?: Readonly<Record<number, 'stored' | 'retry' | 'slow-down' | 'refused'>>;
  /** Lifetime of an upload URL in seconds, from the URL and its entry; `undefined` where it cannot be told (U8). */
  urlLifetime?: (url: string, entry: Readonly<Record<string, unknown>>) => number | undefined;
  /** What is done with an empty file (U13). */
  emptyFile?: 'session' | 'refuse';
  /** What is sent as `file_name` (U17). */
  fileName?: 'name' | 'path';
  /** Adds `sizes` (bytes, in the order of `hashes`) to the presign request (U19). */
  sendSizes?: boolean;
  /** Overrides of what a status of an upload operation means (U12), by status. */
  statuses?: Readonly<
    Record<number, 'retry' | 'slow-down' | 'token' | 'forbidden' | 'gone' | 'refused' | 'too-large'>
  >;
}

/** Called when a token is needed; `signal` aborts when the answer is no longer wanted. */
export type GetToken = (
  reason: 'first' | 'expired' | 'rejected',
  signal: AbortSignal,
) => Promise<TokenInput> | TokenInput;

/** What a page sets; strings as HTML gives them are read too. Unset means the default. */
export interface SettingsInput {
  baseUrl?: string | undefined;
  parentId?: string | undefined;
  auth?: AuthMode | undefined;
  clientId?: string | undefined;
  redirectUri?: string | undefined;
  responseMode?: 'query' | 'fragment' | undefined;
  silent?: 'auto' | 'off' | undefined;
  issuer?: string | undefined;
  idpId?: string | undefined;
  scope?: string | undefined;
  authHeader?: string | undefined;
  authScheme?: string | undefined;
  allowFramedLogin?: boolean | undefined;
  uploadOrigins?: string | readonly string[] | undefined;
  owner?: string | undefined;
  accept?: string | undefined;
  multiple?: boolean | undefined;
  maxFiles?: number | string | undefined;
  maxFileSize?: number | string | undefined;
  chunkSize?: number | string | undefined;
  concurrency?: number | string | undefined;
  batchSize?: number | string | undefined;
  throttle?: number | string | undefined;
  hash?: HashAlgorithm | undefined;
  manual?: boolean | undefined;
  noResume?: boolean | undefined;
  keepFiles?: boolean | undefined;
  keepDays?: number | string | undefined;
  onConflict?: 'fail' | 'rename' | undefined;
  workerUrl?: string | undefined;
  sessionPath?: string | undefined;
  chunksPath?: string | undefined;
  commitPath?: string | undefined;
  cancelPath?: string | undefined;
  authorizePath?: string | undefined;
  tokenPath?: string | undefined;
  loginPath?: string | undefined;
  challengePath?: string | undefined;
  logoutPath?: string | undefined;
  getToken?: GetToken | undefined;
  parentFor?: ((relativePath: string) => string) | undefined;
  profile?: Profile | undefined;
  authOptions?: Readonly<Record<string, unknown>> | undefined;
}

/** Settings as the rest of the project reads them: checked, complete, frozen. Sizes in bytes, times in milliseconds. */
export interface Settings {
  /** Absolute, without a trailing slash; may have a path prefix. */
  readonly baseUrl: string;
  readonly parentId: string;
  readonly auth: AuthMode;
  readonly clientId: string;
  readonly redirectUri: string | undefined;
  readonly responseMode: 'query' | 'fragment' | undefined;
  readonly silent: 'auto' | 'off';
  readonly issuer: string | undefined;
  readonly idpId: string | undefined;
  readonly scope: string | undefined;
  readonly authHeader: string;
  readonly authScheme: string;
  readonly allowFramedLogin: boolean;
  /** Origins that a presigned URL may have; empty allows any https origin. */
  readonly uploadOrigins: readonly string[];
  readonly owner: string;
  readonly accept: string;
  readonly multiple: boolean;
  readonly maxFiles: number;
  readonly maxFileSizeBytes: number;
  readonly chunkSizeBytes: number | 'auto';
  readonly concurrency: number | 'auto';
  readonly batchSize: number;
  /** What all uploads together may use, bytes a second. */
  readonly throttleBytesPerSecond: number;
  readonly hash: HashAlgorithm;
  readonly manual: boolean;
  readonly noResume: boolean;
  /** Small files are kept themselves until they are done, so that they go on by themselves. */
  readonly keepFiles: boolean;
  /** After this long an upload that is not done is forgotten. */
  readonly keepMs: number;
  /** What is done where the folder has a file of that name. */
  readonly onConflict: 'fail' | 'rename';
  readonly workerUrl: string | undefined;
  /** Paths below `baseUrl`, or absolute URLs where the page says so; `undefined` where no call is made. */
  readonly paths: {
    readonly session: string;
    readonly chunks: string;
    readonly commit: string | undefined;
    readonly cancel: string | undefined;
    readonly authorize: string;
    readonly token: string;
    readonly login: string;
    readonly challenge: string;
    readonly logout: string | undefined;
  };
  readonly getToken: GetToken | undefined;
  readonly parentFor: ((relativePath: string) => string) | undefined;
  readonly profile: Profile;
  readonly authOptions: Readonly<Record<string, unknown>>;
}

/** A number, and `B`, `MB` (powers of 1000), `MiB` or `M` (powers of 1024), or nothing. */
const SIZE = /^\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?b)?|b)?\s*$/;

/** Bytes of `8MiB`, `8 MB`, `8388608` or a number; `undefined` where it is none of these or not above zero. */
export function parseBytes(text: string | number): number | undefined {
  const [, number, prefix = '', unit] = SIZE.exec(String(text).toLowerCase()) ?? [];
  const bytes = Math.floor(Number(number) * (unit === 'b' ? 1000 : 1024) ** ' kmgt'.indexOf(prefix));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
}

const AUTH_MODES: readonly AuthMode[] = ['auto', 'token', 'popup', 'redirect', 'local', 'none'];

/** Tells a page's author, once for each different text, that a setting is not understood and what is used instead. */
export type Warn = (message: string) => void;

/**
 * Checked settings with all defaults. What cannot be understood is told to `warn` and falls back; only a base URL that is
 * missing or cannot be one throws `bad-config`, since nothing can be done without it.
 */
export function createSettings(input: SettingsInput, warn: Warn = () => undefined): Settings {
  const oneOf = <T extends string>(
    name: string,
    value: string | undefined,
    allowed: readonly T[],
    fallback: T,
  ): T => {
    if (value === undefined || value === '') return fallback;
    if ((allowed as readonly string[]).includes(value)) return value as T;
    warn(`${name}="${value}" is not one of ${allowed.join(', ')}; ${fallback} is used.`);
    return fallback;
  };
  const bytes = <T>(name: string, value: string | number | undefined, fallback: T): number | T => {
    if (value === undefined || value === '' || value === 'auto') return fallback;
    const parsed = parseBytes(value);
    if (parsed === undefined) warn(`${name}="${value}" is no size such as 8MiB or 500MB; it is ignored.`);
    return parsed ?? fallback;
  };
  const count = <T>(
    name: string,
    value: string | number | undefined,
    max: number,
    fallback: T,
  ): number | T => {
    if (value === undefined || value === '' || value === 'auto') return fallback;
    const parsed = Number(value);
    if (Number.isInteger(parsed) && parsed >= 1 && parsed <= max) return parsed;
    warn(`${name}="${value}" is not a whole number from 1 to ${max}; it is ignored.`);
    return fallback;
  };
  const text = (value: string | undefined): string | undefined => (value === '' ? undefined : value);
  const misfit = input.accept?.split(',').find((entry) => !/^\s*(\.|\*?\s*$)|\//.test(entry));
  if (misfit) warn(`accept: "${misfit}" is no extension such as .pdf or type such as image/*.`);
  const origins =
    typeof input.uploadOrigins === 'string'
      ? input.uploadOrigins.split(/[\s,]+/)
      : (input.uploadOrigins ?? []);
  return Object.freeze<Settings>({
    baseUrl: readBaseUrl(input.baseUrl),
    parentId: input.parentId ?? '',
    auth: oneOf('auth', input.auth, AUTH_MODES, 'auto'),
    clientId: input.clientId ?? 'secure-uploader',
    redirectUri: text(input.redirectUri),
    responseMode: input.responseMode
      ? oneOf('response-mode', input.responseMode, ['query', 'fragment'] as const, 'query')
      : undefined,
    silent: oneOf('silent', input.silent, ['auto', 'off'], 'auto'),
    issuer: text(input.issuer),
    idpId: text(input.idpId),
    scope: text(input.scope),
    authHeader: text(input.authHeader) ?? 'Authorization',
    authScheme: input.authScheme ?? 'Bearer',
    allowFramedLogin: input.allowFramedLogin ?? false,
    uploadOrigins: Object.freeze(origins.filter(Boolean).map(readOrigin)),
    owner: input.owner ?? '',
    accept: input.accept ?? '',
    multiple: input.multiple ?? false,
    maxFiles: count('max-files', input.maxFiles, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY),
    maxFileSizeBytes: bytes('max-file-size', input.maxFileSize, Number.POSITIVE_INFINITY),
    chunkSizeBytes: bytes('chunk-size', input.chunkSize, 'auto' as const),
    concurrency: count('concurrency', input.concurrency, 64, 'auto' as const),
    batchSize: count('batch-size', input.batchSize, 10_000, 64),
    throttleBytesPerSecond: bytes('throttle', input.throttle, Number.POSITIVE_INFINITY),
    hash: oneOf('hash', input.hash, ['sha-256', 'blake3'], 'sha-256'),
    manual: input.manual ?? false,
    noResume: input.noResume ?? false,
    keepFiles: input.keepFiles ?? false,
    keepMs: count('keep-days', input.keepDays, 3650, 7) * 24 * 3_600_000,
    onConflict: oneOf('on-conflict', input.onConflict, ['fail', 'rename'], 'fail'),
    workerUrl: text(input.workerUrl),
    paths: Object.freeze({
      session: text(input.sessionPath) ?? '/files/uploadsession',
      chunks: text(input.chunksPath) ?? '/files/uploadsession/chunks',
      commit: text(input.commitPath),
      cancel: text(input.cancelPath),
      authorize: text(input.authorizePath) ?? '/authorize',
      token: text(input.tokenPath) ?? '/auth/token',
      login: text(input.loginPath) ?? '/auth/login',
      challenge: text(input.challengePath) ?? '/auth/challenge',
      logout: text(input.logoutPath),
    }),
    getToken: input.getToken,
    parentFor: input.parentFor,
    profile: input.profile ?? {},
    authOptions: input.authOptions ?? {},
  });
}
