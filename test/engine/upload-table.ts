// The states and events with which tests enter the upload table, and the document of the table (docs/upload-states.md).

import type { CompletedDetail } from '../../src/core/changes.ts';
import { publicPhase } from '../../src/engine/file-snapshot.ts';
import { reduce } from '../../src/engine/upload-machine.ts';
import {
  type StateName,
  stateNameOf,
  type UploadEffect,
  type UploadEvent,
  type UploadEventType,
  type UploadModel,
  type UploadState,
} from '../../src/engine/upload-state.ts';
import type { RunResult } from '../../src/pipeline/run.ts';
import { changesOf, documentOf, fieldIn, labelOf } from '../core/state-tables.ts';

export const generation = 7;
const error = { code: 'network', retryable: true } as const;
/** Error of an earlier attempt. */
const lastError = { code: 'service-failed', retryable: true } as const;
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
    attempt: { retryAtMs: 5, lastError: error },
    nowMs: 4,
  },
  'retry-ended': { type: 'retry-ended', generation },
  offline: { type: 'offline', generation },
  online: { type: 'online', generation },
  'lock-taken': { type: 'lock-taken', generation },
  'file-silent': { type: 'file-silent', generation },
  'file-answers': { type: 'file-answers', generation },
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
  opening: { phase: 'opening', attempt: { retryAtMs: 3, lastError } },
  transforming: { phase: 'transforming', attempt: { retryAtMs: 3, lastError } },
  hashing: { phase: 'hashing', attempt: { retryAtMs: 3, lastError } },
  uploading: { phase: 'uploading', attempt: { retryAtMs: 3, lastError } },
  committing: { phase: 'committing', attempt: { retryAtMs: 3, lastError } },
  accepted: { phase: 'accepted', attempt: { retryAtMs: 3, lastError } },
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

/** Returns the name of an effect in the table. A reported change has the name of the change. */
export const nameOf = (effect: UploadEffect): string =>
  effect.type === 'report' ? effect.name : effect.type;

const MEANINGS: { readonly [R in StateName]: string } = {
  held: 'waits for `start()` (`manual`)',
  queued: 'waits for a free slot',
  opening: 'the file is identified, its record looked up, its lock requested',
  transforming: 'another file is made of the file (`transformFile`, photos), then the same as in `opening`',
  hashing: 'the session is open; nothing has been sent yet',
  uploading: 'chunks are being sent',
  committing: 'all chunks are stored; the commit request is sent',
  accepted: 'the service has accepted the commit (202), which is repeated until it is complete',
  blocked:
    'the run waits for another tab, the network, sign-in or the bytes of its file, or several of them; the table shows one that waits for another tab',
  user: 'paused by the user',
  suspended: 'paused because the element was removed from the page',
  resuming: 'the file of an earlier page is being looked for, or a chosen one is compared with it',
  'other-tab': 'another tab runs the saved upload',
  'needs-file': 'waits until the user provides the file again',
  failed: 'ended by an error',
  canceling: 'canceled; its record is being deleted and its session canceled',
  withdrawn:
    'canceled or removed by the user, who can still undo it; the table shows an upload that was running and was canceled',
  canceled: 'canceled by the user',
  done: 'completed',
  removed: 'no longer in the list',
};

const HEADING = `# The states of an upload

Generated by \`node --import tsx scripts/state-tables.mjs\` from \`src/engine/upload-machine.ts\`; do not edit it by hand.

Each row of a table is an event, with the next state and then the effects in order. An event that a table does not list changes
nothing in that state. \`!\` after a state: the generation increases, so that a run is aborted. Data of states and effects is in braces;
\`event.error\` is data of the event, \`state.attempt\` data of the state.

The effects \`upload-…\` and \`file-removed\` dispatch the event of that name, \`report-progress\` dispatches \`upload-progress\`, and
\`report-completed\` dispatches \`upload-completed\`. \`flush-progress\` dispatches \`upload-progress\` if numbers have changed since the
last one. \`forget\` deletes the record and cancels the session on the service. \`release\` releases the lock when the run has stopped;
\`yield\` also lets another upload of the page use the record, and \`leave\` stops using it. \`note-paused\` saves whether the user paused
the upload, \`note-withdrawn\` whether the user withdrew it, and \`drop-file\` drops a file that can no longer be read.`;

/** Returns the document of the upload table. */
export const uploadStates = (): string =>
  documentOf<UploadModel, UploadEvent, UploadEffect>({
    heading: HEADING,
    states: Object.fromEntries(
      (Object.keys(STATES) as StateName[]).map((name) => {
        const model = at(name);
        return [name, { model, meaning: `Phase \`${publicPhase(model.state)}\`: ${MEANINGS[name]}.` }];
      }),
    ),
    events: EVENTS,
    reduce,
    stateOf: ({ before, event, after }) => {
      const inStep = fieldIn({ event, state: before.state });
      const stateText = (state: UploadState): string => {
        const { phase: _, ...data } = state;
        return labelOf(stateNameOf(state), data, nameIn);
      };
      const nameIn = (value: object): string | undefined =>
        inStep(value) ?? ('phase' in value ? stateText(value as UploadState) : undefined);
      const { state: _, ...others } = changesOf(before, after);
      return labelOf(stateText(after.state), others, nameIn);
    },
    effectOf: (effect, { before, event }) => {
      const { type: _, ...data } = effect;
      const reported = effect.type === 'report' ? effect.detail : data;
      return labelOf(nameOf(effect), reported, fieldIn({ event, state: before.state }));
    },
  });
