// Deletes all saved uploads when the user signs out, and finishes the deletions that others have left.

import { completeDeletion, isDeletionLeft, runningDeletions } from '../../core/deletion-mark.ts';
import { dropKept } from './keeper/drop-kept.ts';
import type { UploadStore } from './upload-store.ts';

export class Deletion {
  /** The store. Each use of it first finishes a deletion that was left, and rejects if that fails. */
  readonly store: UploadStore;
  readonly #all: UploadStore;
  #finishing: Promise<void> | undefined;

  constructor(all: UploadStore) {
    const afterDeletion =
      <Given extends readonly unknown[], Result>(use: (...given: Given) => Promise<Result>) =>
      (...given: Given): Promise<Result> =>
        isDeletionLeft() ? this.#finish().then(() => use(...given)) : use(...given);
    const keys = afterDeletion<Parameters<UploadStore['keys']>, readonly string[]>((...given) =>
      all.keys(...given),
    );
    this.#all = all;
    this.store = {
      find: afterDeletion((key) => all.find(key)),
      save: afterDeletion((...given) => all.save(...given)),
      update: afterDeletion((...given) => all.update(...given)),
      fileBytes: afterDeletion(() => all.fileBytes()),
      saveChunks: afterDeletion((...given) => all.saveChunks(...given)),
      remove: afterDeletion((...given) => all.remove(...given)),
      // An upload that is being stopped uses the store, too. Who lists uploads waits for the end.
      keys: async (...given) => {
        await Promise.allSettled(runningDeletions());
        return keys(...given);
      },
      list: afterDeletion((...given) => all.list(...given)),
      prune: afterDeletion((...given) => all.prune(...given)),
      clear: () => this.run(),
    };
  }

  /**
   * Deletes all saved uploads, and the files that are kept for the next page; once more after `allStopped`, because uploads save
   * data while they are being stopped. Rejects with `store-unavailable` if some data could not be deleted: it is left.
   */
  run(allStopped?: Promise<unknown>): Promise<void> {
    return completeDeletion(async () => {
      const [cleared] = await Promise.allSettled([this.#all.clear(), dropKept(), allStopped]);
      if (allStopped !== undefined) await this.#all.clear();
      else if (cleared.status === 'rejected') throw cleared.reason;
    });
  }

  #finish(): Promise<void> {
    this.#finishing ??= this.run().finally(() => {
      this.#finishing = undefined;
    });
    return this.#finishing;
  }
}
