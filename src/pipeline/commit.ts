// Commits the upload with the hashes and receipts of all chunks. Without `commitPath` it does nothing.

import type { Calls, Session, StoredChunk } from '../core/types.ts';

export interface CommitParts {
  readonly calls: Calls;
  readonly signal: AbortSignal;
  readonly retrying: <T>(call: () => Promise<T>, signal: AbortSignal) => Promise<T>;
}

/** Resolves with the answer; `missing` are hashes that have to be sent again. */
export async function commit(
  session: Session,
  chunks: readonly StoredChunk[],
  { calls, signal, retrying }: CommitParts,
): Promise<{ readonly missing: readonly string[]; readonly body?: unknown }> {
  const { commit: call } = calls;
  if (!call) return { missing: [] };
  const proof = { hashes: chunks.map((chunk) => chunk.hash), receipts: chunks.map((chunk) => chunk.receipt) };
  return retrying(() => call(session, proof, signal), signal);
}
