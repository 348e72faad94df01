// Creates the identity of a file and the key of its record. The identity serves to recognize a file after a reload, because pages
// cannot see its path on disk.

import type { HashSlice, UploadRecord } from '../../core/types.ts';

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

/** Reads and hashes the first bytes of the file, and returns the identity. Rejects if `hashSlice` rejects. */
export async function identify(file: File, hashSlice: HashSlice, signal: AbortSignal): Promise<FileIdentity> {
  signal.throwIfAborted();
  const { hash } = await hashSlice(file.slice(0, FIRST_SLICE_BYTES), { keepBytes: false, signal });
  return { name: file.name, sizeBytes: file.size, lastModifiedMs: file.lastModified, firstSliceHash: hash };
}

/** Returns true if name, size, modification time and the hash of the first bytes are equal. Does not compare the whole content. */
export const isSameFile = (record: FileIdentity, identity: FileIdentity): boolean =>
  IDENTITY.every((name) => record[name] === identity[name]);
