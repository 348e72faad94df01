// Everything that the upload stage needs: a scripted service, two slots and a memory budget that a test can inspect.

import { UploaderError } from '../../src/core/errors.ts';
import { createHostBackoffs } from '../../src/core/retries.ts';
import type { HashSlice, TicketedChunk } from '../../src/core/types.ts';
import { ByteBudget } from '../../src/pipeline/hash.ts';
import type { UploadParts } from '../../src/pipeline/upload.ts';
import { bytesOf, sha256 } from './bytes.ts';
import { ScriptedService } from './scripted-service.ts';
import { SlotCounter } from './slot-counter.ts';

/** Size in bytes of each chunk of `setUpSending`. */
export const CHUNK = 1000;

export const networkError = (): UploaderError => new UploaderError('network', 'no line');

/** Sets up the upload stage for a file with one chunk for each seed. Equal seeds give equal chunks. */
export async function setUpSending(
  seeds: readonly number[],
  given: Partial<UploadParts> & { service?: ScriptedService } = {},
) {
  const file = new Blob(seeds.map((seed) => bytesOf(seed, CHUNK)));
  const service = given.service ?? new ScriptedService();
  const slots = new SlotCounter(2);
  const pagePool = { freeBytes: 1e6 };
  const budget = new ByteBudget(pagePool);
  const controller = new AbortController();
  const reported: string[] = [];
  const renewed: number[] = [];
  const hashSlice: HashSlice = async (slice, { keepBytes }) => {
    reported.push('read');
    const hash = await sha256(slice);
    return keepBytes ? { hash, body: new Blob([await slice.arrayBuffer()]) } : { hash };
  };
  const parts: UploadParts = {
    file,
    budget,
    hashSlice,
    proven: { sizeBytes: 0 },
    acquireSlot: slots.acquire,
    put: service.put,
    renew: async ({ hash, index }) => {
      renewed.push(index);
      const ticket = service.tickets([hash]).get(hash);
      if (!ticket) throw new Error('a ticket for each hash');
      return ticket;
    },
    receipts: new Map(),
    policy: { attempts: 4, baseMs: 0, capMs: 0 },
    backoffOf: createHostBackoffs(),
    signal: controller.signal,
    giveUp: () => controller.abort('given up'),
    connectionChange: () => new AbortController().signal,
    stallMs: () => 30_000,
    waitForBandwidth: async () => () => undefined,
    onMultiplexed: () => undefined,
    minChunkBytes: 2 ** 20,
    onSent: ({ index }, sentBytes) => reported.push(`sent ${sentBytes} of ${index}`),
    onPut: ({ index }) => reported.push(`put ${index}`),
    onWait: () => reported.push('wait'),
    onOffline: () => undefined,
    ...given,
  };
  const ticketed = async (keepBytes = true): Promise<TicketedChunk[]> =>
    Promise.all(
      seeds.map(async (_, index) => {
        const slice = file.slice(index * CHUNK, (index + 1) * CHUNK);
        const hash = await sha256(slice);
        const ticket = service.tickets([hash]).get(hash);
        const body =
          keepBytes && budget.reserve(CHUNK) ? { body: new Blob([await slice.arrayBuffer()]) } : {};
        return {
          index,
          start: index * CHUNK,
          sizeBytes: CHUNK,
          hash,
          ...body,
          ...(ticket && { ticket }),
        } as TicketedChunk;
      }),
    );
  return { budget, controller, file, slots, pagePool, parts, renewed, service, ticketed, reported };
}
