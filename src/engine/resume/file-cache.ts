// Saves the content of small files in IndexedDB (`keep-files`), so that their uploads resume automatically after a reload.

import type { Settings, Warn } from '../../core/config.ts';
import { toUploaderError } from '../../core/errors.ts';
import type { UploadStore } from '../../store/uploads.ts';

/** Size limit of a saved file. The user has to pick larger files again after a reload. */
const MAX_FILE_BYTES = 4 * 2 ** 20;
/** Size limit of all saved files together. */
const MAX_BYTES = 64 * 2 ** 20;

interface Job {
  readonly sizeBytes: number;
  /** Resolves with false if nothing was saved. */
  readonly save: () => Promise<boolean>;
}

/** Returns true if the content of the file will be saved. Without Web Locks, two tabs would restore and upload the same file. */
export const isCacheable = (sizeBytes: number, { keepFiles, noResume }: Settings): boolean =>
  keepFiles && !noResume && sizeBytes <= MAX_FILE_BYTES && navigator.locks !== undefined;

/** Saves one file at a time, so that only one file is in memory. If a file cannot be saved, the uploads continue. */
export class FileCache {
  readonly #store: UploadStore;
  readonly #warn: Warn;
  #jobs: Job[] = [];
  #isSaving = false;

  constructor(store: UploadStore, warn: Warn) {
    this.#store = store;
    this.#warn = warn;
  }

  add(job: Job): void {
    this.#jobs.push(job);
    if (!this.#isSaving) void this.#saveAll();
  }

  async #saveAll(): Promise<void> {
    this.#isSaving = true;
    try {
      let bytes = await this.#store.fileBytes();
      for (let job = this.#jobs.shift(); job; job = this.#jobs.shift()) {
        if (bytes + job.sizeBytes <= MAX_BYTES && (await job.save())) bytes += job.sizeBytes;
      }
    } catch (error) {
      this.#jobs = [];
      const { code } = toUploaderError(error, 'store-unavailable', 'A file could not be saved');
      this.#warn(`keep-files: the browser could not save a file (${code}). Files are no longer saved.`);
    } finally {
      this.#isSaving = false;
    }
  }
}
