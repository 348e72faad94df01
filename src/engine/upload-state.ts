// The types of the upload table: states, events and effects.

import type { ChangeMap, CompletedDetail } from '../core/changes.ts';
import type { Late } from '../core/machine.ts';
import type { PauseReason, Phase } from '../core/phases.ts';
import type { ErrorSnapshot } from '../core/types.ts';
import type { RunResult } from '../pipeline/run.ts';

/**
 * Steps of a run. `opening`: identifies the file and looks up its record; the public phase is still `queued`. `accepted`: the
 * service responded to the commit with 202, and the commit is repeated; the public phase is `committing`.
 */
export type RunPhase = 'opening' | 'hashing' | 'uploading' | 'committing' | 'accepted';

/** Why a run is paused without a command of the user. The run resumes automatically. */
export type WaitReason = Exclude<PauseReason, 'user' | 'needs-file'>;

/** What a run waits for; it can wait for several things at once. */
export type Blockers = Readonly<Partial<Record<'tab' | 'network' | 'signIn', WaitReason>>>;

export type UploadState =
  /** `held` waits for `start()`, `queued` for a free slot. */
  | { readonly phase: 'held' | 'queued' }
  | { readonly phase: RunPhase; readonly retryAtMs?: number | undefined }
  /** The run still exists and waits for its blockers. */
  | {
      readonly phase: 'paused';
      readonly reason: WaitReason;
      readonly resumesTo: RunPhase;
      readonly blockers: Blockers;
    }
  /** There is no run. `suspended` (the element was removed from the page) is reported as paused by the user. */
  | {
      readonly phase: 'paused';
      readonly reason: 'user' | 'suspended' | 'needs-file';
      readonly resumesTo: 'queued';
    }
  | { readonly phase: 'failed'; readonly error: ErrorSnapshot }
  /** The record is being deleted and the session canceled. Events during this time change `next`. */
  | { readonly phase: 'canceling'; readonly next: UploadState }
  | { readonly phase: 'canceled' | 'done' | 'removed' };

export interface UploadModel {
  readonly state: UploadState;
  /** Increases when a run starts or ends. Outcomes with an older number are dropped. */
  readonly generation: number;
  /** True if the page has the file, or no longer needs it because the service has accepted the commit. Set before each event. */
  readonly hasFile: boolean;
}

/** Outcomes of a run or of `forget`. Those of an earlier generation are dropped. */
export type UploadOutcome = Readonly<
  /** The record was looked up. `signIn`: why calls have to wait for sign-in; `undefined` if they do not. */
  | {
      type: 'opened';
      chunkCount: number;
      resumedBytes: number;
      signIn: WaitReason | undefined;
    }
  | { type: 'put-started' | 'commit-started' | 'commit-accepted' | 'forgotten' }
  | { type: 'retry-scheduled'; atMs: number | undefined }
  | { type: 'offline' | 'online' | 'lock-taken' | 'lock-acquired' }
  | { type: 'succeeded'; result: RunResult }
  | { type: 'run-failed'; error: ErrorSnapshot }
  | { type: 'file-lost'; error: ErrorSnapshot }
>;

/** Events from the user, the page, the scheduler, sign-in and other tabs. */
export type UploadCommand = Readonly<
  | { type: 'start' | 'pause' | 'resume' | 'suspend' | 'restore' | 'cancel' | 'remove' | 'clear' }
  /** `isNamed`: the caller gave the id of this upload. A canceled upload is retried only then. */
  | { type: 'retry'; isNamed: boolean; newName?: string | undefined }
  /** `leave`: the owner changed. `abandon`: the user signed out. `replace`: a new upload replaces this one. */
  | { type: 'begin' | 'leave' | 'abandon' | 'replace' | 'close' }
  | { type: 'file-missing' | 'file-provided' }
  | { type: 'sign-in'; reason: WaitReason | undefined }
  | { type: 'done-elsewhere'; detail: CompletedDetail }
>;

export type UploadEvent = UploadCommand | Late<UploadOutcome>;
export type UploadEventType = UploadEvent['type'];

/** Changes that `report` effects carry. The upload adds its id, and its name to events that have one. */
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
  /** `release`: releases the lock when the run has stopped. `yield`: also lets another upload on this page take over the record. */
  | { type: 'release' | 'yield' }
  /** Like `release`, and the upload no longer uses the record. */
  | { type: 'leave' }
  /** Saves whether the user paused the upload, if its file is saved too: it resumes automatically after a reload. */
  | { type: 'note-paused'; isPaused: boolean }
  | { type: 'rename'; name: string }
  | { type: 'drop-file'; error: ErrorSnapshot }
  /** Both report `upload-progress`; `flush-progress` only if there is progress that was not reported yet. */
  | { type: 'flush-progress' | 'report-progress'; phase: Phase }
  | {
      [K in ReportedChange]: { type: 'report'; name: K; detail: Omit<ChangeMap[K], 'id' | 'name'> };
    }[ReportedChange]
  | { type: 'report-completed'; result: RunResult }
  | { type: 'report-completed-elsewhere'; detail: CompletedDetail }
>;

type Running = Extract<UploadState, { readonly phase: RunPhase }>;
type Blocked = Extract<UploadState, { readonly blockers: Blockers }>;

const RUN_PHASES: ReadonlySet<string> = new Set<RunPhase>([
  'opening',
  'hashing',
  'uploading',
  'committing',
  'accepted',
]);

/** Rows of the table: the phases, with `paused` split by what resumes the upload. */
export type StateName =
  | Exclude<UploadState['phase'], 'paused'>
  | 'blocked'
  | 'user'
  | 'suspended'
  | 'needs-file';

export const stateNameOf = (state: UploadState): StateName =>
  state.phase !== 'paused' ? state.phase : 'blockers' in state ? 'blocked' : state.reason;

/** True if the upload has a run, even if the run is paused. */
export const isRunning = (state: UploadState): state is Running | Blocked =>
  state.phase === 'paused' ? 'blockers' in state : RUN_PHASES.has(state.phase);

/** True if the upload has ended, or is being canceled. */
export const isOver = ({ phase }: UploadState): boolean =>
  phase === 'done' || phase === 'failed' || phase === 'canceled' || phase === 'canceling';

/** Returns the phase that pages and views see. */
export function publicPhase(state: UploadState): Phase {
  switch (state.phase) {
    case 'held':
    case 'opening':
      return 'queued';
    case 'canceling':
      return publicPhase(state.next);
    case 'removed':
      return 'canceled';
    case 'accepted':
      return 'committing';
    default:
      return state.phase;
  }
}
