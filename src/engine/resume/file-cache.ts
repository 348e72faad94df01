// Saves the content of small files in IndexedDB (`keep-files`), so that their uploads resume automatically after a reload.

import { toUploaderError } from '../../core/errors.ts';
import { Lane } from '../../core/lane.ts';
import type { Settings } from '../../core/settings-table.ts';
import { abortable } from '../../core/wait.ts';
import type { Warn } from '../../core/warn.ts';
import type { UploadStore } from './upload-store.ts';

/** Size limit of a saved file. The user has to pick larger files again after a reload. */
const MAX_FILE_BYTES = 4 * 2 ** 20;
/** Size limit of all saved files together. */
const MAX_BYTES = 64 * 2 ** 20;

/** Time after which a file that is not saved lets the next one pass, in milliseconds. */
const SAVE_MS = 5000;

interface Job {
  readonly sizeBytes: number;
  /** Resolves with false if nothing was saved. */
  readonly save: () => Promise<boolean>;
}

/** Returns true if the content of the file will be saved. Without Web Locks, two tabs would restore and upload the same file. */
export const isCacheable = (sizeBytes: number, { keepFiles, noResume }: Settings): boolean =>
  keepFiles && !noResume && sizeBytes <= MAX_FILE_BYTES && navigator.locks !== undefined;

/** Jobs that were added while others waited or ran. */
interface Batch {
  readonly stop: AbortController;
  jobCount: number;
  /** Size of all saved files, with those that are being saved; `undefined` before the first job. */
  bytes: number | undefined;
}

/**
 * Saves one file at a time, so that only one file is in memory. A file that waits for another tab or for its drive lets the next
 * one pass, and is saved later. If a file cannot be saved, the uploads continue.
 */
export class FileCache {
  readonly #store: UploadStore;
  readonly #warn: Warn;
  readonly #lane = new Lane(1, SAVE_MS);
  #batch: Batch | undefined;

  constructor(store: UploadStore, warn: Warn) {
    this.#store = store;
    this.#warn = warn;
  }

  add(job: Job): void {
    this.#batch ??= { stop: new AbortController(), jobCount: 0, bytes: undefined };
    const batch = this.#batch;
    batch.jobCount += 1;
    void this.#lane
      .run((over) => abortable(this.#save(job, batch), over), batch.stop.signal)
      // The time of the job is over, and `#save` continues; or the batch has stopped, after a warning of `#save`.
      .catch(() => undefined)
      .finally(() => {
        batch.jobCount -= 1;
        if (batch.jobCount === 0) this.#batch = undefined;
      });
  }

  async #save({ sizeBytes, save }: Job, batch: Batch): Promise<void> {
    try {
      batch.bytes ??= await this.#store.fileBytes();
      if (batch.bytes + sizeBytes > MAX_BYTES) return;
      batch.bytes += sizeBytes;
      if (!(await save())) batch.bytes -= sizeBytes;
    } catch (error) {
      if (batch.stop.signal.aborted) return;
      batch.stop.abort();
      const { code } = toUploaderError(error, 'store-unavailable', 'A file could not be saved');
      this.#warn(`keep-files: the browser could not save a file (${code}). Files are no longer saved.`);
    }
  }
}
