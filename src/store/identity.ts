// What makes a file the same file after a reload, and the name under which its upload is kept. A page is never told a
// file's path, so name, size, time and the first bytes stand for it. It does not know where records lie.

import type { HashSlice, UploadRecord } from '../core/types.ts';

/** How much of a file's beginning is hashed to know it again, in bytes. */
export const FIRST_SLICE_BYTES = 65_536;

/** What a file is known by. */
export type FileIdentity = Pick<UploadRecord, 'name' | 'sizeBytes' | 'lastModifiedMs' | 'firstSliceHash'>;

/** What names an upload: where it goes, for whom, and what it is. */
export interface RecordKeyParts extends FileIdentity {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly parentId: string;
  readonly relativePath: string;
  readonly owner: string;
}

/** The record's key; two different uploads never share one. */
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

/** Reads the first bytes of a file and tells what it is known by. Rejects as `hashSlice` does. */
export async function identify(file: File, hashSlice: HashSlice, signal: AbortSignal): Promise<FileIdentity> {
  signal.throwIfAborted();
  const { hash } = await hashSlice(file.slice(0, FIRST_SLICE_BYTES), { keepBytes: false, signal });
  return { name: file.name, sizeBytes: file.size, lastModifiedMs: file.lastModified, firstSliceHash: hash };
}

/** True where the identified file is the one that the record was made for. */
export function isSameFile(record: FileIdentity, identity: FileIdentity): boolean {
  return (
    record.name === identity.name &&
    record.sizeBytes === identity.sizeBytes &&
    record.lastModifiedMs === identity.lastModifiedMs &&
    record.firstSliceHash === identity.firstSliceHash
  );
}
