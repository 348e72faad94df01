// Last stage of the pipeline: commits the upload with the hashes and receipts of all chunks. Does nothing without `commitPath`.

import { codeFacts } from '../core/error-codes.ts';
import { UploaderError } from '../core/errors.ts';
import type { Calls, CommitAnswer, Session, StoredChunk } from '../core/types.ts';
import type { CommitPoller } from './commit-poller.ts';
import type { SessionParts, UploadSession } from './upload-session.ts';

/** First delay and longest delay before the commit is repeated, in milliseconds. Used if the response has no `Retry-After`. */
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 15_000;
/** Minimum delay in milliseconds. After `Retry-After: 0`, the page would otherwise repeat the commit without a delay. */
const SHORTEST_PAUSE_MS = 500;
/** After each timeout, the next commit gets this part of the first timeout more. */
const MORE_PATIENCE = 0.5;

export interface CommitParts extends Pick<SessionParts, 'retrying' | 'signal'> {
  readonly calls: Calls;
  /** Returns a signal that aborts when the network may have changed. The commit is then repeated immediately. */
  readonly connectionChange: () => AbortSignal;
  /** Time in which the service has to complete a commit that it has accepted, or to which it does not respond, in milliseconds. */
  readonly commitDeadlineMs: number;
  /** The accepted commits of this service that are repeated. */
  readonly poller: CommitPoller;
  /** Called for each 202 response (accepted, but not complete). */
  readonly onAccepted: () => void;
}

/** Thrown out of the retries of a commit whose time is over. */
class Overdue {}

const isTimeout = (error: unknown): boolean => error instanceof UploaderError && error.code === 'timeout';

/**
 * Resolves with the final response; `missing` lists the hashes of chunks to send again. Repeats the commit while the service
 * responds with 202 or not in time. After `commitDeadlineMs`, rejects with `timeout` at the next 202, and at the next commit
 * without a response that was sent after that time. The time counts from the first 202, also if that came in an earlier run, or
 * from the first commit without a response.
 */
export async function commit(
  session: UploadSession,
  chunks: readonly StoredChunk[],
  parts: CommitParts,
  fileHash?: string | undefined,
): Promise<CommitAnswer> {
  const { commitDeadlineMs, poller, signal } = parts;
  const { commit: call } = parts.calls;
  if (!call) return { missing: [] };
  const proof = {
    hashes: chunks.map((chunk) => chunk.hash),
    receipts: chunks.map((chunk) => chunk.receipt),
    fileHash,
  };
  let deadline: { readonly sinceMs: number; readonly endsMs: number } | undefined;
  /** Returns the time left. Measured with a clock that no one sets, as far as possible. */
  const leftMs = (): number => {
    const { state } = session;
    if (!('sinceMs' in state)) return commitDeadlineMs;
    const { sinceMs } = state;
    const nowMs = performance.now();
    // The time since an earlier run is at least 0, even if the clock was set back.
    if (deadline?.sinceMs !== sinceMs)
      deadline = { sinceMs, endsMs: nowMs + commitDeadlineMs - Math.max(0, Date.now() - sinceMs) };
    return deadline.endsMs - nowMs;
  };
  let patience = 1;
  const send = (handle: Session): Promise<CommitAnswer> =>
    parts.retrying(async () => {
      // The machine may sleep while it waits for a response. The service is then asked once more.
      const isLast = leftMs() <= 0;
      let isSent = false;
      const once = (mark: () => Promise<void>) => {
        const onSend = async (): Promise<void> => {
          await mark();
          isSent = true;
        };
        return call(handle, proof, signal, { patience, onSend });
      };
      try {
        return await session.commit(once, chunks, fileHash);
      } catch (error) {
        if (!isSent || !isTimeout(error)) throw error;
        if (isLast) throw new Overdue();
        patience += MORE_PATIENCE;
        throw error;
      }
    }, signal);
  /** A session that can be used for a presign request is not gone: otherwise, all bytes would be sent again. */
  const isKnown = async (handle: Session): Promise<boolean> => {
    const asked = chunks.slice(0, 1);
    if (asked.length === 0) return false;
    try {
      await parts.retrying(() => parts.calls.presign(handle, asked, signal), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UploaderError)) throw error;
      return !codeFacts(error.code).endsSession && error.code !== 'forbidden';
    }
    return true;
  };
  try {
    let isRepeated = session.state.phase === 'accepted';
    if (isRepeated) await poller.turn(0, signal, parts.connectionChange());
    for (let pauseMs = FIRST_PAUSE_MS; ; isRepeated = true) {
      const answer = await session.ask(send, signal, isKnown);
      if (isRepeated) poller.onAnswer(!answer.pending);
      if (!answer.pending) return answer;
      parts.onAccepted();
      if (leftMs() <= 0) throw new Overdue();
      const waitMs = Math.max(answer.pending.retryAfterMs ?? pauseMs, SHORTEST_PAUSE_MS);
      await poller.turn(Math.min(waitMs, leftMs()), signal, parts.connectionChange());
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  } catch (error) {
    if (!(error instanceof Overdue)) throw error;
    session.onOverdue();
    throw new UploaderError('timeout', 'Commit timed out');
  }
}
