// The types that all layers share: files, chunks, tickets, sessions, records and snapshots.

import type { ErrorCode } from './errors.ts';
import type { Host } from './host.ts';
import type { PauseReason } from './phases.ts';

/** Random id of one file in the list, valid until the page is closed. */
export type FileId = string;

/** A file that was picked, dropped or pasted, before any check. */
export interface PickedFile {
  readonly file: File;
  /** Path relative to the picked folder, with `/`. For a single file, the name of the file. */
  readonly relativePath: string;
  /**
   * File handle that is saved with the upload (Chromium only). With a handle, the upload can resume on a later visit, and the user
   * does not have to pick the file again.
   */
  readonly handle?: FileSystemFileHandle;
  /** JSON object for `profile.sessionFields`, at most 4096 bytes. Copied when the file is added, and saved with the upload. */
  readonly metadata?: Metadata | undefined;
}

/** A file or folder that could not be read. It is rejected with `file-unreadable`. */
export interface UnreadableFile {
  /** As in `PickedFile`; ends with `/` for a folder. */
  readonly relativePath: string;
  readonly file?: undefined;
}

/** A JSON object that the page defines. */
export type Metadata = Readonly<Record<string, unknown>>;

/** The file for which a session is opened; the parameter of `profile.sessionFields`. */
export interface SessionFile {
  /** Name of the file on the user's device. */
  readonly name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  /** Media type from the browser, often empty. */
  readonly type: string;
  /** Time of the last modification, epoch milliseconds. */
  readonly lastModifiedMs: number;
  readonly metadata?: Metadata;
}

/**
 * A part of a file. Each stage of the pipeline adds a field: `hash` adds `hash` (and `body`, if memory allows), `presign` adds
 * `ticket`, `upload` adds `receipt`.
 */
export interface Chunk {
  readonly index: number;
  /** Offset in the file, in bytes. */
  readonly start: number;
  readonly sizeBytes: number;
  /** Hash and receipt that an earlier run saved. Used only if the bytes still have this hash. */
  readonly recorded?: { readonly hash: string; readonly receipt: string };
  /** Hash of the bytes, in lower-case hex. */
  readonly hash?: string;
  /** The bytes that were hashed, if the memory budget of the page allows. */
  readonly body?: Blob;
  readonly ticket?: Ticket;
  /** Present when the chunk is stored: its PUT succeeded, or the service already had the bytes. */
  readonly receipt?: string;
  /**
   * True if the bytes did not have to be sent, because the service already had them. An equal chunk of this file may have been sent
   * before.
   */
  readonly skipped?: boolean;
}

export type HashedChunk = Chunk & { readonly hash: string };
export type TicketedChunk = HashedChunk & ({ readonly ticket: Ticket } | { readonly receipt: string });
export type StoredChunk = HashedChunk & { readonly receipt: string };

/** What is saved of a stored chunk. */
export type StoredState = Pick<StoredChunk, 'index' | 'hash' | 'receipt'>;

/** Receipt of one chunk and, unless the service already has the bytes, the presigned URL for the bytes. */
export interface Ticket {
  readonly receipt: string;
  readonly upload?: TicketUpload;
}

export interface TicketUpload {
  readonly url: string;
  readonly method: 'PUT' | 'POST';
  /** Headers that the service requires. A ticket with a forbidden header is rejected. */
  readonly headers: Readonly<Record<string, string>>;
  /** Time when the URL expires, by `performance.now()`; absent if unknown. */
  readonly expiresAtMs?: number;
  /** Time when the ticket was received, by `performance.now()`. */
  readonly receivedAtMs?: number;
}

/** What the request that opens a session is created from. `fileSize` in bytes. */
export interface SessionInput {
  readonly parentId: string;
  readonly fileName: string;
  readonly fileSize: number;
  readonly file?: SessionFile;
  /**
   * Resolves with all chunks of a small file. Called if its calls may share requests (`batchPath`): the session then waits for
   * them, and comes together with their tickets. If they cannot be hashed, no session is opened.
   */
  readonly firstChunks?: (() => Promise<readonly HashOfChunk[]>) | undefined;
}

