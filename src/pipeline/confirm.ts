// Repeats a commit that the service accepted (202) in an earlier run. Needs only the record, not the file.

import type { ErrorCode } from '../core/errors.ts';
import type { CommitAnswer } from '../core/types.ts';
import { type CommitParts, commit } from './commit.ts';
import { plan } from './plan.ts';
import type { RunParts, RunResult } from './run.ts';
import { inSession, SessionLost } from './session-lost.ts';

export type ConfirmParts = Omit<CommitParts, 'saveAccepted'> &
  Pick<RunParts, 'onOpened' | 'onSession' | 'policy' | 'store'>;

/** Resolves with `undefined` if the file has to be uploaded again, because the record, the session or chunks are lost. */
export async function confirm(key: string, parts: ConfirmParts): Promise<RunResult | undefined> {
  const { calls, store } = parts;
  // `find` also takes the lock.
  const record = await store?.find(key);
  if (!store || !record?.session || record.acceptedAtMs === undefined) return undefined;
  const {
    acceptedAtMs,
    chunkSizeBytes,
    fileHash,
    session,
    sizeBytes,
    bodyBytes = sizeBytes,
    stored,
  } = record;
  const planned = plan(bodyBytes, chunkSizeBytes, stored);
  const chunks = planned.flatMap(({ recorded, ...chunk }) => (recorded ? [{ ...chunk, ...recorded }] : []));
  if (!calls.commit || chunks.length < planned.length) return undefined;
  const save = (atMs?: number): Promise<void> => store.save({ ...record, acceptedAtMs: atMs });
  parts.onSession(session);
  parts.onOpened(planned);
  parts.onAccepted();
  const known = { acceptedAtMs, fileHash };
  const send = (): Promise<CommitAnswer> => commit(session, chunks, { ...parts, saveAccepted: save }, known);
  const answer = await inSession(send, true, parts).catch(orGone);
  if (answer?.missing.length === 0) {
    store.remove(key).catch(() => undefined);
    return { session, chunks, fileHash, body: answer.body };
  }
  await save();
  return undefined;
}

const OF_A_LOST_SESSION: readonly ErrorCode[] = ['session-expired', 'name-taken'];

function orGone(error: unknown): undefined {
  if (!(error instanceof SessionLost)) throw error;
  if (!OF_A_LOST_SESSION.includes(error.cause.code)) throw error.cause;
}
