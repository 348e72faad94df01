// The state machine of one upload, without side effects. For each state and event, a table defines the next state and its effects.

import { canRetry } from '../core/error-codes.ts';
import type { Transition } from '../core/machine.ts';
import type { PauseReason, Phase } from '../core/phases.ts';
import { publicPhase } from './file-snapshot.ts';
import {
  type Blocked,
  type Blockers,
  type Running,
  type RunPhase,
  type StateName,
  stateNameOf,
  type UploadEffect,
  type UploadEvent,
  type UploadEventType,
  type UploadModel,
  type UploadState,
  type WaitReason,
  waitsForFile,
} from './upload-state.ts';

type Move = Transition<UploadModel, UploadEffect>;
type EventOf<T extends UploadEventType> = Extract<UploadEvent, { readonly type: T }>;
type Cell<T extends UploadEventType, S> = (
  model: UploadModel & { readonly state: S },
  event: EventOf<T>,
) => Move;
type Cells<S> = { readonly [T in UploadEventType]?: Cell<T, S> };

type Withdrawn = Extract<UploadState, { readonly phase: 'withdrawn' }>;
type Failed = Extract<UploadState, { readonly phase: 'failed' }>;

const CANCELED = { phase: 'canceled' } as const;
const REMOVED = { phase: 'removed' } as const;
const QUEUED = { phase: 'queued' } as const;
const PAUSED = { phase: 'paused', reason: 'user', resumesTo: 'queued' } as const;
const SUSPENDED = { phase: 'paused', reason: 'suspended', resumesTo: 'queued' } as const;
const RESUMING = { phase: 'paused', reason: 'resuming', resumesTo: 'queued' } as const;
const OTHER_TAB = { phase: 'paused', reason: 'other-tab', resumesTo: 'queued' } as const;
const NEEDS_FILE = { phase: 'paused', reason: 'needs-file', resumesTo: 'queued' } as const;

/** Changes the state and keeps the generation, so the current run continues. */
const to = (model: UploadModel, state: UploadState, ...effects: UploadEffect[]): Move => ({
  model: { ...model, state },
  effects,
});

const inert = (model: UploadModel): Move => ({ model, effects: [] });

/** Changes the state and increases the generation, which aborts the current run if there is one. */
const enter = (model: UploadModel, state: UploadState, ...effects: UploadEffect[]): Move =>
  to({ ...model, generation: model.generation + 1 }, state, ...effects);

const flush = ({ state }: UploadModel): UploadEffect => ({
  type: 'flush-progress',
  phase: publicPhase(state),
});
const reportPaused = (reason: PauseReason): UploadEffect => ({
  type: 'report',
  name: 'upload-paused',
  detail: { reason },
});
const reportResumed = (phase: Phase): UploadEffect => ({
  type: 'report',
  name: 'upload-resumed',
  detail: { phase },
});
const REPORT_CANCELED: UploadEffect = { type: 'report', name: 'upload-canceled', detail: {} };
const REPORT_REMOVED: UploadEffect = { type: 'report', name: 'file-removed', detail: {} };
const noteWithdrawn = (isWithdrawn: boolean): UploadEffect => ({ type: 'note-withdrawn', isWithdrawn });
const notePaused = (isPaused: boolean): UploadEffect => ({ type: 'note-paused', isPaused });

/** Puts the upload back into the queue, or into `needs-file` if the page does not have the file. */
const requeue = (model: UploadModel, ...effects: UploadEffect[]): Move =>
  model.hasFile
    ? enter(model, QUEUED, ...effects, notePaused(false), reportResumed('queued'))
    : enter(model, NEEDS_FILE, ...effects, reportPaused('needs-file'));

const pause = (model: UploadModel): Move => {
  // The pause of a tab that only waits must not be saved for the tab that runs the upload.
  const isElsewhere = 'reason' in model.state && model.state.reason === 'other-tab';
  const note = isElsewhere ? [] : [notePaused(true)];
  return enter(model, PAUSED, flush(model), ...note, reportPaused('user'), { type: 'release' });
};
const suspend = (model: UploadModel): Move =>
  enter(model, SUSPENDED, flush(model), reportPaused('user'), { type: 'release' });

/** Deletes the saved progress of the upload, then changes to `next`. */
const giveUp = (model: UploadModel, next: UploadState, ...effects: UploadEffect[]): Move =>
  enter(model, { phase: 'canceling', next }, ...effects, { type: 'forget' });
