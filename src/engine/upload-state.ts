// The types of the upload table: states, events and effects.

import type { ChangeMap, CompletedDetail } from '../core/changes.ts';
import type { Late } from '../core/machine.ts';
import type { PauseReason, Phase } from '../core/phases.ts';
import type { ErrorSnapshot, NextAttempt } from '../core/types.ts';
import type { RunResult } from '../pipeline/run.ts';

const RUN_PHASES = ['opening', 'transforming', 'hashing', 'uploading', 'committing', 'accepted'] as const;

/**
 * Steps of a run. `opening`: the run identifies the file and looks up its record; the public phase is still `queued`.
 * `transforming`: first, another file is made of the file (`transformFile`, photos); the public phase is `hashing`. `accepted`: the
 * service responded to the commit with 202, and the run repeats the commit; the public phase is `committing`.
 */
export type RunPhase = (typeof RUN_PHASES)[number];

/** Reason why a run is paused without a command of the user. The run resumes automatically. */
export type WaitReason = Exclude<PauseReason, 'user' | 'resuming' | 'needs-file'>;

/** Reasons why a run waits. Several reasons can apply at once. */
export type Blockers = Readonly<Partial<Record<'tab' | 'network' | 'signIn' | 'file', WaitReason>>>;

export type UploadState =
  /** A `held` upload waits for `start()`. A `queued` upload waits for a free slot. */
  | { readonly phase: 'held' | 'queued' }
  /** `attempt`: the next attempt of a request that failed, until a request succeeds. */
  | { readonly phase: RunPhase; readonly attempt?: NextAttempt | undefined }
  /** The run still exists and waits for its blockers. */
  | {
      readonly phase: 'paused';
      readonly reason: WaitReason;
      readonly resumesTo: RunPhase;
      readonly blockers: Blockers;
    }
  /**
   * There is no run. `suspended` means that `suspend()` was called; pages see the reason `user`. `other-tab`: another tab runs the
   * saved upload.
   */
  | {
      readonly phase: 'paused';
      readonly reason: 'user' | 'suspended' | 'resuming' | 'needs-file' | 'other-tab';
      readonly resumesTo: 'queued';
    }
  | { readonly phase: 'failed'; readonly error: ErrorSnapshot }
  /** The record is being deleted, and the session is being canceled. An event during this time changes only `next`. */
  | { readonly phase: 'canceling'; readonly next: UploadState }
  /**
   * The user canceled or removed the upload, and can still undo the command. There is no run, and nothing is deleted. `before`: the
   * state after `undo`; `next`: the state after `complete`.
   */
  | { readonly phase: 'withdrawn'; readonly before: UploadState; readonly next: 'canceled' | 'removed' }
  | { readonly phase: 'canceled' | 'done' | 'removed' };

export interface UploadModel {
  readonly state: UploadState;
  /** Number that increases when a run starts or ends. Outcomes with a lower number are dropped. */
  readonly generation: number;
  /**
   * True if the page has the file, or if the file is no longer needed because the service has accepted the commit. Updated before
   * each event.
   */
  readonly hasFile: boolean;
}

/** Outcomes of a run or of `forget`. Outcomes of an earlier generation are dropped. */
export type UploadOutcome = Readonly<
  /**
   * The record was looked up. `signIn` is the reason why calls have to wait for sign-in; `undefined` if they do not have to wait.
   */
  | {
      type: 'opened';
      chunkCount: number;
      resumedBytes: number;
      signIn: WaitReason | undefined;
    }
  | { type: 'transform-started' | 'put-started' | 'commit-started' | 'commit-accepted' | 'forgotten' }
  | { type: 'retry-scheduled'; attempt: NextAttempt; nowMs: number }
  /** A request succeeded, or its bytes are being sent. */
  | { type: 'retry-ended' }
  | { type: 'offline' | 'online' | 'lock-taken' | 'lock-acquired' }
  /** The bytes of the file do not arrive; they arrive again. */
  | { type: 'file-silent' | 'file-answers' }
  | { type: 'succeeded'; result: RunResult }
  | { type: 'run-failed'; error: ErrorSnapshot }
  | { type: 'file-lost'; error: ErrorSnapshot }
>;

