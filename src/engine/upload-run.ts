// Builds the parameters of one run. Connects the pipeline to the service, the store and the workers.

import type { Change, CompletedDetail } from '../core/changes.ts';
import { canRetry, type ErrorCode, isCallRetryable } from '../core/error-codes.ts';
import { toUploaderError, UploaderError } from '../core/errors.ts';
import type { Host } from '../core/host.ts';
import { pathUnder } from '../core/names.ts';
import type { Phase } from '../core/phases.ts';
import { isMinChunkSize } from '../core/read-profile.ts';
import { type RetryPolicy, retrying } from '../core/retries.ts';
import type { ErrorSnapshot, FileId, HashSlice, NextAttempt, PickedFile } from '../core/types.ts';
import { abortable } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { createBodies } from '../pipeline/bodies.ts';
import { type OpenFile, recordOf } from '../pipeline/open.ts';
import { RUN_DEFAULTS, type RunParts, type RunResult } from '../pipeline/run.ts';
import type { PausedSession } from '../pipeline/service-session.ts';
import {
  type Connection,
  chunkSizesOf,
  keepDurationMs,
  retryDurationMs,
  type Times,
  waitsFor,
} from './connection.ts';
import type { createLateTrace } from './late-trace.ts';
import { reportWhileQuiet } from './quiet.ts';
import type { ResumeState } from './resume/resume-state.ts';
import { identifyUpload } from './resume/same-file.ts';
import { isIdSecret } from './secret-id.ts';
import { type ConnectionMonitor, stallMs } from './transfer/connection-monitor.ts';
import type { Progress, ProgressThrottle } from './transfer/progress.ts';
import type { SlotUser, UploadSlots } from './transfer/upload-slots.ts';
import type { UploadOutcome } from './upload-state.ts';

/** Longest time to read a file to save, in milliseconds. The hash pool may be busy. */
const READ_FILE_MS = 30_000;

/** Everything that the runs of all uploads share. */
export interface RunContext {
  readonly slots: UploadSlots;
  /** Returns what is known of the origin of a URL. */
  readonly hostOf: (url: string) => Host;
  /** Returns the current monitor; `Uploader.restore()` creates a new one. */
  readonly monitor: () => ConnectionMonitor;
  readonly policy?: RetryPolicy | undefined;
  readonly commitDeadlineMs?: number | undefined;
  readonly times?: Times | undefined;
  readonly report: (change: Change) => void;
  readonly throttle: ProgressThrottle;
  readonly trace: Pick<ReturnType<typeof createLateTrace>, 'ready' | 'wrap'>;
  readonly warn: (message: string) => void;
  /** Returns the rate of all uploads together in bytes per second; `undefined` until the rate is measured. */
  readonly bytesPerSecond: () => number | undefined;
  readonly onBytesSent: (bytes: number) => void;
}

/** The properties of an upload that a run reads and changes. */
export interface RunTarget extends SlotUser {
  readonly id: FileId;
  readonly name: string;
  readonly ownName: string;
  readonly relativePath: string;
  readonly parentId: string;
  readonly picked: PickedFile | undefined;
  readonly connection: Connection;
  readonly resumeState: ResumeState;
  readonly progress: Progress;
  readonly isRunning: boolean;
  readonly phase: Phase;
  /** The next attempt, if a request waits to be repeated. */
  readonly attempt: NextAttempt | undefined;
  /** What is known of the session on the service. */
  savedSession: PausedSession | undefined;
  warning: ErrorCode | undefined;
  unsentCount: number;
  rename(name: string): void;
  reportProgress(): void;
}

export type Send = (outcome: UploadOutcome) => void;

const scheduleRetry = (send: Send, retryAtMs: number, error: UploaderError): void => {
  const attempt = { retryAtMs, lastError: describeError(error) };
  send({ type: 'retry-scheduled', attempt, nowMs: Date.now() });
};
const endRetry = ({ attempt }: RunTarget, send: Send): void => {
  if (attempt) send({ type: 'retry-ended' });
};

export const openFileOf = (
  { parentId, relativePath }: RunTarget,
  picked: PickedFile,
  body = picked.file,
): OpenFile => ({
  ...picked,
  body,
  name: picked.file.name,
  relativePath,
  parentId,
});

