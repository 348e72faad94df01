// The vocabulary of the whole project: what a picked file, a chunk, a ticket and a session are.
// It knows nothing of the wire, of storage or of the screen.

import type { ErrorCode } from './errors.ts';
import type { PauseReason } from './phases.ts';

/** Names one picked file for as long as the page lives. Random, never derived from the content. */
export type FileId = string;

/** A file as it was picked, dropped or pasted, before any check. */
export interface PickedFile {
  readonly file: File;
  /** Folder and name as picked, `/` between the parts; just the name for a single file. */
  readonly relativePath: string;
  /** Kept so that a later visit can go on without picking again (Chromium only). */
  readonly handle?: FileSystemFileHandle;
}

/**
 * A planned part of a file. Stages fill its blanks from top to bottom and pass it on: `hash` fills `hash` (and `body`,
 * where memory allows), `presign` fills `ticket`, `upload` fills `receipt`.
 */
export interface Chunk {
  readonly index: number;
  /** Offset in the file, in bytes. */
  readonly start: number;
  readonly sizeBytes: number;
  /** What an earlier run recorded as stored. Believed only when the bytes still have this hash. */
  readonly recorded?: { readonly hash: string; readonly receipt: string };
  /** The content's name; lower-case hex unless the profile says otherwise. */
  readonly hash?: string;
  /** The very bytes that were hashed, while the page's memory budget allows. */
  readonly body?: Blob;
  readonly ticket?: Ticket;
  /** Present once the chunk is stored: its PUT was answered 2xx, or the service said that it has it. */
  readonly receipt?: string;
  /** True where no byte had to be sent: the service, or an equal chunk of this file, had it. */
  readonly skipped?: boolean;
}

export type HashedChunk = Chunk & { readonly hash: string };
export type TicketedChunk = HashedChunk & ({ readonly ticket: Ticket } | { readonly receipt: string });
export type StoredChunk = HashedChunk & { readonly receipt: string };

/** What presigning gives for one chunk: a receipt and, unless the service has the bytes already, where to put them. */
export interface Ticket {
  readonly receipt: string;
  readonly upload?: TicketUpload;
  /** How many chunks had been stored here when it was asked for: of later ones it cannot know. */
  readonly askedAfter?: number;
}

export interface TicketUpload {
  readonly url: string;
  readonly method: 'PUT' | 'POST';
  /** Headers that the service asks for beside the bytes, already checked against the list of forbidden ones. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the URL expires, by `performance.now()`, where the URL or the entry says so. */
  readonly expiresAtMs?: number;
  /** When the ticket was received, by `performance.now()`. */
  readonly receivedAtMs?: number;
}

/** An upload session that the service opened for one file. */
export interface Session {
  readonly sessionId: string;
  /** The value of the `x-service-uploadsession` header of all later calls. Secret: it never leaves engine and store. */
  readonly header: string;
}

/** What the service said when the upload was committed. */
export interface CommitAnswer {
  /** Hashes that the service says it lacks (409); empty when the commit is done. */
  readonly missing: readonly string[];
  /** The answer's JSON on success, as the service sent it. */
  readonly body?: unknown;
}

