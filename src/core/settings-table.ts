// All settings, one row each: text, type, default, reader, scope, property of the element, and whether it protects users.

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
  isUnset,
  oneOf,
  onlyText,
  type Read,
  text,
  userId,
  withDefault,
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
 * The attribute of a setting, beside the property of the same name. `on-or-off`: a Boolean attribute; another text cannot be read.
 * `only-on`: a Boolean attribute that allows or keeps more; it is off if it cannot be read. `none`: functions and objects.
 */
export type AttributeKind = 'text' | 'on-or-off' | 'only-on' | 'none';

const setting = <Input, Value>(
  scope: Scope,
  read: Read<Input, Value>,
  attribute: AttributeKind = 'text',
) => ({
  scope,
  read,
  attribute,
});

/**
 * Defines a setting that protects users: the default allows, sends or keeps more. If the value cannot be read, or is blank, it
 * is an error, and no file is added.
 */
const protecting = <Input, Value>(...row: Parameters<typeof setting<Input, Value>>) => ({
  ...setting(...row),
  protects: true,
});

/** Like `protecting`, for a setting for which an empty text means unset, as frameworks write it. */
const unsettable = <Input, Value>(...row: Parameters<typeof setting<Input, Value>>) => ({
  ...protecting(...row),
  mayBeBlank: true,
});

/** Like `unsettable`, for a setting that is new each time the page sets it, also to the same value. */
const renewing = <Input, Value>(...row: Parameters<typeof setting<Input, Value>>) => ({
  ...unsettable(...row),
  isAlwaysNew: true,
});

/**
 * All settings. Their doc comments are those of the element's properties, of `SettingsInput` and of the reference. A path is below
 * `baseUrl`, or an absolute URL. If a path is `undefined`, the call is not made.
 */
