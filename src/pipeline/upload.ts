// The stage that sends chunks to their upload URLs, one per slot, and retries failed PUTs with new tickets.

import { codeFacts } from '../core/error-codes.ts';
import { UploaderError } from '../core/errors.ts';
import type { Host } from '../core/host.ts';
import type { HostBackoff } from '../core/host-backoff.ts';
import { Retries, type RetryPolicy } from '../core/retries.ts';
import { Bell, mapUnordered } from '../core/streams.ts';
import type { HashSlice, Put, StoredChunk, Ticket, TicketedChunk } from '../core/types.ts';
import { abortable, awaitedLater, whenSettled } from '../core/wait.ts';
import { type ByteBudget, readBody } from './hash.ts';
import { isStale } from './presign.ts';

/** Permission for one PUT to an origin. Its methods tell the origin's slots how PUTs go. */
export interface UploadSlot {
  /** The number of bytes of the PUT that were sent; 0 if it has failed. */
  onSent(sentBytes: number): void;
  onStored(): void;
  release(): void;
}

export interface UploadParts {
  readonly file: Blob;
  readonly hashSlice: HashSlice;
  /** Present if the browser may be unable to send the slices of `hashSlice`. Resolves with copies in memory instead. */
  readonly copySlice?: HashSlice;
  readonly budget: ByteBudget;
  /** Resolves with a slot of the origin for the chunk `index`. */
  readonly acquireSlot: (host: Host, signal: AbortSignal, index: number) => Promise<UploadSlot>;
  /** Returns the place of the upload in the list. */
  readonly order: () => number;
  /** Halves the slots of an origin that is overloaded. */
  readonly slowDown: (host: Host, attempts: number) => void;
  readonly put: Put;
  /** Requests a new ticket for a chunk. */
  readonly renew: (chunk: TicketedChunk) => Promise<Ticket>;
  /** Size of the largest chunk of this file that the storage has accepted, in bytes. This stage updates it. */
  readonly proven: { sizeBytes: number };
  /** Receipts of the chunks that this run has stored, by hash. This stage adds to them. */
  readonly receipts: Map<string, string>;
  readonly policy: RetryPolicy;
  /** Returns what is known of the origin of a URL. */
  readonly hostOf: (url: string) => Host;
  readonly signal: AbortSignal;
  /** Returns a signal that aborts when open connections may be dead. PUTs that do not move are then repeated. */
  readonly connectionChange: () => AbortSignal;
  /** Returns the timeout without progress for a PUT of this size, ms. */
  readonly stallMs: (sizeBytes: number) => number;
  /** Waits until the bandwidth limit allows these bytes. Resolves with a function that gives back bytes that were not sent. */
  readonly waitForBandwidth: (
    sizeBytes: number,
    signal: AbortSignal,
  ) => Promise<(unsentBytes: number) => void>;
  /** True if a chunk of this size is not sent again after a 413: the file is divided into smaller chunks. */
  readonly canHalve: (sizeBytes: number) => boolean;
  /** Ends all stages of the run. Called when a chunk cannot be stored. */
  readonly giveUp: () => void;
  /** Called with the number of bytes of the chunk that were handed to the network so far; 0 after a failed PUT. */
  readonly onSent: (chunk: TicketedChunk, sentBytes: number) => void;
  readonly onPut: (chunk: TicketedChunk) => void;
  /** Called before a wait, with the time of the next attempt (epoch ms), and the number of attempts so far. */
  readonly onWait: (atMs: number, error: UploaderError, attempts: number) => void;
  readonly onOffline: (isOffline: boolean) => void;
}

/**
 * Thrown when the storage rejects a chunk as too large (413), or its PUT breaks repeatedly, and smaller chunks are allowed. `cause`
 * is the error of the PUT.
 */
