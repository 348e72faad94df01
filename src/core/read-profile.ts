// The setting `profile`: what the interface of the service leaves open. Warns about fields that do not exist.

import { isUnset, type Read } from './readers.ts';
import type { SessionFile } from './types.ts';
import type { Warn } from './warn.ts';

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

/** Reads `profile`. Warns about fields that do not exist, and about values that are ignored. */
export const readProfile: Read<Profile, Profile> = (value, { warn }) => {
  if (isUnset(value)) return {};
  for (const key of Object.keys(value)) if (!(key in PROFILE_KEYS)) warn(`profile.${key} is unknown.`);
  warnOfStatuses('profile.statuses', value.statuses ?? {}, STATUS_MEANINGS, warn);
  warnOfStatuses('profile.putStatuses', value.putStatuses ?? {}, PUT_MEANINGS, warn);
  if (value.minChunkSize !== undefined && !isMinChunkSize(value.minChunkSize))
    warn('profile.minChunkSize is ignored. It must be a whole number of bytes, at most 64 MiB.');
  return value;
};
