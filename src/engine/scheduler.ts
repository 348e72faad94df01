// Which uploads run: as many as there is room for, in the order of the list. It sees every transition of every upload, and
// reports when nothing is left that will go on by itself.

import type { Change } from '../core/changes.ts';
import type { FileSnapshot } from '../core/types.ts';
import { nextTask } from '../core/wait.ts';
import { type Service, waitsFor } from './connection.ts';
import type { UploadSlots } from './transfer/upload-slots.ts';
import type { Upload } from './upload.ts';
import { isOver, isRunning, type UploadState } from './upload-state.ts';

/** An upload of one chunk uses its slot for a third of its time; the rest is calls. */
const UPLOADS_PER_SLOT = 3;
/** Each opens a session and reads its first bytes at once, so only so many begin in one task. */
const BEGIN_AT_ONCE = 4;
/** When slots stay idle for so long, ms, the running files are slow to read, and another upload begins beside them. */
const IDLE_MS = 500;

export class Scheduler {
  readonly #slots: UploadSlots;
  readonly #report: (change: Change) => void;
  readonly #files: () => Iterable<FileSnapshot>;
  readonly #queue = new Queue();
  readonly #running = new Set<Upload>();
  /** Moved to the front by the user: begins at once, but only one at a time does so beyond the limit. */
  #preferred: Upload | undefined;
  /** Nothing begins while the list is suspended or closed, or while a command is being applied to many uploads. */
  #isSuspended = false;
  #commandCount = 0;
  #isPumping = false;
  /** What `uploads-finished` waits for: that something ran, and then that something ended. */
  #news: 'none' | 'ran' | 'ended' = 'none';
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #idleCount = 0;

  constructor(slots: UploadSlots, report: (change: Change) => void, files: () => Iterable<FileSnapshot>) {
    this.#slots = slots;
    this.#report = report;
    this.#files = files;
  }