export class ChunkTooLarge {
  readonly cause: unknown;
  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/**
 * Number of cut PUTs of a chunk after which smaller chunks are tried. On a slow connection, a proxy may limit the time of a
 * request, or the network may change before a large chunk is sent.
 */
const MOST_CUTS = 4;
/** Time that a chunk keeps its slot while it gets a new ticket, or is read again, in milliseconds. */
const PREPARE_IN_SLOT_MS = 1000;
/** No further chunk of a file starts while this many wait to retry, since the storage may be down. */
const MAX_WAITING = 6;

interface Sending extends UploadParts {
  /** Chunks that wait to retry. */
  readonly waiting: Set<object>;
  /** Rings when a chunk stops waiting. */
  readonly fewer: Bell;
  /** For each hash that is being sent, a promise that resolves when it is stored or has failed. Equal chunks are sent once. */
  readonly inFlight: Map<string, Promise<unknown>>;
  /** Reads the bytes to send. Changes to `copySlice` after a network error without any bytes sent. */
  read: HashSlice;
}

/** Holds the only reference to the bytes of a chunk, so that they can be freed. */
interface ChunkBytes {
  body: Blob | undefined;
}

/** Yields each chunk as soon as it is stored, in any order. Throws the error of the first chunk that cannot be stored. */
export function upload(
  chunks: AsyncIterable<TicketedChunk>,
  parts: UploadParts,
): AsyncGenerator<StoredChunk, void, undefined> {
  const own = { waiting: new Set<object>(), fewer: new Bell(), inFlight: new Map() };
  const sending: Sending = { ...parts, ...own, read: parts.hashSlice };
  const { fewer, giveUp, signal, waiting } = sending;
  const admit = async (chunk: TicketedChunk): Promise<UploadSlot | undefined> => {
    const url = urlToSend(chunk, sending);
    if (url === undefined) return undefined;
    while (waiting.size >= MAX_WAITING) await abortable(fewer.wait(), signal);
    return parts.acquireSlot(parts.hostOf(url), signal, chunk.index);
  };
  return mapUnordered(chunks, admit, ({ body, ...chunk }, slot) =>
    store(chunk, { body }, slot, sending).catch((error) => {
      giveUp();
      throw error;
    }),
  );
}

/** Returns the upload URL of a chunk that has to be sent. */
const urlToSend = ({ hash, receipt, ticket }: TicketedChunk, { inFlight }: Sending): string | undefined =>
  receipt === undefined && !inFlight.has(hash) ? ticket?.upload?.url : undefined;

/** Stores a chunk. If an equal chunk is being sent, waits for it, then uses its receipt. */
async function store(
  chunk: TicketedChunk,
  bytes: ChunkBytes,
  given: UploadSlot | undefined,
  parts: Sending,
): Promise<StoredChunk> {
  const { inFlight, receipts, signal } = parts;
  const { hash, ticket } = chunk;
  let slot = given;
  try {
    const other = inFlight.get(hash);
    if (other !== undefined) {
      slot?.release();
      slot = undefined;
      await abortable(other, signal);
    }
    signal.throwIfAborted();
    const receipt = chunk.receipt ?? receipts.get(hash) ?? (ticket?.upload ? undefined : ticket?.receipt);
    if (receipt !== undefined) {
      if (bytes.body) parts.budget.release(chunk.sizeBytes);
      return storedChunk(chunk, receipt, true, parts);
    }
    const sent = send(chunk, bytes, ticket, slot, parts);
    slot = undefined;
    const stored = sent.then(({ receipt, isSkipped }) => storedChunk(chunk, receipt, isSkipped, parts));
    inFlight.set(hash, whenSettled(stored));
    return await stored.finally(() => inFlight.delete(hash));
  } finally {
    slot?.release();
  }
}

function storedChunk(chunk: TicketedChunk, receipt: string, isSkipped: boolean, parts: Sending): StoredChunk {
  parts.receipts.set(chunk.hash, receipt);
  const { ticket: _ticket, ...rest } = chunk;
  return { ...rest, receipt, ...(isSkipped && { skipped: true }) };
}

/** Sends the chunk, with retries, until it is stored. Uses no slot and no memory while it waits to retry. */
async function send(
  chunk: TicketedChunk,
  bytes: ChunkBytes,
  firstTicket: Ticket | undefined,
  firstSlot: UploadSlot | undefined,
  parts: Sending,
): Promise<{ readonly receipt: string; readonly isSkipped: boolean }> {
  const { budget, connectionChange, hostOf, onPut, onSent, proven, put, signal } = parts;
  /** Host of the latest upload URL. */
  let host: Host | undefined = firstTicket?.upload && hostOf(firstTicket.upload.url);
  const retries = new Retries({
    ...parts,
    index: chunk.index,
    get backoff() {
      return host?.putBackoff as HostBackoff;
    },
  });
  let isBudgeted = bytes.body !== undefined;
  /** What has read the bytes; at first, the hash stage. */
  let reader = parts.hashSlice;
  let slot = firstSlot;
  /** Place among the chunks that wait for a slot. `given` resolves when this chunk has it. */
  let place: { readonly given: Promise<void>; leave(): void } | undefined;
  let ticket = firstTicket;
  /** Bytes that the bandwidth limit has allowed, but that are not sent yet. */
  let unsentBytes = 0;
  let giveBack: (unsentBytes: number) => void = () => undefined;
  const releaseBudget = (): void => {
    if (isBudgeted) budget.release(chunk.sizeBytes);
    isBudgeted = false;
  };
  const releaseSlot = (): void => {
    place?.leave();
    place = undefined;
    slot?.release();
    slot = undefined;
  };
  const takePlace = (slotHost: Host): void => {
    if (slot || place) return;
    const leaving = new AbortController();
    const either = AbortSignal.any([signal, leaving.signal]);
    const given = awaitedLater(
      parts.acquireSlot(slotHost, either, chunk.index).then((acquired) => {
        if (leaving.signal.aborted) return acquired.release();
        slot = acquired;
        place = undefined;
      }),
    );
    place = { given, leave: () => leaving.abort() };
  };
  /** Keeps the slot, or the place, only for a while: a call may wait for sign-in, and a drive may be gone. */
  const inSlot = <T>(work: Promise<T>, mayLeave = () => true): Promise<T> => {
    const timer = setTimeout(() => mayLeave() && releaseSlot(), PREPARE_IN_SLOT_MS);
    return work.finally(() => clearTimeout(timer));
  };
  try {
    for (;;) {
      if (host && !retries.takeTurn()) {
        // Meanwhile, other chunks can use the slot and the memory.
        releaseSlot();
        releaseBudget();
        bytes.body = undefined;
        await wait(retries.waitForTurn(), parts);
        continue;
      }
      // Before the ticket: chunks whose tickets arrive in another order would get the slots in that order.
      if (host) takePlace(host);
      // Not inside the `try` below, since the call has its own retries.
      ticket ??= await inSlot(parts.renew(chunk));
      if (!ticket.upload) return { receipt: ticket.receipt, isSkipped: true };
      const ticketHost = hostOf(ticket.upload.url);
      if (host !== ticketHost) {
        // The turn and the slot were those of another origin.
        releaseSlot();
        host = ticketHost;
        continue;
      }
      takePlace(host);
      await place?.given;
      if (!slot) continue;
      if (unsentBytes === 0) giveBack = await parts.waitForBandwidth(chunk.sizeBytes, signal);
      unsentBytes = chunk.sizeBytes;
      // The ticket may have expired during the waits above.
      if (isStale(ticket)) {
        ticket = undefined;
        continue;
      }
      if (parts.read !== reader) bytes.body = undefined;
      const isUnsure = parts.copySlice !== undefined && parts.read !== parts.copySlice;
      if (!bytes.body) {
        reader = parts.read;
        // Without a slot, its bytes count as hashed ahead.
        isBudgeted ||= budget.reserve(chunk.sizeBytes);
        bytes.body = await inSlot(readBody(chunk, parts.file, reader, signal), () => isBudgeted);
        if (!slot) continue;
      }
      if (!retries.enter()) continue;
      const change = connectionChange();
      const startedMs = performance.now();
      const { onSent: onSlotSent, onStored: onSlotStored } = slot;
      try {
        signal.throwIfAborted();
        releaseBudget();
        onPut(chunk);
        retries.begin();
        await put(ticket.upload, bytes.body, {
          signal,
          connectionChange,
          host,
          stallMs: parts.stallMs(chunk.sizeBytes),
          onProgress: (sentBytes) => {
            unsentBytes = chunk.sizeBytes - sentBytes;
            onSlotSent(sentBytes);
            onSent(chunk, sentBytes);
          },
          isUnsure,
        });
        unsentBytes = 0;
        onSlotStored();
        proven.sizeBytes = Math.max(proven.sizeBytes, chunk.sizeBytes);
        retries.succeed();
        return { receipt: ticket.receipt, isSkipped: false };
      } catch (thrown) {
        signal.throwIfAborted();
        onSlotSent(0);
        const error = isAccepted(chunk, parts) ? asCut(thrown) : thrown;
        const { code, status } = error instanceof UploaderError ? error : {};
        const isBroken = code === 'network' || code === 'offline';
        if (code === 'network' && isUnsure && unsentBytes === chunk.sizeBytes && !change.aborted)
          parts.read = parts.copySlice as HashSlice;
        const { sizeBytes } = chunk;
        const canHalve = parts.canHalve(sizeBytes);
        const isTooLarge = canHalve && code === 'upload-refused' && status === 413;
        // After the last byte, a gateway may have answered without CORS headers.
        const isCut = isBroken && unsentBytes > 0 && unsentBytes < sizeBytes;
        const cutCount = isCut ? host.onCut(sizeBytes, startedMs) : 0;
        // An unreadable response is often a 413 without CORS headers, which a proxy may send before it reads the body.
        const isUnreadable = canHalve && code === 'storage-unreadable';
        const isStuck = isUnreadable || (canHalve && cutCount >= MOST_CUTS);
        // One proxy of several may have a lower limit. The storage has accepted this size before.
        if ((isTooLarge || isStuck) && !isAccepted(chunk, parts)) throw new ChunkTooLarge(error);
        onSent(chunk, 0);
        giveBack(unsentBytes);
        unsentBytes = 0;
        releaseSlot();
        ticket = undefined;
        bytes.body = undefined;
        // A network that changes all the time is an outage, too.
        if (change.aborted && isBroken && cutCount < MOST_CUTS) continue;
        try {
          retries.fail(error);
        } catch (last) {
          throw isTooLarge && retries.isRefused ? new ChunkTooLarge(error) : last;
        }
        const { attemptCount } = retries;
        // A connection that breaks repeatedly may be cut by a limit of time.
        const isCutAgain = code === 'network' && attemptCount > 1;
        if (isCutAgain || (code && codeFacts(code).isCongestion)) parts.slowDown(host, attemptCount);
      }
    }
  } finally {
    releaseBudget();
    giveBack(unsentBytes);
    releaseSlot();
  }
}

/** True if the storage has accepted a chunk of this size in this upload, also on an earlier visit. */
const isAccepted = ({ sizeBytes }: TicketedChunk, { proven }: Sending): boolean =>
  sizeBytes <= proven.sizeBytes;

/** Returns the error of a cut connection for a response that the page could not read, but that it could read before. */
const asCut = (error: unknown): unknown =>
  error instanceof UploaderError && error.code === 'storage-unreadable'
    ? new UploaderError('network', error.message)
    : error;

async function wait(over: Promise<void>, { waiting, fewer }: Sending): Promise<void> {
  waiting.add(over);
  try {
    await over;
  } finally {
    waiting.delete(over);
    fewer.ring();
  }
}
