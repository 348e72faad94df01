// Records for tests of the store, and direct access to the databases of the store.

import type { StoredState } from '../../../src/core/types.ts';
import type { RecordToSave } from '../../../src/engine/resume/record.ts';
import type { UploadStore } from '../../../src/engine/resume/upload-store.ts';

const DAY_MS = 24 * 3_600_000;

/** Deletes what is too old now, by a second visit a day later. */
export async function pruneOnTwoDays(
  store: UploadStore,
  ...limits: Parameters<UploadStore['prune']>
): Promise<void> {
  await store.prune(...limits);
  const { now } = Date;
  try {
    Date.now = () => now() + DAY_MS;
    await store.prune(...limits);
  } finally {
    Date.now = now;
  }
}

/** Returns a record of a file with 100 chunks of 100 bytes. */
export const recordOf = (more: Partial<RecordToSave> = {}): RecordToSave => ({
  key: 'key',
  name: 'a.txt',
  relativePath: 'folder/a.txt',
  sizeBytes: 10_000,
  lastModifiedMs: 1_700_000_000_000,
  type: 'text/plain',
  parentId: 'folder-a',
  firstSliceHash: 'f'.repeat(64),
  chunkSizeBytes: 100,
  hashAlgorithm: 'sha-256',
  session: { sessionId: 's', header: 'h' },
  createdAtMs: Date.now(),
  ...more,
});

/** Returns stored chunks with the indexes from `from` up to, but not including, `to`. */
export const statesOf = (from: number, to: number): StoredState[] =>
  Array.from({ length: to - from }, (_, at) => ({
    index: from + at,
    hash: `hash-${from + at}`,
    receipt: `receipt-${from + at}`,
  }));

const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Returns functions that access one of the store's databases, which must exist. */
export function rawDatabase(name: string): {
  keys(): Promise<IDBValidKey[]>;
  values(): Promise<unknown[]>;
  put(key: IDBValidKey, value: unknown): Promise<unknown>;
  /** Puts entries in one transaction. */
  putAll(entries: readonly (readonly [key: IDBValidKey, value: unknown])[]): Promise<unknown>;
  remove(): Promise<unknown>;
} {
  async function use<T>(run: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    const db = await settled(indexedDB.open(name));
    try {
      return await settled(run(db.transaction('entries', 'readwrite').objectStore('entries')));
    } finally {
      db.close();
    }
  }
  return {
    keys: () => use((store) => store.getAllKeys()),
    values: () => use<unknown[]>((store) => store.getAll()),
    put: (key, value) => use((store) => store.put(value, key)),
    putAll: (entries) =>
      use((store) => {
        for (const [key, value] of entries) store.put(value, key);
        return store.count();
      }),
    remove: () => settled(indexedDB.deleteDatabase(name)),
  };
}
