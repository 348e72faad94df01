// Applies a command to one or more uploads.

import type { FileId } from '../core/types.ts';
import { inSlices } from '../core/wait.ts';
import type { Scheduler } from './scheduler.ts';
import type { Upload } from './upload.ts';
import type { UploadCommand } from './upload-state.ts';

/** Commands that end no run. The promise of any other command resolves when the runs have stopped. */
const STARTING: readonly UploadCommand['type'][] = ['start', 'resume', 'restore', 'retry', 'undo'];

export class Commands {
  readonly #scheduler: Scheduler;
  /**
   * Commands that are not dispatched yet, by upload, oldest first. If a later call reaches an upload first, the later call
   * dispatches all commands of this upload.
   */
  readonly #pending = new Map<Upload, readonly UploadCommand[]>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /**
   * Applies a command to the upload with this id, or without an id to all uploads. Resolves when every run that the command ends
   * has stopped.
   */
  async apply(command: UploadCommand, id?: FileId): Promise<void> {
    const upload = id === undefined ? undefined : this.#scheduler.get(id);
    await this.applyTo(id === undefined ? this.#scheduler.all : upload ? [upload] : [], command);
  }

  /** Works like `apply()`, but for `uploads`. */
  async applyTo(uploads: readonly Upload[], command: UploadCommand): Promise<void> {
    await this.#scheduler.whilePaused(() => this.#dispatchAll(uploads, command));
    if (!STARTING.includes(command.type)) await Promise.all(uploads.map((upload) => upload.stopped()));
  }

  /** Dispatches in slices, so that a long list does not block the main thread. */
  async #dispatchAll(uploads: readonly Upload[], command: UploadCommand): Promise<void> {
    const only = [command];
    for (const upload of uploads) {
      const pending = this.#pending.get(upload);
      this.#pending.set(upload, pending ? [...pending, command] : only);
    }
    const dispatchPending = (upload: Upload): void => {
      const pending = this.#pending.get(upload) ?? [];
      this.#pending.delete(upload);
      for (const pendingCommand of pending) upload.dispatch(pendingCommand);
    };
    // Running uploads come first, because `suspend()` closes the connections of their runs.
    if (!this.#scheduler.isIdle) for (const upload of uploads) if (upload.isRunning) dispatchPending(upload);
    await inSlices(uploads, dispatchPending);
  }
}