/** The upload operations, each already signed in, read and checked; they reject with `UploaderError` only. */
export interface Calls {
  /** Opens a session in a folder. `fileSize` in bytes. (`POST /files/uploadsession`) */
  openSession(
    input: { readonly parentId: string; readonly fileName: string; readonly fileSize: number },
    signal: AbortSignal,
  ): Promise<Session>;
  /** Tickets by hash, for exactly the hashes asked. (`POST /files/uploadsession/chunks`) */
  presign(
    session: Session,
    chunks: readonly { readonly hash: string; readonly sizeBytes: number }[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Ticket>>;
  /** Present where a commit path is set. Hashes and receipts in chunk order. */
  commit?(
    session: Session,
    proof: { readonly hashes: readonly string[]; readonly receipts: readonly string[] },
    signal: AbortSignal,
  ): Promise<CommitAnswer>;
  /** Present where a cancel path is set: tells the service to drop the session. `as` replaces the token of the sign-in session. */
  cancel?(session: Session, signal: AbortSignal, as?: WithToken): Promise<void>;
}

/** Sends one chunk's bytes to its presigned URL, with nothing else; resolves on a 2xx answer. */
export type Put = (
  upload: TicketUpload,
  body: Blob,
  options: {
    readonly signal: AbortSignal;
    readonly onProgress?: (sentBytes: number) => void;
    readonly stallMs?: number;
    /** Called after a PUT over HTTP/2 or later, where the storage lets the page know. */
    readonly onMultiplexed?: () => void;
  },
) => Promise<void>;

/** Runs a privileged call with a valid token (none in mode `none`), waiting for sign-in and renewing on 401. */
export type WithToken = <T>(
  call: (token: string | undefined) => Promise<T>,
  signal: AbortSignal,
) => Promise<T>;

/** Hashes the bytes of a slice away from the page's thread. With `keepBytes` the bytes come back as a Blob in memory. */
export type HashSlice = (
  slice: Blob,
  options: { readonly keepBytes: boolean; readonly signal: AbortSignal },
) => Promise<{ readonly hash: string; readonly body?: Blob }>;

/** A saved upload, as the store keeps it. The chunk states are kept apart and merged when it is read. */
export interface UploadRecord {
  /** Names the upload: service, client, folder, path, identity of the file, owner. */
  readonly key: string;
  readonly name: string;
  /** What its session calls it, where somebody gave it another name. */
  readonly newName?: string | undefined;
  readonly relativePath: string;
  readonly sizeBytes: number;
  readonly lastModifiedMs: number;
  readonly type: string;
  readonly parentId: string;
  /** Hash of the file's first slice, part of its identity. */
  readonly firstSliceHash: string;
  readonly chunkSizeBytes: number;
  readonly hashAlgorithm: HashAlgorithm;
  /** Absent until it is opened, where the file itself is saved. */
  readonly session?: Session | undefined;
  /** Epoch milliseconds. */
  readonly createdAtMs: number;
  readonly handle?: FileSystemFileHandle;
  /** The file itself, where `keep-files` saves it. */
  readonly file?: File | undefined;
  /** The user paused the upload; saved with the file only. */
  readonly isPaused?: true | undefined;
  /** What is known to be stored, by chunk index. */
  readonly stored: ReadonlyMap<number, { readonly hash: string; readonly receipt: string }>;
}

export type HashAlgorithm = 'sha-256' | 'blake3';

/** One file of the list, frozen: its place, its numbers, and what `phase` brings with it. Byte counts are of this file. */
export type FileSnapshot = FileFacts & FilePhase;

export interface FileFacts {
  readonly id: FileId;
  readonly name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  /** The media type that the browser told, often empty. */
  readonly type: string;
  readonly parentId: string;
  readonly hashedBytes: number;
  /** Stored bytes plus those in flight; never goes back. */
  readonly sentBytes: number;
  /** Bytes of chunks whose PUT was answered 2xx, or that the service had. */
  readonly storedBytes: number;
  /** Of the stored bytes, those that had not to be sent. */
  readonly skippedBytes: number;
  /** Smoothed, bytes a second; absent until known. */
  readonly bytesPerSecond?: number;
  readonly remainingMs?: number;
  /** The upload goes on, but without being resumable. */
  readonly warning?: ErrorCode;
}

/** The phase of a file, with what is known in that phase only. */
export type FilePhase =
  | {
      readonly phase: 'queued' | 'hashing' | 'uploading' | 'committing';
      /** When the next try starts, epoch milliseconds, while waiting to retry. */
      readonly retryAt?: number;
      readonly pauseReason?: undefined;
      readonly error?: undefined;
    }
  | {
      readonly phase: 'paused';
      readonly pauseReason: PauseReason;
      readonly retryAt?: undefined;
      readonly error?: undefined;
    }
  | {
      readonly phase: 'failed';
      readonly error: ErrorSnapshot;
      readonly retryAt?: undefined;
      readonly pauseReason?: undefined;
    }
  | {
      readonly phase: 'done' | 'canceled';
      readonly retryAt?: undefined;
      readonly pauseReason?: undefined;
      readonly error?: undefined;
    };

/** An error as the page may see it: no body, no URL, no secret. */
export interface ErrorSnapshot {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly status?: number;
}

/** A file that was refused and is not in the list. */
export interface Rejection {
  readonly id: string;
  readonly name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  readonly code: ErrorCode;
  /** The limit that was passed: bytes, a count, or the accepted types. */
  readonly limit?: number | string;
}

/** Sums over all files. */
export interface Totals {
  readonly fileCount: number;
  readonly doneCount: number;
  readonly failedCount: number;
  /** Files in a phase that will go on by itself, or is waiting for the user. */
  readonly openCount: number;
  readonly sizeBytes: number;
  readonly sentBytes: number;
  readonly storedBytes: number;
  readonly bytesPerSecond?: number;
  readonly remainingMs?: number;
}

/** Where sign-in stands, as far as a view needs to know. Never a token, a code or an e-mail. */
export interface AuthSnapshot {
  readonly state: AuthState;
  readonly mode: AuthMode;
  readonly error?: ErrorSnapshot & { readonly retryAfterMs?: number };
  /** When it goes on by itself, epoch milliseconds, where the error tells how long it waits. */
  readonly retryAtMs?: number;
  /** True while work is waiting for the person to sign in. */
  readonly required: boolean;
}

export type AuthMode = 'auto' | 'token' | 'popup' | 'redirect' | 'local' | 'none';

export type AuthState =
  | 'signed-out'
  | 'asking-host'
  | 'silent'
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

/** All that a view needs, frozen. A new object for each change that can be seen. */
export interface Snapshot {
  readonly files: readonly FileSnapshot[];
  readonly rejections: readonly Rejection[];
  readonly totals: Totals;
  readonly auth: AuthSnapshot;
}