/** Events from the user, the page, the scheduler, sign-in and other tabs. */
export type UploadCommand = Readonly<
  | { type: 'start' | 'pause' | 'resume' | 'suspend' | 'restore' | 'cancel' | 'remove' | 'clear' }
  /** `withdraw`: cancel or remove that can be undone. */
  | { type: 'withdraw'; next: 'canceled' | 'removed' }
  | { type: 'undo' | 'complete' }
  /** `isNamed`: the caller gave the id of this upload. Without the id, a canceled upload is not retried. */
  | { type: 'retry'; isNamed: boolean; newName?: string | undefined }
  /** `leave`: the owner changed. `abandon`: the user signed out. `replace`: a new upload replaces this one. */
  | { type: 'begin' | 'leave' | 'abandon' | 'replace' | 'close' }
  /** `file-wanted`: looks for the file before the user has to choose it. `tab-found`: another tab runs the saved upload. */
  | { type: 'file-wanted' | 'file-missing' | 'file-provided' | 'tab-found' }
  | { type: 'sign-in'; reason: WaitReason | undefined }
  /** The upload has another connection. It has used the one before for no call. */
  | { type: 'reconnect' }
  | { type: 'done-elsewhere'; detail: CompletedDetail }
>;

/** Commands of buttons that can be undone. */
export type UndoCommand = Extract<UploadCommand, { readonly type: 'withdraw' | 'undo' | 'complete' }>;

export type RetryCommand = Extract<UploadCommand, { readonly type: 'retry' }>;

export type UploadEvent = UploadCommand | Late<UploadOutcome>;
export type UploadEventType = UploadEvent['type'];

/** Changes that `report` effects contain. The upload adds its id, and also its name if the event has a name. */
type ReportedChange =
  | 'upload-started'
  | 'upload-paused'
  | 'upload-resumed'
  | 'upload-failed'
  | 'upload-canceled'
  | 'file-removed';

export type UploadEffect = Readonly<
  | { type: 'run' }
  /** Deletes the record and cancels the session on the service, then sends the outcome `forgotten`. */
  | { type: 'forget' }
  /** `release` releases the lock when the run has stopped. `yield` also lets another upload on this page take over the record. */
  | { type: 'release' | 'yield' }
  /** Works like `release`, and also stops using the record. */
  | { type: 'leave' }
  /**
   * Stores in the record whether the user has paused the upload, so that other tabs and the next visit do not continue it.
   */
  | { type: 'note-paused'; isPaused: boolean }
  /** Stores in the record whether the upload is withdrawn. Such a record is deleted at the next visit. */
  | { type: 'note-withdrawn'; isWithdrawn: boolean }
  | { type: 'rename'; name: string }
  | { type: 'drop-file'; error: ErrorSnapshot }
  /** Both report `upload-progress`. `flush-progress` does so only if there is unreported progress. */
  | { type: 'flush-progress' | 'report-progress'; phase: Phase }
  | {
      [K in ReportedChange]: { type: 'report'; name: K; detail: Omit<ChangeMap[K], 'id' | 'name'> };
    }[ReportedChange]
  | { type: 'report-completed'; result: RunResult }
  | { type: 'report-completed-elsewhere'; detail: CompletedDetail }
>;

export type Running = Extract<UploadState, { readonly phase: RunPhase }>;
export type Blocked = Extract<UploadState, { readonly blockers: Blockers }>;
type Stopped = Extract<UploadState, { readonly resumesTo: 'queued' }>;

/** Row names of the table: the phases, but `paused` is split into rows by the reason of the pause. */
export type StateName = Exclude<UploadState['phase'], 'paused'> | 'blocked' | Stopped['reason'];

export const stateNameOf = (state: UploadState): StateName =>
  state.phase !== 'paused' ? state.phase : 'blockers' in state ? 'blocked' : state.reason;

/** Returns true if the upload has a run, even if the run is paused. */
export const isRunning = (state: UploadState): state is Running | Blocked =>
  state.phase === 'paused' ? 'blockers' in state : RUN_PHASES.some((phase) => phase === state.phase);

/** Returns true if the upload has ended, or is being canceled. */
export const isOver = (state: UploadState): boolean =>
  state.phase === 'withdrawn'
    ? isOver(state.before)
    : ['done', 'failed', 'canceled', 'canceling'].includes(state.phase);

/** Returns true if the upload waits for its file, or will wait for it after `undo`. */
export const waitsForFile = (state: UploadState): boolean =>
  state.phase === 'withdrawn'
    ? waitsForFile(state.before)
    : ['needs-file', 'resuming', 'other-tab'].includes(stateNameOf(state));
