// Converts records and chunks to and from the saved format. Validates saved data, since the user or another version of this package
// may have written it.

import { copyOfMetadata } from '../core/metadata.ts';
import type { HashAlgorithm, UploadRecord } from '../core/types.ts';

/** A record without its chunks, which are saved separately. */
export type RecordToSave = Omit<UploadRecord, 'stored'>;

/** A record in the database. */
export interface SavedRecord extends Omit<RecordToSave, 'file'> {
  /** Id of the stored chunks. Each session gets a new id, so that chunks from an old session never count. */
  readonly chunksId: string;
  /** Id of the saved bytes of the file, if the bytes are saved. */
  readonly fileId?: string | undefined;
  /** Time when chunks were last saved, epoch milliseconds. Updated at most once an hour, so the field is absent for new uploads. */
  readonly usedAtMs?: number | undefined;
}

export interface StoredState {
  readonly index: number;
  readonly hash: string;
  readonly receipt: string;
}

/** Version of the format. Records with another version are not read. */
const VERSION = 1;

/** Returns the object to save. Copies only known fields, so that no secret is saved by accident. */
export function writeRecord(record: SavedRecord): Record<string, unknown> {
  return {
    version: VERSION,
    chunksId: record.chunksId,
    key: record.key,
    name: record.name,
    newName: record.newName,
    relativePath: record.relativePath,
    sizeBytes: record.sizeBytes,
    lastModifiedMs: record.lastModifiedMs,
    type: record.type,
    parentId: record.parentId,
    firstSliceHash: record.firstSliceHash,
    chunkSizeBytes: record.chunkSizeBytes,
    hashAlgorithm: record.hashAlgorithm,
    sessionId: record.session?.sessionId,
    sessionHeader: record.session?.header,
    fileId: record.fileId,
    isPaused: record.isPaused,
    isWithdrawn: record.isWithdrawn,
    acceptedAtMs: record.acceptedAtMs,
    fileHash: record.fileHash,
    metadata: record.metadata,
    createdAtMs: record.createdAtMs,
    usedAtMs: record.usedAtMs,
    ...(record.handle ? { handle: record.handle } : {}),
  };
}

/** Returns true for a record that a newer version of this package saved. Such a record must not be deleted. */
export const isNewer = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Number((value as { version?: unknown }).version) > VERSION;

/** Returns the record in a value from the database; `undefined` if the record is invalid. */
export function readRecord(value: unknown): SavedRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const text = (name: string): string | undefined =>
    typeof fields[name] === 'string' ? fields[name] : undefined;
  const count = (name: string): number | undefined =>
    Number.isSafeInteger(fields[name]) && (fields[name] as number) >= 0
      ? (fields[name] as number)
      : undefined;
  const lastModifiedMs = fields.lastModifiedMs;
  const read = {
    chunksId: text('chunksId') || undefined,
    key: text('key'),
    name: text('name'),
    relativePath: text('relativePath'),
    sizeBytes: count('sizeBytes'),
    // Times before 1970 are negative.
    lastModifiedMs: Number.isFinite(lastModifiedMs) ? (lastModifiedMs as number) : undefined,
    type: text('type'),
    parentId: text('parentId'),
    firstSliceHash: text('firstSliceHash'),
    chunkSizeBytes: count('chunkSizeBytes') || undefined,
    hashAlgorithm: readAlgorithm(fields.hashAlgorithm),
    createdAtMs: count('createdAtMs'),
  };
  const [sessionId, header, fileId] = [text('sessionId'), text('sessionHeader'), text('fileId')];
  const session = sessionId && header ? { sessionId, header } : undefined;
  if (fields.version !== VERSION || !isFull(read) || !(session || fileId)) return undefined;
  const handle = readHandle(fields.handle);
  const acceptedAtMs = count('acceptedAtMs');
  const fileHash = text('fileHash');
  const metadata = copyOfMetadata(fields.metadata);
  return {
    ...read,
    session,
    ...(fileId && { fileId }),
    ...(fields.isPaused === true && { isPaused: true }),
    ...(fields.isWithdrawn === true && { isWithdrawn: true }),
    ...(metadata && { metadata }),
    ...(acceptedAtMs !== undefined && { acceptedAtMs }),
    ...(fileHash && /^[0-9a-f]{64}$/.test(fileHash) && { fileHash }),
    newName: text('newName'),
    usedAtMs: count('usedAtMs'),
    ...(handle && { handle }),
  };
}

type Full<T> = { [K in keyof T]: Exclude<T[K], undefined> };

const isFull = <T extends object>(read: T): read is T & Full<T> => !Object.values(read).includes(undefined);

const readAlgorithm = (value: unknown): HashAlgorithm | undefined =>
  value === 'sha-256' || value === 'blake3' ? value : undefined;

/** Returns the value if it is a file handle. */
export const readHandle = (value: unknown): FileSystemFileHandle | undefined =>
  typeof FileSystemFileHandle === 'function' && value instanceof FileSystemFileHandle ? value : undefined;

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
  { sizeBytes, chunkSizeBytes }: Pick<UploadRecord, 'sizeBytes' | 'chunkSizeBytes'>,
): UploadRecord['stored'] {
  const chunkCount = Math.ceil(sizeBytes / chunkSizeBytes);
  const stored = new Map<number, { readonly hash: string; readonly receipt: string }>();
  for (const state of entries.flatMap((entry) => (Array.isArray(entry) ? (entry as unknown[]) : []))) {
    if (!Array.isArray(state)) continue;
    const [index, hash, receipt] = state as readonly unknown[];
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= chunkCount) continue;
    if (typeof hash !== 'string' || hash === '' || typeof receipt !== 'string') continue;
    stored.set(index, { hash, receipt });
  }
  return stored;
}
