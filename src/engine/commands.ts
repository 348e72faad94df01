// Applies a command to one upload or to all of them.

import type { FileId } from '../core/types.ts';
import { inSlices } from '../core/wait.ts';
import type { Scheduler } from './scheduler.ts';
import type { Upload } from './upload.ts';
import type { UploadCommand } from './upload-state.ts';

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
  /** Commands that have not been dispatched yet, in order; a later command of the same upload dispatches them first. */
  readonly #pending = new Map<Upload, UploadCommand[]>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Applies a command to the upload with this id, or to all. Resolves when every run that it ends has stopped. */
  async apply(command: UploadCommand, id?: FileId): Promise<void> {
    const upload = id === undefined ? undefined : this.#scheduler.get(id);
    await this.applyTo(id === undefined ? this.#scheduler.all : upload ? [upload] : [], command);
  }

  /** As `apply()`, for these uploads. */
  async applyTo(uploads: readonly Upload[], command: UploadCommand): Promise<void> {
    await this.#scheduler.whilePaused(() => this.#dispatchAll(uploads, command));
    if (STOPPING.has(command.type)) await Promise.all(uploads.map((upload) => upload.stopped()));
  }

  /** Yields to the page from time to time. */
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
    // Running uploads first: `suspend()` closes the connections that they use.
    for (const upload of uploads) if (upload.isRunning) dispatchPending(upload);
    await inSlices(uploads, dispatchPending);
  }
}
