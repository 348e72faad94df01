// Last stage of the pipeline: commits the upload with the hashes and receipts of all chunks. Does nothing without `commitPath`.

import { UploaderError } from '../core/errors.ts';
import type { Calls, CommitAnswer, Session, StoredChunk } from '../core/types.ts';
import { sleepUntil } from '../core/wait.ts';

/** First delay and longest delay before the commit is repeated, in milliseconds. Used if the response has no `Retry-After`. */
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 15_000;
/** Minimum delay in milliseconds. After `Retry-After: 0`, the page would otherwise repeat the commit without a delay. */
const SHORTEST_PAUSE_MS = 500;
/** Minimum time between two repeated commits of one service, in milliseconds, on average. */
const SPACING_MS = 200;

export interface CommitParts {
  readonly calls: Calls;
  readonly signal: AbortSignal;
  readonly retrying: <T>(call: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  /** Returns a signal that aborts when the network may have changed. The commit is then repeated immediately. */
  readonly connectionChange: () => AbortSignal;
  /** Time in which the service has to complete an accepted commit, in milliseconds. */
  readonly commitDeadlineMs: number;
  /** Number of accepted commits of this service that are repeated now. */
  readonly accepted: { count: number };
  /** Called for each 202 response (accepted, but not complete). */
  readonly onAccepted: () => void;
  /** Saves the time when the commit was accepted. Called again at the deadline, so that a retry has the full time again. */
  readonly saveAccepted: (atMs: number) => unknown;
}

/**
 * Resolves with the final response; `missing` lists the hashes of chunks to send again. Repeats the commit while the service
 * responds with 202. Rejects with `timeout` after `commitDeadlineMs`. If an earlier run got the first 202, the deadline counts from
 * `acceptedAtMs`.
 */
export async function commit(
  session: Session,
  chunks: readonly StoredChunk[],
  parts: CommitParts,
  { acceptedAtMs, fileHash }: { acceptedAtMs?: number | undefined; fileHash?: string | undefined } = {},
): Promise<CommitAnswer> {
  const { signal } = parts;
  const { commit: call } = parts.calls;
  if (!call) return { missing: [] };
  const proof = {
    hashes: chunks.map((chunk) => chunk.hash),
    receipts: chunks.map((chunk) => chunk.receipt),
    fileHash,
  };
  let endsMs: number | undefined;
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const answer = await parts.retrying(() => call(session, proof, signal), signal);
      if (!answer.pending) return answer;
      const nowMs = performance.now();
      const dateMs = Date.now();
      parts.onAccepted();
      if (endsMs === undefined) parts.accepted.count += 1;
      // The time since the earlier run is at least 0, even if the clock was set back.
      endsMs ??= nowMs + parts.commitDeadlineMs - Math.max(0, dateMs - (acceptedAtMs ?? dateMs));
      const isOver = nowMs >= endsMs;
      if (isOver || acceptedAtMs === undefined) parts.saveAccepted(dateMs);
      if (isOver) throw new UploaderError('timeout', 'Commit timed out');
      acceptedAtMs ??= dateMs;
      const spacedMs = parts.accepted.count * SPACING_MS;
      const waitMs = Math.max(answer.pending.retryAfterMs ?? pauseMs, SHORTEST_PAUSE_MS, spacedMs);
      const change = spacedMs > LONGEST_PAUSE_MS ? signal : parts.connectionChange();
      await sleepUntil(Math.min(waitMs, endsMs - nowMs), signal, change);
    }
  } finally {
    if (endsMs !== undefined) parts.accepted.count -= 1;
  }
}
