// One run of an upload: repeats a commit of an earlier run, or sends the file, and tells the state machine how it ended.

import { UploaderError } from '../core/errors.ts';
import { confirm } from '../pipeline/confirm.ts';
import { type RunResult, run } from '../pipeline/run.ts';
import { isCancelable } from '../pipeline/service-session.ts';
import { prepare } from './prepare.ts';
import { openAgain } from './resume/file-search.ts';
import type { Upload } from './upload.ts';
import {
  createConfirmParts,
  createRunParts,
  describeError,
  hashSliceOf,
  needsFileAfter,
  openFileOf,
  type RunContext,
  type Send,
} from './upload-run.ts';

/** Runs the pipeline. Never rejects: sends the outcome, or nothing if the run was aborted. */
export async function runFile(
  upload: Upload,
  context: RunContext,
  signal: AbortSignal,
  send: Send,
): Promise<void> {
  try {
    await context.trace.ready(signal);
    const result =
      (await repeatCommit(upload, context, signal, send)) ?? (await sendFile(upload, context, signal, send));
    if (signal.aborted) return;
    upload.progress.finish();
    send({ type: 'succeeded', result });
  } catch (error) {
    if (signal.aborted) return;
    const isLost = needsFileAfter(error, upload);
    send({ type: isLost ? 'file-lost' : 'run-failed', error: describeError(error) });
  } finally {
    const { usedNames } = upload.connection.service;
    for (const [name, user] of usedNames) if (user === upload) usedNames.delete(name);
  }
}

/**
 * Repeats a commit of an earlier run whose result is open. Resolves with `undefined` if there is none, or if the record or chunks
 * are lost.
 */
async function repeatCommit(
  upload: Upload,
  context: RunContext,
  signal: AbortSignal,
  send: Send,
): Promise<RunResult | undefined> {
  const { isCommitted, record } = upload.resumeState;
  if (!isCommitted || !record) return undefined;
  const parts = createConfirmParts(upload, context, signal, send);
  return confirm(record.key, context.trace.wrap(upload.id, parts));
}

async function sendFile(
  upload: Upload,
  context: RunContext,
  signal: AbortSignal,
  send: Send,
): Promise<RunResult> {
  /** Number of stored chunks when the file was last opened again. */
  let openedCount: number | undefined;
  for (;;) {
    signal.throwIfAborted();
    const { picked } = upload;
    if (!picked) throw new UploaderError('session-expired', 'The saved session is missing');
    try {
      const body = await prepareBody(upload, picked.file, context, signal, send);
      const parts = createRunParts(upload, picked, body, context, signal, send);
      return await run(openFileOf(upload, picked, body), context.trace.wrap(upload.id, parts));
    } catch (error) {
      const { handle } = picked;
      const storedCount = upload.resumeState.record?.stored.size;
      // Without a record, nothing could be compared. Without progress since the last time, the file is changed all the time.
      const isWorthwhile = storedCount !== undefined && storedCount !== openedCount;
      if (!needsFileAfter(error, upload) || !handle || !isWorthwhile) throw error;
      openedCount = storedCount;
      // `error` says that the file is lost.
      const file = await openAgain(upload, handle, signal).catch(() => undefined);
      if (!file) throw error;
      upload.picked = { ...picked, file };
    }
  }
}

/** Resolves with what is uploaded instead of `file`. */
async function prepareBody(
  upload: Upload,
  file: File,
  context: RunContext,
  signal: AbortSignal,
  send: Send,
): Promise<File> {
  const { service, settings } = upload.connection;
  const waitForBytes = () =>
    hashSliceOf(upload, signal, send)(file.slice(0, 1), { keepBytes: false, signal });
  const body = await prepare(file, settings, signal, send, context.times, waitForBytes);
  const { savedSession } = upload;
  if (upload.progress.resize(body.size) && savedSession?.session) {
    upload.savedSession = undefined;
    if (isCancelable(savedSession)) await service.cancel(savedSession.session);
  }
  // Not if the user has chosen another name.
  if (upload.name === upload.bodyName) upload.rename(body.name);
  upload.bodyName = body.name;
  return body;
}
