// Holds the list of uploads. Starts as many uploads as the slots allow, in the order of the list.

import type { Change } from '../core/changes.ts';
import type { FileId } from '../core/types.ts';
import { nextTask } from '../core/wait.ts';
import { type Service, waitsFor } from './connection.ts';
import type { UploadSlots } from './transfer/upload-slots.ts';
import type { Upload } from './upload.ts';
import { isOver, isRunning, stateNameOf, type UploadState } from './upload-state.ts';

/** Number of single-chunk uploads per slot. Such an upload needs its slot only for about a third of its time. */
const UPLOADS_PER_SLOT = 3;
/** With batches, what an upload of one chunk counts: it waits for others, which share its requests. */
const BATCHED_SHARE = 1 / 8;
/** Limit of uploads that start in one task, because each upload opens a session and reads its first bytes immediately. */
const BEGIN_AT_ONCE = 4;
/**
 * An upload is active for this time after its phase changed or it used a slot, in milliseconds. Later it only waits: for the bytes
 * of its file, for a response, or for a request that is repeated.
 */
const ACTIVE_MS = 1000;
/** For each upload that may be active, the number of uploads that may run. The others wait. */
const RUNNING_PER_ACTIVE = 4;
/** Most uploads that run, with those that wait for the bytes of their files. */
const MOST_RUNNING = 1000;

/** Moves the entry `id` before the entry `beforeId`, or to the end. */
export function moveEntry<T>(entries: Map<FileId, T>, id: FileId, beforeId: FileId | undefined): void {
  const movedEntry = entries.get(id);
  if (movedEntry === undefined || id === beforeId) return;
  const others = [...entries].filter(([other]) => other !== id);
  entries.clear();
  for (const [other, entry] of others) {
    if (other === beforeId) entries.set(id, movedEntry);
    entries.set(other, entry);
  }
  entries.set(id, movedEntry);
}

export class Scheduler {
  readonly #slots: UploadSlots;
  readonly #report: (change: Change) => void;
  readonly #onListChange: () => void;
  /** All uploads in list order. */
  readonly #uploads = new Map<FileId, Upload>();
  readonly #queue = new Queue();
  /** The uploads that run, and the times at which their phases changed. */
  readonly #running = new Map<Upload, number>();
  /**
   * Upload that `prioritize()` has moved to the front. This upload starts even if the limit is reached, but only one such upload
   * runs at a time.
   */
  #preferred: Upload | undefined;
  /** True between `suspend()` and `restore()`. No upload starts during this time. */
  #isSuspended = false;
  /** Number of `whilePaused()` and `whileAdding()` calls in progress. */
  readonly #counts = { commands: 0, additions: 0 };
  /** True until the uploads have started that may start now, also while some of them wait for the next task. */
  #isPumping = false;
  /**
   * What has happened since the last `uploads-finished`. `none`: no upload has started. `ran`: an upload has started, or the last
   * report had uploads that wait for the user. `ended`: after that, an upload has ended, or stopped because it needs its file; only
   * then can `uploads-finished` be reported. If the user pauses an upload after the end, the next end is reported instead.
   */
  #news: 'none' | 'ran' | 'ended' = 'none';
  /** Timer for the time at which an active upload starts to wait. */
  #waitTimer: ReturnType<typeof setTimeout> | undefined;

  /** Calls `onListChange` when uploads are added, removed or moved. */
  constructor(slots: UploadSlots, report: (change: Change) => void, onListChange: () => void) {
    this.#slots = slots;
    this.#report = report;
    this.#onListChange = onListChange;
  }

  /** True while no upload runs. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  onTransition(upload: Upload, previousState: UploadState, state: UploadState): void {
    if (previousState === state) return;
    if (!isRunning(state)) this.#running.delete(upload);
    else if (previousState.phase !== state.phase) this.#running.set(upload, performance.now());
    if (state.phase === 'opening') this.#news = 'ran';
    const hasEnded =
      (isOver(state) && !isOver(previousState)) || (isRunning(previousState) && upload.needsFile);
    if (this.#news === 'ran' && hasEnded) this.#news = 'ended';
    const stateAfterDeletion = afterDeletion(state);
    const isUserPause = stateNameOf(stateAfterDeletion) === 'user' && wouldRun(afterDeletion(previousState));
    if (this.#news === 'ended' && isUserPause) this.#news = 'ran';
    if (state.phase === 'queued') this.#queue.add(upload);
    if (stateAfterDeletion.phase === 'removed' && this.#uploads.delete(upload.id)) this.#onListChange();
    this.#pumpSoon();
  }

  get(id: FileId): Upload | undefined {
    return this.#uploads.get(id);
  }

  get all(): readonly Upload[] {
    return [...this.#uploads.values()];
  }

  /** Adds an upload to the end of the list. A queued upload starts when the slots allow it. */
  append(upload: Upload): void {
    this.#uploads.set(upload.id, upload);
    this.#onListChange();
    this.#queue.add(upload);
    this.#pumpSoon();
  }

