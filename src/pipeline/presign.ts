// Stage that requests tickets in batches. A batch is requested while the previous batch is being sent. If the next stage
// has nothing to send, a batch has the chunks that are hashed so far: sending starts when the session is open and one is hashed.

import { UploaderError } from '../core/errors.ts';
import { Bell, readAhead, withLulls } from '../core/streams.ts';
import type { HashedChunk, Ticket, TicketedChunk, TicketUpload } from '../core/types.ts';
import { whenSettled } from '../core/wait.ts';

/** Requests tickets. Resolves with the tickets by hash. Rejects with `UploaderError`. */
export type Ask = (chunks: readonly HashedChunk[]) => Promise<ReadonlyMap<string, Ticket>>;

export interface PresignParts {
  readonly ask: Ask;
  /** Resolves when the session is open. */
  readonly ready: Promise<unknown>;
  /**
   * Maximum bytes of a batch on a fast connection. A larger batch would exceed the memory budget, and chunks would be read twice.
   */
  readonly eagerBytes: number;
  /** Returns the rate of all slots together in bytes per second; `undefined` until the rate is measured. */
  readonly bytesPerSecond: () => number | undefined;
  /** Returns the receipt of a chunk with this hash; `undefined` if the run has not stored such a chunk. */
  readonly receiptOf: (hash: string) => string | undefined;
  /** Maximum number of chunks in a batch, and lifetime of the tickets. The object is kept for the whole run. */
  readonly batch: { max: number; ticketLifeMs?: number };
}

/**
 * Above this rate, a batch is limited to `eagerBytes`: one more presign request then costs less than reading chunks a second time.
 */
const FAST_LINE_BYTES_PER_SECOND = 32e6;
/** Assumed lifetime of tickets without an expiry. */
const TICKET_LIFE_MS = 300_000;

/** Adds `ticket` to chunks without a receipt. Chunks with the same hash in a batch share one ticket. */
export async function* presign(
  chunks: AsyncIterable<HashedChunk>,
  parts: PresignParts,
): AsyncGenerator<TicketedChunk, void, undefined> {
  const wake = new Bell();
  let isReady = false;
  let isWaitedFor = false;
  // If the session fails to open, the first request reports the error.
  void whenSettled(parts.ready).then(() => {
    isReady = true;
    wake.ring();
  });
  const batches = gather(withLulls(chunks, wake), parts, () => isReady && isWaitedFor);
  for await (const batch of readAhead(batches, 1, (hungry) => {
    isWaitedFor = hungry;
    wake.ring();
  })) {
    let waiting = batch;
    for (;;) {
      // Renews the rest of the batch too, because its tickets have the same age.
      if (isStale(waiting[0]?.ticket)) waiting = await fill(waiting, parts);
      const chunk = waiting.shift();
      if (!chunk) break;
      yield chunk;
    }
  }
}

/** A presigned URL is stale if less than 30 s and also less than a fifth of its lifetime are left. */
const LIFE_PART = 5;
const LIFE_LEFT_MS = 30_000;

/** Returns true if the presigned URL expires too soon to start a PUT. */
export function isStale(ticket: Ticket | undefined, nowMs: number = performance.now()): boolean {
  const upload = ticket?.upload;
  if (upload?.expiresAtMs === undefined) return false;
  return upload.expiresAtMs - nowMs < Math.min(LIFE_LEFT_MS, lifeMs(upload, nowMs) / LIFE_PART);
}

const lifeMs = ({ expiresAtMs = 0, receivedAtMs }: TicketUpload, nowMs: number): number =>
  expiresAtMs - (receivedAtMs ?? nowMs);

async function* gather(
  chunks: AsyncIterable<HashedChunk | undefined>,
  parts: PresignParts,
  isStarving: () => boolean,
): AsyncGenerator<TicketedChunk[], void, undefined> {
  const { batch, bytesPerSecond, eagerBytes, receiptOf } = parts;
  let gathered: HashedChunk[] = [];
  const take = (): Promise<TicketedChunk[]> => {
    const taken = gathered;
    gathered = [];
    return fill(taken, parts);
  };
  /**
   * Returns the maximum bytes of a batch: as much as can be sent in half the lifetime of a ticket. On a fast connection, the
   * maximum is also limited to `eagerBytes`.
   */
  const maxBytes = (): number => {
    // Until bytes are sent, the rate is undefined or 0.
    const rate = bytesPerSecond() || Number.POSITIVE_INFINITY;
    const inTimeBytes = (rate / 1000) * ((batch.ticketLifeMs ?? TICKET_LIFE_MS) / 2);
    return rate > FAST_LINE_BYTES_PER_SECOND ? Math.min(eagerBytes, inTimeBytes) : inTimeBytes;
  };
  for await (const chunk of chunks) {
    const receipt = chunk && (chunk.receipt ?? receiptOf(chunk.hash));
    // Chunks to be sent do not wait for recorded chunks to be read. If the next stage has nothing to send, they do not wait for
    // more chunks either.
    if (gathered.length > 0 && (chunk ? chunk.receipt !== undefined : isStarving())) yield take();
    if (!chunk) continue;
    if (receipt !== undefined) {
      yield [{ ...chunk, receipt, skipped: true }];
      continue;
    }
    gathered.push(chunk);
    // Only the last chunk of a file has another size.
    if (gathered.length >= Math.min(batch.max, maxBytes() / chunk.sizeBytes)) yield take();
  }
  if (gathered.length > 0) yield take();
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

/**
 * Requests the tickets of a batch. If the service rejects the batch as too large, splits it in half, and limits later batches to
 * this size.
 */
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
    const first = await askInParts(chunks.slice(0, half), parts);
    return new Map([...first, ...(await askInParts(chunks.slice(half), parts))]);
  }
}

const isTooMany = (error: unknown): boolean =>
  error instanceof UploaderError && (error.status === 413 || error.status === 400 || error.status === 422);

function ticketOf(tickets: ReadonlyMap<string, Ticket>, chunk: HashedChunk): Ticket {
  const ticket = tickets.get(chunk.hash);
  if (ticket) return ticket;
  throw new UploaderError('bad-response', `The service returned no ticket for chunk ${chunk.index}`, {
    chunkIndex: chunk.index,
  });
}
