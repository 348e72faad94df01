// The changes that the engine reports. The element dispatches each change as an event with the same name and detail.

import type { ErrorCode } from './errors.ts';
import type { PauseReason, Phase } from './phases.ts';
import type {
  AddedFile,
  AuthState,
  ErrorSnapshot,
  FileId,
  NextAttempt,
  ProgressNumbers,
  Rejection,
} from './types.ts';

/** Details of the changes, by name. Details contain no secrets. The reference uses these comments as descriptions of the events. */
export interface ChangeMap {
  /** A file was added to the list. */
  'file-added': AddedFile;
  /** A file was rejected for the reason `code`. */
  'file-rejected': Rejection;
  /** Rejections were dismissed. */
  'rejections-dismissed': {
    /** Ids of the rejections that were removed. */
    readonly ids: readonly string[];
  };
  /** A file was removed from the list. */
  'file-removed': { readonly id: FileId; readonly name: string };
  /** A file was moved in the list, before `beforeId` or to the end. */
  'file-moved': { readonly id: FileId; readonly beforeId?: FileId };
  /** A file was renamed, because the folder has a file with its name, or because another file was made of it. */
  'file-renamed': {
    readonly id: FileId;
    /** The new name on the service. */
    readonly name: string;
  };
  /** An upload started; it may wait for sign-in. */
  'upload-started': {
    readonly id: FileId;
    readonly chunkCount: number;
    /** Bytes that an earlier run stored. */
    readonly resumedBytes: number;
  };
  /** An upload progressed; at most ten times per second for each file. */
  'upload-progress': ProgressDetail;
  /** An upload was paused for the given `reason`. */
  'upload-paused': { readonly id: FileId; readonly reason: PauseReason };
  /** An upload was resumed. */
  'upload-resumed': {
    readonly id: FileId;
    /** The phase after the pause. */
    readonly phase: Phase;
  };
  /** All chunks are stored and committed. The detail has their hashes and receipts, and the service's response (`commit`). */
  'upload-completed': CompletedDetail;
  /** An upload failed for the reason `code`. `retryable` is true if a retry may help. */
  'upload-failed': ErrorSnapshot & { readonly id: FileId; readonly name: string };
  /** An upload was canceled and its saved progress deleted. */
  'upload-canceled': { readonly id: FileId; readonly name: string };
  /**
   * An upload ended or needs its file, and no upload is running or will resume automatically. A pause alone doesn't dispatch this
   * event. `waitingCount` is the number of files that wait for the user: paused, not started (`manual`), or without their file
   * (`needs-file`). When one of these ends, the event is dispatched again.
   */
  'uploads-finished': {
    readonly doneCount: number;
    readonly failedCount: number;
    readonly canceledCount: number;
    /** Number of files that are paused, not started, or without their file. With the other counts: all files of the list. */
    readonly waitingCount: number;
  };
  /** A chunk was hashed. Only with `chunk-events`. */
  'chunk-hashed': {
    readonly id: FileId;
    readonly index: number;
    readonly hash: string;
    readonly sizeBytes: number;
  };
  /** A chunk was stored. Only with `chunk-events`. */
  'chunk-uploaded': {
    readonly id: FileId;
    readonly index: number;
    readonly hash: string;
    readonly receipt: string;
    readonly sizeBytes: number;
    /** True if the bytes did not have to be sent. */
    readonly skipped: boolean;
  };
  /** A token is needed. Supply it with `respondWith(promise)`. Dispatched again if that promise rejects. */
  'auth-required': {
    readonly reason: 'first' | 'expired' | 'rejected';
    /** Supplies the token, or a promise for the token. Call this function synchronously in the listener. */
    readonly respondWith: (token: Promise<TokenInput> | TokenInput) => void;
  };
  /** The service asks for a second factor. */
  'auth-challenged': { readonly methods: readonly string[] };
  /** The state of sign-in changed. */
  'auth-changed': { readonly state: AuthState; readonly previous: AuthState };
  /** Sign-in failed for the reason `code`. */
  'auth-failed': ErrorSnapshot & { readonly retryAfterMs?: number };
  /** The user is signed in. */
  'signed-in': { readonly expiresAt?: string };
  /** The user is signed out; the token was dropped. */
  'signed-out': { readonly reason: 'user' | 'expired' | 'other-tab' };
}

/**
 * A bearer token, or the token with its expiry: `expires_at` (ISO 8601, epoch seconds, or epoch milliseconds) or `expires_in`
 * (seconds). `access_token` is the name in responses of OAuth.
 */
export type TokenInput =
  | string
  | (({ readonly token: string } | { readonly access_token: string }) & {
      readonly expires_at?: string | number;
      readonly expires_in?: string | number;
    });

export type ProgressDetail = {
  readonly id: FileId;
  readonly phase: Phase;
  readonly sizeBytes: number;
} & ProgressNumbers &
  Partial<NextAttempt> & {
    readonly warning?: ErrorCode;
  };

export interface CompletedDetail {
  readonly id: FileId;
  readonly name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  readonly chunks: readonly { readonly index: number; readonly hash: string; readonly receipt: string }[];
  readonly sentBytes: number;
  readonly skippedBytes: number;
  /** Time since the first run on this page started. */
  readonly durationMs: number;
  /** Absent if the secret session header may follow from the session id. */
  readonly sessionId?: string;
  /** SHA-256 of the whole file, as hex; present with `profile.sendFileHash`. */
  readonly fileHash?: string;
  /**
   * The JSON of the response to the commit, as it is: also the session id, if the service repeats it there. Present if `commitPath`
   * is set.
   */
  readonly commit?: unknown;
}

export type ChangeName = keyof ChangeMap;

/** One change: a name and its detail. */
export type Change = { [K in ChangeName]: { readonly name: K; readonly detail: ChangeMap[K] } }[ChangeName];

export type Report = (change: Change) => void;

/** A file that is not in the list yet; the parameter of `mayAdd`. */
export type Candidate = Omit<AddedFile, 'id' | 'parentId'>;
