// The types of the upload table: states, events and effects.

import type { ChangeMap, CompletedDetail } from '../core/changes.ts';
import type { Late } from '../core/machine.ts';
import type { PauseReason, Phase } from '../core/phases.ts';
import type { ErrorSnapshot } from '../core/types.ts';
import type { RunResult } from '../pipeline/run.ts';

/**
 * Steps of a live run. In `opening` the file is identified and its record looked up; the public phase is still `queued`. In
 * `accepted` the commit was answered 202 and is repeated; the public phase is `committing`.
 */
export type RunPhase = 'opening' | 'hashing' | 'uploading' | 'committing' | 'accepted';

/** Why a live run waits. Each ends without the user. */
export type WaitReason = Exclude<PauseReason, 'user' | 'needs-file'>;

/** What a run waits for: another tab, the network, sign-in. */
export type Blockers = Readonly<Partial<Record<'tab' | 'network' | 'signIn', WaitReason>>>;

export type UploadState =
  /** `held` waits for `start()`, `queued` for a free slot. */
  | { readonly phase: 'held' | 'queued' }
  | { readonly phase: RunPhase; readonly retryAtMs?: number | undefined }
  /** The run is alive and waits. */
  | {
      readonly phase: 'paused';
      readonly reason: WaitReason;
      readonly resumesTo: RunPhase;
      readonly blockers: Blockers;
    }
  /** No run. `suspended`: the element was removed from the page; reported as paused by the user. */
  | {
      readonly phase: 'paused';
      readonly reason: 'user' | 'suspended' | 'needs-file';
      readonly resumesTo: 'queued';
    }
  | { readonly phase: 'failed'; readonly error: ErrorSnapshot }
  /** The record is being deleted and the session canceled; commands given meanwhile apply to `next`. */
  | { readonly phase: 'canceling'; readonly next: UploadState }
  | { readonly phase: 'canceled' | 'done' | 'removed' };

export interface UploadModel {
  readonly state: UploadState;
  /** Grows when a run starts or ends, so that late results of an ended run are dropped. */
  readonly generation: number;
  /** The page has the file, or the service has accepted all of it. Set before each event. */
  readonly hasFile: boolean;
}

/** Results of a run or of `forget`; dropped when they belong to an earlier generation. */
export type UploadOutcome = Readonly<
  /** The record was looked up. `signIn`: why the first call has to wait, if it has to. */
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
  /** `isNamed`: the command has the id of the upload. Only then a canceled upload is retried. */
  | { type: 'retry'; isNamed: boolean; newName?: string | undefined }
  /** `leave`: the owner changed. `abandon`: the user signed out. `replace`: another upload took its place. */
  | { type: 'begin' | 'leave' | 'abandon' | 'replace' | 'close' }
  | { type: 'file-missing' | 'file-provided' }
  | { type: 'sign-in'; reason: WaitReason | undefined }
  | { type: 'done-elsewhere'; detail: CompletedDetail }
>;

export type UploadEvent = UploadCommand | Late<UploadOutcome>;
export type UploadEventType = UploadEvent['type'];

/** Changes that an effect reports as they are; the upload adds its id, and its name if the event has one. */
type ReportedChange =
  | 'upload-started'
  | 'upload-paused'
  | 'upload-resumed'
  | 'upload-failed'
  | 'upload-canceled'
  | 'file-removed';

export type UploadEffect = Readonly<
  | { type: 'run' }
  /** Deletes the record and cancels the session on the service; `forgotten` follows. */
  | { type: 'forget' }
  /** Releases the lock when the run has stopped. `yield`: another upload of this page may take over the record too. */
  | { type: 'release' | 'yield' }
  /** As `release`; the upload no longer uses the record. */
  | { type: 'leave' }
  /** Saves in a record with the file whether the user paused the upload. */
  | { type: 'note-paused'; isPaused: boolean }
  | { type: 'rename'; name: string }
  | { type: 'drop-file'; error: ErrorSnapshot }
  /** Report `upload-progress`; `flush-progress` only if numbers changed since the last report. */
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

/** Rows of the table: the phases, with `paused` split by what ends the pause. */
export type StateName =
  | Exclude<UploadState['phase'], 'paused'>
  | 'blocked'
  | 'user'
  | 'suspended'
  | 'needs-file';

export const stateNameOf = (state: UploadState): StateName =>
  state.phase !== 'paused' ? state.phase : 'blockers' in state ? 'blocked' : state.reason;

/** True while a run is alive. */
export const isRunning = (state: UploadState): state is Running | Blocked =>
  state.phase === 'paused' ? 'blockers' in state : RUN_PHASES.has(state.phase);

/** True in states that only a command of the user changes. */
export const isOver = ({ phase }: UploadState): boolean =>
  phase === 'done' || phase === 'failed' || phase === 'canceled' || phase === 'canceling';

/** The phase that pages and views see. */
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
