// The stage that finds the saved record of a file, or opens a session on the service.

import type { Calls, HashAlgorithm, PickedFile, Session, SessionInput, UploadRecord } from '../core/types.ts';
import { cancelFirst } from './cancel-first.ts';
import { withFreeName } from './renaming.ts';
import { isCancelable, type PausedSession } from './service-session.ts';
import {
  type FileParts,
  type Identity,
  type SessionParts,
  storedIn,
  UploadSession,
} from './upload-session.ts';

export interface OpenFile extends PickedFile {
  /** What is uploaded: `file`, or what `transformFile` made of it. */
  readonly body: File;
  readonly name: string;
  readonly parentId: string;
}

export interface OpenParts extends SessionParts {
  readonly calls: Calls;
  /** See `SessionInput`. */
  readonly firstChunks?: SessionInput['firstChunks'];
  /**
   * Resolves with the key of the record and the hash of the file's first bytes. Rejects with `file-unreadable` or `hash-failed`.
   */
  readonly identify: () => Promise<Identity>;
  /** True to request a session before it is certain that there is no record, unless `hasRecord`. */
  readonly isNew: boolean;
  /** True if the upload already has a record, or gets one even for a single chunk (`keep-files`, `keeper-url`). */
  readonly hasRecord: boolean;
  readonly chunkSizeBytes: number;
  /**
   * Returns the chunk size in a session that the service has opened; `chunkSizeBytes` is only a guess. `lostBytes` is the size in
   * the session before, if that one is lost: the service may still have its chunks.
   */
  readonly chunkSizeIn: (session: Session, lostBytes?: number) => number;
  /** True if it depends on the session whether the file has one chunk or several. */
  readonly isSizeUpToSession: boolean;
  readonly hashAlgorithm: HashAlgorithm;
  /** Time that the record is kept without progress, in milliseconds. */
  readonly keepMs: number;
  /** Returns the current name on the service. */
  readonly fileName: () => string;
  /** What an earlier run knew of its session, for an upload without a record. */
  readonly savedSession?: PausedSession | undefined;
}

/** A file with one chunk needs no record, because the presign response shows if the chunk is stored (decision 0013). */
const isWorthSaving = ({ body }: OpenFile, { hasRecord }: OpenParts, chunkSizeBytes: number): boolean =>
  hasRecord || body.size > chunkSizeBytes;

/** Returns the session of an earlier run, or a new one that is being opened. */
export async function open(file: OpenFile, parts: OpenParts): Promise<UploadSession> {
  const { chunkSizeBytes, hasRecord, isSizeUpToSession, savedSession, signal, store } = parts;
  const mayHaveRecord = isSizeUpToSession || isWorthSaving(file, parts, chunkSizeBytes);
  let { metadata } = file;
  // Smaller chunks have other hashes.
  const firstChunks = () => (file.body.size <= session.nextChunkBytes ? parts.firstChunks : undefined);
  const session: UploadSession = new UploadSession(
    parts,
    chunkSizeBytes,
    filePartsOf(file, parts, () => metadata, firstChunks),
  );
  if (!store || !mayHaveRecord) {
    if (savedSession) session.resume(savedSession, storedIn(savedSession.committed));
  } else {
    // A new file does not wait for its identity and its lock.
    if (!hasRecord && parts.isNew) session.requestEarly();
    try {
      const identity = await parts.identify();
      const record = await store.find(identity.key, session.dropEarly);
      signal.throwIfAborted();
      session.identify(identity);
      metadata ??= record?.metadata;
      if (record && (record.bodyBytes ?? record.sizeBytes) === file.body.size)
        session.resume(record, record.stored);
      // `transformFile` made another file of it than before.
      else if (record?.session && isCancelable(record)) {
        session.dropEarly();
        await cancelFirst(record.session, parts);
      }
    } catch (error) {
      session.dropEarly();
      throw error;
    }
  }
  await session.open();
  return session;
}

function filePartsOf(
  file: OpenFile,
  parts: OpenParts,
  metadataOf: () => OpenFile['metadata'],
  firstChunks: () => OpenParts['firstChunks'],
): FileParts {
  const { calls, chunkSizeIn, identify, names, signal } = parts;
  const { parentId } = file;
  const ask = (fileName: string) => {
    const { name, relativePath } = file;
    const { size: sizeBytes, type, lastModified: lastModifiedMs } = file.body;
    const metadata = metadataOf();
    const about = { name, relativePath, sizeBytes, type, lastModifiedMs, ...(metadata && { metadata }) };
    const input = { parentId, fileName, fileSize: sizeBytes, file: about, firstChunks: firstChunks() };
    return calls.openSession(input, signal);
  };
  return {
    identify,
    newRecord: (identity) => recordOf({ ...file, metadata: metadataOf() }, parts, identity),
    request: (needsName) => {
      if (!names) return () => ask(parts.fileName());
      return withFreeName(ask, { parentId, current: parts.fileName(), needsName }, names);
    },
    chunkSizeIn,
    isWorthSaving: (chunkSizeBytes) => isWorthSaving(file, parts, chunkSizeBytes),
  };
}

/** Creates a record without a session. */
export function recordOf(
  { file, body, handle, metadata, name, relativePath, parentId }: OpenFile,
  { chunkSizeBytes, hashAlgorithm, keepMs }: Pick<OpenParts, 'chunkSizeBytes' | 'hashAlgorithm' | 'keepMs'>,
  { key, firstSliceHash }: Identity,
): UploadRecord {
  return {
    key,
    name,
    relativePath,
    parentId,
    firstSliceHash,
    chunkSizeBytes,
    hashAlgorithm,
    sizeBytes: file.size,
    lastModifiedMs: file.lastModified,
    type: file.type,
    createdAtMs: Date.now(),
    keepMs,
    stored: new Map(),
    ...(body !== file && { bodyBytes: body.size }),
    ...(handle && { handle }),
    ...(metadata && { metadata }),
  };
}
