// Repeats a commit that the service accepted (202) in an earlier run, or did not answer. Needs only the record, not the file.

import { type CommitParts, commit } from './commit.ts';
import { plan } from './plan.ts';
import type { RunParts, RunResult } from './run.ts';
import { type SessionParts, UploadSession } from './upload-session.ts';

export type ConfirmParts = CommitParts & SessionParts & Pick<RunParts, 'onCommit' | 'onOpened'>;

/** Resolves with `undefined` if the file has to be uploaded again, because the record or chunks are lost. */
export async function confirm(key: string, parts: ConfirmParts): Promise<RunResult | undefined> {
  const { calls, store } = parts;
  // `find` also takes the lock.
  const record = await store?.find(key);
  if (!store || !record) return undefined;
  const { chunkSizeBytes, fileHash, sizeBytes, bodyBytes = sizeBytes, stored } = record;
  const session = new UploadSession(parts, chunkSizeBytes);
  session.identify(record);
  session.resume(record, stored);
  const { state } = session;
  if (state.phase !== 'accepted' && state.phase !== 'unsure') return undefined;
  const planned = plan(bodyBytes, chunkSizeBytes, stored);
  const chunks = planned.flatMap(({ recorded, ...chunk }) => (recorded ? [{ ...chunk, ...recorded }] : []));
  if (!calls.commit || chunks.length < planned.length) return undefined;
  parts.onOpened(planned);
  if (state.phase === 'accepted') parts.onAccepted();
  else parts.onCommit();
  const { missing, body } = await commit(session, chunks, parts, fileHash);
  if (missing.length > 0) return undefined;
  void session.forget();
  return { session: state.session, chunks, fileHash, body };
}
