// Every change that the engine reports. The snapshot store turns changes into snapshots, and the element dispatches each as an
// event with the same name and detail.

import type { ErrorCode } from './errors.ts';
import type { PauseReason, Phase } from './phases.ts';
import type { AddedFile, AuthState, ErrorSnapshot, FileId, ProgressNumbers, Rejection } from './types.ts';

/** Details of the changes, by name. They contain nothing secret. */
export interface ChangeMap {
  'file-added': AddedFile;
  'file-rejected': Rejection;
  /** Ids of the rejections that were removed. */
  'rejections-dismissed': { readonly ids: readonly string[] };
  'file-removed': { readonly id: FileId; readonly name: string };
  /** The file was moved before `beforeId`, or to the end if that is absent. */
  'file-moved': { readonly id: FileId; readonly beforeId?: FileId };
  /** `name` is the new name on the service. */
  'file-renamed': { readonly id: FileId; readonly name: string };
  /** `resumedBytes` were stored by an earlier run. */
  'upload-started': { readonly id: FileId; readonly chunkCount: number; readonly resumedBytes: number };
  'upload-progress': ProgressDetail;
  'upload-paused': { readonly id: FileId; readonly reason: PauseReason };
  /** `phase` is the phase after the pause. */
  'upload-resumed': { readonly id: FileId; readonly phase: Phase };
  'upload-completed': CompletedDetail;
  'upload-failed': ErrorSnapshot & { readonly id: FileId; readonly name: string };
  'upload-canceled': { readonly id: FileId; readonly name: string };
  /** No upload is running or will start without the user. */
  'uploads-finished': {
    readonly doneCount: number;
    readonly failedCount: number;
    readonly canceledCount: number;
    /** Uploads that wait until the user picks their file again (`needs-file`). */
    readonly waitingCount: number;
  };
  'chunk-hashed': {
    readonly id: FileId;
    readonly index: number;
    readonly hash: string;
    readonly sizeBytes: number;
  };
  'chunk-uploaded': {
    readonly id: FileId;
    readonly index: number;
    readonly hash: string;
    readonly receipt: string;
    readonly sizeBytes: number;
    /** True if the bytes did not have to be sent. */
    readonly skipped: boolean;
  };
  'auth-changed': { readonly state: AuthState; readonly previous: AuthState };
  /** A token is needed. Call `respondWith` synchronously in the listener, with the token or a promise for it. */
  'auth-required': {
    readonly reason: 'first' | 'expired' | 'rejected';
    readonly respondWith: (token: Promise<TokenInput> | TokenInput) => void;
  };
  'auth-challenged': { readonly methods: readonly string[] };
  'auth-failed': ErrorSnapshot & { readonly retryAfterMs?: number };
  'signed-in': { readonly expiresAt?: string };
  'signed-out': { readonly reason: 'user' | 'expired' | 'other-tab' };
}

/** A bearer token, or the token with its expiry (ISO 8601, epoch seconds, or epoch milliseconds). */
export type TokenInput = string | { readonly token: string; readonly expires_at?: string | number };

export type ProgressDetail = {
  readonly id: FileId;
  readonly phase: Phase;
  readonly sizeBytes: number;
} & ProgressNumbers & {
    /** When the next attempt starts, epoch milliseconds; present while waiting for it. */
    readonly retryAt?: number;
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
  /** Absent if the session header is the session id, because the id is then secret. */
  readonly sessionId?: string;
  /** The JSON of the response to the commit; present if `commitPath` is set. */
  readonly commit?: unknown;
}

export type ChangeName = keyof ChangeMap;

/** One change: a name and its detail. */
export type Change = { [K in ChangeName]: { readonly name: K; readonly detail: ChangeMap[K] } }[ChangeName];

export type Report = (change: Change) => void;

/** A file before it is added; the parameter of `mayAdd`. */
export type Candidate = Omit<AddedFile, 'id' | 'parentId'>;
