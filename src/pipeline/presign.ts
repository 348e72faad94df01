// Requests tickets in batches: first for one chunk, so that sending starts soon, then for twice as many each time, and the next
// batch while the last one is being sent.

import { UploaderError } from '../core/errors.ts';
import { readAhead, withLulls } from '../core/streams.ts';
import type { HashedChunk, Ticket, TicketedChunk, TicketUpload } from '../core/types.ts';

/** Resolves with tickets by hash. Rejects with `UploaderError`. */
export type Ask = (chunks: readonly HashedChunk[]) => Promise<ReadonlyMap<string, Ticket>>;

export interface PresignParts {
  readonly ask: Ask;
  /** On a fast connection a batch with this many bytes is full: with more, bodies would leave the memory and be read again. */
  readonly eagerBytes: number;
  /** Rate of all slots together; `undefined` until measured. */
  readonly bytesPerSecond: () => number | undefined;
  readonly hasIdleSlot: () => boolean;
  /** The receipt of a hash that this run has stored already. */
  readonly receiptOf: (hash: string) => string | undefined;
  /** How many chunks a batch may have now and at most, and the lifetime of tickets. Kept between the rounds of a run. */
  readonly batch: { limit: number; max: number; ticketLifeMs?: number };
}

/** At a higher rate, reading a chunk twice costs more than another call. */
const FAST_LINE_BYTES_PER_SECOND = 32e6;
/** Assumed lifetime of a ticket without one. */
const TICKET_LIFE_MS = 300_000;

/** Adds `ticket`, except to chunks with a receipt. Equal chunks of a batch are requested once. */
export async function* presign(
  chunks: AsyncIterable<HashedChunk>,
  parts: PresignParts,
): AsyncGenerator<TicketedChunk, void, undefined> {
  let isWaitedFor = false;
  const isStarving = (): boolean => isWaitedFor && parts.hasIdleSlot();
  const batches = askEach(gather(chunks, parts, isStarving), parts);
  for await (const batch of readAhead(batches, 1, (hungry) => {
    isWaitedFor = hungry;
  })) {
    let waiting = batch;
    for (;;) {
      // The tickets behind it are no younger.
      if (isStale(waiting[0]?.ticket)) waiting = await fill(waiting, parts);
      const chunk = waiting.shift();
      if (!chunk) break;
      yield chunk;
    }
  }
}

/** An upload URL is stale when less than 30 s, and less than a fifth of its lifetime, is left. */
const LIFE_PART = 5;
const LIFE_LEFT_MS = 30_000;

/** True if the upload URL expires too soon to be used. */
export function isStale(ticket: Ticket | undefined, nowMs: number = performance.now()): boolean {
  const upload = ticket?.upload;
  if (upload?.expiresAtMs === undefined) return false;
  return upload.expiresAtMs - nowMs < Math.min(LIFE_LEFT_MS, lifeMs(upload, nowMs) / LIFE_PART);
}

const lifeMs = ({ expiresAtMs = 0, receivedAtMs }: TicketUpload, nowMs: number): number =>
  Math.max(0, expiresAtMs - (receivedAtMs ?? nowMs));

async function* gather(
  chunks: AsyncIterable<HashedChunk>,
  { batch, bytesPerSecond, eagerBytes, receiptOf }: PresignParts,
  isStarving: () => boolean,
): AsyncGenerator<HashedChunk[], void, undefined> {
  let gathered: HashedChunk[] = [];
  let bytes = 0;
  const take = (): HashedChunk[] => {
    const taken = gathered;
    gathered = [];
    bytes = 0;
    return taken;
  };
  /**
   * A batch is full with the bytes that can be sent in half the lifetime of a ticket, and on a fast connection with `eagerBytes`.
   */
  const maxBytes = (): number => {
    // The rate is undefined or 0 until bytes were sent.
    const rate = bytesPerSecond() || Number.POSITIVE_INFINITY;
    const inTimeBytes = (rate / 1000) * ((batch.ticketLifeMs ?? TICKET_LIFE_MS) / 2);
    return rate > FAST_LINE_BYTES_PER_SECOND ? Math.min(eagerBytes, inTimeBytes) : inTimeBytes;
  };
  for await (const chunk of withLulls(chunks)) {
    const receipt = chunk && (chunk.receipt ?? receiptOf(chunk.hash));
    // Chunks that have to be sent do not wait while recorded chunks are read.
    if (gathered.length > 0 && (chunk ? chunk.receipt !== undefined : isStarving())) yield take();
    if (!chunk) continue;
    if (receipt !== undefined) {
      yield [{ ...chunk, receipt, skipped: true }];
      continue;
    }
    gathered.push(chunk);
    bytes += chunk.sizeBytes;
    if (gathered.length < batch.limit && bytes < maxBytes()) continue;
    yield take();
    batch.limit = Math.min(batch.limit * 2, batch.max);
  }
  if (gathered.length > 0) yield gathered;
}

async function* askEach(
  batches: AsyncIterable<HashedChunk[]>,
  parts: PresignParts,
): AsyncGenerator<TicketedChunk[], void, undefined> {
  for await (const batch of batches) yield await fill(batch, parts);
}

const hasReceipt = (chunk: HashedChunk): chunk is TicketedChunk => chunk.receipt !== undefined;

async function fill(batch: readonly HashedChunk[], parts: PresignParts): Promise<TicketedChunk[]> {
  if (batch.every(hasReceipt)) return [...batch];
  const unique = [
    ...new Map(batch.filter((chunk) => !hasReceipt(chunk)).map((chunk) => [chunk.hash, chunk])).values(),
  ];
  const tickets = await askInParts(unique, parts);
  noteLife(tickets, parts);
  return batch.map((chunk) => (hasReceipt(chunk) ? chunk : { ...chunk, ticket: ticketOf(tickets, chunk) }));
}

function noteLife(tickets: ReadonlyMap<string, Ticket>, { batch }: PresignParts): void {
  const [ticket] = tickets.values();
  if (ticket?.upload?.expiresAtMs !== undefined)
    batch.ticketLifeMs = lifeMs(ticket.upload, performance.now());
}

/** Halves a batch that the service refuses as too large, and limits later batches to that size. */
async function askInParts(
  chunks: readonly HashedChunk[],
  parts: PresignParts,
): Promise<ReadonlyMap<string, Ticket>> {
  try {
    return await parts.ask(chunks);
  } catch (error) {
    if (chunks.length === 1 || !isTooMany(error)) throw error;
    const half = Math.ceil(chunks.length / 2);
    parts.batch.max = Math.min(parts.batch.max, half);
    parts.batch.limit = Math.min(parts.batch.limit, half);
    const first = await askInParts(chunks.slice(0, half), parts);
    return new Map([...first, ...(await askInParts(chunks.slice(half), parts))]);
  }
}

const isTooMany = (error: unknown): boolean =>
  error instanceof UploaderError && (error.status === 413 || error.status === 400 || error.status === 422);

function ticketOf(tickets: ReadonlyMap<string, Ticket>, chunk: HashedChunk): Ticket {
  const ticket = tickets.get(chunk.hash);
  if (ticket) return ticket;
  throw new UploaderError('bad-response', `No ticket came for chunk ${chunk.index}`, {
    chunkIndex: chunk.index,
  });
}
