// All that one run of a file needs around it: a scripted service, a store in memory, lanes, and a log of what is told.

import type { UploadRecord } from '../../src/core/types.ts';
import { Gate, retrying } from '../../src/core/wait.ts';
import { createGates } from '../../src/engine/gates.ts';
import { ByteBudget } from '../../src/pipeline/hash.ts';
import type { OpenFile } from '../../src/pipeline/open.ts';
import { type RunParts, type RunResult, run } from '../../src/pipeline/run.ts';
import { Claims } from '../../src/pipeline/upload.ts';
import { isCallWorthRetrying } from '../../src/service/client.ts';
import { sha256 } from './bytes.ts';
import { LaneCounter } from './lane-counter.ts';
import { MemoryKeeper } from './memory-keeper.ts';
import { ScriptedService } from './scripted-service.ts';

export const CHUNK_BYTES = 1000;
export const PAGE_BYTES = 10_000;
const policy = { attempts: 3, baseMs: 0, capMs: 0 };

/** Sets up a run of a file in chunks of 1,000 bytes; `start()` starts it. */
export function setUpRun(file: File, given: Partial<RunParts> = {}) {
  const service = new ScriptedService();
  const keeper = new MemoryKeeper();
  const lanes = new LaneCounter(2);
  const pagePool = { freeBytes: PAGE_BYTES };
  const controller = new AbortController();
  const told: string[] = [];
  const reads: number[] = [];
  const parts: RunParts = {
    calls: service.calls,
    put: service.put,
    store: keeper,
    file,
    claims: new Claims(),
    policy,
    gateOf: createGates(),
    signal: controller.signal,
    lineChange: () => new AbortController().signal,
    stallMs: () => 30_000,
    mayMove: async () => () => undefined,
    onMultiplexed: () => undefined,
    hashAlgorithm: 'sha-256',
    isWatched: true,
    width: 2,
    budget: new ByteBudget(pagePool),
    chunkSizeBytes: CHUNK_BYTES,
    fileName: () => file.name,
    batch: { limit: 1, max: 64 },
    eagerBytes: 2 ** 24,
    bytesPerSecond: () => 1e6,
    hasIdleLane: () => false,
    acquireLane: lanes.acquire,
    hashSlice: async (slice, { keepBytes, signal }) => {
      reads.push(slice.size);
      const bytes = await slice.arrayBuffer();
      signal.throwIfAborted();
      const hash = await sha256(new Uint8Array(bytes));
      return keepBytes ? { hash, body: new Blob([bytes]) } : { hash };
    },
    identify: async () => ({ key: file.name, firstSliceHash: 'first' }),
    retrying: (call, signal) =>
      retrying(call, { policy, gate: new Gate(), signal, isWorthRetrying: isCallWorthRetrying }),
    onOpened: (chunks) => told.push(`opened ${chunks.length}`),
    onSession: ({ sessionId }) => told.push(sessionId),
    onHashed: ({ index }) => told.push(`hashed ${index}`),
    onPut: ({ index }) => told.push(`put ${index}`),
    onStored: ({ index, skipped }) => told.push(`${skipped ? 'skipped' : 'stored'} ${index}`),
    onCommit: () => told.push('commit'),
    onSent: () => undefined,
    onWait: () => undefined,
    onOffline: () => undefined,
    ...given,
  };
  const open: OpenFile = { file, name: file.name, relativePath: file.name, parentId: 'folder-a' };
  const start = (): Promise<RunResult> => run(open, parts);
  return { controller, keeper, lanes, open, pagePool, parts, reads, service, start, told };
}

/** The hashes of a file's chunks. */
export const hashesOf = (file: Blob): Promise<string[]> =>
  Promise.all(
    Array.from({ length: Math.ceil(file.size / CHUNK_BYTES) }, (_, at) =>
      sha256(file.slice(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES)),
    ),
  );

/** A record as an earlier visit left it, with these chunks stored. */
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
