// Saves index, hash and receipt of each stored chunk in an append-only log. With `keep-files`, also saves the content of small
// files. Each write adds small entries and leaves earlier entries unchanged, so saving does not get slower as an upload grows.

import { promisifyRequest } from 'idb-keyval';
import type { StoredState, UploadRecord } from '../core/types.ts';
import { createDatabase } from './database.ts';
import { readChunks, writeChunks } from './record.ts';

/**
 * Creates the log of chunks and files. All functions reject only with `store-full` or `store-unavailable`. Ids are `chunksId` and
 * `fileId` of a `SavedRecord`.
 */
export function createChunkLog(name: string, deadlineMs: number) {
  const database = createDatabase(name, deadlineMs);
  // Part of each key, so that two pages never overwrite each other's entries.
  const writer = Date.now() + Math.random();
  let sequence = 0;
  return {
    /** Resolves with the chunks of `chunksId`, and with the bytes of `fileId`, if they exist. */
    async read(
      chunksId: string,
      fileId: string | undefined,
      file: Pick<UploadRecord, 'sizeBytes' | 'chunkSizeBytes'>,
    ) {
      const [entries, bytes] = await database.read((store) =>
        Promise.all([
          promisifyRequest<unknown[]>(store.getAll(rangeOf(chunksId))),
          fileId && promisifyRequest<unknown>(store.get([fileId])),
        ]),
      );
      return {
        stored: readChunks(entries, file),
        bytes: bytes instanceof ArrayBuffer ? bytes : undefined,
      };
    },
    /** Adds stored chunks. The keys of the map are values of `chunksId`. */
    append: (chunks: ReadonlyMap<string, readonly StoredState[]>) =>
      database.write((store) => {
        for (const [id, states] of chunks) {
          sequence += 1;
          store.put(writeChunks(states), [id, writer, sequence]);
        }
      }),
    saveFile: (fileId: string, bytes: ArrayBuffer) =>
      database.write((store) => void store.put(bytes, [fileId])),
    /** Deletes the chunks or the file with this id. */
    remove: (id: string) => database.write((store) => void store.delete(rangeOf(id))),
    /** Resolves with the ids of all chunks and files. */
    listIds: () => database.read(listIds),
    clear: () => database.write((store) => void store.clear()),
  };
}

/** Returns the range of all keys `[id, …]`. The upper bound `[id, []]` works because IndexedDB sorts arrays after numbers. */
const rangeOf = (id: string): IDBKeyRange => IDBKeyRange.bound([id], [id, []]);

/** Resolves with all ids. The cursor skips from each id to the next id, without reading the entries. */
function listIds(store: IDBObjectStore): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const ids: string[] = [];
    const request = store.openKeyCursor();
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
      cursor.continue([id, []]);
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
    writing = written.catch(() => undefined);
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
