// All settings, one row each: type, default, reader, scope, and whether it protects users.

import { readBaseUrl, readOrigins } from './addresses.ts';
import type { TokenInput } from './changes.ts';
import { readAuthOptions } from './read-auth-options.ts';
import { readProfile } from './read-profile.ts';
import {
  acceptList,
  bytes,
  callback,
  count,
  flag,
  inMs,
  isUnset,
  oneOf,
  onlyText,
  type Read,
  text,
  unparsed,
  userId,
} from './readers.ts';
import type { AuthMode, HashAlgorithm } from './types.ts';

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

/**
 * What a setting applies to. `upload`: one upload, or the list. `service`: the service client; uploads with equal `service` and
 * `sign-in` settings share a client. `sign-in`: the session; clients with equal `sign-in` settings share a session.
 */
export type Scope = 'upload' | 'service' | 'sign-in';

/**
 * Defines a setting. `as` is the name in `Settings` if the two names differ; for example, a name in `Settings` may end with a unit.
 */
const setting = <Input, Value, const Name extends string = never>(
  scope: Scope,
  read: Read<Input, Value>,
  as?: Name,
) => ({ scope, read, as });

/**
 * Defines a setting that protects users: the default allows, sends or keeps more. If the value cannot be read, or is blank, it
 * is an error, and no file is added.
 */
const protecting = <Input, Value, const Name extends string = never>(
  ...row: Parameters<typeof setting<Input, Value, Name>>
) => ({ ...setting(...row), protects: true });

/** Like `protecting`, for a setting for which an empty text means unset, as frameworks write it. */
const unsettable = <Input, Value, const Name extends string = never>(
  ...row: Parameters<typeof setting<Input, Value, Name>>
) => ({ ...protecting(...row), mayBeBlank: true });

/** All settings. A path is below `baseUrl`, or an absolute URL. If a path is `undefined`, the call is not made. */
export const SETTINGS = {
  /** URL of the service: absolute, without a trailing slash. May have a path prefix. */
  baseUrl: setting('sign-in', readBaseUrl),
  parentId: setting('upload', text('')),
  auth: protecting('sign-in', oneOf<AuthMode>('auto', 'token', 'popup', 'redirect', 'local', 'none')),
  clientId: setting('sign-in', unparsed('secure-uploader')),
  redirectUri: setting('sign-in', text(undefined)),
  responseMode: protecting('sign-in', (value: 'query' | 'fragment' | undefined, report) =>
    isUnset(value) ? undefined : oneOf('query', 'fragment')(value, report),
  ),
  silent: protecting('sign-in', oneOf('auto', 'off')),
  issuer: protecting('sign-in', onlyText),
  idpId: setting('sign-in', text(undefined)),
  scope: protecting('sign-in', onlyText),
  authHeader: setting('sign-in', text('Authorization')),
  authScheme: setting('sign-in', unparsed('Bearer')),
  allowFramedLogin: unsettable('service', flag),
  /** Origins that a presigned URL may have. An empty list allows any https origin. */
  uploadOrigins: protecting('service', readOrigins),
  owner: unsettable('sign-in', userId),
  accept: protecting('upload', acceptList),
  multiple: unsettable('upload', flag),
  /** Number of uploaded files that the form of the element needs. */
  minFiles: protecting('upload', count(Number.MAX_SAFE_INTEGER, 0, 0)),
  maxFiles: protecting('upload', count(Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY)),
  maxFileSize: protecting('upload', bytes(Number.POSITIVE_INFINITY), 'maxFileSizeBytes'),
  chunkSize: setting('upload', bytes('auto'), 'chunkSizeBytes'),
  concurrency: setting('upload', count(64, 'auto')),
  batchSize: setting('upload', count(10_000, 64)),
  /** Limit for all uploads together, in bytes per second. */
  throttle: setting('upload', bytes(Number.POSITIVE_INFINITY), 'throttleBytesPerSecond'),
  hash: setting('service', oneOf<HashAlgorithm>('sha-256', 'blake3')),
  manual: unsettable('upload', flag),
  noResume: unsettable('upload', flag),
  /** Saves small files until they are uploaded. After a reload, these files resume without being picked again. */
  keepFiles: unsettable('upload', flag),
  /** Number of days without a newly stored chunk after which a saved upload expires. */
  keepDays: protecting('upload', inMs(count(3650, 7), 24 * 3_600_000), 'keepMs'),
  /** Time after which a request that keeps failing fails its upload. */
  retryMinutes: setting('upload', inMs(count(525_600, Number.POSITIVE_INFINITY), 60_000), 'retryMs'),
  /** Action if the folder already has a file with the same name. */
  onConflict: setting('upload', oneOf('fail', 'rename')),
  workerUrl: setting('service', text(undefined)),
  keeperUrl: setting('upload', text(undefined)),
  sessionPath: setting('service', text('/files/uploadsession')),
  chunksPath: setting('service', text('/files/uploadsession/chunks')),
  commitPath: protecting('service', onlyText),
  cancelPath: protecting('service', onlyText),
  batchPath: setting('service', text(undefined)),
  authorizePath: setting('sign-in', text('/authorize')),
  tokenPath: setting('sign-in', text('/auth/token')),
  loginPath: setting('sign-in', text('/auth/login')),
  challengePath: setting('sign-in', text('/auth/challenge')),
  logoutPath: protecting('sign-in', onlyText),
  getToken: unsettable('sign-in', callback<GetToken>('. A token itself is the property `token`')),
  parentFor: unsettable('upload', callback<(relativePath: string) => string>()),
  /** Greatest width and height of photos, in pixels. */
  imageMaxEdge: protecting('upload', count(65_535, Number.POSITIVE_INFINITY)),
  stripLocation: unsettable('upload', flag),
  transformFile: unsettable('upload', callback<TransformFile>()),
  profile: setting('service', readProfile),
  authOptions: unsettable('sign-in', readAuthOptions),
};

type Schema = typeof SETTINGS;
type NameOf<K extends keyof Schema> = Exclude<Schema[K]['as'], undefined>;

/** Settings as a page sets them, as attributes or properties. Unset settings get their defaults. */
export type SettingsInput = { [K in keyof Schema]?: Parameters<Schema[K]['read']>[0] };

/** Parsed settings: valid, complete and frozen. Sizes in bytes, times in milliseconds. */
export type Settings = {
  readonly [K in keyof Schema as [NameOf<K>] extends [never] ? K : NameOf<K>]: ReturnType<Schema[K]['read']>;
};