const cancel = (model: UploadModel): Move => giveUp(model, CANCELED, flush(model), REPORT_CANCELED);
const cancelAndRemove = (model: UploadModel): Move =>
  giveUp(model, REMOVED, flush(model), REPORT_CANCELED, REPORT_REMOVED);
const remove = (model: UploadModel): Move => enter(model, REMOVED, REPORT_REMOVED, { type: 'leave' });
/**
 * Removes the upload on sign-out. Needs no `forget`, because `sign-out.ts` deletes all records and cancels all sessions together.
 */
const abandon = (model: UploadModel): Move =>
  enter(model, REMOVED, REPORT_CANCELED, REPORT_REMOVED, { type: 'leave' });
const close = (model: UploadModel): Move => enter(model, REMOVED, { type: 'leave' });

const retry = (model: UploadModel, { newName }: EventOf<'retry'>): Move => {
  const rename: UploadEffect[] = newName ? [{ type: 'rename', name: newName }] : [];
  return requeue(model, ...rename);
};

/** Withdraws an upload that has no run and is not queued. */
const withdraw = (model: UploadModel, { next }: EventOf<'withdraw'>): Move =>
  enter(model, { phase: 'withdrawn', before: model.state, next }, noteWithdrawn(true));
const withdrawRun = (model: UploadModel, { next }: EventOf<'withdraw'>): Move =>
  enter(
    model,
    { phase: 'withdrawn', before: QUEUED, next },
    flush(model),
    noteWithdrawn(true),
    reportPaused('user'),
  );
const withdrawEnded = (model: UploadModel, event: EventOf<'withdraw'>): Move =>
  event.next === 'removed' ? withdraw(model, event) : inert(model);

const doneElsewhere = (model: UploadModel, { detail }: EventOf<'done-elsewhere'>): Move =>
  enter(model, { phase: 'done' }, { type: 'release' }, { type: 'report-completed-elsewhere', detail });

const reasonOf = ({ tab, network, signIn, file }: Blockers): WaitReason | undefined =>
  tab ?? network ?? signIn ?? file;

/** Adds a blocker, or removes the blocker if `why` is `undefined`. The upload is paused while it has any blocker. */
function block(
  model: UploadModel & { readonly state: Running | Blocked },
  cause: keyof Blockers,
  why: WaitReason | undefined,
): Move {
  const { state } = model;
  const previousBlockers: Blockers = state.phase === 'paused' ? state.blockers : {};
  const resumesTo = state.phase === 'paused' ? state.resumesTo : state.phase;
  if (previousBlockers[cause] === why) return inert(model);
  const { [cause]: _ended, ...others } = previousBlockers;
  const blockers: Blockers = why ? { ...previousBlockers, [cause]: why } : others;
  const reason = reasonOf(blockers);
  if (!reason)
    return state.phase === 'paused'
      ? to(model, { phase: resumesTo }, reportResumed(publicPhase({ phase: resumesTo })))
      : inert(model);
  const isNewReason = state.phase !== 'paused' || state.reason !== reason;
  const pausedState = { phase: 'paused', reason, resumesTo, blockers } as const;
  return to(model, pausedState, ...(isNewReason ? [reportPaused(reason)] : []));
}

const succeed = (model: UploadModel, { result }: EventOf<'succeeded'>): Move => {
  const phase = publicPhase(model.state);
  return enter(
    model,
    { phase: 'done' },
    { type: 'report-progress', phase },
    { type: 'report-completed', result },
  );
};
const fail = (model: UploadModel, { error }: EventOf<'run-failed'>): Move =>
  enter(
    model,
    { phase: 'failed', error },
    flush(model),
    { type: 'yield' },
    { type: 'report', name: 'upload-failed', detail: error },
  );
const loseFile = (model: UploadModel, { error }: EventOf<'file-lost'>): Move => {
  const phase = publicPhase(model.state);
  return enter(
    model,
    NEEDS_FILE,
    { type: 'drop-file', error },
    { type: 'report-progress', phase },
    reportPaused('needs-file'),
    { type: 'release' },
  );
};

const endings = { succeeded: succeed, 'run-failed': fail, 'file-lost': loseFile } as const;
const leaving = { leave: remove, close, 'done-elsewhere': doneElsewhere } as const;
const unfinished = { ...leaving, abandon, cancel, remove: cancelAndRemove, withdraw } as const;
const over = {
  leave: remove,
  abandon: remove,
  close,
  remove,
  clear: remove,
  withdraw: withdrawEnded,
} as const;

const needFile = (model: UploadModel): Move =>
  enter(model, NEEDS_FILE, reportPaused('needs-file'), { type: 'release' });