export const SETTINGS = {
  /**
   * URL of the service, or a path of the page's origin. Required. A change applies to files added later.
   * @remarks `bad-config` if it is missing or cannot be read.
   */
  baseUrl: setting('sign-in', readBaseUrl),
  /** Id of the destination folder. Required. A change applies to files added later. */
  parentId: setting('upload', text('')),
  /**
   * How the user signs in: `auto`, `token`, `popup`, `redirect`, `local` or `none`.
   * @defaultValue `'auto'`
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  auth: protecting('sign-in', oneOf<AuthMode>('auto', 'token', 'popup', 'redirect', 'local', 'none')),
  /**
   * OAuth client id of this application.
   * @defaultValue `'secure-uploader'`
   */
  clientId: setting('sign-in', withDefault('secure-uploader')),
  /** URL of the callback page. Defaults to `secure-uploader-callback.html` beside the page. */
  redirectUri: setting('sign-in', text(undefined)),
  /**
   * How the service returns the code: `query` or `fragment`.
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  responseMode: protecting('sign-in', (value: 'query' | 'fragment' | undefined, report) =>
    isUnset(value) ? undefined : oneOf('query', 'fragment')(value, report),
  ),
  /**
   * Use of silent sign-in in a hidden frame: `auto` or `off`.
   * @defaultValue `'auto'`
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  silent: protecting('sign-in', oneOf('auto', 'off')),
  /**
   * Required value of `iss` in sign-in responses (RFC 9207).
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  issuer: protecting('sign-in', onlyText),
  /** Identity provider to sign in with. */
  idpId: setting('sign-in', text(undefined)),
  /**
   * OAuth scope to request.
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  scope: protecting('sign-in', onlyText),
  /**
   * Header that carries the token.
   * @defaultValue `'Authorization'`
   */
  authHeader: setting('sign-in', text('Authorization')),
  /**
   * Authentication scheme before the token in its header.
   * @defaultValue `'Bearer'`
   */
  authScheme: setting('sign-in', withDefault('Bearer')),
  /**
   * Shows the form of `auth="local"` even if the page is framed by another origin.
   * @defaultValue `false`
   * @remarks `bad-config` if it cannot be read; an attribute is off then.
   */
  allowFramedLogin: unsettable('service', flag, 'only-on'),
  /**
   * Origins that chunks may be uploaded to, separated by spaces. Defaults to any https origin except that of the page.
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  uploadOrigins: protecting('service', readOrigins),
  /**
   * Id of the current user. Users who share a browser don't resume each other's uploads.
   * @remarks `bad-config` if it cannot be read.
   */
  owner: unsettable('sign-in', userId),
  /**
   * Accepted file types, as in `<input accept>`.
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  accept: protecting('upload', acceptList),
  /**
   * Allows more than one file.
   * @defaultValue `false`
   * @remarks `bad-config` if it cannot be read; an attribute is off then.
   */
  multiple: unsettable('upload', flag, 'only-on'),
  /**
   * Number of uploaded files that a form needs before it can be submitted.
   * @defaultValue `0`
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  minFiles: protecting('upload', count(Number.MAX_SAFE_INTEGER, 0, 0)),
  /**
   * Maximum number of files.
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  maxFiles: protecting('upload', count(Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY)),
  /**
   * Maximum size of a file, in bytes or as a text such as `500MB`.
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  maxFileSize: protecting('upload', bytes(Number.POSITIVE_INFINITY)),
  /**
   * Size of a chunk, in bytes or as a text such as `8MiB`. With `auto`, the size fits the file.
   * @defaultValue `'auto'`
   */
  chunkSize: setting('upload', bytes('auto')),
  /**
   * Number of chunks uploaded in parallel, or `auto`.
   * @defaultValue `'auto'`
   */
  concurrency: setting('upload', count(64, 'auto')),
  /**
   * Maximum number of chunks in one presign request.
   * @defaultValue `64`
   */
  batchSize: setting('upload', count(10_000, 64)),
  /**
   * Limit for the average bandwidth of all uploads together, in bytes per second or as a text such as `2MB`. Each chunk is still
   * sent at full speed.
   */
  throttle: setting('upload', bytes(Number.POSITIVE_INFINITY)),
  /**
   * Hash algorithm that identifies chunks: `sha-256` or `blake3`.
   * @defaultValue `'sha-256'`
   */
  hash: setting('service', oneOf<HashAlgorithm>('sha-256', 'blake3')),
  /**
   * Uploads wait until `start()` is called.
   * @defaultValue `false`
   * @remarks `bad-config` if it cannot be read.
   */
  manual: unsettable('upload', flag, 'on-or-off'),
  /**
   * Saves no progress, so that uploads can't be resumed after a reload.
   * @defaultValue `false`
   * @remarks `bad-config` if it cannot be read.
   */
  noResume: unsettable('upload', flag, 'on-or-off'),
  /**
   * Saves small files (up to 4 MiB each, 64 MiB in total) in the browser. Uploads of these files resume automatically after a
   * reload.
   * @defaultValue `false`
   * @remarks `bad-config` if it cannot be read; an attribute is off then.
   */
  keepFiles: unsettable('upload', flag, 'only-on'),
  /**
   * Days without a newly stored chunk after which the saved progress of an unfinished upload is deleted.
   * @defaultValue `7`
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  keepDays: protecting('upload', count(3650, 7)),
  /**
   * Minutes after which a request that keeps failing fails its upload. By default, uploads wait without a limit while the server
   * can't be reached.
   */
  retryMinutes: setting('upload', count(525_600, Number.POSITIVE_INFINITY)),
  /**
   * Action if the folder already has a file with the same name. `fail` fails the upload and offers another name, such as `report
   * (2).pdf`. `rename` uses the other name automatically.
   * @defaultValue `'fail'`
   */
  onConflict: setting('upload', oneOf('fail', 'rename')),
  /** URL of the hash worker, if the default worker can't be loaded. */
  workerUrl: setting('service', text(undefined)),
  /**
   * URL of `file-keeper.js` on the page's origin. With it, uploads resume after a link or a reload, and users don't have to choose
   * their files again.
   */
  keeperUrl: setting('upload', text(undefined)),
  /**
   * Path of the request that opens an upload session.
   * @defaultValue `'/files/uploadsession'`
   */
  sessionPath: setting('service', text('/files/uploadsession')),
  /**
   * Path of the presign request.
   * @defaultValue `'/files/uploadsession/chunks'`
   */
  chunksPath: setting('service', text('/files/uploadsession/chunks')),
  /**
   * Path of the commit request. Without a path, an upload is complete when every chunk is stored.
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  commitPath: protecting('service', onlyText),
  /**
   * Path of the cancel request. Without a path, the service is not notified.
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  cancelPath: protecting('service', onlyText),
  /** Path of the requests for many small files. Without a path, each file has its own requests. */
  batchPath: setting('service', text(undefined)),
  /**
   * Path of the sign-in page.
   * @defaultValue `'/authorize'`
   */
  authorizePath: setting('sign-in', text('/authorize')),
  /**
   * Path of the token request.
   * @defaultValue `'/auth/token'`
   */
  tokenPath: setting('sign-in', text('/auth/token')),
  /**
   * Path of the login request, with `auth="local"`.
   * @defaultValue `'/auth/login'`
   */
  loginPath: setting('sign-in', text('/auth/login')),
  /**
   * Path of the challenge request, with `auth="local"`.
   * @defaultValue `'/auth/challenge'`
   */
  challengePath: setting('sign-in', text('/auth/challenge')),
  /**
   * Path of the logout request. Without a path, signing out does not end the user's session on the service.
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  logoutPath: protecting('sign-in', onlyText),
  /**
   * Function that is called when a token is needed. A new function starts a new session, also after a sign-out. Uploads that wait
   * for a first token then use the new function.
   * @remarks `bad-config` if it cannot be read.
   */
  getToken: renewing('sign-in', callback<GetToken>('. A token itself is the property `token`'), 'none'),
  /**
   * Function that returns the folder id for a relative path. Overrides `parent-id`.
   * @remarks `bad-config` if it cannot be read.
   */
  parentFor: unsettable('upload', callback<(relativePath: string) => string>(), 'none'),
  /**
   * Greatest width and height of photos, in pixels. Larger photos are uploaded as smaller copies without metadata.
   * @remarks `bad-config` if it is empty or cannot be read.
   */
  imageMaxEdge: protecting('upload', count(65_535, Number.POSITIVE_INFINITY)),
  /**
   * Removes location and embedded thumbnails from JPEG, PNG, WebP, GIF and HEIC photos. Other images and videos are refused.
   * @defaultValue `false`
   * @remarks `bad-config` if it cannot be read.
   */
  stripLocation: unsettable('upload', flag, 'on-or-off'),
  /**
   * Function that returns the file to upload instead of a file, for example a smaller photo. Called when the upload starts, and
   * again when it resumes on a later visit: if the file is another one then, the upload starts over.
   * @remarks `bad-config` if it cannot be read.
   */
  transformFile: unsettable('upload', callback<TransformFile>(), 'none'),
  /** Settings for the points that the interface of the service leaves open. */
  profile: setting('service', readProfile, 'none'),
  /**
   * Advanced sign-in settings.
   * @remarks `bad-config` if it cannot be read.
   */
  authOptions: unsettable('sign-in', readAuthOptions, 'none'),
};

type Schema = typeof SETTINGS;

/** Settings as a page sets them, as attributes or properties. Unset settings get their defaults. */
export type SettingsInput = { [K in keyof Schema]?: Parameters<Schema[K]['read']>[0] };

/** Parsed settings: valid, complete and frozen, each in the unit of its doc comment. Sizes are in bytes. */
export type Settings = { readonly [K in keyof Schema]: ReturnType<Schema[K]['read']> };
