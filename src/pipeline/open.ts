// The stage that finds the saved record of a file, or opens a session on the service.

import type {
  Calls,
  HashAlgorithm,
  PickedFile,
  Session,
  StoredChunk,
  StoredState,
  UploadRecord,
} from '../core/types.ts';

export interface OpenFile extends PickedFile {
  /** What is uploaded: `file`, or what `transformFile` made of it. */
  readonly body: File;
  readonly name: string;
  readonly parentId: string;
}

/** Access to the saved record of an upload. The functions reject only if the run is aborted. */
export interface RecordKeeper {
  /** Calls `onTaken` when another tab holds the lock, and then waits for the lock. */
  find(key: string, onTaken?: () => void): Promise<UploadRecord | undefined>;
  save(record: UploadRecord): Promise<void>;
  saveChunks(key: string, chunks: readonly StoredState[]): Promise<void>;
  remove(key: string): Promise<void>;
}

export interface OpenParts {
  readonly calls: Calls;
  /** Access to the record; `undefined` if nothing is saved. */
  readonly store: RecordKeeper | undefined;
  /**
   * Resolves with the key of the record and the hash of the file's first bytes. Rejects with `file-unreadable` or `hash-failed`.
   */
  readonly identify: () => Promise<{ readonly key: string; readonly firstSliceHash: string }>;
  /** True to request a session before it is certain that there is no record, unless `hasRecord`. */
  readonly isNew: boolean;
  /** Cancels a session that is not needed. Never rejects. */
  readonly cancel: (session: Session) => Promise<void>;
  /** True if the upload already has a record, or gets one even for a single chunk (`keep-files`, `keeper-url`). */
  readonly hasRecord: boolean;
  readonly chunkSizeBytes: number;
  /**
   * Fits a chunk size from the service to the limits. `undefined` if the service does not choose the chunk size
   * (`profile.chunkSize`).
   */
  readonly chosenChunkSize?: ((chunkSizeBytes: number) => number) | undefined;
  readonly hashAlgorithm: HashAlgorithm;
  /** Time that the record is kept without progress, in milliseconds. */
  readonly keepMs: number;
  /** Returns the current name on the service. */
  readonly fileName: () => string;
  /** Session from an earlier run, for an upload without a record. */
  readonly session?: Session | undefined;
  readonly signal: AbortSignal;
  readonly retrying: <T>(call: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  readonly onSession: (session: Session) => void;
}

export interface Opened {
  chunkSizeBytes: number;
  /** Chunks that are recorded as stored. */
  stored: UploadRecord['stored'];
  /** True if an earlier run opened the session. */
  isResumed: boolean;
  session: Promise<Session>;
  /**
   * Opens a new session after the old session was lost. Resolves when the chunk size is known. The old record stays until the new
   * session is open, so that a retry can resume if opening fails.
   * `smallerBytes` limits the chunk size from now on, and is saved, so that a later visit does not try larger chunks.
   */
  reopen(smallerBytes?: number): Promise<void>;
  save(chunk: StoredState): void;
  /** Saves that the service has accepted the commit (202). Creates a record if the upload does not have one. */
  accept(session: Session, chunks: readonly StoredChunk[], atMs: number, fileHash?: string): void;
  forget(): Promise<void>;
}

export async function open(file: OpenFile, parts: OpenParts): Promise<Opened> {
  const { calls, signal, retrying } = parts;
  // A file with one chunk needs no record, because the presign response shows if the chunk is stored (decision 0013).
  const { chosenChunkSize } = parts;
  const isWorthSaving =
    parts.hasRecord || chosenChunkSize !== undefined || file.body.size > parts.chunkSizeBytes;
  let keeper = isWorthSaving ? parts.store : undefined;
  let largestBytes = Number.POSITIVE_INFINITY;
  let { metadata } = file;
  const ask = (): Promise<Session> => {
    const { name, relativePath } = file;
    const { size: sizeBytes, type, lastModified: lastModifiedMs } = file.body;
    const about = { name, relativePath, sizeBytes, type, lastModifiedMs, ...(metadata && { metadata }) };
    return calls.openSession(
      { parentId: file.parentId, fileName: parts.fileName(), fileSize: sizeBytes, file: about },
      signal,
    );
  };
  // A new file does not wait for its identity and its lock.
  let early = keeper && !parts.hasRecord && parts.isNew ? ask() : undefined;
  const cancelEarly = (): void => {
    early?.then(parts.cancel, () => undefined);
    early = undefined;
  };
  // Its error is thrown, or the call is repeated, when the session is needed.
  early?.catch(() => undefined);
  let identity: Awaited<ReturnType<OpenParts['identify']>> | undefined;
  let record: UploadRecord | undefined;
  try {
    identity = keeper && (await parts.identify());
    record = identity && (await keeper?.find(identity.key, cancelEarly));
    signal.throwIfAborted();
  } catch (error) {
    cancelEarly();
    throw error;
  }
  metadata ??= record?.metadata;
  if (record && (record.bodyBytes ?? record.sizeBytes) !== file.body.size) {
    // `transformFile` made another file of it than before.
    if (record.session) void parts.cancel(record.session);
    record = undefined;
  }
  if (record) cancelEarly();
  const known = record ? record.session : keeper ? undefined : parts.session;

  const openSession = (): Promise<Session> => {
    const session = retrying(() => {
      const first = early ?? ask();
      early = undefined;
      return first;
    }, signal);
    session.then(
      (session) => {
        const { chunkSizeBytes } = session;
        if (chosenChunkSize)
          opened.chunkSizeBytes = Math.min(
            largestBytes,
            chunkSizeBytes ? chosenChunkSize(chunkSizeBytes) : parts.chunkSizeBytes,
          );
        if (identity) void keeper?.save(recordFor(session, identity));
      },
      () => undefined,
    );
    return session;
  };
  const opened: Opened = {
    chunkSizeBytes: (known && record?.chunkSizeBytes) ?? parts.chunkSizeBytes,
    stored: (known && record?.stored) ?? new Map(),
    isResumed: known !== undefined,
    session: known ? Promise.resolve(known) : openSession(),
    async reopen(smallerBytes) {
      opened.isResumed = false;
      if (smallerBytes !== undefined) {
        largestBytes = smallerBytes;
        opened.chunkSizeBytes = smallerBytes;
        keeper = parts.store;
        if (keeper) await takeRecord();
      }
      const before = opened.session;
      opened.stored = new Map();
      opened.session = openSession();
      // Not earlier: until the next session is saved, a retry would resume in this one.
      if (smallerBytes !== undefined)
        opened.session
          .then(() => before)
          .then(parts.cancel)
          .catch(() => undefined);
      opened.session.then(parts.onSession, () => undefined);
      if (chosenChunkSize) await opened.session;
    },
    save(chunk) {
      if (identity) void keeper?.saveChunks(identity.key, [chunk]);
    },
    accept(session, chunks, acceptedAtMs, fileHash) {
      saveAccepted(session, chunks, { acceptedAtMs, fileHash }).catch(() => undefined);
    },
    async forget() {
      if (identity) await parts.store?.remove(identity.key);
    },
  };
  opened.session.then(parts.onSession, () => undefined);
  if (chosenChunkSize && !known) await opened.session;
  return opened;

  function recordFor(session: Session, found: NonNullable<typeof identity>): UploadRecord {
    return recordOf({ ...file, metadata }, { ...parts, ...opened }, found, session);
  }

  /** Identifies the file, for an upload that had no record. */
  async function takeRecord(): Promise<NonNullable<typeof identity>> {
    if (identity) return identity;
    const found = await parts.identify();
    // `find` also takes the lock, which a run that has ended must not take.
    signal.throwIfAborted();
    await parts.store?.find(found.key);
    signal.throwIfAborted();
    identity = found;
    return found;
  }

  async function saveAccepted(
    session: Session,
    chunks: readonly StoredChunk[],
    commit: Pick<UploadRecord, 'acceptedAtMs' | 'fileHash'>,
  ): Promise<void> {
    const saved = recordFor(session, await takeRecord());
    const stored = new Map(chunks.map(({ index, hash, receipt }) => [index, { hash, receipt }]));
    await parts.store?.save({ ...saved, stored, ...commit });
    if (!keeper) await parts.store?.saveChunks(saved.key, chunks);
  }
}

/** Creates a record without stored chunks. */
export function recordOf(
  { file, body, handle, metadata, name, relativePath, parentId }: OpenFile,
  { chunkSizeBytes, hashAlgorithm, keepMs }: Pick<OpenParts, 'chunkSizeBytes' | 'hashAlgorithm' | 'keepMs'>,
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
    keepMs,
    stored: new Map(),
    ...(body !== file && { bodyBytes: body.size }),
    ...(handle && { handle }),
    ...(metadata && { metadata }),
  };
}