/** Time without a byte sent after which an upload waits for the bytes of its file, in milliseconds. */
const SILENT_FILE_MS = 10_000;
/** The same for a call to the service that is repeated later. */
const SILENT_CALL_MS = 2000;

/** Returns the `hashSlice` of a run, which reports that the bytes of the file do not arrive while nothing of it is sent. */
export function hashSliceOf(upload: RunTarget, signal: AbortSignal, send: Send): HashSlice {
  const { hashSlice } = upload.connection.service.client.pool;
  let silentCount = 0;
  // Other slices of the file may still be sent.
  const onWait = reportWhileQuiet(upload, {
    quietMs: SILENT_FILE_MS,
    signal,
    isWaiting: () => silentCount > 0,
    report: () => send({ type: 'file-silent' }),
  });
  const onSilent = (isSilent: boolean): void => {
    silentCount += isSilent ? 1 : -1;
    if (silentCount === 0) send({ type: 'file-answers' });
    else onWait();
  };
  return (slice, options) => hashSlice(slice, { ...options, onSilent });
}

/**
 * Saves the content of the file in the record (`keep-files`). Resolves with false if the file cannot be read, or if another upload
 * or tab uses the record. Rejects with `store-full` or `store-unavailable`.
 */
export async function saveFile(upload: RunTarget): Promise<boolean> {
  const { connection, picked, resumeState } = upload;
  const { hash: hashAlgorithm } = connection.settings;
  if (!picked) return false;
  const { file } = picked;
  const inTime = (): AbortSignal => AbortSignal.timeout(READ_FILE_MS);
  const { hashSlice } = connection.service.client.pool;
  // A file that cannot be read in time is not saved. The run reports its error.
  const identity = await identifyUpload(upload, picked, hashSlice, inTime()).catch(() => undefined);
  if (!identity) return false;
  // The file may have become unreadable since, or its drive slow.
  const read = () => abortable(file.arrayBuffer(), inTime()).catch(() => undefined);
  const { chunkSizeBytes } = chunkSizesOf(connection, file.size);
  const plan = { hashAlgorithm, keepMs: keepDurationMs(connection), chunkSizeBytes };
  const record = recordOf(openFileOf(upload, picked), plan, identity);
  try {
    return await resumeState.saveFile({ ...record, file }, read);
  } finally {
    // If the upload was paused or suspended or has failed in the meantime, another tab may run the upload.
    if (resumeState.isLeft || (!upload.isRunning && upload.phase !== 'queued')) resumeState.releaseLock();
  }
}

/** Creates the parameters that do not need the file. These parameters are enough to repeat a commit. */
export function createConfirmParts(upload: RunTarget, context: RunContext, signal: AbortSignal, send: Send) {
  const { service, settings } = upload.connection;
  const { hostOf, monitor, commitDeadlineMs = RUN_DEFAULTS.commitDeadlineMs } = context;
  const policy = { maxMs: retryDurationMs(upload.connection), ...context.policy };
  const rename = (name: string): void => upload.rename(name);
  const connectionChange = (): AbortSignal => monitor().change;
  const order = (): number => upload.slotOrder;
  const reports = reportsOf(upload, context, signal, send);
  const { calls } = service.client;
  return {
    ...reports,
    calls,
    names:
      settings.onConflict === 'rename' ? { used: service.usedNames, upload, onRenamed: rename } : undefined,
    policy,
    signal,
    commitDeadlineMs,
    poller: service.poller,
    cancel: service.cancel,
    store: upload.resumeState.recordKeeper(signal, {
      onWarning: ({ code }) => {
        if (signal.aborted) return;
        upload.warning = code;
        upload.reportProgress();
      },
      onNewName: rename,
      onLockTaken: () => send({ type: 'lock-taken' }),
      onLockAcquired: () => send({ type: 'lock-acquired' }),
    }),
    connectionChange,
    order,
    hostOf,
    onEarlyFailure: (error) => {
      if (error instanceof UploaderError && error.retryAfterMs !== undefined)
        hostOf(settings.baseUrl).backoff.backOff(error.retryAfterMs);
    },
    retrying: (call, callSignal, first) => {
      const hooks = {
        policy,
        backoff: hostOf(settings.baseUrl).backoff,
        signal: callSignal,
        order,
        connectionChange,
        onOffline: reports.onOffline,
        onWait: reports.onCallWait,
        onRecovered: reports.onRecovered,
        isWorthRetrying: isCallRetryable,
      };
      return retrying(call, hooks, first);
    },
  } satisfies Partial<RunParts>;
}

