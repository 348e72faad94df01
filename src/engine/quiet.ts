// Reports what an upload waits for while nothing of it moves.

import { sleep } from '../core/wait.ts';
import type { SlotUser } from './transfer/upload-slots.ts';

interface Quiet {
  /** Time in which the upload has neither sent a byte nor got or released a slot, in milliseconds. */
  readonly quietMs: number;
  readonly signal: AbortSignal;
  readonly isWaiting: () => boolean;
  readonly report: () => void;
}

/**
 * Returns a function to call when a wait begins. While `isWaiting()`, `report` is called whenever nothing of the upload has moved
 * for `quietMs`: other requests of the upload may move during the wait, and hide it.
 */
export function reportWhileQuiet(
  upload: Pick<SlotUser, 'usedSlotMs'>,
  { quietMs, signal, isWaiting, report }: Quiet,
): () => void {
  let isWatching = false;
  async function watch(): Promise<void> {
    isWatching = true;
    try {
      while (isWaiting()) {
        const leftMs = quietMs - (performance.now() - upload.usedSlotMs);
        if (leftMs <= 0) report();
        await sleep(leftMs > 0 ? leftMs : quietMs, signal);
      }
    } catch {
      // The run has ended.
    } finally {
      isWatching = false;
    }
  }
  return () => {
    if (!isWatching) void watch();
  };
}
