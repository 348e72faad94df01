// Repeats the commit of an upload that the service has accepted (202). It needs the record, not the file.

import { UploaderError } from '../core/errors.ts';
import type { StoredChunk, UploadRecord } from '../core/types.ts';
import { commit } from './commit.ts';
import { plan } from './plan.ts';
import type { RunParts, RunResult } from './run.ts';

export type ConfirmParts = Pick<
  RunParts,
  | 'calls'
  | 'signal'
  | 'retrying'
  | 'connectionChange'
  | 'commitDeadlineMs'
  | 'onAccepted'
  | 'onOpened'
  | 'onSession'
  | 'store'
>;

/** Resolves with `undefined` if the file has to be uploaded again: the record, the session or chunks are gone. */
export async function confirm(key: string, parts: ConfirmParts): Promise<RunResult | undefined> {
  const { calls, store } = parts;
  // Takes the lock.
  const record = await store?.find(key);
  const chunks = record && storedChunksOf(record);
  if (!store || !calls.commit || !chunks || !record?.session) return undefined;
  const { acceptedAtMs, session } = record;
  const save = (atMs: number | undefined): Promise<void> => store.save({ ...record, acceptedAtMs: atMs });
  parts.onSession(session);
  parts.onOpened(plan(record.sizeBytes, record.chunkSizeBytes, record.stored));
  parts.onAccepted();
  const saveAccepted = (atMs: number): void => void save(atMs);
  const answer = await commit(session, chunks, { ...parts, saveAccepted }, acceptedAtMs).catch(orGone);
  if (answer?.missing.length !== 0) {
    await save(undefined);
    return undefined;
  }
  store.remove(key).catch(() => undefined);
  return { session, chunks, body: answer.body };
}

/** In chunk order; `undefined` if one is missing. */
function storedChunksOf({ acceptedAtMs, ...record }: UploadRecord): StoredChunk[] | undefined {
  if (acceptedAtMs === undefined) return undefined;
  const chunks = plan(record.sizeBytes, record.chunkSizeBytes, record.stored);
  const stored = chunks.flatMap(({ recorded, ...chunk }) =>
    recorded ? [{ ...chunk, ...recorded, skipped: true }] : [],
  );
  return stored.length === chunks.length ? stored : undefined;
}

function orGone(error: unknown): undefined {
  if (!(error instanceof UploaderError) || error.code !== 'session-expired') throw error;
}