export function createRunParts(
  upload: RunTarget,
  picked: PickedFile,
  body: File,
  context: RunContext,
  signal: AbortSignal,
  send: Send,
): RunParts {
  const { connection, relativePath } = upload;
  const { service, settings } = connection;
  const { pool, put, stallMs: ownStallMs } = service.client;
  const { monitor, slots } = context;
  const { minChunkSize } = settings.profile;
  const hashSlice = hashSliceOf(upload, signal, send);
  return {
    ...createConfirmParts(upload, context, signal, send),
    put,
    file: body,
    ...createBodies(hashSlice),
    hashAlgorithm: settings.hash,
    keepMs: keepDurationMs(connection),
    continueHash: settings.profile.sendFileHash ? pool.continueHash : undefined,
    width: pool.size + 1,
    hasRecord:
      // With the file keeper, a page change must not send a file of one chunk, or its commit, a second time.
      Boolean(settings.keeperUrl) || upload.resumeState.keepsFile || upload.resumeState.record !== undefined,
    isNew:
      !upload.resumeState.knows(picked.file) &&
      // The name of a record must be known first.
      settings.onConflict !== 'rename' &&
      context.hostOf(settings.baseUrl).backoff.isOpen &&
      // Otherwise, it would ask the user to sign in, although another tab may be uploading the file.
      (Boolean(settings.getToken) || service.isReady),
    ...chunkSizesOf(connection, body.size, context.warn),
    minChunkBytes: isMinChunkSize(minChunkSize) ? minChunkSize : RUN_DEFAULTS.minChunkBytes,
    onSmallerChunks: (beforeBytes, chunkSizeBytes) =>
      context.warn(
        `Chunks of ${beforeBytes} bytes don't reach the storage. Set chunk-size to ${chunkSizeBytes}, or raise its limits.`,
      ),
    fileName: () =>
      settings.profile.fileName === 'path'
        ? pathUnder(upload.name, upload.ownName, relativePath)
        : upload.name,
    savedSession: upload.savedSession,
    batch: { max: settings.batchSize },
    bytesPerSecond: context.bytesPerSecond,
    waitForBandwidth: (sizeBytes, moveSignal) => monitor().waitForBandwidth(sizeBytes, moveSignal),
    stallMs: (sizeBytes) => ownStallMs ?? stallMs(sizeBytes, (context.bytesPerSecond() ?? 0) / slots.limit),
    acquireSlot: (host, slotSignal, index) => slots.acquireSlot(host, upload, slotSignal, index),
    slowDown: (host, attempts) => slots.slowDown(host, attempts),
    identify: () => identifyUpload(upload, picked, hashSlice, signal),
  };
}

/**
 * Creates the callbacks of the pipeline. The callbacks update the progress, report changes, and send outcomes to the state machine.
 * After the run is aborted, the callbacks report nothing.
 */
