// How an upload is written down and read back. What comes out of the database is `unknown` until it was read here: another
// version of this package, or a hand, may have written it. It knows nothing of IndexedDB.

import type { HashAlgorithm, UploadRecord } from '../core/types.ts';

/** A record as it is saved: what is known to be stored is kept apart. */
export type RecordToSave = Omit<UploadRecord, 'stored'>;

/** A saved record, with the name of its chunk states. A new session begins with a new name, so old states never count. */
export interface SavedRecord extends Omit<RecordToSave, 'file'> {
  readonly chunksId: string;
  /** Where the bytes of the file are, if they are saved. */
  readonly fileId?: string | undefined;
  /** When chunks were last saved, epoch milliseconds; absent until an hour after the session was opened. */
  readonly usedAtMs?: number | undefined;
}

/** What is known of one stored chunk. */
export interface StoredState {
  readonly index: number;
  readonly hash: string;
  readonly receipt: string;
}

/** Raised when the shape changes; a record of another version counts as none. */
const VERSION = 1;

/** The plain object that goes into the database: only known fields, so nothing secret slips in with a wider object. */
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
    createdAtMs: record.createdAtMs,
    usedAtMs: record.usedAtMs,
    ...(record.handle ? { handle: record.handle } : {}),
  };
}

/** True for what a later version of this package has written: it is left to that. */
export const isNewer = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Number((value as { version?: unknown }).version) > VERSION;

/** The record in a value from the database; `undefined` where it is none, or damaged. */
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
    // Before 1970 it is negative.
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
  return {
    ...read,
    session,
    ...(fileId && { fileId }),
    ...(fields.isPaused === true && { isPaused: true }),
    newName: text('newName'),
    usedAtMs: count('usedAtMs'),
    ...(handle && { handle }),
  };
}

type Full<T> = { [K in keyof T]: Exclude<T[K], undefined> };

const isFull = <T extends object>(read: T): read is T & Full<T> => !Object.values(read).includes(undefined);

const readAlgorithm = (value: unknown): HashAlgorithm | undefined =>
  value === 'sha-256' || value === 'blake3' ? value : undefined;

const readHandle = (value: unknown): FileSystemFileHandle | undefined =>
  typeof FileSystemFileHandle === 'function' && value instanceof FileSystemFileHandle ? value : undefined;

/** One entry of chunk states: short, since there is one for each chunk. */
export type ChunkEntry = readonly (readonly [index: number, hash: string, receipt: string])[];

export const writeChunks = (chunks: readonly StoredState[]): ChunkEntry =>
  chunks.map(({ index, hash, receipt }) => [index, hash, receipt]);

/**
 * All chunks of a file that its entries say are stored; of two about one chunk the later counts. What is damaged, or beyond
 * the file's end, is left out: such a chunk is just asked for again.
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
