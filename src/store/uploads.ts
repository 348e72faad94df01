// Uploads that outlive the page. A record is written once; what was stored since is a log of small entries beside it, each
// chunk written once, so that saving costs the same for the first chunk and for the ten-thousandth. It knows nothing of runs.

import { promisifyRequest } from 'idb-keyval';
import { UploaderError } from '../core/errors.ts';
import type { UploadRecord } from '../core/types.ts';
import { createDatabase, type Database, deleteDatabase } from './database.ts';
import {
  isNewer,
  type RecordToSave,
  readChunks,
  readRecord,
  type SavedRecord,
  type StoredState,
  writeChunks,
  writeRecord,
} from './record.ts';

/** Saved uploads of this origin. Every function rejects with `store-full` or `store-unavailable` only. */
export interface UploadStore {
  /** The upload of that key, with what is known to be stored; `undefined` where there is none, or a damaged one (then removed). */
  find(key: string): Promise<UploadRecord | undefined>;
  /** Saves or replaces a record. Under another session or chunk size than before, chunks saved until now no longer count. */
  save(record: RecordToSave): Promise<void>;
  /** Changes fields of a saved record; does nothing where there is none. */
  update(key: string, change: Pick<RecordToSave, 'newName' | 'session' | 'isPaused'>): Promise<void>;
  /** Size of all files that are saved themselves, in bytes. */
  fileBytes(): Promise<number>;
  /**
   * Adds chunks that are stored. Calls made while one is being written share the next write. Without a record it does nothing,
   * unless that went with a database that was deleted under the page: then it rejects, once.
   */
  saveChunks(key: string, chunks: readonly StoredState[]): Promise<void>;
  remove(key: string): Promise<void>;
  /** All uploads, the oldest first. */
  list(): Promise<readonly UploadRecord[]>;
  /**
   * Removes uploads of which nothing was stored for longer than `maxAgeMs`, and chunks without a record. Keeps what a newer
   * version has saved, and every upload for which `isInUse` is true: another tab is running it.
   */
  prune(maxAgeMs: number, isInUse?: (key: string) => boolean): Promise<void>;
  /** Deletes everything, in all databases; what is being saved is not saved. Rejects with `store-unavailable` where one of them failed. */
  clear(): Promise<void>;
}

/** What a test, or a page with two kinds of uploads, sets. */
export interface UploadStoreOptions {
  /** Beginning of the databases' names. */
  readonly name?: string;
  /** How long the browser's database may take for one thing, milliseconds. Default 10 s: an upload must not hang on it. */
  readonly deadlineMs?: number;
}

const TOUCH_MS = 3_600_000;

