// The session of one upload: carries out what the table in `service-session.ts` says, in a run and while a commit is repeated.
// Requests, cancels and saves the session, and calls the service in it.

import { UploaderError } from '../core/errors.ts';
import { backoffMs, type RetryPolicy } from '../core/retries.ts';
import type {
  CommitAnswer,
  SavedSession,
  Session,
  StoredChunk,
  StoredState,
  UploadRecord,
} from '../core/types.ts';
import { abortable, awaitedLater, sleep } from '../core/wait.ts';
import { type CancelParts, cancelFirst } from './cancel-first.ts';
import type { Names } from './renaming.ts';
import {
  isUnanswered,
  judge,
  mayBeMisplaced,
  modelOf,
  type PausedSession,
  reduce,
  type SessionEvent,
  type SessionModel,
  type SessionState,
  savedOf,
  type Verdict,
} from './service-session.ts';

/** Fields of a record that change while it keeps its session and its chunks. */
export type SessionMarks = Partial<
  Pick<UploadRecord, 'largestChunkBytes' | 'acceptedAtMs' | 'commitSentAtMs' | 'fileHash'>
>;

/** Access to the saved record of an upload. Only `find` rejects: if the run is aborted. */
export interface RecordKeeper {
  /** Calls `onTaken` when another tab holds the lock, and then waits for the lock. */
  find(key: string, onTaken?: () => void): Promise<UploadRecord | undefined>;
  save(record: UploadRecord): Promise<void>;
  /** Changes fields of the saved record. Does nothing if there is no record. */
  update(key: string, change: SessionMarks): Promise<void>;
  saveChunks(key: string, chunks: readonly StoredState[]): Promise<void>;
  remove(key: string): Promise<void>;
}

/** The key of a record, and the hash of the first bytes of its file. */
export interface Identity {
  readonly key: string;
  readonly firstSliceHash: string;
}

/** Requests one session, which may take several attempts. */
export type RequestSession = () => Promise<Session>;

export interface SessionParts extends CancelParts {
  /** Access to the record; `undefined` if nothing is saved. */
  readonly store: RecordKeeper | undefined;
  readonly policy: RetryPolicy;
  /** Called when a call that was made before fails. Its `Retry-After` counts from then, not from when the call is needed. */
  readonly onEarlyFailure: (error: unknown) => void;
  /** Cancels a session that is not needed. Never rejects. */
  readonly cancel: (session: Session) => Promise<void>;
  /** Present if the upload gets another name when its own is taken (`on-conflict="rename"`). */
  readonly names?: Names | undefined;
  /** Called when what is known of the session has changed. */
  readonly onSession: (saved: PausedSession) => void;
  /** Called before a call is repeated, with the time (epoch ms), and when the repeated call has succeeded. */
  readonly onCallWait: (atMs: number, error: UploaderError) => void;
  readonly onRecovered: () => void;
}

/** What only a run has, because it needs the file. */
export interface FileParts {
  /** Resolves with the identity of the file. Rejects with `file-unreadable` or `hash-failed`. */
  readonly identify: () => Promise<Identity>;
  /** Returns a record without stored chunks. */
  readonly newRecord: (identity: Identity) => Omit<UploadRecord, keyof SavedSession>;
  /** Returns a function that requests a session. With `needsName`, the session gets another name than the one before. */
  readonly request: (needsName: boolean) => RequestSession;
  /** Returns the chunk size in a session. `lostBytes` is the size in the session before, if that one is lost. */
  readonly chunkSizeIn: (session: Session, lostBytes?: number) => number;
  /** Returns true if an upload with chunks of this size has a record. */
  readonly isWorthSaving: (chunkSizeBytes: number) => boolean;
}

const stateOf = ({ index, hash, receipt }: StoredChunk): StoredState => ({ index, hash, receipt });

/** Returns chunks as in a record. */
export const storedIn = (chunks: readonly StoredState[] = []): UploadRecord['stored'] =>
  new Map(chunks.map(({ index, hash, receipt }) => [index, { hash, receipt }]));

/** Thrown for a session that is given up. The upload continues in another one. `cause` is the error of the call. */
export class SessionLost {
  readonly cause: UploaderError;
  constructor(cause: UploaderError) {
    this.cause = cause;
  }
}

/** A change of the session creates a record after these events, if the upload has none. */
const WORTH_A_RECORD: readonly SessionEvent['type'][] = [
  'chunk-too-large',
  'commit-accepted',
  'commit-unanswered',
];

