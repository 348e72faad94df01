// The expected upload table, written independently of the code: the result of each event in each state.

import type { CompletedDetail } from '../../src/core/changes.ts';
import type {
  StateName,
  UploadEffect,
  UploadEvent,
  UploadEventType,
  UploadModel,
  UploadState,
} from '../../src/engine/upload-state.ts';
import type { RunResult } from '../../src/pipeline/run.ts';

export const generation = 7;
const error = { code: 'network', retryable: true } as const;
const result: RunResult = { session: { sessionId: 's', header: 'h' }, chunks: [] };
const detail = {} as CompletedDetail;

/** One event of each type. */
export const EVENTS: { readonly [T in UploadEventType]: UploadEvent } = {
  start: { type: 'start' },
  pause: { type: 'pause' },
  resume: { type: 'resume' },
  suspend: { type: 'suspend' },
  restore: { type: 'restore' },
  cancel: { type: 'cancel' },
  remove: { type: 'remove' },
  clear: { type: 'clear' },
  withdraw: { type: 'withdraw', next: 'removed' },
  undo: { type: 'undo' },
  complete: { type: 'complete' },
  retry: { type: 'retry', isNamed: true },
  begin: { type: 'begin' },
  leave: { type: 'leave' },
  abandon: { type: 'abandon' },
  replace: { type: 'replace' },
  close: { type: 'close' },
  'file-wanted': { type: 'file-wanted' },
  'file-missing': { type: 'file-missing' },
  'file-provided': { type: 'file-provided' },
  'tab-found': { type: 'tab-found' },
  'sign-in': { type: 'sign-in', reason: 'signed-out' },
  reconnect: { type: 'reconnect' },
  'done-elsewhere': { type: 'done-elsewhere', detail },
  opened: { type: 'opened', generation, chunkCount: 3, resumedBytes: 0, signIn: undefined },
  'transform-started': { type: 'transform-started', generation },
  'put-started': { type: 'put-started', generation },
  'commit-started': { type: 'commit-started', generation },
  'commit-accepted': { type: 'commit-accepted', generation },
  'retry-scheduled': {
    type: 'retry-scheduled',
    generation,
    attempt: { retryAt: 5, lastError: error },
    nowMs: 4,
  },
  'retry-ended': { type: 'retry-ended', generation },
  offline: { type: 'offline', generation },
  online: { type: 'online', generation },
  'lock-taken': { type: 'lock-taken', generation },
  'lock-acquired': { type: 'lock-acquired', generation },
  succeeded: { type: 'succeeded', generation, result },
  'run-failed': { type: 'run-failed', generation, error },
  'file-lost': { type: 'file-lost', generation, error },
  forgotten: { type: 'forgotten', generation },
};

const STATES: { readonly [R in StateName]: UploadState } = {
  held: { phase: 'held' },
  queued: { phase: 'queued' },
  // In these states, a request has failed, and its next attempt has started.
  opening: { phase: 'opening', attempt: { retryAt: 3, lastError: error } },
  transforming: { phase: 'transforming', attempt: { retryAt: 3, lastError: error } },
  hashing: { phase: 'hashing', attempt: { retryAt: 3, lastError: error } },
  uploading: { phase: 'uploading', attempt: { retryAt: 3, lastError: error } },
  committing: { phase: 'committing', attempt: { retryAt: 3, lastError: error } },
  accepted: { phase: 'accepted', attempt: { retryAt: 3, lastError: error } },
  blocked: { phase: 'paused', reason: 'other-tab', resumesTo: 'opening', blockers: { tab: 'other-tab' } },
  user: { phase: 'paused', reason: 'user', resumesTo: 'queued' },
  suspended: { phase: 'paused', reason: 'suspended', resumesTo: 'queued' },
  resuming: { phase: 'paused', reason: 'resuming', resumesTo: 'queued' },
  'needs-file': { phase: 'paused', reason: 'needs-file', resumesTo: 'queued' },
  'other-tab': { phase: 'paused', reason: 'other-tab', resumesTo: 'queued' },
  failed: { phase: 'failed', error },
  canceling: { phase: 'canceling', next: { phase: 'canceled' } },
  withdrawn: { phase: 'withdrawn', before: { phase: 'queued' }, next: 'canceled' },
  canceled: { phase: 'canceled' },
  done: { phase: 'done' },
  removed: { phase: 'removed' },
};

export const at = (row: StateName, more: Partial<UploadModel> = {}): UploadModel => ({
  state: STATES[row],
  generation,
  hasFile: true,
  ...more,
});

