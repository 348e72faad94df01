// Sends each chunk's bytes through a lane to where its ticket says, again with a fresh ticket when that failed, and fills
// `receipt`. It knows lanes, tickets and bytes; not which service they belong to.

import type { UploaderError } from '../core/errors.ts';
import { mapUnordered } from '../core/streams.ts';
import type { HashSlice, Put, StoredChunk, Ticket, TicketedChunk } from '../core/types.ts';
import { abortable, type Gate, Retries, type RetryPolicy } from '../core/wait.ts';
import { type ByteBudget, readBody } from './hash.ts';
import { isStale } from './presign.ts';

/** A place for one PUT; given back when the PUT is over. */
export interface Lane {
  release(): void;
}

/** Chunks that are being sent at this moment, by hash, over all files: whoever needs the same bytes waits. */
export class Claims {
  readonly #held = new Map<string, Promise<void>>();

  /** Resolves when the holder is done, however it ended; `undefined` where nobody holds it. */
  held(hash: string): Promise<void> | undefined {
    return this.#held.get(hash);
  }

  hold(hash: string): () => void {
    let end = (): void => undefined;
    this.#held.set(
      hash,
      new Promise((resolve) => {
        end = resolve;
      }),
    );
    return () => {
      this.#held.delete(hash);
      end();
    };
  }
}

export interface UploadParts {
  readonly file: Blob;
  readonly hashSlice: HashSlice;
  readonly budget: ByteBudget;
  readonly acquireLane: (signal: AbortSignal) => Promise<Lane>;
  readonly claims: Claims;
  readonly put: Put;
  /** A fresh ticket for a chunk, under the run's session. */
  readonly renew: (chunk: TicketedChunk) => Promise<Ticket>;
  /** Receipts of the hashes that this run stored under its session; this stage writes them. */
  readonly receipts: Map<string, string>;
  readonly policy: RetryPolicy;
  readonly gate: Gate;
  readonly signal: AbortSignal;
  /** Bytes of this chunk handed to the network so far; 0 when a try failed. */
  readonly onSent: (chunk: TicketedChunk, sentBytes: number) => void;
  readonly onPut: (chunk: TicketedChunk) => void;
  readonly onWait: (atMs: number | undefined, error: UploaderError | undefined) => void;
  readonly onOffline: (isOffline: boolean) => void;
}

/** Yields each chunk when it is stored, in any order. Rejects with the error of the first chunk that cannot be. */
export function upload(
  chunks: AsyncIterable<TicketedChunk>,
  parts: UploadParts,
): AsyncGenerator<StoredChunk, void, undefined> {
  const admit = (chunk: TicketedChunk): Promise<Lane | undefined> =>
    needsLane(chunk, parts) ? parts.acquireLane(parts.signal) : Promise.resolve(undefined);
  return mapUnordered(chunks, admit, (chunk, lane) => store(chunk, lane, parts));
}

const needsLane = (chunk: TicketedChunk, parts: UploadParts): boolean =>
  chunk.receipt === undefined && chunk.ticket?.upload !== undefined && !parts.claims.held(chunk.hash);

/** Waits for an equal chunk that is on its way, then takes its receipt, a new ticket, or a lane. */
async function store(
  chunk: TicketedChunk,
  given: Lane | undefined,
  parts: UploadParts,
): Promise<StoredChunk> {
  const { claims, receipts, signal } = parts;
  let lane = given;
  let { ticket } = chunk;
  try {
    for (;;) {
      const receipt =
        chunk.receipt ?? receipts.get(chunk.hash) ?? (ticket?.upload ? undefined : ticket?.receipt);
      if (receipt !== undefined) return storedChunk(chunk, receipt, true, parts);
      const other = claims.held(chunk.hash);
      if (!other) {
        lane ??= await parts.acquireLane(parts.signal);
        if (!claims.held(chunk.hash)) break;
        continue;
      }
      lane?.release();
      lane = undefined;
      await abortable(other, signal);
      if (!receipts.has(chunk.hash)) ticket = await parts.renew(chunk);
    }
    const unclaim = claims.hold(chunk.hash);
    try {
      const sent = await send({ ...chunk, ...(ticket && { ticket }) }, lane, parts);
      lane = undefined;
      return storedChunk(chunk, sent.receipt, sent.isSkipped, parts);
    } finally {
      unclaim();
    }
  } finally {
    lane?.release();
  }
}

function storedChunk(
  chunk: TicketedChunk,
  receipt: string,
  isSkipped: boolean,
  parts: UploadParts,
): StoredChunk {
  parts.receipts.set(chunk.hash, receipt);
  if (chunk.body && isSkipped) parts.budget.give(chunk.sizeBytes);
  const { body: _body, ticket: _ticket, ...rest } = chunk;
  return { ...rest, receipt, ...(isSkipped && { skipped: true }) };
}

/** PUTs until it is stored. The lane is free while this waits for its next try. */
async function send(
  chunk: TicketedChunk,
  firstLane: Lane,
  parts: UploadParts,
): Promise<{ readonly receipt: string; readonly isSkipped: boolean }> {
  const { budget, gate, onPut, onSent, policy, put, signal } = parts;
  const retries = new Retries({ policy, gate, signal, onWait: parts.onWait, onOffline: parts.onOffline });
  let lane: Lane | undefined = firstLane;
  let ticket = chunk.ticket;
  let body = chunk.body;
  if (body) budget.give(chunk.sizeBytes);
  try {
    for (;;) {
      // Outside the try below: the call for a ticket has had its own retries.
      if (!ticket || isStale(ticket)) ticket = await parts.renew(chunk);
      if (!ticket.upload) return { receipt: ticket.receipt, isSkipped: true };
      body ??= await readBody(chunk, parts.file, parts.hashSlice, signal);
      lane ??= await parts.acquireLane(parts.signal);
      try {
        await gate.pass(signal);
        onPut(chunk);
        await put(ticket.upload, body, { signal, onProgress: (sentBytes) => onSent(chunk, sentBytes) });
        return { receipt: ticket.receipt, isSkipped: false };
      } catch (error) {
        signal.throwIfAborted();
        onSent(chunk, 0);
        lane.release();
        lane = undefined;
        ticket = undefined;
        await retries.again(error);
      }
    }
  } finally {
    lane?.release();
  }
}