const wantFile = (model: UploadModel): Move => enter(model, RESUMING, reportPaused('resuming'));

const idle: Cells<UploadState> = {
  ...unfinished,
  pause,
  'file-missing': needFile,
  'file-wanted': wantFile,
  'tab-found': (model) => enter(model, OTHER_TAB, reportPaused('other-tab')),
};

const withRun: Cells<Running | Blocked> = {
  ...unfinished,
  ...endings,
  pause,
  suspend,
  withdraw: withdrawRun,
  offline: (model) => block(model, 'network', 'offline'),
  'file-silent': (model) => block(model, 'file', 'slow-file'),
  'sign-in': (model, { reason }) => block(model, 'signIn', reason),
  reconnect: (model) =>
    enter(
      model,
      QUEUED,
      model.state.phase === 'paused' ? reportResumed('queued') : { type: 'report-progress', phase: 'queued' },
    ),
};

const running: Cells<Running> = {
  ...withRun,
  'lock-taken': (model) => block(model, 'tab', 'other-tab'),
  'put-started': (model) => reach(model, 'uploading'),
  'commit-started': (model) => reach(model, 'committing'),
  'commit-accepted': (model) => reach(model, 'accepted'),
  'retry-scheduled': (model, { attempt, nowMs }) => {
    const { phase, attempt: { retryAtMs } = { retryAtMs: 0 } } = model.state;
    // Several requests may wait: the next attempt counts.
    return retryAtMs > nowMs && retryAtMs <= attempt.retryAtMs
      ? inert(model)
      : showRetry(model, { phase, attempt });
  },
  'retry-ended': (model) => {
    const { phase, attempt } = model.state;
    return attempt ? showRetry(model, { phase }) : inert(model);
  },
};

const opening: Cells<Running> = { ...running, opened: open };

const showRetry = (model: UploadModel, state: Running): Move =>
  to(model, state, { type: 'report-progress', phase: publicPhase(state) });

function reach(
  model: UploadModel & { readonly state: Running },
  phase: 'transforming' | 'uploading' | 'committing' | 'accepted',
): Move {
  if (model.state.phase === phase) return inert(model);
  return to(model, { phase }, { type: 'report-progress', phase: publicPhase({ phase }) });
}

function open(
  model: UploadModel & { readonly state: Running | Blocked },
  { chunkCount, resumedBytes, signIn }: EventOf<'opened'>,
): Move {
  const previousBlockers = model.state.phase === 'paused' ? model.state.blockers : {};
  const attempt = model.state.phase === 'paused' ? undefined : model.state.attempt;
  const blockers: Blockers = { ...previousBlockers, ...(signIn && { signIn }) };
  const reason = reasonOf(blockers);
  // The request for the session may be waiting for its next attempt.
  const state: UploadState = reason
    ? { phase: 'paused', reason, resumesTo: 'hashing', blockers }
    : { phase: 'hashing', ...(attempt && { attempt }) };
  return to(
    model,
    state,
    { type: 'report', name: 'upload-started', detail: { chunkCount, resumedBytes } },
    { type: 'report-progress', phase: 'hashing' },
    ...(reason ? [reportPaused(reason)] : []),
  );
}

/** The states of rows whose cells read more than the phase. */
type StateOf = Record<RunPhase, Running> & { blocked: Blocked; failed: Failed; withdrawn: Withdrawn };
type Table = { readonly [R in StateName]: Cells<R extends keyof StateOf ? StateOf[R] : UploadState> };

type WithdrawnModel = UploadModel & { readonly state: Withdrawn };

/** Returns true if the upload was done or canceled before it was withdrawn, so that there is nothing to cancel. */
const hasEnded = ({ state: { before } }: WithdrawnModel): boolean =>
  before.phase === 'done' || before.phase === 'canceled';
const completeRemoval = (model: WithdrawnModel): Move =>
  hasEnded(model) ? remove(model) : cancelAndRemove(model);
const complete = (model: WithdrawnModel): Move =>
  model.state.next === 'removed' ? completeRemoval(model) : cancel(model);

/** Returns to the state before. Meanwhile, the file of an earlier page may have been found or not, or the other tab has ended. */
function undo(model: WithdrawnModel): Move {
  const { before } = model.state;
  const release: UploadEffect = { type: before.phase === 'failed' ? 'yield' : 'release' };
  if (before.phase !== 'queued' && !waitsForFile(before))
    return enter(model, before, noteWithdrawn(false), release);
  return requeue(model, noteWithdrawn(false), ...(model.hasFile ? [] : [release]));
}