const leaves = {
  leave: 'removed ! file-removed leave',
  close: 'removed ! leave',
};
const unfinished = {
  ...leaves,
  abandon: 'removed ! upload-canceled file-removed leave',
  cancel: 'canceling>canceled ! flush-progress upload-canceled forget',
  remove: 'canceling>removed ! flush-progress upload-canceled file-removed forget',
  withdraw: 'withdrawn ! note-withdrawn',
  'done-elsewhere': 'done ! release report-completed-elsewhere',
};
const idle = {
  ...unfinished,
  pause: 'user ! flush-progress note-paused upload-paused release',
  'file-wanted': 'resuming ! upload-paused',
  'file-missing': 'needs-file ! upload-paused release',
  'tab-found': 'other-tab ! upload-paused',
};
const WITHDRAWN = 'withdrawn ! flush-progress note-withdrawn upload-paused';
const running = {
  ...unfinished,
  withdraw: WITHDRAWN,
  pause: 'user ! flush-progress note-paused upload-paused release',
  suspend: 'suspended ! flush-progress upload-paused release',
  succeeded: 'done ! report-progress report-completed',
  'run-failed': 'failed ! flush-progress yield upload-failed',
  'file-lost': 'needs-file ! drop-file report-progress upload-paused release',
};
const transferring = (phase: string) => ({
  ...running,
  'put-started': 'uploading report-progress',
  'commit-started': 'committing report-progress',
  'commit-accepted': 'accepted report-progress',
  'retry-scheduled': `${phase} report-progress`,
  'retry-ended': `${phase} report-progress`,
  offline: `blocked:offline>${phase} upload-paused`,
  'sign-in': `blocked:signed-out>${phase} upload-paused`,
  reconnect: 'queued ! report-progress',
});
const { 'put-started': _uploads, ...uploading } = transferring('uploading');
const { 'commit-started': _commits, ...committing } = transferring('committing');
const { 'commit-accepted': _accepts, ...accepted } = transferring('accepted');

/** Returns the name of an effect in the table. A reported change has the name of the change. */
export const nameOf = (effect: UploadEffect): string =>
  effect.type === 'report' ? effect.name : effect.type;

/**
 * Results by state and event: the next state, `!` if the current run is aborted, and the effects. An event that is missing changes
 * nothing.
 */
export const TABLE: { readonly [R in StateName]: { readonly [T in UploadEventType]?: string } } = {
  held: { ...idle, suspend: 'held release', start: 'queued !' },
  queued: {
    ...idle,
    suspend: 'suspended ! flush-progress upload-paused release',
    withdraw: WITHDRAWN,
    begin: 'opening ! run',
  },
  opening: {
    ...transferring('opening'),
    opened: 'hashing upload-started report-progress',
    'lock-taken': 'blocked:other-tab>opening upload-paused',
    'transform-started': 'transforming report-progress',
  },
  transforming: {
    ...transferring('transforming'),
    opened: 'hashing upload-started report-progress',
    'lock-taken': 'blocked:other-tab>transforming upload-paused',
  },
  hashing: transferring('hashing'),
  uploading,
  committing,
  accepted,
  blocked: {
    ...running,
    pause: 'user ! flush-progress upload-paused release',
    opened: 'blocked:other-tab>hashing upload-started report-progress upload-paused',
    'put-started': 'blocked:other-tab>uploading',
    'commit-started': 'blocked:other-tab>committing',
    'commit-accepted': 'blocked:other-tab>accepted',
    'lock-acquired': 'opening upload-resumed',
    // These events change only what the upload waits for. The shown reason stays the same.
    offline: 'blocked:other-tab>opening',
    online: 'blocked:other-tab>opening',
    'lock-taken': 'blocked:other-tab>opening',
    'sign-in': 'blocked:other-tab>opening',
    reconnect: 'queued ! upload-resumed',
  },
  user: { ...unfinished, resume: 'queued ! note-paused upload-resumed' },
  suspended: {
    ...unfinished,
    pause: 'user note-paused',
    resume: 'queued ! note-paused upload-resumed',
    restore: 'queued ! note-paused upload-resumed',
  },
  resuming: {
    ...unfinished,
    pause: 'user ! flush-progress note-paused upload-paused release',
    'file-provided': 'queued ! note-paused upload-resumed',
    'file-missing': 'needs-file ! upload-paused release',
  },
  'other-tab': {
    ...unfinished,
    pause: 'user ! flush-progress upload-paused release',
    'file-wanted': 'resuming ! upload-paused',
    'file-missing': 'needs-file ! upload-paused release',
    'file-provided': 'queued ! note-paused upload-resumed',
  },
  'needs-file': {
    ...unfinished,
    replace: 'canceling>removed ! file-removed forget',
    'file-wanted': 'resuming ! upload-paused',
    'file-provided': 'queued ! note-paused upload-resumed',
  },
  failed: {
    ...unfinished,
    retry: 'queued ! note-paused upload-resumed',
  },
  canceling: {
    remove: 'canceling>removed file-removed',
    clear: 'canceling>removed file-removed',
    leave: 'canceling>removed file-removed',
    abandon: 'canceling>removed file-removed',
    close: 'canceling>removed',
    withdraw: 'canceling>withdrawn note-withdrawn',
    retry: 'canceling>queued note-paused upload-resumed',
    forgotten: 'canceled !',
  },
  canceled: {
    ...leaves,
    abandon: 'removed ! file-removed leave',
    remove: 'removed ! file-removed leave',
    clear: 'removed ! file-removed leave',
    withdraw: 'withdrawn ! note-withdrawn',
    retry: 'queued ! note-paused upload-resumed',
  },
  done: {
    ...leaves,
    abandon: 'removed ! file-removed leave',
    remove: 'removed ! file-removed leave',
    clear: 'removed ! file-removed leave',
    withdraw: 'withdrawn ! note-withdrawn',
  },
  withdrawn: {
    undo: 'queued ! note-withdrawn note-paused upload-resumed',
    complete: unfinished.cancel,
    cancel: unfinished.cancel,
    suspend: unfinished.cancel,
    remove: unfinished.remove,
    clear: unfinished.remove,
    leave: unfinished.remove,
    abandon: unfinished.abandon,
    close: 'canceling>removed ! forget',
    'done-elsewhere': unfinished['done-elsewhere'],
  },
  removed: {},
};
