// What is told of a file when it is done.

import type { CompletedDetail } from '../core/changes.ts';
import type { RunResult } from '../pipeline/run.ts';
import type { Row } from './row.ts';

export function completedOf(row: Row, { session, chunks, body }: RunResult): CompletedDetail {
  const { id, name, relativePath, sizeBytes } = row;
  const { putBytes } = row.progress;
  return {
    id,
    name,
    relativePath,
    sizeBytes,
    chunks: Object.freeze(chunks.map(({ index, hash, receipt }) => Object.freeze({ index, hash, receipt }))),
    sentBytes: putBytes,
    skippedBytes: Math.max(0, sizeBytes - putBytes),
    durationMs: Date.now() - row.startedAtMs,
    ...(session.sessionId !== session.header && { sessionId: session.sessionId }),
    ...(body !== undefined && { commit: body }),
  };
}
