// Everything that one run of a file, or its upload stage alone, needs: a scripted service, a store in memory, slots, and a log of
// reports.

import { isCallRetryable } from '../../src/core/error-codes.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { createHosts, Host } from '../../src/core/host.ts';
import { retrying } from '../../src/core/retries.ts';
import type { HashSlice, Ticket, TicketedChunk, UploadRecord } from '../../src/core/types.ts';
import { stallMs } from '../../src/engine/transfer/connection-monitor.ts';
import { createBodies } from '../../src/pipeline/bodies.ts';
import { CommitPoller } from '../../src/pipeline/commit-poller.ts';
import { ByteBudget } from '../../src/pipeline/hash.ts';
import type { OpenFile } from '../../src/pipeline/open.ts';
import { RUN_DEFAULTS, type RunParts, type RunResult, run } from '../../src/pipeline/run.ts';
import type { UploadParts } from '../../src/pipeline/upload.ts';
import { bytesOf, sha256 } from './bytes.ts';
import { MemoryKeeper } from './memory-keeper.ts';
import { ScriptedService } from './scripted-service.ts';
import { SlotCounter } from './slot-counter.ts';

export const CHUNK_BYTES = 1000;
export const PAGE_BYTES = 10_000;
const policy = { attempts: 3, baseMs: 0, capMs: 0 };

/** What the page of a run has. */
interface RunPage {
  readonly service?: ScriptedService;
  readonly pageBytes?: number;
}

/** Sets up a run of a file with chunks of 1,000 bytes. `start()` starts the run. */
export function setUpRun(
  file: File,
  given: Partial<RunParts> = {},
  { service = new ScriptedService(), pageBytes = PAGE_BYTES }: RunPage = {},
) {
  const keeper = new MemoryKeeper();
  const slots = new SlotCounter(2);
  const pagePool = { freeBytes: pageBytes };
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
    ...RUN_DEFAULTS,
    ...createBodies(hashSlice, false),
    calls: service.calls,
    put: service.put,
    store: keeper,
    file,
    policy,
    poller: new CommitPoller(),
    onAccepted: () => reported.push('accepted'),
    hostOf: createHosts(),
    signal: controller.signal,
    connectionChange: () => new AbortController().signal,
    stallMs: (sizeBytes) => stallMs(sizeBytes, 0),
    waitForBandwidth: async () => () => undefined,
    onSmallerChunks: (before, after) => reported.push(`chunks of ${after} after ${before}`),
    hashAlgorithm: 'sha-256',
    keepMs: 1000,
    isWatched: true,
    continueHash: undefined,
    width: 2,
    budget: new ByteBudget(pagePool),
    hasRecord: false,
    chunkSizeBytes: CHUNK_BYTES,
    chunkSizeIn: (_session, lostBytes) => lostBytes ?? parts.chunkSizeBytes,
    isSizeUpToSession: false,
    fileName: () => file.name,
    batch: { max: 64 },
    bytesPerSecond: () => 1e6,
    acquireSlot: slots.acquire,
    order: () => 0,
    slowDown: () => undefined,
    get isNew() {
      return keeper.records.size === 0;
    },
    cancel: async (session) => service.calls.cancel(session, controller.signal),
    identify: async () => ({ key: file.name, firstSliceHash: 'first' }),
    onEarlyFailure: () => undefined,
    retrying: (call, signal, first) =>
      retrying(
        call,
        { policy, backoff: new Host().backoff, signal, isWorthRetrying: isCallRetryable },
        first,
      ),
    onOpened: (chunks) => reported.push(`opened ${chunks.length}`),
    onSession: ({ session: { sessionId } = { sessionId: 'none' } }) => {
      if (reported.findLast((line) => line.startsWith('session')) !== sessionId) reported.push(sessionId);
    },
    onRecovered: () => undefined,
    onHashed: ({ index }) => reported.push(`hashed ${index}`),
    onPut: ({ index }) => reported.push(`put ${index}`),
    onStored: ({ index, skipped }) => reported.push(`${skipped ? 'skipped' : 'stored'} ${index}`),
    onCommit: () => reported.push('commit'),
    onSent: () => undefined,
    onWait: () => undefined,
    onCallWait: () => undefined,
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

export const networkError = (): UploaderError => new UploaderError('network', 'no line');

/** Sets up the upload stage of a run of a file with one chunk for each seed. Equal seeds give equal chunks. */
export async function setUpSending(
  seeds: readonly number[],
  { service: givenService, ...given }: Partial<UploadParts> & Pick<RunPage, 'service'> = {},
) {
  const file = new File(
    seeds.map((seed) => bytesOf(seed, CHUNK_BYTES)),
    'a.bin',
  );
  const page = { pageBytes: 1e6, ...(givenService && { service: givenService }) };
  const run = setUpRun(file, { policy: { attempts: 4, baseMs: 0, capMs: 0 } }, page);
  const { controller, reported, service } = run;
  const { budget } = run.parts;
  const renewed: number[] = [];
  const ticketOf = (hash: string): Ticket => {
    const ticket = service.tickets([hash]).get(hash);
    if (!ticket) throw new Error('a ticket for each hash');
    return ticket;
  };
  const parts: UploadParts = {
    ...run.parts,
    canHalve: (sizeBytes) => sizeBytes > run.parts.minChunkBytes,
    proven: { sizeBytes: 0 },
    receipts: new Map(),
    renew: async ({ hash, index }) => {
      renewed.push(index);
      return ticketOf(hash);
    },
    giveUp: () => controller.abort('given up'),
    onSent: ({ index }, sentBytes) => reported.push(`sent ${sentBytes} of ${index}`),
    onWait: () => reported.push('wait'),
    ...given,
  };
  const ticketed = async (keepBytes = true): Promise<TicketedChunk[]> =>
    Promise.all(
      seeds.map(async (_, index) => {
        const start = index * CHUNK_BYTES;
        const slice = file.slice(start, start + CHUNK_BYTES);
        const hash = await sha256(slice);
        const ticket = ticketOf(hash);
        const isKept = keepBytes && budget.reserve(CHUNK_BYTES);
        return {
          index,
          start,
          sizeBytes: CHUNK_BYTES,
          hash,
          ...(isKept && { body: new Blob([await slice.arrayBuffer()]) }),
          ticket,
        };
      }),
    );
  return { ...run, budget, file, parts, renewed, ticketed };
}