  readonly onTransition = (upload: Upload, before: UploadState, after: UploadState): void => {
    if (before === after) return;
    if (isRunning(after)) this.#running.add(upload);
    else this.#running.delete(upload);
    if (after.phase === 'opening') this.#news = 'ran';
    const hasEnded = (isOver(after) && !isOver(before)) || (isRunning(before) && upload.needsFile);
    if (this.#news === 'ran' && hasEnded) this.#news = 'ended';
    if (after.phase === 'queued') this.#queue.add(upload);
    this.pumpSoon();
  };

  /** A new upload is in the list. */
  enqueue(upload: Upload): void {
    this.#queue.add(upload);
    this.pumpSoon();
  }

  /** To be called when the order of the list changed. */
  sort(): void {
    this.#queue.sort();
  }

  /** Begins the upload as soon as it can, whatever else is running. */
  prefer(upload: Upload): void {
    if (this.#preferred?.isRunning !== true) this.#preferred = upload;
    this.pumpSoon();
  }

  suspend(): void {
    this.#isSuspended = true;
  }

  restore(): void {
    this.#isSuspended = false;
    this.pumpSoon();
  }

  /** Nothing begins until `work` is over, however it ends. */
  async whilePaused(work: () => Promise<void>): Promise<void> {
    this.#commandCount += 1;
    try {
      await work();
    } finally {
      this.#commandCount -= 1;
      this.pumpSoon();
    }
  }

  close(): void {
    this.#isSuspended = true;
    clearTimeout(this.#idleTimer);
  }

  /** Sign-in of a service changed: its uploads wait for the user, or go on. */
  onAuth(service: Service): void {
    const reason = waitsFor(service.client.auth.snapshot);
    for (const upload of [...this.#running])
      if (upload.connection.service === service) upload.dispatch({ type: 'sign-in', reason });
    this.pumpSoon();
  }

  /** Begins what there is room for, once for all changes of this task. */
  pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    queueMicrotask(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#isSuspended || this.#commandCount > 0) return;
    if (this.#preferred?.state.phase === 'queued') this.#preferred.dispatch({ type: 'begin' });
    for (let count = 0; count < BEGIN_AT_ONCE; count += 1) {
      const upload = this.#next();
      if (!upload) break;
      upload.dispatch({ type: 'begin' });
      if (count === BEGIN_AT_ONCE - 1) void nextTask().then(() => this.pumpSoon());
    }
    this.#watchIdleSlots();
    this.#reportFinished();
  }

  /**
   * The next upload, if there is room for one. One large file fills the slots; of small ones so many run side by side that the calls
   * of some fill the time that others wait. An upload that another tab runs takes no room, and one that waits for sign-in none from
   * those that do not.
   */
  #next(): Upload | undefined {
    const limit = UPLOADS_PER_SLOT * this.#slots.maxSlots;
    let unsent = 0;
    let unsentSignIn = 0;
    for (const upload of this.#running) {
      const { state } = upload;
      if (state.phase === 'paused' && state.reason === 'other-tab') continue;
      const count = Math.max(1, upload.unsentCount);
      unsent += count;
      if (waitsForSignIn(upload)) unsentSignIn += count;
    }
    if (unsent - unsentSignIn >= limit && !this.#takesIdleSlot(limit)) return undefined;
    return this.#queue.shift((upload) => unsent < limit || !waitsForSignIn(upload));
  }

  #takesIdleSlot(limit: number): boolean {
    if (this.#idleCount === 0 || this.#running.size >= limit) return false;
    this.#idleCount -= 1;
    return true;
  }

  #watchIdleSlots(): void {
    if (this.#idleTimer !== undefined || this.#running.size === 0 || this.#queue.isEmpty) return;
    const grantedCount = this.#slots.grantedCount;
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = undefined;
      const isIdle = this.#slots.hasIdleSlot && this.#slots.grantedCount === grantedCount;
      this.#idleCount = isIdle && [...this.#running].some(isReading) ? 1 : 0;
      this.#pump();
    }, IDLE_MS);
  }

  #reportFinished(): void {
    if (this.#news !== 'ended' || this.#running.size > 0 || !this.#queue.isEmpty) return;
    this.#news = 'none';
    let waitingCount = 0;
    const counts = { done: 0, failed: 0, canceled: 0 };
    for (const { phase, pauseReason } of this.#files()) {
      if (pauseReason === 'needs-file') waitingCount += 1;
      if (phase === 'done' || phase === 'failed' || phase === 'canceled') counts[phase] += 1;
    }
    this.#report({
      name: 'uploads-finished',
      detail: {
        doneCount: counts.done,
        failedCount: counts.failed,
        canceledCount: counts.canceled,
        waitingCount,
      },
    });
  }
}

/** No chunk has been sent yet, and it is neither blocked nor waiting to retry. */
const isReading = ({ state }: Upload): boolean =>
  (state.phase === 'opening' || state.phase === 'hashing') && state.retryAtMs === undefined;

const waitsForSignIn = ({ connection }: Upload): boolean =>
  waitsFor(connection.service.client.auth.snapshot) !== undefined;

const isQueued = (upload: Upload): boolean => upload.state.phase === 'queued';

/** Uploads that wait for a free slot, in the order of the list. */
class Queue {
  #uploads: Upload[] = [];
  #isSorted = true;

  add(upload: Upload): void {
    if (upload.order < (this.#uploads.at(-1)?.order ?? 0)) this.#isSorted = false;
    this.#uploads.push(upload);
  }

  /** To be called when the order of the list changed. */
  sort(): void {
    this.#isSorted = false;
  }

  get isEmpty(): boolean {
    return !this.#uploads.some(isQueued);
  }

  /** Removes and returns the first upload that is still queued and wanted. */
  shift(isWanted: (upload: Upload) => boolean): Upload | undefined {
    if (!this.#isSorted) this.#uploads.sort((one, other) => one.order - other.order);
    this.#isSorted = true;
    const at = this.#uploads.findIndex((upload) => isQueued(upload) && isWanted(upload));
    const upload = this.#uploads[at];
    const before = (upload ? this.#uploads.slice(0, at) : this.#uploads).filter(isQueued);
    this.#uploads = upload ? before.concat(this.#uploads.slice(at + 1)) : before;
    return upload;
  }
}