/** Hash and size of a chunk, as in a presign request. */
export interface HashOfChunk {
  readonly hash: string;
  readonly sizeBytes: number;
}

/** An upload session that the service opened for one file. */
export interface Session {
  readonly sessionId: string;
  /** Value of the header `x-service-uploadsession` in all later calls. Secret. */
  readonly header: string;
  /** True if `profile.sessionHeader` has computed the header, so that it may follow from `sessionId`, which is secret then, too. */
  readonly isDerived?: true;
  /**
   * Chunk size that the service chose (`profile.chunkSize`), in bytes. Not saved with the session: `UploadRecord` has the chunk
   * size in use.
   */
  readonly chunkSizeBytes?: number;
  /** Size of the smallest chunk that the storage takes, except the last one of a file, in bytes (U6c). Not saved either. */
  readonly minChunkBytes?: number;
}

/** What a commit sends. Hashes and receipts are in chunk order. */
export interface CommitProof {
  readonly hashes: readonly string[];
  readonly receipts: readonly string[];
  /** SHA-256 of the whole file, as hex; present with `profile.sendFileHash`. */
  readonly fileHash?: string | undefined;
}

export interface CommitOptions {
  /** The timeout is as many times longer. Defaults to 1. */
  readonly patience?: number;
  /** Called before the request is sent, after the wait for a token. The request waits for the promise. */
  readonly onSend?: () => void | Promise<void>;
}

/** The result of a commit. */
export interface CommitAnswer {
  /** Hashes that the service does not have (409); empty if the commit succeeded. */
  readonly missing: readonly string[];
  /** JSON of the response, if the commit succeeded. */
  readonly body?: unknown;
  /** Present if the service has accepted the commit and completes the file later (202). */
  readonly pending?: { readonly retryAfterMs?: number | undefined };
}

/**
 * The upload operations. Each operation adds the token, validates the response, and rejects with `UploaderError` or the signal's
 * reason.
 */
