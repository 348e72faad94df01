// Everything that one run of a file needs: a scripted service, a store in memory, slots, and a log of reports.

import { isCallRetryable } from '../../src/core/error-codes.ts';
import { createHostBackoffs, HostBackoff, retrying } from '../../src/core/retries.ts';
import type { HashSlice, UploadRecord } from '../../src/core/types.ts';
import { ByteBudget } from '../../src/pipeline/hash.ts';
import type { OpenFile } from '../../src/pipeline/open.ts';
import { type RunParts, type RunResult, run } from '../../src/pipeline/run.ts';
import { sha256 } from './bytes.ts';
import { MemoryKeeper } from './memory-keeper.ts';
import { ScriptedService } from './scripted-service.ts';
import { SlotCounter } from './slot-counter.ts';

export const CHUNK_BYTES = 1000;
export const PAGE_BYTES = 10_000;
const policy = { attempts: 3, baseMs: 0, capMs: 0 };

/** Sets up a run of a file with chunks of 1,000 bytes. `start()` starts the run. */
export function setUpRun(file: File, given: Partial<RunParts> = {}) {
  const service = new ScriptedService();
  const keeper = new MemoryKeeper();
  const slots = new SlotCounter(2);
  const pagePool = { freeBytes: PAGE_BYTES };
  const controller = new AbortController();
  const reported: string[] = [];
  const reads: number[] = [];
  const hashSlice: HashSlice = async (slice, { keepBytes, signal }) => {
    reads.push(slice.size);
    const bytes = await slice.arrayBuffer();
    signal.throwIfAborted();
    const hash = await sha256(new Uint8Array(bytes));
    return keepBytes ? { hash, body: new Blob([bytes]) } : { hash };
  };
  const parts: RunParts = {
    calls: service.calls,
    put: service.put,
    store: keeper,
    file,
    policy,
    commitDeadlineMs: 3_600_000,
    accepted: { count: 0 },
    onAccepted: () => reported.push('accepted'),
    backoffOf: createHostBackoffs(),
    signal: controller.signal,
    connectionChange: () => new AbortController().signal,
    stallMs: () => 30_000,
    waitForBandwidth: async () => () => undefined,
    onMultiplexed: () => undefined,
    minChunkBytes: 2 ** 20,
    onSmallerChunks: (before, after) => reported.push(`chunks of ${after} after ${before}`),
    hashAlgorithm: 'sha-256',
    keepMs: 1000,
    isWatched: true,
    continueHash: undefined,
    width: 2,
    budget: new ByteBudget(pagePool),
    hasRecord: false,
    chunkSizeBytes: CHUNK_BYTES,
    fileName: () => file.name,
    batch: { max: 64 },
    eagerBytes: 2 ** 24,
    bytesPerSecond: () => 1e6,
    acquireSlot: slots.acquire,
    hashSlice,
    get isNew() {
      return keeper.records.size === 0;
    },
    cancel: async (session) => service.calls.cancel(session, controller.signal),
    identify: async () => ({ key: file.name, firstSliceHash: 'first' }),
    retrying: (call, signal) =>
      retrying(call, { policy, backoff: new HostBackoff(), signal, isWorthRetrying: isCallRetryable }),
    onOpened: (chunks) => reported.push(`opened ${chunks.length}`),
    onSession: ({ sessionId }) => reported.push(sessionId),
    onHashed: ({ index }) => reported.push(`hashed ${index}`),
    onPut: ({ index }) => reported.push(`put ${index}`),
    onStored: ({ index, skipped }) => reported.push(`${skipped ? 'skipped' : 'stored'} ${index}`),
    onCommit: () => reported.push('commit'),
    onSent: () => undefined,
    onWait: () => undefined,
    onOffline: () => undefined,
    ...given,
  };
  const open: OpenFile = { file, body: file, name: file.name, relativePath: file.name, parentId: 'folder-a' };
  const start = (): Promise<RunResult> => run(open, parts);
  return { controller, keeper, slots, open, pagePool, parts, reads, service, start, reported };
}

/** Returns the hashes of a file's chunks. */
export const hashesOf = (file: Blob): Promise<string[]> =>
  Promise.all(
    Array.from({ length: Math.ceil(file.size / CHUNK_BYTES) }, (_, at) =>
      sha256(file.slice(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES)),
    ),
  );

/** Returns a record of an earlier visit in which the chunks at `storedIndexes` are stored. */
export async function recordOf(file: File, storedIndexes: readonly number[]): Promise<UploadRecord> {
  const hashes = await hashesOf(file);
  const session = { sessionId: 'session-before', header: 'header-before' };
  return {
    key: file.name,
    name: file.name,
    relativePath: file.name,
    sizeBytes: file.size,
    lastModifiedMs: file.lastModified,
    type: file.type,
    parentId: 'folder-a',
    firstSliceHash: 'first',
    chunkSizeBytes: CHUNK_BYTES,
    hashAlgorithm: 'sha-256',
    session,
    createdAtMs: Date.now(),
    stored: new Map(
      storedIndexes.map((at) => [at, { hash: hashes[at] as string, receipt: `of before ${at}` }]),
    ),
  };
}
