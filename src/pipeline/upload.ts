// Sends each chunk's bytes through a slot to where its ticket says, again with a fresh ticket when that failed, and fills
// `receipt`. It knows slots, tickets and bytes; not which service they belong to.

import { UploaderError } from '../core/errors.ts';
import { Bell, mapUnordered } from '../core/streams.ts';
import type { HashSlice, Put, StoredChunk, Ticket, TicketedChunk } from '../core/types.ts';
import { abortable, type HostBackoff, Retries, type RetryPolicy } from '../core/wait.ts';
import { type ByteBudget, readBody } from './hash.ts';
import { isStale } from './presign.ts';

/** A place for one PUT; given back when the PUT is over. */
export interface UploadSlot {
  release(): void;
}

/** So many hashes of chunks that were stored are remembered. */
const MOST_STORED = 10_000;

/** Chunks that are being sent at this moment, by hash, over all files: whoever needs the same bytes waits. */
export class InFlightChunks {
  readonly #held = new Map<string, Promise<void>>();
  /** Each with the number that it was stored as. */
  readonly #stored = new Map<string, number>();
  storedCount = 0;

  /** Whether it was stored here since the ticket was asked for, which so may ask for bytes that are there by now. */
  isTicketOutdated({ askedAfter = 0 }: Ticket, hash: string): boolean {
    return (this.#stored.get(hash) ?? 0) > askedAfter;
  }

  /** Resolves when the holder is done, however it ended; `undefined` where nobody holds it. */
  whenSettled(hash: string): Promise<void> | undefined {
    return this.#held.get(hash);
  }

  /** The answer gives it back, and tells how it ended. */
  track(hash: string): (isStored: boolean) => void {
    let end = (): void => undefined;
    this.#held.set(
      hash,
      new Promise((resolve) => {
        end = resolve;
      }),
    );
    return (isStored) => {
      this.#held.delete(hash);
      if (isStored) {
        this.storedCount += 1;
        this.#stored.delete(hash);
        this.#stored.set(hash, this.storedCount);
      }
      const [oldest = ''] = this.#stored.keys();
      if (this.#stored.size > MOST_STORED) this.#stored.delete(oldest);
      end();
    };
  }
}

export interface UploadParts {
  readonly file: Blob;
  readonly hashSlice: HashSlice;
  readonly budget: ByteBudget;
  readonly acquireSlot: (signal: AbortSignal) => Promise<UploadSlot>;
  readonly inFlight: InFlightChunks;
  readonly put: Put;
  /** A fresh ticket for a chunk, under the run's session. */
  readonly renew: (chunk: TicketedChunk) => Promise<Ticket>;
  /** Receipts of the hashes that this run stored under its session; this stage writes them. */
  readonly receipts: Map<string, string>;
  readonly policy: RetryPolicy;
  /** Shut while the host of the address asks for patience. */
  readonly backoffOf: (url: string) => HostBackoff;
  readonly signal: AbortSignal;
  /** Aborts when the network changed or the machine woke: what is under way goes again at once, on a new connection. */
  readonly connectionChange: () => AbortSignal;
  /** How long a PUT of so many bytes may stand still, milliseconds. */
  readonly stallMs: (sizeBytes: number) => number;
  /** Resolves when so many bytes may go, where the page limits how fast; the answer takes back what does not go after all. */
  readonly waitForBandwidth: (
    sizeBytes: number,
    signal: AbortSignal,
  ) => Promise<(unsentBytes: number) => void>;
  /** Ends every stage of the run: a chunk cannot be stored, so nothing else has to be. */
  readonly giveUp: () => void;
  /** Bytes of this chunk handed to the network so far; 0 when a try failed. */
  readonly onSent: (chunk: TicketedChunk, sentBytes: number) => void;
  readonly onPut: (chunk: TicketedChunk) => void;
  /** Bytes went over a connection that many PUTs share. */
  readonly onMultiplexed: () => void;
  readonly onWait: (atMs: number | undefined, error: UploaderError | undefined) => void;
  readonly onOffline: (isOffline: boolean) => void;
}

/** So many chunks of a file may wait for their next try before no further one is begun: the storage may be down for all. */
const MOST_WAITING = 6;

/** What the chunks of one file share while they are sent. */
interface Sending extends UploadParts {
  /** Chunks that wait for their next try. */
  readonly waiting: Set<object>;
  /** Rings when there is one less. */
  readonly fewer: Bell;
}

/** A chunk's bytes, where they are in memory; held here only, so that they can be let go of. */
interface ChunkBytes {
  body: Blob | undefined;
}

/** Yields each chunk when it is stored, in any order. Rejects with the error of the first chunk that cannot be. */
export function upload(
  chunks: AsyncIterable<TicketedChunk>,
  parts: UploadParts,
): AsyncGenerator<StoredChunk, void, undefined> {
  const sending: Sending = { ...parts, waiting: new Set(), fewer: new Bell() };
  const { fewer, giveUp, signal, waiting } = sending;
  const admit = async (chunk: TicketedChunk): Promise<UploadSlot | undefined> => {
    if (!needsSlot(chunk, parts)) return undefined;
    while (waiting.size >= MOST_WAITING) await abortable(fewer.wait(), signal);
    return parts.acquireSlot(signal);
  };
  return mapUnordered(chunks, admit, ({ body, ...chunk }, slot) =>
    store(chunk, { body }, slot, sending).catch((error) => {
      giveUp();
      throw error;
    }),
  );
}

const needsSlot = (chunk: TicketedChunk, parts: UploadParts): boolean =>
  chunk.receipt === undefined &&
  chunk.ticket?.upload !== undefined &&
  !parts.inFlight.whenSettled(chunk.hash) &&
  !parts.inFlight.isTicketOutdated(chunk.ticket, chunk.hash);

/** Waits for an equal chunk that is on its way, then takes its receipt, or a new ticket. */
async function store(
  chunk: TicketedChunk,
  bytes: ChunkBytes,
  given: UploadSlot | undefined,
  parts: Sending,
): Promise<StoredChunk> {
  const { inFlight, receipts, signal } = parts;
  let slot = given;
  let ticket = chunk.ticket;
  try {
    for (;;) {
      signal.throwIfAborted();
      const receipt =
        chunk.receipt ?? receipts.get(chunk.hash) ?? (ticket?.upload ? undefined : ticket?.receipt);
      if (receipt !== undefined) {
        if (bytes.body) parts.budget.release(chunk.sizeBytes);
        return storedChunk(chunk, receipt, true, parts);
      }
      const other = inFlight.whenSettled(chunk.hash);
      if (!other) break;
      slot?.release();
      slot = undefined;
      await abortable(other, signal);
      // Whether the bytes are there now the service says itself; who wakes first asks for all that wait here.
      ticket = undefined;
    }
    if (ticket && inFlight.isTicketOutdated(ticket, chunk.hash)) ticket = undefined;
    const settle = inFlight.track(chunk.hash);
    let isStored = false;
    try {
      const firstSlot = slot;
      slot = undefined;
      const sent = await send(chunk, bytes, ticket, firstSlot, parts);
      isStored = true;
      return storedChunk(chunk, sent.receipt, sent.isSkipped, parts);
    } finally {
      settle(isStored);
    }
  } finally {
    slot?.release();
  }
}

function storedChunk(
  chunk: TicketedChunk,
  receipt: string,
  isSkipped: boolean,
  parts: UploadParts,
): StoredChunk {
  parts.receipts.set(chunk.hash, receipt);
  const { ticket: _ticket, ...rest } = chunk;
  return { ...rest, receipt, ...(isSkipped && { skipped: true }) };
}

/** PUTs until it is stored. While this waits for its next try, the slot is free and the bytes are let go of. */
async function send(
  chunk: TicketedChunk,
  bytes: ChunkBytes,
  firstTicket: Ticket | undefined,
  firstSlot: UploadSlot | undefined,
  parts: Sending,
): Promise<{ readonly receipt: string; readonly isSkipped: boolean }> {
  const { budget, backoffOf, connectionChange, onMultiplexed, onPut, onSent, put, signal } = parts;
  // That of the host which was asked last.
  let backoff: HostBackoff;
  const retries = new Retries({
    ...parts,
    get backoff() {
      return backoff;
    },
  });
  let isBudgeted = bytes.body !== undefined;
  let slot = firstSlot;
  let ticket = firstTicket;
  /** A proxy that stores the bytes before it forwards them makes the line look fast: each stall doubles the time allowed. */
  let stallCount = 0;
  /** What the chunk may still move of what it was allowed to. */
  let leftBytes = 0;
  let giveUnsentBack: (unsentBytes: number) => void = () => undefined;
  const releaseBudget = (): void => {
    if (isBudgeted) budget.release(chunk.sizeBytes);
    isBudgeted = false;
  };
  try {
    for (;;) {
      if (!ticket) {
        // The call may wait for sign-in, or retry: other chunks may have the slot meanwhile.
        slot?.release();
        slot = undefined;
        // Outside the try below: the call has its own retries.
        ticket = await parts.renew(chunk);
      }
      if (ticket.upload) {
        slot ??= await parts.acquireSlot(signal);
        backoff = backoffOf(ticket.upload.url);
        if (backoff.remainingMs > 0) {
          // Chunks that go to other hosts may have the slot meanwhile.
          slot.release();
          slot = undefined;
          await wait(backoff.waitUntilOver(signal), parts);
          continue;
        }
        if (leftBytes === 0) giveUnsentBack = await parts.waitForBandwidth(chunk.sizeBytes, signal);
        leftBytes = chunk.sizeBytes;
        // Each of these may have taken longer than a ticket lives.
        if (isStale(ticket)) {
          ticket = undefined;
          continue;
        }
      }
      if (!ticket.upload) return { receipt: ticket.receipt, isSkipped: true };
      bytes.body ??= await readBody(chunk, parts.file, parts.hashSlice, signal);
      const change = connectionChange();
      try {
        signal.throwIfAborted();
        releaseBudget();
        onPut(chunk);
        await put(ticket.upload, bytes.body, {
          signal: AbortSignal.any([signal, change]),
          stallMs: parts.stallMs(chunk.sizeBytes) * 2 ** stallCount,
          onProgress: (sentBytes) => {
            leftBytes = chunk.sizeBytes - sentBytes;
            onSent(chunk, sentBytes);
          },
          onMultiplexed,
        });
        leftBytes = 0;
        return { receipt: ticket.receipt, isSkipped: false };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof UploaderError && error.code === 'upload-stalled') stallCount += 1;
        onSent(chunk, 0);
        giveUnsentBack(leftBytes);
        leftBytes = 0;
        slot?.release();
        slot = undefined;
        ticket = undefined;
        bytes.body = undefined;
        if (!change.aborted) await wait(retries.again(error), parts);
      }
    }
  } finally {
    releaseBudget();
    giveUnsentBack(leftBytes);
    slot?.release();
  }
}

async function wait(over: Promise<void>, { waiting, fewer }: Sending): Promise<void> {
  waiting.add(over);
  try {
    await over;
  } finally {
    waiting.delete(over);
    fewer.ring();
  }
}
