// Saves index, hash and receipt of each stored chunk in an append-only log. With `keep-files`, also saves the content of small
// files. Each write adds small entries and leaves earlier entries unchanged, so saving does not get slower as an upload grows. File
// handles are here, too, because reading one costs as much as reading a hundred records.

import { promisifyRequest } from 'idb-keyval';
import type { StoredState, UploadRecord } from '../../core/types.ts';
import { whenSettled } from '../../core/wait.ts';
import { BATCH_SIZE, Database } from './database.ts';
import { readChunks, readHandle, type SavedRecord, writeChunks } from './record.ts';

/** What is saved for a record beside it. */
interface SavedContent {
  readonly stored: UploadRecord['stored'];
  readonly handle: FileSystemFileHandle | undefined;
  readonly bytes: ArrayBuffer | undefined;
}

/**
 * The log of chunks and files. All methods reject only with `store-full` or `store-unavailable`. Ids are `chunksId` and `fileId` of
 * a `SavedRecord`.
 */
export class ChunkLog {
  readonly #database: Database;
  // Part of each key, so that two pages never overwrite each other's entries.
  readonly #writer = Date.now() + Math.random();
  #sequence = 0;

  constructor(name: string, deadlineMs: number) {
    this.#database = new Database(name, deadlineMs);
  }

  /** Resolves with chunks, handle and file of each record, if they exist. Uses one transaction. */
  read(records: readonly SavedRecord[]): Promise<SavedContent[]> {
    return this.#database.read((store) =>
      Promise.all(
        records.map(async (record) => {
          const [entries, bytes] = await Promise.all([
            promisifyRequest<unknown[]>(store.getAll(rangeOf(record.chunksId))),
            record.fileId && promisifyRequest<unknown>(store.get([record.fileId])),
          ]);
          return {
            stored: readChunks(entries, record),
            handle: entries.map(readHandle).find(Boolean),
            bytes: bytes instanceof ArrayBuffer ? bytes : undefined,
          };
        }),
      ),
    );
  }

  /** Adds stored chunks. The keys of the map are values of `chunksId`. */
  append(chunks: ReadonlyMap<string, readonly StoredState[]>): Promise<void> {
    return this.#database.write((store) => {
      for (const [id, states] of chunks) {
        this.#sequence += 1;
        store.put(writeChunks(states), [id, this.#writer, this.#sequence]);
      }
    });
  }

  saveFile(fileId: string, bytes: ArrayBuffer): Promise<void> {
    return this.#database.write((store) => store.put(bytes, [fileId]));
  }

  /** Saves the handle for the chunks `chunksId`. */
  saveHandle(chunksId: string, handle: FileSystemFileHandle): Promise<void> {
    return this.#database.write((store) => store.put(handle, [chunksId, 'handle']));
  }

  /** Deletes the chunks and the handle, or the file, with this id. */
  remove(id: string): Promise<void> {
    return this.#database.write((store) => store.delete(rangeOf(id)));
  }

  /** Resolves with the ids of all chunks and files. */
  async listIds(): Promise<readonly string[]> {
    const ids: string[] = [];
    for (;;) {
      const next = await this.#database.read((store) => idsAfter(store, ids.at(-1)));
      ids.push(...next);
      if (next.length < BATCH_SIZE) return ids;
    }
  }

  /** Deletes everything by `empty`. */
  clear(empty: (store: IDBObjectStore) => void): Promise<void> {
    return this.#database.write(empty);
  }
}

/** Returns the range of all keys `[id, …]`. The upper bound `[id, []]` works because IndexedDB sorts arrays after numbers. */
const rangeOf = (id: string): IDBKeyRange => IDBKeyRange.bound([id], [id, []]);

/** Resolves with the next ids after `last`. The cursor skips from each id to the next id, without reading the entries. */
function idsAfter(store: IDBObjectStore, last: string | undefined): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const ids: string[] = [];
    const request = store.openKeyCursor(last === undefined ? null : IDBKeyRange.lowerBound([last, []]));
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) {
        resolve(ids);
        return;
      }
      const id = Array.isArray(cursor.key) ? cursor.key[0] : undefined;
      if (typeof id !== 'string') {
        cursor.continue();
        return;
      }
      ids.push(id);
      if (ids.length === BATCH_SIZE) resolve(ids);
      else cursor.continue([id, []]);
    };
  });
}

type Append = (key: string, chunks: readonly StoredState[]) => Promise<void>;

/** Combines all calls during a write into the next write. Each call settles with the write that contains its chunks. */
export function groupCommit(
  write: (batch: ReadonlyMap<string, readonly StoredState[]>) => Promise<void>,
): Append {
  let writing: Promise<void> = Promise.resolve();
  let next: { readonly batch: Map<string, StoredState[]>; readonly written: Promise<void> } | undefined;

  function begin(): NonNullable<typeof next> {
    const batch = new Map<string, StoredState[]>();
    const written = writing.then(() => {
      next = undefined;
      return write(batch);
    });
    writing = whenSettled(written);
    return { batch, written };
  }

  return (key, chunks) => {
    next ??= begin();
    const { batch, written } = next;
    const waiting = batch.get(key);
    if (waiting) waiting.push(...chunks);
    else batch.set(key, [...chunks]);
    return written;
  };
}