const TABLE: Table = {
  held: {
    ...idle,
    start: (model) => enter(model, QUEUED),
    suspend: (model) => to(model, model.state, { type: 'release' }),
  },
  queued: {
    ...idle,
    suspend,
    withdraw: withdrawRun,
    begin: (model) => enter(model, { phase: 'opening' }, { type: 'run' }),
  },
  opening: { ...opening, 'transform-started': (model) => reach(model, 'transforming') },
  transforming: opening,
  hashing: running,
  uploading: running,
  committing: running,
  accepted: running,
  blocked: {
    ...withRun,
    opened: open,
    'put-started': (model) => to(model, { ...model.state, resumesTo: 'uploading' }),
    'commit-started': (model) => to(model, { ...model.state, resumesTo: 'committing' }),
    'commit-accepted': (model) => to(model, { ...model.state, resumesTo: 'accepted' }),
    online: (model) => block(model, 'network', undefined),
    'file-answers': (model) => block(model, 'file', undefined),
    'lock-taken': (model) => block(model, 'tab', 'other-tab'),
    // When a tab is closed, all of its uploads come at once: they start in their turn. A run that has sent chunks continues.
    'lock-acquired': (model) =>
      model.state.resumesTo === 'opening'
        ? enter(model, QUEUED, reportResumed('queued'))
        : block(model, 'tab', undefined),
  },
  user: { ...unfinished, resume: (model) => requeue(model) },
  suspended: {
    ...unfinished,
    // The pause has already been reported. `restore` does not resume an upload in the state `PAUSED`.
    pause: (model) => to(model, PAUSED, notePaused(true)),
    resume: (model) => requeue(model),
    restore: (model) => requeue(model),
  },
  resuming: {
    ...unfinished,
    // If the file arrives later, the upload keeps it for `resume`.
    pause,
    'file-provided': (model) => requeue(model),
    'file-missing': needFile,
  },
  'other-tab': {
    ...unfinished,
    pause,
    'file-wanted': wantFile,
    'file-missing': needFile,
    // With the file, a run waits for the tab.
    'file-provided': (model) => requeue(model),
  },
  'needs-file': {
    ...unfinished,
    replace: (model) => giveUp(model, REMOVED, REPORT_REMOVED),
    'file-wanted': wantFile,
    'file-provided': (model) => requeue(model),
  },
  failed: {
    ...unfinished,
    retry: (model, event) => (canRetry(model.state.error.code) ? retry(model, event) : inert(model)),
  },
  canceling: {},
  canceled: {
    ...over,
    retry: (model, event) => (event.isNamed ? retry(model, event) : inert(model)),
  },
  done: over,
  withdrawn: {
    undo,
    complete,
    cancel: complete,
    suspend: complete,
    remove: completeRemoval,
    clear: completeRemoval,
    leave: completeRemoval,
    abandon: (model) => (hasEnded(model) ? remove(model) : abandon(model)),
    close: (model) => (hasEnded(model) ? close(model) : giveUp(model, REMOVED)),
    'done-elsewhere': doneElsewhere,
  },
  removed: {},
};

/**
 * Handles events during the deletion. Such an event changes only `next`, the state after the deletion, and starts no second
 * deletion.
 */
function whileCanceling(model: UploadModel, stateBefore: UploadState, event: UploadEvent): Move {
  if (event.type === 'forgotten') return enter(model, stateBefore);
  if (event.type === 'begin') return inert(model);
  const { model: modelAfter, effects } = reduce({ ...model, state: stateBefore }, event);
  if (modelAfter.state === stateBefore && effects.length === 0) return inert(model);
  const stateAfter = modelAfter.state.phase === 'canceling' ? modelAfter.state.next : modelAfter.state;
  const reported = effects.filter(({ type }) => type !== 'forget' && type !== 'leave' && type !== 'release');
  return { model: { ...model, state: { phase: 'canceling', next: stateAfter } }, effects: reported };
}

/**
 * Returns the next model and the effects. Returns the same model and no effects if the table does not list the event for the state.
 */
export function reduce(model: UploadModel, event: UploadEvent): Move {
  const isLate = 'generation' in event && event.generation !== model.generation;
  if (isLate) return inert(model);
  const { state } = model;
  if (state.phase === 'canceling') return whileCanceling(model, state.next, event);
  const cell = TABLE[stateNameOf(state)][event.type] as Cell<typeof event.type, UploadState> | undefined;
  return cell ? cell(model, event as never) : inert(model);
}
