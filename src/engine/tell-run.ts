// What a run tells on its way, turned into the numbers of its row and what everybody else hears. It starts and ends nothing.

import type { RunParts } from '../pipeline/run.ts';
import type { Row } from './row.ts';
import type { Shared } from './shared.ts';
import { waitsFor } from './sign-in-waits.ts';

type Told = 'onOpened' | 'onHashed' | 'onPut' | 'onMultiplexed' | 'onSent' | 'onStored' | 'onCommit';

export function tellRun(row: Row, { lanes, report, touch }: Shared): Pick<RunParts, Told> {
  const { connection, progress } = row;
  const begunMs = new Map<number, number>();
  /** Chunks that are only checked, since they are recorded as stored: they want no lane. */
  let claimed: ReadonlySet<number> = new Set();
  return {
    onOpened: (chunks) => {
      const resumedBytes = progress.begin(chunks);
      claimed = new Set(chunks.flatMap(({ claim, index }) => (claim ? [index] : [])));
      row.unsentCount = chunks.length - claimed.size;
      report({ name: 'upload-started', detail: { id: row.id, chunkCount: chunks.length, resumedBytes } });
      row.tellProgress();
      const reason = waitsFor(connection.auth.snapshot);
      if (reason) row.wait(reason);
    },
    onHashed: (chunk) => {
      progress.onHashed(chunk);
      report({
        name: 'chunk-hashed',
        detail: { id: row.id, index: chunk.index, hash: chunk.hash, sizeBytes: chunk.sizeBytes },
      });
      touch(row);
    },
    onPut: ({ index }) => {
      begunMs.set(index, performance.now());
      row.moveTo('uploading');
    },
    onMultiplexed: () => lanes.multiplex(),
    onSent: (chunk, sentBytes) => {
      lanes.onMoved(progress.onSent(chunk, sentBytes));
      touch(row);
    },
    onStored: (chunk) => {
      const { hash, index, receipt, sizeBytes, skipped = false } = chunk;
      progress.onStored(chunk);
      if (!claimed.has(index)) row.unsentCount -= 1;
      lanes.onStored(performance.now() - (begunMs.get(index) ?? Number.NEGATIVE_INFINITY));
      begunMs.delete(index);
      report({ name: 'chunk-uploaded', detail: { id: row.id, index, hash, receipt, sizeBytes, skipped } });
      touch(row);
    },
    onCommit: () => {
      if (connection.calls.commit) row.moveTo('committing');
    },
  };
}
