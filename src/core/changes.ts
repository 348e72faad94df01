// A change is an event that has not been dispatched yet: same name, same detail. Stages and engine report changes; one
// reducer turns them into the next snapshot; the element dispatches them as they are.

import type { ErrorCode } from './errors.ts';
import type { PauseReason, Phase } from './phases.ts';
import type { AuthState, ErrorSnapshot, FileId, Rejection } from './types.ts';

/** Every change by name, with the detail that its event carries. Nothing secret is ever in a detail. */
export interface ChangeMap {
  'file-added': {
    readonly id: FileId;
    readonly name: string;
    readonly relativePath: string;
    readonly sizeBytes: number;
    readonly type: string;
    readonly parentId: string;
  };
  'file-rejected': Rejection;
  /** The refusals were dismissed; `ids` are theirs. */
  'rejections-dismissed': { readonly ids: readonly string[] };
  'file-removed': { readonly id: FileId; readonly name: string };
  /** The file stands before another one now, or at the end. */
  'file-moved': { readonly id: FileId; readonly beforeId?: FileId };
  /** The folder has a file of its name; it goes by this one. */
  'file-renamed': { readonly id: FileId; readonly name: string };
  /** `resumedBytes` were stored by an earlier visit. */
  'upload-started': { readonly id: FileId; readonly chunkCount: number; readonly resumedBytes: number };
  'upload-progress': ProgressDetail;
  'upload-paused': { readonly id: FileId; readonly reason: PauseReason };
  /** The file goes on; `phase` is where. */
  'upload-resumed': { readonly id: FileId; readonly phase: Phase };
  'upload-completed': CompletedDetail;
  'upload-failed': ErrorSnapshot & { readonly id: FileId; readonly name: string };
  'upload-canceled': { readonly id: FileId; readonly name: string };
  /** Nothing is left that will go on by itself. */
  'uploads-finished': {
    readonly doneCount: number;
    readonly failedCount: number;
    readonly canceledCount: number;
    /** Files that wait until a person chooses them again (`needs-file`). */
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
    /** True where no byte had to be sent. */
    readonly skipped: boolean;
  };
  'auth-changed': { readonly state: AuthState; readonly previous: AuthState };
  /** A token is needed. `respondWith` takes a promise of one, if called while the event is dispatched. */
  'auth-required': {
    readonly reason: 'first' | 'expired' | 'rejected';
    readonly respondWith: (token: Promise<TokenInput> | TokenInput) => void;
  };
  'auth-challenged': { readonly methods: readonly string[] };
  'auth-failed': ErrorSnapshot & { readonly retryAfterMs?: number };
  'signed-in': { readonly expiresAt?: string };
  'signed-out': { readonly reason: 'user' | 'expired' | 'other-tab' };
}

/** A token as a page hands it over: the bearer itself, or with its expiry (ISO 8601, or epoch seconds or milliseconds). */
export type TokenInput = string | { readonly token: string; readonly expires_at?: string | number };

export interface ProgressDetail {
  readonly id: FileId;
  readonly phase: Phase;
  readonly sizeBytes: number;
  readonly hashedBytes: number;
  readonly sentBytes: number;
  readonly storedBytes: number;
  readonly skippedBytes: number;
  readonly bytesPerSecond?: number;
  readonly remainingMs?: number;
  readonly retryAt?: number;
  readonly warning?: ErrorCode;
}

export interface CompletedDetail {
  readonly id: FileId;
  readonly name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  readonly chunks: readonly { readonly index: number; readonly hash: string; readonly receipt: string }[];
  readonly sentBytes: number;
  readonly skippedBytes: number;
  readonly durationMs: number;
  /** Only where the id is not itself what goes in the session header. */
  readonly sessionId?: string;
  /** What the commit answered, where a commit path is set. */
  readonly commit?: unknown;
}

export type ChangeName = keyof ChangeMap;

/** One change: a name and its detail. */
export type Change = { [K in ChangeName]: { readonly name: K; readonly detail: ChangeMap[K] } }[ChangeName];

/** Whoever hears of changes. */
export type Report = (change: Change) => void;

/** A file before it is taken, as a page is asked about it. */
export type Candidate = Pick<ChangeMap['file-added'], 'name' | 'relativePath' | 'sizeBytes' | 'type'>;
