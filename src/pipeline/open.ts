// Looks for a saved upload of this file, and opens a session on the service if there is none. Chunks of the record count only
// after they have been hashed again.

import type { Calls, HashAlgorithm, Session, UploadRecord } from '../core/types.ts';

export interface OpenFile {
  readonly file: File;
  readonly name: string;
  readonly relativePath: string;
  readonly parentId: string;
  readonly handle?: FileSystemFileHandle;
}

/** What is remembered of uploads, as a run sees it: it rejects only once the run was stopped. */
export interface RecordKeeper {
  find(key: string): Promise<UploadRecord | undefined>;
  save(record: UploadRecord): Promise<void>;
  saveChunks(
    key: string,
    chunks: readonly { readonly index: number; readonly hash: string; readonly receipt: string }[],
  ): Promise<void>;
  remove(key: string): Promise<void>;
}

export interface OpenParts {
  readonly calls: Calls;
  /** Absent where nothing is kept. */
  readonly store: RecordKeeper | undefined;
  /** The record's key and the hash of the file's first slice; rejects with `file-unreadable` or `hash-failed`. */
  readonly identify: () => Promise<{ readonly key: string; readonly firstSliceHash: string }>;
  /** This upload has a record of an earlier visit, perhaps with smaller chunks, or its file is saved with its record. */
  readonly hasRecord: boolean;
  readonly chunkSizeBytes: number;
  readonly hashAlgorithm: HashAlgorithm;
  /** What it is called on the service by now. */
  readonly fileName: () => string;
  /** Of an earlier run of this file, which a file without a record goes on with. */
  readonly session?: Session | undefined;
  readonly signal: AbortSignal;
  readonly retrying: <T>(call: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  readonly onSession: (session: Session) => void;
}

/** How a run begins: with the record of an earlier run, or without. */
export interface Opened {
  readonly chunkSizeBytes: number;
  stored: UploadRecord['stored'];
  /** True where the session is one of an earlier run. */
  isResumed: boolean;
  session: Promise<Session>;
  /**
   * Opens a new session in place of one that the service no longer has. The old record is replaced when the new session exists,
   * not before: if the new session cannot be opened either, a retry resumes from the old one.
   */
  reopen(): void;
  save(chunk: { readonly index: number; readonly hash: string; readonly receipt: string }): void;
  forget(): Promise<void>;
}

export async function open(file: OpenFile, parts: OpenParts): Promise<Opened> {
  const { calls, signal, retrying } = parts;
  // A file of one chunk has nothing to resume from: the service itself says whether it is stored.
  const isWorthKeeping = parts.hasRecord || file.file.size > parts.chunkSizeBytes;
  const keeper = isWorthKeeping ? parts.store : undefined;
  const identity = keeper ? await parts.identify() : undefined;
  const record = identity && (await keeper?.find(identity.key));
  const known = record ? record.session : keeper ? undefined : parts.session;
  signal.throwIfAborted();

  const openSession = (): Promise<Session> => {
    const session = retrying(
      () =>
        calls.openSession(
          { parentId: file.parentId, fileName: parts.fileName(), fileSize: file.file.size },
          signal,
        ),
      signal,
    );
    session.then(
      (session) => {
        if (identity) void keeper?.save(recordOf(file, parts, identity, session));
      },
      () => undefined,
    );
    return session;
  };
  const opened: Opened = {
    chunkSizeBytes: record?.chunkSizeBytes ?? parts.chunkSizeBytes,
    stored: (known && record?.stored) ?? new Map(),
    isResumed: known !== undefined,
    session: known ? Promise.resolve(known) : openSession(),
    reopen() {
      opened.isResumed = false;
      opened.stored = new Map();
      opened.session = openSession();
      opened.session.then(parts.onSession, () => undefined);
    },
    save(chunk) {
      if (identity) void keeper?.saveChunks(identity.key, [chunk]);
    },
    async forget() {
      if (identity) await keeper?.remove(identity.key);
    },
  };
  opened.session.then(parts.onSession, () => undefined);
  return opened;
}

/** A new record, of which nothing is stored yet. */
export function recordOf(
  { file, handle, name, relativePath, parentId }: OpenFile,
  { chunkSizeBytes, hashAlgorithm }: Pick<OpenParts, 'chunkSizeBytes' | 'hashAlgorithm'>,
  { key, firstSliceHash }: { readonly key: string; readonly firstSliceHash: string },
  session?: Session,
): UploadRecord {
  return {
    key,
    name,
    relativePath,
    parentId,
    firstSliceHash,
    chunkSizeBytes,
    hashAlgorithm,
    session,
    sizeBytes: file.size,
    lastModifiedMs: file.lastModified,
    type: file.type,
    createdAtMs: Date.now(),
    stored: new Map(),
    ...(handle && { handle }),
  };
}
