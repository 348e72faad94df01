// Asks for tickets: for one chunk first so that bytes flow at once, then for twice as many each time, and the next batch while the
// last one is being sent. It knows hashes and tickets, not who answers.

import { UploaderError } from '../core/errors.ts';
import { readAhead, withLulls } from '../core/streams.ts';
import type { HashedChunk, Ticket, TicketedChunk, TicketUpload } from '../core/types.ts';

/** Tickets for chunks, by hash; rejects with `UploaderError`. */
export type Ask = (chunks: readonly HashedChunk[]) => Promise<ReadonlyMap<string, Ticket>>;

export interface PresignParts {
  readonly ask: Ask;
  /** Where bytes are wanted soon, a batch with this much goes as it is: waiting longer would mean reading them again. */
  readonly eagerBytes: number;
  /** What all slots move together; `undefined` where nothing was measured. */
  readonly bytesPerSecond: () => number | undefined;
  readonly hasIdleSlot: () => boolean;
  /** The receipt of a hash that this run has stored already under its session. */
  readonly receiptOf: (hash: string) => string | undefined;
  /** Remembers across rounds of a run how large a batch may be, and how long tickets live. */
  readonly batch: { limit: number; max: number; ticketLifeMs?: number };
}

/** On a faster line, reading a chunk twice would cost more than one call more. */
const FAST_LINE_BYTES_PER_SECOND = 32e6;
/** Where a ticket does not tell its time. */
const TICKET_LIFE_MS = 300_000;

/** Fills `ticket`. Chunks that have a receipt pass; equal chunks of a batch are asked for once. */
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
      // All that wait go along: those behind are no younger.
      if (isStale(waiting[0]?.ticket)) waiting = await fill(waiting, parts);
      const chunk = waiting.shift();
      if (!chunk) break;
      yield chunk;
    }
  }
}

/** With less than this part of its life left, or less than 30 s, an upload URL is not used. */
const LIFE_PART = 5;
const LIFE_LEFT_MS = 30_000;

/** True where the upload URL runs out too soon to be used. */
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
  /** A batch is full with so many bytes: what goes in half a ticket's life, and on a fast line what may be let go of again. */
  const mostBytes = (): number => {
    // Before anything has moved the rate is none, or nought.
    const rate = bytesPerSecond() || Number.POSITIVE_INFINITY;
    const inTimeBytes = (rate / 1000) * ((batch.ticketLifeMs ?? TICKET_LIFE_MS) / 2);
    return rate > FAST_LINE_BYTES_PER_SECOND ? Math.min(eagerBytes, inTimeBytes) : inTimeBytes;
  };
  for await (const chunk of withLulls(chunks)) {
    const receipt = chunk && (chunk.receipt ?? receiptOf(chunk.hash));
    // Of what an earlier visit stored there may be much to read; what has to be sent does not wait for that.
    if (gathered.length > 0 && (chunk ? chunk.receipt !== undefined : isStarving())) yield take();
    if (!chunk) continue;
    if (receipt !== undefined) {
      yield [{ ...chunk, receipt, skipped: true }];
      continue;
    }
    gathered.push(chunk);
    bytes += chunk.sizeBytes;
    if (gathered.length < batch.limit && bytes < mostBytes()) continue;
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

/** Halves a batch that the service finds too large, and remembers the size that it took. */
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
