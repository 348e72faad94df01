// Says whether two files are the same. Pages cannot see the path of a file on disk, so after a reload, a file is recognized by its
// identity, and an upload by the key of its record.

import { mapAhead } from '../../core/streams.ts';
import type { HashSlice, PickedFile, UploadRecord } from '../../core/types.ts';
import type { Connection } from '../connection.ts';
import type { Upload } from '../upload.ts';
import type { RecordToSave } from './record.ts';

/** Number of bytes that are hashed, from the start of the file. */
export const FIRST_SLICE_BYTES = 65_536;

const IDENTITY = ['name', 'sizeBytes', 'lastModifiedMs', 'firstSliceHash'] as const;

export type FileIdentity = Pick<UploadRecord, (typeof IDENTITY)[number]>;

export interface RecordKeyParts extends FileIdentity {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly parentId: string;
  readonly relativePath: string;
  readonly owner: string;
}

/** Creates the key of a record, which is unique to the upload. */
export function recordKey(parts: RecordKeyParts): string {
  return JSON.stringify([
    parts.baseUrl,
    parts.clientId,
    parts.owner,
    parts.parentId,
    parts.relativePath,
    parts.name,
    parts.sizeBytes,
    parts.lastModifiedMs,
    parts.firstSliceHash,
  ]);
}

/** True if the record was created for the same service, client and owner, with the same hash algorithm. */
export const belongsTo = (record: RecordToSave, { settings }: Connection): boolean =>
  record.hashAlgorithm === settings.hash && record.key === recordKey({ ...settings, ...record });

/** True if the key may be that of a file with this name and size, in any folder. The end of a key has the time and the hash. */
export const isKeyOf = (key: string, { name, size }: File): boolean =>
  key.includes(`${JSON.stringify(name)},${size},`);

/** What the browser tells of a file without reading it. */
type FileStat = Pick<UploadRecord, 'name' | 'sizeBytes' | 'lastModifiedMs'>;

export const statOf = ({ name, size, lastModified }: File): FileStat => ({
  name,
  sizeBytes: size,
  lastModifiedMs: lastModified,
});

type FileInFolder = FileStat & Pick<UploadRecord, 'parentId' | 'relativePath'>;

/** Returns a string for folder, path, name and size of a file. */
export const pathKeyOf = ({
  parentId,
  relativePath,
  name,
  sizeBytes,
}: Omit<FileInFolder, 'lastModifiedMs'>): string => JSON.stringify([parentId, relativePath, name, sizeBytes]);

/** Returns a string that identifies a file without its content: folder, path, name, size and modification time. */
export const fileKeyOf = (file: FileInFolder): string => `${pathKeyOf(file)} ${file.lastModifiedMs}`;

/** Reads and hashes the first bytes of the file, and returns the identity. Rejects if `hashSlice` rejects. */
export async function identify(file: File, hashSlice: HashSlice, signal: AbortSignal): Promise<FileIdentity> {
  signal.throwIfAborted();
  const { hash } = await hashSlice(file.slice(0, FIRST_SLICE_BYTES), { keepBytes: false, signal });
  return { name: file.name, sizeBytes: file.size, lastModifiedMs: file.lastModified, firstSliceHash: hash };
}

/** Hashes the first bytes of the file, and returns the key of its record. Rejects with `file-unreadable` or `hash-failed`. */
export async function identifyUpload(
  { connection, parentId, relativePath }: Pick<Upload, 'connection' | 'parentId' | 'relativePath'>,
  { file }: PickedFile,
  hashSlice: HashSlice,
  signal: AbortSignal,
): Promise<{ readonly key: string; readonly firstSliceHash: string }> {
  const { settings } = connection;
  const identity = await identify(file, hashSlice, signal);
  const key = recordKey({ ...settings, ...identity, parentId, relativePath });
  return { key, firstSliceHash: identity.firstSliceHash };
}

/** Returns true if name, size, modification time and the hash of the first bytes are equal. Does not compare the whole content. */
export const isSameFile = (record: FileIdentity, identity: FileIdentity): boolean =>
  IDENTITY.every((name) => record[name] === identity[name]);

export interface Comparison {
  readonly identity: FileIdentity;
  /** The file, if it is the one of the upload. */
  readonly sameFile?: File;
}

/**
 * Compares a file with the one of an upload. It is the same file if name, size, modification time and first bytes are the same.
 * It is also the same file if only name or time differ, and all stored chunks have the same bytes (without stored chunks, if only
 * the time differs). It then gets the name and the time of the record. Rejects if the file cannot be read, or with the signal's
 * reason.
 */
export async function compare(
  { connection, lost, ownName, resumeState: { record }, sizeBytes: bodyBytes }: Upload,
  file: File,
  signal: AbortSignal,
): Promise<Comparison> {
  const { hashSlice } = connection.service.client.pool;
  const identity = await identify(file, hashSlice, signal);
  const sizeBytes = lost?.file.size ?? bodyBytes;
  if (isSameFile({ ...identity, name: ownName, sizeBytes, ...record }, identity))
    return { identity, sameFile: file };
  if (record?.sizeBytes !== identity.sizeBytes || record.firstSliceHash !== identity.firstSliceHash)
    return { identity };
  const { chunkSizeBytes, name, lastModifiedMs: lastModified, stored } = record;
  if (stored.size === 0 && name !== identity.name) return { identity };
  // The run compares what `transformFile` makes of the file.
  const chunks = record.bodyBytes === undefined ? stored : [];
  const comparisons = mapAhead(chunks, 2, async ([index, { hash }]) => {
    const slice = file.slice(index * chunkSizeBytes, (index + 1) * chunkSizeBytes);
    return hash === (await hashSlice(slice, { keepBytes: false, signal })).hash;
  });
  for await (const isSame of comparisons) if (!isSame) return { identity };
  return { identity, sameFile: new File([file], name, { type: file.type, lastModified }) };
}