/** Attempts of `backoffMs` that stand for the delays before a call is repeated: about 2, 8 and 30 s. */
const REPEAT_ATTEMPTS = [2, 4, 6];

export class UploadSession {
  /** Chunks that the record has for this session. */
  stored: UploadRecord['stored'] = new Map();
  readonly #parts: SessionParts;
  readonly #file: FileParts | undefined;
  #model: SessionModel;
  #session: Promise<Session> | undefined;
  /** A request that was made before it was certain that a session is needed. */
  #early: { readonly request: RequestSession; readonly answer: Promise<Session> } | undefined;
  /** Resolves when the session that was requested early is canceled. */
  #dropped: Promise<void> = Promise.resolve();
  /** Identity of the record; `undefined` if the upload needs none. */
  #identity: Identity | undefined;
  /** True if there is a record of this session, or of the one before. */
  #isSaved = false;
  #identifying: Promise<UploadRecord | undefined> | undefined;
  /** Chunks of the commit, and the hash of the file, which are saved with it. */
  #committed: { readonly chunks: readonly StoredChunk[]; readonly fileHash: string | undefined } | undefined;
  /** Resolves when all chunks that were noted until then are saved. */
  #savingChunks: Promise<void> | undefined;
  /** Indexes of the chunks that were stored in any session of this run. */
  readonly #storedIndexes = new Set<number>();

  constructor(parts: SessionParts, chunkSizeBytes: number, file?: FileParts) {
    this.#parts = parts;
    this.#file = file;
    this.#model = modelOf(undefined, chunkSizeBytes);
  }

  get state(): SessionState {
    return this.#model.state;
  }

  get chunkSizeBytes(): number {
    return this.#model.chunkSizeBytes;
  }