export function reportsOf(
  upload: RunTarget,
  { monitor, onBytesSent, report, throttle }: RunContext,
  signal: AbortSignal,
  send: Send,
) {
  const { connection, id, progress } = upload;
  /** Indexes of chunks that are recorded as stored. These chunks do not count as unsent. */
  let recorded: ReadonlySet<number> = new Set();
  /** The call to the service that is repeated next. A chunk that moves meanwhile ends the wait that the row shows. */
  let repeated:
    | { readonly atMs: number; readonly error: UploaderError; readonly change: AbortSignal }
    | undefined;
  const onCallQuiet = reportWhileQuiet(upload, {
    quietMs: SILENT_CALL_MS,
    signal,
    // When the network changes, the first call that waits is repeated at once.
    isWaiting: () => repeated !== undefined && repeated.atMs > Date.now() && !repeated.change.aborted,
    report: () => repeated && scheduleRetry(send, repeated.atMs, repeated.error),
  });
  return {
    onOpened: (chunks, isSamePlan) => {
      if (signal.aborted) return;
      const { storedBytes } = progress.numbers();
      const resumedBytes = progress.beginRun(chunks, isSamePlan);
      // Otherwise, the bar would stand still without a reason until these bytes are sent again.
      if (resumedBytes < storedBytes) upload.warning = 'upload-restarted';
      recorded = new Set(chunks.flatMap(({ recorded: known, index }) => (known ? [index] : [])));
      upload.unsentCount = chunks.length - recorded.size;
      const signIn = waitsFor(connection.service.client.auth.snapshot);
      send({ type: 'opened', chunkCount: chunks.length, resumedBytes, signIn });
    },
    onSession: (saved) => {
      if (signal.aborted) return;
      upload.savedSession = saved;
    },
    onCallWait: (atMs, error) => {
      repeated = { atMs, error, change: monitor().change };
      scheduleRetry(send, atMs, error);
      onCallQuiet();
    },
    onRecovered: () => {
      repeated = undefined;
      endRetry(upload, send);
    },
    onHashed: (chunk) => {
      if (signal.aborted) return;
      const { hash, index, sizeBytes } = chunk;
      progress.onHashed(chunk);
      report({ name: 'chunk-hashed', detail: { id, index, hash, sizeBytes } });
      throttle.reportSoon(upload);
    },
    onPut: () => send({ type: 'put-started' }),
    onSent: (chunk, sentBytes) => {
      if (signal.aborted) return;
      const movedBytes = progress.onSent(chunk, sentBytes);
      if (movedBytes > 0) {
        endRetry(upload, send);
        if (upload.phase === 'paused') {
          send({ type: 'online' });
          send({ type: 'file-answers' });
        }
      }
      onBytesSent(movedBytes);
      throttle.reportSoon(upload);
    },
    onStored: (chunk) => {
      if (signal.aborted) return;
      const { hash, index, receipt, sizeBytes, skipped = false } = chunk;
      progress.onStored(chunk);
      endRetry(upload, send);
      if (!recorded.has(index)) upload.unsentCount -= 1;
      report({ name: 'chunk-uploaded', detail: { id, index, hash, receipt, sizeBytes, skipped } });
      throttle.reportSoon(upload);
    },
    onCommit: () => {
      if (signal.aborted) return;
      if (connection.service.client.calls.commit) send({ type: 'commit-started' });
      else warnOnceHere('Without commit-path, the service may never create the file.');
    },
    onAccepted: () => send({ type: 'commit-accepted' }),
    onOffline: (isOffline) => send({ type: isOffline ? 'offline' : 'online' }),
    onWait: (atMs, error) => scheduleRetry(send, atMs, error),
  } satisfies Partial<RunParts>;
}

/** Returns the detail of `upload-completed`. `startedMs` is the time of the first run, on the clock of `performance.now()`. */
export function completedDetailOf(
  { id, name, relativePath, progress }: RunTarget,
  { session, chunks, fileHash, body }: RunResult,
  startedMs: number,
): CompletedDetail {
  const { putBytes, sizeBytes } = progress;
  return {
    id,
    name,
    relativePath,
    sizeBytes,
    chunks: Object.freeze(chunks.map(({ index, hash, receipt }) => Object.freeze({ index, hash, receipt }))),
    sentBytes: putBytes,
    skippedBytes: Math.max(0, sizeBytes - putBytes),
    durationMs: performance.now() - startedMs,
    ...(!isIdSecret(session) && { sessionId: session.sessionId }),
    ...(fileHash !== undefined && { fileHash }),
    ...(body !== undefined && { commit: body }),
  };
}

/**
 * Returns the parts of an error that pages may see. An error that is not an `UploaderError` is a defect, and also goes to
 * `reportError`. The error `bad-config` also causes a console warning.
 */
export function describeError(error: unknown): ErrorSnapshot {
  const known = toUploaderError(error, 'service-failed', 'The upload failed by a defect');
  if (known !== error) globalThis.reportError?.(error);
  if (known.code === 'bad-config') warnOnceHere(known.message);
  // Pages get this object, and the table reads it.
  return Object.freeze({
    code: known.code,
    retryable: canRetry(known.code),
    ...(known.status !== undefined && { status: known.status }),
  });
}

/**
 * Returns true if the upload can continue after the user provides the file. This is the case if the file was unreadable, or if the
 * saved session is lost and the page does not have the file. A file that may be complete on the service is not sent again.
 */
export const needsFileAfter = (
  error: unknown,
  { picked, resumeState }: Pick<RunTarget, 'picked' | 'resumeState'>,
): boolean =>
  error instanceof UploaderError &&
  (error.code === 'file-unreadable' ||
    (error.code === 'session-expired' && !picked && !resumeState.isCommitted));