  /** Moves the upload `id` before the upload `beforeId`, or to the end. */
  reorder(id: FileId, beforeId?: FileId): void {
    if (!this.#uploads.has(id) || id === beforeId) return;
    moveEntry(this.#uploads, id, beforeId);
    this.#onListChange();
    for (const [order, upload] of this.all.entries()) upload.order = order;
    this.#queue.sort();
    this.#report({ name: 'file-moved', detail: { id, ...(beforeId !== undefined && { beforeId }) } });
  }

  /** Moves an upload to the front, and starts it even if the limit is reached. */
  prioritize(id: FileId): void {
    const [first] = this.#uploads.keys();
    this.reorder(id, first);
    const upload = this.#uploads.get(id);
    if (!upload) return;
    if (this.#preferred?.isRunning !== true) this.#preferred = upload;
    this.#pumpSoon();
  }

  /** Starts uploads if the limit is higher now. */
  onLimitChange(): void {
    this.#pumpSoon();
  }

  /** Prevents starts of uploads until `restore()` is called. */
  suspend(): void {
    this.#isSuspended = true;
    clearTimeout(this.#waitTimer);
  }

  /** Allows starts again. They happen after the next command, which ends `suspend()` for the uploads. */
  restore(): void {
    this.#isSuspended = false;
  }

  /** Calls `work`. Starts no upload until the promise of `work` settles. */
  whilePaused(work: () => Promise<void>): Promise<void> {
    return this.#during('commands', work);
  }

  /** Calls `work`. Reports no `uploads-finished` until the promise of `work` settles. Uploads can still start. */
  whileAdding(work: () => Promise<void>): Promise<void> {
    return this.#during('additions', work);
  }

  async #during(kind: 'commands' | 'additions', work: () => Promise<void>): Promise<void> {
    this.#counts[kind] += 1;
    try {
      await work();
    } finally {
      this.#counts[kind] -= 1;
      this.#pumpSoon();
    }
  }

  /**
   * Pauses or resumes the running uploads of `service` according to the sign-in state of `service`. Call this method when the
   * sign-in state changes.
   */
  onAuth(service: Service): void {
    const reason = waitsFor(service.client.auth.snapshot);
    for (const upload of [...this.#running.keys()])
      if (upload.connection.service === service) upload.dispatch({ type: 'sign-in', reason });
    this.#pumpSoon();
  }

  /** Starts uploads in a microtask, or in the next task if enough have started in this one. */
  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    queueMicrotask(() => this.#pump());
  }

  #pump(): void {
    const hasMore = this.#begin();
    if (hasMore) void nextTask().then(() => this.#pump());
    this.#isPumping = hasMore;
  }

  /** Starts uploads. Returns true if others may have to wait for the next task. */
  #begin(): boolean {
    if (this.#isSuspended || this.#counts.commands > 0) return false;
    if (this.#preferred?.state.phase === 'queued') this.#preferred.dispatch({ type: 'begin' });
    clearTimeout(this.#waitTimer);
    let count = 0;
    for (; count < BEGIN_AT_ONCE; count += 1) {
      const upload = this.#next();
      if (!upload) break;
      upload.dispatch({ type: 'begin' });
    }
    this.#reportFinished();
    return count === BEGIN_AT_ONCE;
  }

  /**
   * Returns the next upload to start. Returns `undefined` if the active uploads can use as many slots as the limit or more, each of
   * them as many as it has unsent chunks: thus one large file fills the slots, but many small files run at the same time. Uploads
   * that wait for sign-in do not delay uploads to other services.
   */
  #next(): Upload | undefined {
    const limit = UPLOADS_PER_SLOT * this.#slots.maxSlots;
    const nowMs = performance.now();
    const { waitingUsers } = this.#slots;
    let runningCount = 0;
    let usable = 0;
    let usableAfterSignIn = 0;
    let nextWaitMs = Number.POSITIVE_INFINITY;
    for (const [upload, changedMs] of this.#running) {
      if (needsNothing(upload)) continue;
      runningCount += waitsForBytes(upload) ? 0 : 1;
      const isBatched = upload.connection.service.isBatching && upload.unsentCount <= 1;
      const usableNow = isBatched ? BATCHED_SHARE : Math.max(1, upload.unsentCount);
      const isTransferring = upload.attempt === undefined;
      const activeMs = isTransferring ? Math.max(changedMs, upload.usedSlotMs) : changedMs;
      const activeUntilMs = activeMs + ACTIVE_MS;
      if (waitsForSignIn(upload)) {
        usableAfterSignIn += usableNow;
        // Its PUTs continue, and need no event of the upload.
        nextWaitMs = Math.min(nextWaitMs, ACTIVE_MS);
      } else if (isTransferring && waitingUsers.has(upload)) {
        usable += usableNow;
        nextWaitMs = Math.min(nextWaitMs, ACTIVE_MS);
      } else if (activeUntilMs > nowMs) {
        usable += usableNow;
        nextWaitMs = Math.min(nextWaitMs, activeUntilMs - nowMs);
      }
    }
    const isFull =
      usable >= limit || runningCount >= limit * RUNNING_PER_ACTIVE || this.#running.size >= MOST_RUNNING;
    const isWanted = (upload: Upload): boolean =>
      usable + usableAfterSignIn < limit || !waitsForSignIn(upload);
    const upload = isFull ? undefined : this.#queue.shift(isWanted);
    if (!upload && !this.#queue.isEmpty && nextWaitMs < Number.POSITIVE_INFINITY)
      this.#waitTimer = setTimeout(() => this.#pumpSoon(), nextWaitMs);
    return upload;
  }

  #reportFinished(): void {
    if (this.#news !== 'ended' || this.#counts.additions > 0) return;
    if (this.#running.size > 0 || !this.#queue.isEmpty || this.all.some(mayRunAgain)) return;
    const counts = { done: 0, failed: 0, canceled: 0, waiting: 0 };
    for (const { phase } of this.#uploads.values())
      counts[phase === 'done' || phase === 'failed' || phase === 'canceled' ? phase : 'waiting'] += 1;
    this.#news = counts.waiting > 0 ? 'ran' : 'none';
    this.#report({
      name: 'uploads-finished',
      detail: {
        doneCount: counts.done,
        failedCount: counts.failed,
        canceledCount: counts.canceled,
        waitingCount: counts.waiting,
      },
    });
  }
}

/** Returns true if another tab runs the upload, or if the service has accepted its commit. */
const needsNothing = ({ state }: Upload): boolean =>
  state.phase === 'accepted' || (state.phase === 'paused' && state.reason === 'other-tab');

/** Returns true if no byte of the file has arrived for a while: it may be on a drive that is gone, with many others. */
const waitsForBytes = ({ state }: Upload): boolean =>
  'blockers' in state && state.blockers.file !== undefined;

const waitsForSignIn = ({ connection }: Upload): boolean =>
  waitsFor(connection.service.client.auth.snapshot) !== undefined;

/** Returns the state that follows the deletion of an upload that is being canceled. */
const afterDeletion = (state: UploadState): UploadState => (state.phase === 'canceling' ? state.next : state);

/** Returns true if the upload runs, or will without a command of the user. */
const wouldRun = (state: UploadState): boolean =>
  isRunning(state) || state.phase === 'queued' || stateNameOf(state) === 'suspended';

/** Returns true if the user may still undo a cancel or a removal, or has retried the upload during the deletion. */
const mayRunAgain = ({ state }: Upload): boolean =>
  state.phase === 'withdrawn' ? !isOver(state) : state.phase === 'canceling' && state.next.phase === 'queued';

const isQueued = (upload: Upload): boolean => upload.state.phase === 'queued';

/** Queued uploads, in the order of the list. May contain uploads that are no longer queued; the methods skip such uploads. */
class Queue {
  #uploads: Upload[] = [];
  #isSorted = true;

  add(upload: Upload): void {
    if (upload.order < (this.#uploads.at(-1)?.order ?? 0)) this.#isSorted = false;
    this.#uploads.push(upload);
  }

  /** Makes the next `shift()` sort the queue. Call this method when the order of the list changes. */
  sort(): void {
    this.#isSorted = false;
  }

  get isEmpty(): boolean {
    return !this.#uploads.some(isQueued);
  }

  /** Removes and returns the first queued upload for which `isWanted` returns true. */
  shift(isWanted: (upload: Upload) => boolean): Upload | undefined {
    if (!this.#isSorted) this.#uploads.sort((one, other) => one.order - other.order);
    this.#isSorted = true;
    const at = this.#uploads.findIndex((upload) => isQueued(upload) && isWanted(upload));
    const upload = this.#uploads[at];
    const skippedUploads = (upload ? this.#uploads.slice(0, at) : this.#uploads).filter(isQueued);
    this.#uploads = upload ? skippedUploads.concat(this.#uploads.slice(at + 1)) : skippedUploads;
    return upload;
  }
}
