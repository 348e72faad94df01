// Commits the upload with the hashes and receipts of all chunks. Without `commitPath` it does nothing.

import { UploaderError } from '../core/errors.ts';
import type { Calls, CommitAnswer, Session, StoredChunk } from '../core/types.ts';
import { sleepUntil } from '../core/wait.ts';

/** Pauses before the commit is repeated, ms, if the answer has no `Retry-After`. */
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 15_000;
/** A `Retry-After` of 0 must not make the page send calls without a pause. */
const SHORTEST_PAUSE_MS = 500;

export interface CommitParts {
  readonly calls: Calls;
  readonly signal: AbortSignal;
  readonly retrying: <T>(call: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  /** Returns a signal that aborts when the network changes. */
  readonly connectionChange: () => AbortSignal;
  /** How long the service may take to complete an accepted commit, ms. */
  readonly commitDeadlineMs: number;
  /** Called for each answer that the commit is accepted (202). */
  readonly onAccepted: () => void;
  /** Saves that the commit was accepted. Called again at the deadline, since a retry has the whole time again. */
  readonly saveAccepted: (atMs: number) => unknown;
}

/**
 * Resolves with the final answer; `missing` are hashes that have to be sent again. An answer that is pending (202) is not final:
 * the commit is repeated. `acceptedAtMs` is when an earlier run saved the first of these. Rejects with `timeout` after the
 * deadline.
 */
export async function commit(
  session: Session,
  chunks: readonly StoredChunk[],
  parts: CommitParts,
  acceptedAtMs?: number,
): Promise<CommitAnswer> {
  const { signal } = parts;
  const { commit: call } = parts.calls;
  if (!call) return { missing: [] };
  const proof = { hashes: chunks.map((chunk) => chunk.hash), receipts: chunks.map((chunk) => chunk.receipt) };
  let endsMs: number | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const answer = await parts.retrying(() => call(session, proof, signal), signal);
    if (!answer.pending) return answer;
    const nowMs = performance.now();
    const dateMs = Date.now();
    parts.onAccepted();
    // The clock of the device may have been set back since an earlier run.
    endsMs ??= nowMs + parts.commitDeadlineMs - Math.max(0, dateMs - (acceptedAtMs ?? dateMs));
    const isOver = nowMs >= endsMs;
    if (isOver || acceptedAtMs === undefined) parts.saveAccepted(dateMs);
    if (isOver) throw new UploaderError('timeout', 'the accepted commit was not completed in time');
    acceptedAtMs ??= dateMs;
    const waitMs = Math.max(answer.pending.retryAfterMs ?? pauseMs, SHORTEST_PAUSE_MS);
    await sleepUntil(Math.min(waitMs, endsMs - nowMs), signal, parts.connectionChange());
  }
}