/** Creates the store; nothing is opened before it is used. */
export function createUploadStore({
  name = 'secure-uploader',
  deadlineMs = 10_000,
}: UploadStoreOptions = {}): UploadStore {
  const chunksIds = new Map<string, string>();
  /** Records that may have gone with a database that was deleted under us. */
  const unsure = new Set<string>();
  const records = createDatabase(`${name}-uploads`, deadlineMs, () => {
    for (const key of chunksIds.keys()) unsure.add(key);
    chunksIds.clear();
  });
  const chunkLog = createDatabase(`${name}-chunks`, deadlineMs);
  /** Earlier versions saved files in a database of their own. */
  const deleteOldFiles = (): Promise<void> => deleteDatabase(`${name}-files`, deadlineMs);
  /** Records that are being written: their first chunks may be stored before that has ended. */
  const saving = new Map<string, Promise<unknown>>();
  const touchedMs = new Map<string, number>();
  // Two pages that write for one upload never use the same key.
  const writer = Date.now() + Math.random();
  let sequence = 0;
  /** How often everything was deleted: whatever was read before is not written after. */
  let clearCount = 0;

  async function load(key: string): Promise<SavedRecord | undefined> {
    const value: unknown = await records.read((store) => promisifyRequest(store.get(key)));
    const record = readRecord(value);
    if (record?.key === key) {
      chunksIds.set(key, record.chunksId);
      unsure.delete(key);
      return record;
    }
    chunksIds.delete(key);
    if (value !== undefined && !isNewer(value)) await records.write((store) => void store.delete(key));
    return undefined;
  }

  async function withStored({ chunksId, fileId, ...record }: SavedRecord): Promise<UploadRecord> {
    const [entries, bytes] = await chunkLog.read((store) =>
      Promise.all([
        promisifyRequest<unknown[]>(store.getAll(rangeOf(chunksId))),
        fileId && promisifyRequest<unknown>(store.get([fileId])),
      ]),
    );
    const { lastModifiedMs: lastModified, type } = record;
    const file = bytes instanceof ArrayBuffer && new File([bytes], record.name, { type, lastModified });
    return { ...record, stored: readChunks(entries, record), ...(file && { file }) };
  }

  const forgetChunks = (chunksId: string): Promise<void> =>
    chunkLog.write((store) => void store.delete(rangeOf(chunksId)));

  async function remove(key: string): Promise<void> {
    // One that is being saved would lie there again afterwards.
    await saving.get(key);
    const record = await load(key);
    chunksIds.delete(key);
    unsure.delete(key);
    touchedMs.delete(key);
    if (!record) return;
    await records.write((store) => void store.delete(key));
    await forgetChunks(record.chunksId);
    if (record.fileId) await forgetChunks(record.fileId);
  }

  async function saveWhole({ file, ...record }: RecordToSave): Promise<void> {
    const count = clearCount;
    const before = await load(record.key);
    if (count !== clearCount) return;
    const goesOn = before !== undefined && isSameUpload(before, record);
    const chunksId = goesOn ? before.chunksId : createChunksId();
    const fileId = file && (before?.fileId ?? createChunksId());
    await saveRecord(records, { ...record, chunksId, fileId });
    if (count !== clearCount) return;
    chunksIds.set(record.key, chunksId);
    unsure.delete(record.key);
    touchedMs.set(record.key, performance.now());
    if (before && !goesOn) await forgetChunks(before.chunksId);
    if (!file || before?.fileId) return;
    const bytes = await file.arrayBuffer();
    if (count === clearCount) await chunkLog.write((store) => void store.put(bytes, [fileId as string]));
  }

  /** Writes of one record follow one another. */
  async function inTurn(key: string, write: () => Promise<void>): Promise<void> {
    const count = clearCount;
    const writeAfter = async (before: Promise<unknown> | undefined): Promise<void> => {
      if (before !== undefined) await before;
      if (count === clearCount) await write();
    };
    const done = writeAfter(saving.get(key));
    const ended = done.catch(() => undefined);
    saving.set(key, ended);
    await done.finally(() => {
      if (saving.get(key) === ended) saving.delete(key);
    });
  }

  const append = groupCommit(async (batch: ReadonlyMap<string, readonly StoredState[]>) => {
    const count = clearCount;
    const entries: { readonly key: IDBValidKey; readonly value: unknown }[] = [];
    for (const [key, chunks] of batch) {
      await saving.get(key);
      const chunksId = chunksIds.get(key) ?? (await load(key))?.chunksId;
      if (chunksId === undefined && unsure.delete(key))
        throw new UploaderError('store-unavailable', 'the saved upload was deleted under the page');
      if (chunksId === undefined) continue;
      sequence += 1;
      entries.push({ key: [chunksId, writer, sequence], value: writeChunks(chunks) });
    }
    if (entries.length === 0 || count !== clearCount) return;
    await chunkLog.write((store) => {
      for (const { key, value } of entries) store.put(value, key);
    });
    for (const key of batch.keys()) if (count === clearCount) await touch(key);
  });

  /** Renews the record's date, at most once an hour: an upload that runs longer than `keep-days` must not expire. */
  async function touch(key: string): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - (touchedMs.get(key) ?? Number.NEGATIVE_INFINITY) < TOUCH_MS) return;
    touchedMs.set(key, nowMs);
    const count = clearCount;
    const record = await load(key);
    if (record && count === clearCount) await saveRecord(records, { ...record, usedAtMs: Date.now() });
  }

  return {
    async find(key) {
      const record = await load(key);
      return record && withStored(record);
    },

    save: (record) => inTurn(record.key, () => saveWhole(record)),

    update: (key, change) =>
      inTurn(key, async () => {
        const count = clearCount;
        const record = await load(key);
        if (record && count === clearCount) await saveRecord(records, { ...record, ...change });
      }),

    async fileBytes() {
      const values: unknown[] = await records.read((store) => promisifyRequest(store.getAll()));
      return values.map(readRecord).reduce((sum, record) => sum + (record?.fileId ? record.sizeBytes : 0), 0);
    },

    saveChunks: (key, chunks) => (chunks.length === 0 ? Promise.resolve() : append(key, chunks)),

    remove,

    async list() {
      const values: unknown[] = await records.read((store) => promisifyRequest(store.getAll()));
      const saved = values.map(readRecord).filter((record) => record !== undefined);
      saved.sort((a, b) => a.createdAtMs - b.createdAtMs);
      const found = await Promise.all(saved.map(withStored));
      return found.filter(({ file, session }) => file || session);
    },

    async prune(maxAgeMs, isInUse = () => false) {
      await deleteOldFiles().catch(() => undefined);
      // Before the records: whoever writes chunks has saved their record already.
      const ids = await chunkLog.read(listIds);
      const keys = await records.read((store) => promisifyRequest(store.getAllKeys()));
      const kept = new Set<string>();
      for (const key of keys.map(String)) {
        const record = await load(key);
        if (!record) continue;
        // A date in the future comes from a wrong clock; without `abs` such a record would never expire.
        const ageMs = Math.abs(Date.now() - (record.usedAtMs ?? record.createdAtMs));
        if (ageMs > maxAgeMs && !isInUse(key)) await remove(key);
        else kept.add(record.chunksId).add(record.fileId ?? record.chunksId);
      }
      const values: unknown[] = await records.read((store) => promisifyRequest(store.getAll()));
      // Which of the others are theirs is not known here.
      if (values.some(isNewer)) return;
      for (const id of ids) if (!kept.has(id)) await forgetChunks(id);
    },

    async clear() {
      clearCount += 1;
      chunksIds.clear();
      unsure.clear();
      // The keys hold names of files.
      touchedMs.clear();
      const cleared = await Promise.allSettled([
        records.write((store) => void store.clear()),
        chunkLog.write((store) => void store.clear()),
        deleteOldFiles(),
      ]);
      const failed = cleared.find((result) => result.status === 'rejected');
      if (failed)
        throw new UploaderError('store-unavailable', 'Not everything could be deleted', {
          cause: failed.reason,
        });
    },
  };
}

/** Random, also where `crypto.randomUUID` is not to be had (no secure context). */
const createChunksId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** All keys `[id, …]`: an array comes after every number. */
const rangeOf = (chunksId: string): IDBKeyRange => IDBKeyRange.bound([chunksId], [chunksId, []]);

const isSameUpload = (before: SavedRecord, after: RecordToSave): boolean =>
  before.session?.header === after.session?.header &&
  before.chunkSizeBytes === after.chunkSizeBytes &&
  before.hashAlgorithm === after.hashAlgorithm;

async function saveRecord(records: Database, record: SavedRecord): Promise<void> {
  const save = (value: unknown): Promise<void> => records.write((store) => void store.put(value, record.key));
  try {
    await save(writeRecord(record));
  } catch (error) {
    if (!record.handle) throw error;
    // Not every browser keeps handles. Without it the file has to be picked again; with nothing saved it starts anew.
    const { handle: _handle, ...rest } = record;
    await save(writeRecord(rest));
  }
}

/** The different ids in the log, from one to the next without reading what lies between. */
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

/** Collects what comes while a write is under way into one write after it; each caller hears of the write that had its part. */
function groupCommit(write: (batch: ReadonlyMap<string, readonly StoredState[]>) => Promise<void>): Append {
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
