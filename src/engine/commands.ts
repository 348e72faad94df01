// The list of uploads, and the commands that apply to one or all of them.

import type { Change } from '../core/changes.ts';
import type { FileId } from '../core/types.ts';
import { inSlices } from '../core/wait.ts';
import type { Scheduler } from './scheduler.ts';
import { moveEntry } from './snapshot-store.ts';
import type { Upload } from './upload.ts';
import type { UploadCommand, UploadState } from './upload-state.ts';

/** Commands that resolve only when the runs which they end have stopped. */
const STOPPING: ReadonlySet<UploadCommand['type']> = new Set<UploadCommand['type']>([
  'pause',
  'suspend',
  'cancel',
  'remove',
  'clear',
  'leave',
  'abandon',
  'replace',
  'close',
]);

export class Commands {
  readonly #scheduler: Scheduler;
  readonly #report: (change: Change) => void;
  readonly #uploads = new Map<FileId, Upload>();
  /** Commands that have not reached the upload yet; a later command of the upload's own lets them go first. */
  readonly #pending = new Map<Upload, UploadCommand[]>();

  constructor(scheduler: Scheduler, report: (change: Change) => void) {
    this.#scheduler = scheduler;
    this.#report = report;
  }

  readonly onTransition = (upload: Upload, _before: UploadState, after: UploadState): void => {
    const last = after.phase === 'canceling' ? after.next : after;
    if (last.phase === 'removed') this.#uploads.delete(upload.id);
  };

  get(id: FileId): Upload | undefined {
    return this.#uploads.get(id);
  }

  get all(): readonly Upload[] {
    return [...this.#uploads.values()];
  }

  /** Adds an upload at the end of the list. */
  append(upload: Upload): void {
    this.#uploads.set(upload.id, upload);
    this.#scheduler.enqueue(upload);
  }

  /** Applies a command to one upload, or to all. Resolves when nothing that it stopped is under way any more. */
  async apply(command: UploadCommand, id?: FileId): Promise<void> {
    await this.applyTo(this.#chosen(id), command);
  }

  async applyTo(uploads: readonly Upload[], command: UploadCommand): Promise<void> {
    await this.#scheduler.whilePaused(() => this.#dispatchAll(uploads, command));
    if (STOPPING.has(command.type)) await Promise.all(uploads.map((upload) => upload.stopped()));
  }

  /** Moves a file before another one, or to the end. */
  reorder(id: FileId, beforeId?: FileId): void {
    if (!this.#uploads.has(id) || id === beforeId) return;
    moveEntry(this.#uploads, id, beforeId);
    for (const [order, upload] of this.all.entries()) upload.order = order;
    this.#report({ name: 'file-moved', detail: { id, ...(beforeId !== undefined && { beforeId }) } });
    this.#scheduler.sort();
  }

  prioritize(id: FileId): void {
    const [first] = this.#uploads.keys();
    this.reorder(id, first);
    const upload = this.#uploads.get(id);
    if (upload) this.#scheduler.prefer(upload);
  }

  #chosen(id: FileId | undefined): readonly Upload[] {
    if (id === undefined) return this.all;
    const upload = this.#uploads.get(id);
    return upload ? [upload] : [];
  }

  /** Gives the page its turn between slices. The commands of one upload keep their order. */
  async #dispatchAll(uploads: readonly Upload[], command: UploadCommand): Promise<void> {
    for (const upload of uploads) {
      const pending = this.#pending.get(upload);
      if (pending) pending.push(command);
      else this.#pending.set(upload, [command]);
    }
    const dispatchPending = (upload: Upload): void => {
      const pending = this.#pending.get(upload) ?? [];
      this.#pending.delete(upload);
      for (const next of pending) upload.dispatch(next);
    };
    // What runs comes first: suspending the list closes the connections that it uses.
    for (const upload of uploads) if (upload.isRunning) dispatchPending(upload);
    await inSlices(uploads, dispatchPending);
  }
}