export interface Calls {
  /**
   * Opens a session in a folder. (`POST /files/uploadsession`) If `signal` aborts while the request runs, the session that it opens
   * is canceled.
   */
  openSession(input: SessionInput, signal: AbortSignal): Promise<Session>;
  /** Resolves with a map from hash to ticket, with one ticket for each chunk. (`POST /files/uploadsession/chunks`) */
  presign(
    session: Session,
    chunks: readonly HashOfChunk[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Ticket>>;
  /** Returns true while the calls of small files share requests. This method is present if `batchPath` applies. */
  isBatching?(): boolean;
  /**
   * Returns the tickets of these chunks if they came with the session, and were not taken before. This method is present if
   * `batchPath` applies.
   */
  takeTickets?(session: Session, chunks: readonly HashOfChunk[]): ReadonlyMap<string, Ticket> | undefined;
  /** Completes the upload. This method is present if `commitPath` is set. */
  commit?(
    session: Session,
    proof: CommitProof,
    signal: AbortSignal,
    options?: CommitOptions,
  ): Promise<CommitAnswer>;
  /** Cancels the session. `as` supplies the token instead of the sign-in session. This method is present if `cancelPath` is set. */
  cancel?(session: Session, signal: AbortSignal, as?: WithToken): Promise<void>;
}

/** Sends the bytes of one chunk to its presigned URL, without token and cookies. Resolves when the bytes are stored. */
export type Put = (
  upload: TicketUpload,
  body: Blob,
  options: {
    readonly signal: AbortSignal;
    readonly onProgress?: (sentBytes: number) => void;
    /** True if the browser may be unable to send the body. A failure then says nothing about the storage. */
    readonly isUnsure?: boolean;
    /** Time without progress after which the PUT rejects with `upload-stalled`, in milliseconds; longer if `host` knows why. */
    readonly stallMs?: number;
    /** What is known of the origin of the URL. It learns from the PUT. */
    readonly host?: Host;
    /** Returns a signal that aborts when open connections may be dead. A PUT that does not move then rejects with `network`. */
    readonly connectionChange?: () => AbortSignal;
  },
) => Promise<void>;

/** Runs a call with a valid token (`undefined` in mode `none`). Waits for sign-in, and renews the token once on 401. */
export type WithToken = <T>(
  call: (token: string | undefined) => Promise<T>,
  signal: AbortSignal,
) => Promise<T>;

/**
 * Hashes the bytes of a slice, off the main thread. With `keepBytes`, also resolves with the bytes, as `body`. `onSilent` is called
 * with true if no bytes have arrived for about ten seconds, and then with false when bytes arrive or the slice has ended.
 */
export type HashSlice = (
  slice: Blob,
  options: {
    readonly keepBytes: boolean;
    readonly signal: AbortSignal;
    readonly onSilent?: (isSilent: boolean) => void;
  },
) => Promise<{ readonly hash: string; readonly body?: Blob }>;

/**
 * Continues the SHA-256 of a file with its next slice, off the main thread. `state` is the state after the bytes before; empty at
 * the start. Resolves with the new state, with the hash of the file until the end of the slice, and with the hash of the slice.
 */
export type ContinueHash = (
  slice: Blob,
  state: Uint8Array,
  signal: AbortSignal,
) => Promise<{ readonly hash: string; readonly state: Uint8Array; readonly sliceHash: string }>;

/** A saved upload. */
export interface UploadRecord {
  /** Key composed of service, client, owner, folder, path and the identity of the file. */
  readonly key: string;
  readonly name: string;
  /** Size of the file that is uploaded instead (`transformFile`, photos); absent for the file itself. */
  readonly bodyBytes?: number | undefined;
  /** Name on the service, if it differs from the file's own name. */
  readonly newName?: string | undefined;
  readonly relativePath: string;
  readonly sizeBytes: number;
  readonly lastModifiedMs: number;
  readonly type: string;
  readonly parentId: string;
  /** Hash of the first bytes of the file. */
  readonly firstSliceHash: string;
  readonly chunkSizeBytes: number;
  /**
   * Larger chunks are not tried, because the storage has rejected them. If it is smaller than `chunkSizeBytes`, the session has to
   * be canceled before one with smaller chunks is opened.
   */
  readonly largestChunkBytes?: number | undefined;
  readonly hashAlgorithm: HashAlgorithm;
  /** Session on the service; absent if the file was saved before the session was opened. */
  readonly session?: Session | undefined;
  /** Time when the record was created, epoch milliseconds. */
  readonly createdAtMs: number;
  readonly handle?: FileSystemFileHandle;
  readonly metadata?: Metadata | undefined;
  /** Content of the file, if `keep-files` saves it. */
  readonly file?: File | undefined;
  /**
   * Time when the service accepted the commit (202), epoch milliseconds. All chunks are then stored, so the file is no longer
   * needed.
   */
  readonly acceptedAtMs?: number | undefined;
  /** Time when a commit was sent whose response has not arrived, epoch milliseconds. The file may be complete on the service. */
  readonly commitSentAtMs?: number | undefined;
  /** SHA-256 of the whole file, as hex. Saved only with `acceptedAtMs` or `commitSentAtMs`. */
  readonly fileHash?: string | undefined;
  /** `keep-days` of the page that saved the upload, in milliseconds. */
  readonly keepMs?: number | undefined;
  /** True if the user paused the upload. It then does not continue by itself in another tab or after a reload. */
  readonly isPaused?: true | undefined;
  /** True if the user canceled or removed the upload, and could still undo it. */
  readonly isWithdrawn?: true | undefined;
  /** Stored chunks, by index. */
  readonly stored: ReadonlyMap<number, { readonly hash: string; readonly receipt: string }>;
}

/** What is saved of a session. */
export type SavedSession = Pick<
  UploadRecord,
  'session' | 'chunkSizeBytes' | 'largestChunkBytes' | 'acceptedAtMs' | 'commitSentAtMs'
>;

export type HashAlgorithm = 'sha-256' | 'blake3';

/** Frozen state of one file of the list. */
export type FileSnapshot = FileFacts & FilePhase;

/** A file at the time when it is added to the list. */
export interface AddedFile {
  readonly id: FileId;
  readonly name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  /** Media type from the browser, often empty. */
  readonly type: string;
  /** Id of the destination folder. */
  readonly parentId: string;
}

export interface ProgressNumbers {
  readonly hashedBytes: number;
  /** Sum of stored bytes and bytes in flight. Never decreases. */
  readonly sentBytes: number;
  /** Number of bytes of stored chunks. */
  readonly storedBytes: number;
  /** Number of stored bytes that did not have to be sent. */
  readonly skippedBytes: number;
  /** Smoothed rate; absent until the rate is measured. */
  readonly bytesPerSecond?: number;
  /** Time left in milliseconds; absent until the rate is measured. */
  readonly remainingMs?: number;
}

/** Fields of a file that exist in every phase. */
export type FileFacts = AddedFile &
  ProgressNumbers & {
    /** Reason why the upload cannot be resumed, or why the user must pick the file again. */
    readonly warning?: ErrorCode;
  };

/** The next attempt after a failed request. Present until a request succeeds; `retryAtMs` is in the past while the attempt runs. */
export interface NextAttempt {
  /** Time of the next attempt, epoch milliseconds. */
  readonly retryAtMs: number;
  /** Why the latest attempt failed. */
  readonly lastError: ErrorSnapshot;
}

/** The same fields, for phases without an attempt. */
type NoAttempt = { readonly [K in keyof NextAttempt]?: undefined };

/** Phase of a file, with the fields that exist only in this phase. */
export type FilePhase =
  | ({
      readonly phase: 'queued' | 'hashing' | 'uploading' | 'committing';
      readonly pauseReason?: undefined;
      readonly error?: undefined;
    } & Partial<NextAttempt>)
  | ({
      readonly phase: 'paused';
      readonly pauseReason: PauseReason;
      readonly error?: undefined;
    } & NoAttempt)
  | ({
      readonly phase: 'failed';
      readonly error: ErrorSnapshot;
      readonly pauseReason?: undefined;
    } & NoAttempt)
  | ({
      readonly phase: 'done' | 'canceled';
      readonly pauseReason?: undefined;
      readonly error?: undefined;
    } & NoAttempt);

/** Parts of an error that are exposed to the page: no message, URL or body. */
export interface ErrorSnapshot {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly status?: number;
}

/** A file that was rejected and is not in the list. */
export interface Rejection {
  readonly id: string;
  readonly name: string;
  readonly relativePath: string;
  /** 0 if the file could not be read. */
  readonly sizeBytes: number;
  readonly code: ErrorCode;
  /** The limit that the file exceeds: bytes, a count, or the accepted types. */
  readonly limit?: number | string;
}

/** Sums over all files. */
export interface Totals {
  readonly fileCount: number;
  readonly doneCount: number;
  readonly failedCount: number;
  /** Number of files that are not done, failed or canceled. */
  readonly openCount: number;
  readonly sizeBytes: number;
  readonly sentBytes: number;
  readonly storedBytes: number;
  readonly bytesPerSecond?: number;
  readonly remainingMs?: number;
}

/** The state of sign-in for views. Contains no token, code or email address. */
export interface AuthSnapshot {
  readonly state: AuthState;
  readonly mode: AuthMode;
  readonly error?: ErrorSnapshot & { readonly retryAfterMs?: number };
  /** Time when sign-in is retried automatically, epoch milliseconds. Present if the error has a delay. */
  readonly retryAtMs?: number;
  /** True while uploads wait for the user to sign in. */
  readonly required: boolean;
}

export type AuthMode = 'auto' | 'token' | 'popup' | 'redirect' | 'local' | 'none';

export type AuthState =
  | 'signed-out'
  | 'asking-host'
  | 'silent'
  | 'silent-early'
  | 'prompt'
  | 'popup'
  | 'popup-lost'
  | 'redirecting'
  | 'login'
  | 'choose'
  | 'start'
  | 'answer'
  | 'verify'
  | 'wait'
  | 'exchange'
  | 'signed-in'
  | 'cooling';

/** Frozen state for views. Replaced by a new object after each visible change. */
export interface Snapshot {
  readonly files: readonly FileSnapshot[];
  readonly rejections: readonly Rejection[];
  readonly totals: Totals;
  readonly auth: AuthSnapshot;
}
