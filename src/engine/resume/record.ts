// Converts records and chunks to and from the saved format. Validates saved data, since the user or another version of this package
// may have written it.

import { copyOfMetadata } from '../../core/metadata.ts';
import type { StoredState, UploadRecord } from '../../core/types.ts';

/** A record without its chunks, which are saved separately. */
export type RecordToSave = Omit<UploadRecord, 'stored'>;

/** A record in the database. */
export interface SavedRecord extends Omit<RecordToSave, 'file' | 'handle'> {
  /** Id of the stored chunks. Each session gets a new id, so that chunks from an old session never count. */
  readonly chunksId: string;
  /** Id of the saved bytes of the file, if the bytes are saved. */
  readonly fileId?: string | undefined;
  /** Time when chunks were last saved, epoch milliseconds. Updated at most once an hour, so the field is absent for new uploads. */
  readonly usedAtMs?: number | undefined;
  /** Time of the first visit at which the record was too old, epoch milliseconds. The clock may have been ahead at this visit. */
  readonly expiredAtMs?: number | undefined;
}

/** Version of the format. Records with another version are not read. */
const VERSION = 1;

/** Returns the value of a field; `undefined` if the value is invalid. */
type Read<T> = (value: unknown) => T | undefined;

const text: Read<string> = (value) => (typeof value === 'string' ? value : undefined);
const filled: Read<string> = (value) => text(value) || undefined;
const count: Read<number> = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
const flag: Read<true> = (value) => (value === true ? value : undefined);

/** Reads a file handle. Some browsers have no file handles. */
export const readHandle = (value: unknown): FileSystemFileHandle | undefined =>
  typeof FileSystemFileHandle === 'function' && value instanceof FileSystemFileHandle ? value : undefined;

type RequiredName = {
  [K in keyof SavedRecord]-?: object extends Pick<SavedRecord, K> ? never : K;
}[keyof SavedRecord];
type Readers<K extends keyof SavedRecord> = { readonly [N in K]-?: Read<SavedRecord[N]> };

/** Fields without which a record is invalid. */
const REQUIRED: Readers<RequiredName> = {
  chunksId: filled,
  key: text,
  name: text,
  relativePath: text,
  sizeBytes: count,
  // Times before 1970 are negative.
  lastModifiedMs: (value) => (Number.isFinite(value) ? Number(value) : undefined),
  type: text,
  parentId: text,
  firstSliceHash: text,
  chunkSizeBytes: (value) => count(value) || undefined,
  hashAlgorithm: (value) => (value === 'sha-256' || value === 'blake3' ? value : undefined),
  createdAtMs: count,
};

const OPTIONAL: Readers<Exclude<keyof SavedRecord, RequiredName | 'session'>> = {
  bodyBytes: count,
  newName: text,
  fileId: filled,
  isPaused: flag,
  isWithdrawn: flag,
  acceptedAtMs: count,
  commitSentAtMs: count,
  largestChunkBytes: (value) => count(value) || undefined,
  fileHash: (value) => (/^[0-9a-f]{64}$/.test(text(value) ?? '') ? text(value) : undefined),
  metadata: copyOfMetadata,
  usedAtMs: count,
  expiredAtMs: count,
  keepMs: count,
};

const READERS = { ...REQUIRED, ...OPTIONAL };

/** Returns the object to save. Copies only known fields, so that no secret is saved by accident. */
export function writeRecord(record: SavedRecord): Record<string, unknown> {
  const fields = Object.keys(READERS).map((name) => [name, record[name as keyof SavedRecord]]);
  const { sessionId, header: sessionHeader, isDerived } = record.session ?? {};
  return { version: VERSION, sessionId, sessionHeader, isDerived, ...Object.fromEntries(fields) };
}

/** Returns true for a record that a newer version of this package saved. Such a record must not be deleted. */
export const isNewer = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Number((value as { version?: unknown }).version) > VERSION;

/** Returns the record in a value from the database; `undefined` if the record is invalid. */
export function readRecord(value: unknown): SavedRecord | undefined {
  const fields: Readonly<Record<string, unknown>> = Object(value);
  const [sessionId, header] = [filled(fields.sessionId), filled(fields.sessionHeader)];
  const isDerived = flag(fields.isDerived);
  const session = sessionId && header ? { sessionId, header, ...(isDerived && { isDerived }) } : undefined;
  const entries = Object.entries(READERS).map(([name, of]) => [name, of(fields[name])]);
  const record = Object.fromEntries(entries.filter(([, field]) => field !== undefined)) as SavedRecord;
  const isWhole = Object.keys(REQUIRED).every((name) => name in record) && (session ?? record.fileId);
  return fields.version === VERSION && isWhole ? { ...record, session } : undefined;
}

/** An entry of the chunk log. The format is compact, since there may be one entry for each chunk. */
export type ChunkEntry = readonly (readonly [index: number, hash: string, receipt: string])[];

export const writeChunks = (chunks: readonly StoredState[]): ChunkEntry =>
  chunks.map(({ index, hash, receipt }) => [index, hash, receipt]);

/**
 * Returns the stored chunks in entries of the chunk log. A later entry replaces an earlier entry for the same chunk. Invalid
 * entries are left out, so that their chunks are presigned again.
 */
export function readChunks(
  entries: readonly unknown[],
  {
    sizeBytes,
    bodyBytes = sizeBytes,
    chunkSizeBytes,
  }: Pick<UploadRecord, 'sizeBytes' | 'bodyBytes' | 'chunkSizeBytes'>,
): UploadRecord['stored'] {
  const chunkCount = Math.ceil(bodyBytes / chunkSizeBytes);
  const storedChunks = new Map<number, { readonly hash: string; readonly receipt: string }>();
  for (const state of entries.flatMap((entry) => (Array.isArray(entry) ? (entry as unknown[]) : []))) {
    if (!Array.isArray(state)) continue;
    const [index, hash, receipt] = state as readonly unknown[];
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= chunkCount) continue;
    if (typeof hash !== 'string' || hash === '' || typeof receipt !== 'string') continue;
    storedChunks.set(index, { hash, receipt });
  }
  return storedChunks;
}