  /** Largest chunk in the next session, in bytes, as far as it is known now. */
  get nextChunkBytes(): number {
    return Math.min(this.chunkSizeBytes, this.#model.largestChunkBytes ?? Number.POSITIVE_INFINITY);
  }

  /** The smallest chunk that the storage takes, in bytes; 0 if the service has not said it. */
  get minChunkBytes(): number {
    return 'session' in this.state ? (this.state.session.minChunkBytes ?? 0) : 0;
  }

  /** True if an earlier run opened the session. */
  get isResumed(): boolean {
    return 'session' in this.state && this.state.isResumed;
  }

  /** The session. Rejects if no session can be opened. */
  get session(): Promise<Session> {
    return this.#session ?? Promise.reject(new Error('No session is requested'));
  }

  /** Requests a session, unless it turns out that none is needed. */
  requestEarly(): void {
    const request = this.#file?.request(false);
    if (!request) return;
    this.#early = { request, answer: request() };
    // Its error is thrown, or the call is repeated, when the session is needed.
    this.#early.answer.catch(this.#parts.onEarlyFailure);
    void this.#move({ type: 'requested' });
  }

  /** Cancels the session that was requested early. */
  readonly dropEarly = (): void => {
    // A request that has failed has opened no session that this page knows.
    if (this.#early) this.#dropped = this.#early.answer.then(this.#parts.cancel, () => undefined);
    this.#early = undefined;
    void this.#move({ type: 'dropped' });
  };

  /** From now on, the session is saved in the record of this file. */
  identify(identity: Identity): void {
    this.#identity = identity;
  }

  /** Continues with what an earlier run knew of its session. */
  resume(saved: SavedSession, stored: UploadRecord['stored']): void {
    this.dropEarly();
    this.#model = modelOf(saved, this.chunkSizeBytes);
    const { state } = this;
    this.stored = state.phase === 'none' || state.phase === 'too-large' ? new Map() : stored;
    this.#isSaved = this.#identity !== undefined;
    if ('session' in state) this.#session = Promise.resolve(state.session);
    const resumed = savedOf(this.#model);
    const committed = [...this.stored].map(([index, chunk]) => ({ index, ...chunk }));
    if (resumed) this.#parts.onSession(this.#identity ? resumed : { ...resumed, committed });
  }

  /**
   * Opens a session, unless one is open. Before, cancels one whose chunks are too large. The chunk size may change when the session
   * is open.
   */
  async open(): Promise<void> {
    const { retrying, signal } = this.#parts;
    const { state } = this;
    if (state.phase === 'too-large') await cancelFirst(state.session, this.#parts);
    if (state.phase === 'none') await abortable(this.#dropped, signal);
    signal.throwIfAborted();
    const early = this.#early;
    const request = early?.request ?? this.#file?.request(state.phase === 'lost' && state.needsName);
    void this.#move({ type: 'requested' });
    if (this.state.phase !== 'opening' || !request) return;
    this.stored = new Map();
    this.#early = undefined;
    const opening = retrying(request, signal, early?.answer);
    const lostBytes = state.phase === 'lost' ? this.chunkSizeBytes : undefined;
    this.#session = awaitedLater(opening.then((session) => this.#onOpened(session, lostBytes)));
  }

  /** Saves that chunks have to be smaller, and opens the next session. Throws `cause` if nothing may be sent again. */
  async shrink(smallerBytes: number, cause: unknown): Promise<void> {
    const session = await this.session;
    const record = await this.#takeRecord();
    if (record?.session && record.session.header !== session.header) {
      // Another tab has come further with the same file.
      void this.#parts.cancel(session);
      this.resume(record, record.stored);
    } else {
      await this.#move({ type: 'chunk-too-large', smallerBytes });
      if (this.state.phase !== 'too-large') throw cause;
    }
    this.#storedIndexes.clear();
    await this.open();
  }

  /**
   * Calls the service in the session. Repeats the call if it is not certain that the service has lost the session. Rejects with
   * `SessionLost` if the session is given up, with `session-expired` if the file may be complete, and with `service-not-found` if
   * the call may not have reached the service, although `isKnown` says that the service knows the session.
   */
  async ask<T>(
    call: (session: Session) => Promise<T>,
    signal = this.#parts.signal,
    isKnown?: (session: Session) => Promise<boolean>,
  ): Promise<T> {
    const { names, onCallWait, onRecovered, policy } = this.#parts;
    const canRename = names !== undefined;
    const session = await this.session;
    for (let repeatCount = 0; ; repeatCount += 1) {
      try {
        const answer = await call(session);
        if (repeatCount > 0) onRecovered();
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        const nowMs = performance.now();
        const verdict = judge(this.#model, { error, repeatCount, canRename, nowMs });
        if (verdict !== 'ask-again') {
          const isUnsure = verdict === 'next-session' && mayBeMisplaced(this.state, error);
          throw this.#giveUp(isUnsure && (await isKnown?.(session)) ? 'fail' : verdict, error);
        }
        const waitMs = backoffMs(REPEAT_ATTEMPTS[repeatCount] ?? 0, policy, () => 1 - Math.random() / 4);
        onCallWait(Date.now() + waitMs, error as UploaderError);
        await sleep(waitMs, signal);
      }
    }
  }

  /** Notes and saves a chunk that the service or the storage has taken in this session. */
  onStored(chunk: StoredChunk): void {
    const { index, hash, receipt } = chunk;
    const storedChunk = this.stored.get(index);
    if (storedChunk?.hash === hash && storedChunk.receipt === receipt) return;
    const isNew = !this.#storedIndexes.has(index);
    this.#storedIndexes.add(index);
    void this.#move({ type: 'chunk-stored', isNew, atMs: performance.now() });
    if (this.#identity) this.#savingChunks = this.#parts.store?.saveChunks(this.#identity.key, [chunk]);
  }

  /**
   * Sends a commit, and notes what its response says. `send` calls `onSend` before the request, and waits until all chunks are
   * saved, and that the file may be complete from now on. If it fails before that, nothing was sent.
   */
  async commit(
    send: (onSend: () => Promise<void>) => Promise<CommitAnswer>,
    chunks: readonly StoredChunk[],
    fileHash: string | undefined,
  ): Promise<CommitAnswer> {
    this.#committed = { chunks, fileHash };
    let isSent = false;
    try {
      const answer = await send(async () => {
        // Rejects if the run ends: a commit that is not sent must not be taken for one without a response.
        await abortable(Promise.resolve(this.#savingChunks), this.#parts.signal);
        isSent = true;
        await this.#move({ type: 'commit-sent', atMs: Date.now() });
      });
      if (answer.pending) void this.#move({ type: 'commit-accepted', atMs: Date.now() });
      else if (answer.missing.length > 0) void this.#move({ type: 'chunks-missing' });
      else void this.#move({ type: 'completed' });
      return answer;
    } catch (error) {
      if (isSent && !this.#parts.signal.aborted)
        void this.#move(
          isUnanswered(error) ? { type: 'commit-unanswered', atMs: Date.now() } : { type: 'commit-refused' },
        );
      throw error;
    }
  }

  /** Notes that the time to complete the file is over. A retry has the full time again. */
  onOverdue(): void {
    void this.#move({ type: 'commit-overdue', atMs: Date.now() });
  }

  /** Deletes the record of a completed upload. Never rejects. */
  async forget(): Promise<void> {
    void this.#move({ type: 'completed' });
    if (this.#identity) await this.#parts.store?.remove(this.#identity.key);
  }

  #onOpened(session: Session, lostBytes: number | undefined): Session {
    const { cancel, signal } = this.#parts;
    // No later run would know it.
    if (signal.aborted) void cancel(session);
    signal.throwIfAborted();
    const sizeBytes = this.#file?.chunkSizeIn(session, lostBytes) ?? this.chunkSizeBytes;
    const { largestChunkBytes = sizeBytes } = this.#model;
    const chunkSizeBytes = Math.min(sizeBytes, Math.max(largestChunkBytes, session.minChunkBytes ?? 0));
    if (!this.#isSaved && !this.#file?.isWorthSaving(chunkSizeBytes)) this.#identity = undefined;
    void this.#move({ type: 'opened', session, chunkSizeBytes });
    return session;
  }

  #giveUp(verdict: Verdict, error: unknown): unknown {
    if (verdict === 'fail' && mayBeMisplaced(this.state, error))
      return new UploaderError('service-not-found', error.message, { cause: error, status: error.status });
    if (verdict === 'fail' || !(error instanceof UploaderError)) return error;
    if (verdict === 'may-be-complete') {
      const { debugInfo, status } = error;
      const text = 'The session is gone, and a commit is without a response: the file may be complete';
      return new UploaderError('session-expired', text, { cause: error, debugInfo, status });
    }
    void this.#move({ type: 'lost', needsName: verdict === 'next-name' });
    return new SessionLost(error);
  }

  /** Changes the state. If this changes what is known of the session, reports it, and resolves when it is saved. Never rejects. */
  #move(event: SessionEvent): Promise<void> {
    const previous = savedOf(this.#model);
    this.#model = reduce(this.#model, event);
    const current = savedOf(this.#model);
    if (!current || JSON.stringify(previous) === JSON.stringify(current)) return Promise.resolve();
    const isSent = current.commitSentAtMs !== undefined || current.acceptedAtMs !== undefined;
    const committed = isSent && !this.#identity && this.#committed?.chunks.map(stateOf);
    this.#parts.onSession({ ...current, ...(committed && { committed }) });
    // Identifying the file fails if it cannot be read, and finding its record if the run ends. The run rejects with both.
    return this.#save(event.type, current).catch(() => undefined);
  }

  async #save(
    event: SessionEvent['type'],
    { session: _, chunkSizeBytes: __, ...marks }: SavedSession,
  ): Promise<void> {
    const { store } = this.#parts;
    const { chunks, fileHash } = this.#committed ?? { chunks: [] };
    const isSaved = event !== 'opened' && this.#isSaved;
    if (isSaved && this.#identity) return store?.update(this.#identity.key, { ...marks, fileHash });
    if (WORTH_A_RECORD.includes(event)) await this.#takeRecord();
    const [identity, saved] = [this.#identity, savedOf(this.#model)];
    if (!identity || !saved || !this.#file) return;
    this.#isSaved = true;
    const committed = event === 'opened' ? [] : chunks;
    const stored = storedIn(committed);
    await store?.save({ ...this.#file.newRecord(identity), ...saved, stored, fileHash });
    if (committed.length > 0) await store?.saveChunks(identity.key, committed);
  }

  /** Identifies the file of an upload that had no record. Resolves with the record that another tab has left. */
  #takeRecord(): Promise<UploadRecord | undefined> {
    if (this.#identity || !this.#parts.store) return Promise.resolve(undefined);
    this.#identifying ??= this.#find().finally(() => {
      this.#identifying = undefined;
    });
    return this.#identifying;
  }

  async #find(): Promise<UploadRecord | undefined> {
    const { signal, store } = this.#parts;
    const identity = await this.#file?.identify();
    // `find` also takes the lock, which a run that has ended must not take.
    signal.throwIfAborted();
    const record = identity && (await store?.find(identity.key));
    signal.throwIfAborted();
    this.#identity = identity;
    return record;
  }
}
