// Saves uploads in IndexedDB, so that they can be resumed after a reload. Each upload has a record, and a log of its stored chunks
// (decision 0014).

import { promisifyRequest } from 'idb-keyval';
import { createId } from '../core/create-id.ts';
import { UploaderError } from '../core/errors.ts';
import type { StoredState, UploadRecord } from '../core/types.ts';
import { abortable } from '../core/wait.ts';
import { createChunkLog, groupCommit } from './chunk-log.ts';
import { createDatabase, type Database } from './database.ts';
import { isNewer, type RecordToSave, readRecord, type SavedRecord, writeRecord } from './record.ts';

/** The saved uploads of this origin. All functions reject only with `store-full` or `store-unavailable`. */
export interface UploadStore {
  /** Resolves with the upload with this key; `undefined` if there is no such upload. Deletes the record if it is invalid. */
  find(key: string): Promise<UploadRecord | undefined>;
  /** Saves or replaces a record. If session, chunk size or hash algorithm change, deletes the chunks of the previous record. */
  save(record: RecordToSave): Promise<void>;
  /** Changes fields of a saved record. Does nothing if there is no record. */
  update(
    key: string,
    change: Pick<RecordToSave, 'newName' | 'session' | 'isPaused' | 'isWithdrawn'>,
  ): Promise<void>;
  /** Resolves with the total size of all saved files in bytes. */
  fileBytes(): Promise<number>;
  /**
   * Saves stored chunks. Calls during a write share the next write. Does nothing if there is no record. But if the record was lost
   * because the database was deleted while the page was open, rejects once.
   */
  saveChunks(key: string, chunks: readonly StoredState[]): Promise<void>;
  /** Deletes the record, its chunks and its saved file. */
  remove(key: string): Promise<void>;
  /** Resolves with all uploads, oldest first. */
  list(): Promise<readonly UploadRecord[]>;
  /**
   * Deletes uploads without progress for `maxAgeMs`, and chunks without a record. Keeps uploads for which `isInUse` returns true
   * (uploads that a tab is running). Also keeps all data that a newer version of this package has saved.
   */
  prune(maxAgeMs: number, isInUse?: (key: string) => boolean): Promise<void>;
  /** Deletes everything, and drops pending writes. Rejects with `store-unavailable` if some data could not be deleted. */
  clear(): Promise<void>;
}

export interface UploadStoreOptions {
  /** Prefix of the names of the databases. Defaults to `secure-uploader`. */
  readonly name?: string;
  /** Timeout of each use of a database, and of reading a file to save, in milliseconds. Defaults to 10 s. */
  readonly deadlineMs?: number;
}

/** Minimum time between two updates of `usedAtMs`, in milliseconds. */
const TOUCH_MS = 3_600_000;

/** Creates the store. The databases open on first use. */
export function createUploadStore({
  name = 'secure-uploader',
  deadlineMs = 10_000,
}: UploadStoreOptions = {}): UploadStore {
  const chunksIds = new Map<string, string>();
  /** Keys of records that may have been lost because the database was deleted while the page was open. */
  const unsure = new Set<string>();
  const records = createDatabase(`${name}-uploads`, deadlineMs, () => {
    for (const key of chunksIds.keys()) unsure.add(key);
    chunksIds.clear();
  });
  const chunkLog = createChunkLog(`${name}-chunks`, deadlineMs);
  /** Pending changes of records, by key. Chunks may be saved before the write of their record is complete. */
  const saving = new Map<string, Promise<unknown>>();
  const touchedMs = new Map<string, number>();
  /** Number of `clear()` calls. A record that was read before a `clear()` must not be written afterwards. */
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

  const readAll = (): Promise<unknown[]> => records.read((store) => promisifyRequest(store.getAll()));

  async function withStored({ chunksId, fileId, ...record }: SavedRecord): Promise<UploadRecord> {
    const { stored, bytes } = await chunkLog.read(chunksId, fileId, record);
    const { lastModifiedMs: lastModified, type } = record;
    const file = bytes && new File([bytes], record.name, { type, lastModified });
    return { ...record, stored, ...(file && { file }) };
  }

  async function removeWhole(key: string): Promise<void> {
    const record = await load(key);
    chunksIds.delete(key);
    unsure.delete(key);
    touchedMs.delete(key);
    if (!record) return;
    await records.write((store) => void store.delete(key));
    await chunkLog.remove(record.chunksId);
    if (record.fileId) await chunkLog.remove(record.fileId);
  }

  async function saveWhole({ file, ...record }: RecordToSave): Promise<void> {
    const count = clearCount;
    const before = await load(record.key);
    if (count !== clearCount) return;
    const isSame = before !== undefined && isSameUpload(before, record);
    const chunksId = isSame ? before.chunksId : createId();
    const fileId = file && (before?.fileId ?? createId());
    await saveRecord(records, { ...record, chunksId, fileId });
    if (count !== clearCount) return;
    chunksIds.set(record.key, chunksId);
    unsure.delete(record.key);
    touchedMs.set(record.key, performance.now());
    if (before && !isSame) await chunkLog.remove(before.chunksId);
    if (!file || before?.fileId) return;
    const bytes = await abortable(file.arrayBuffer(), AbortSignal.timeout(deadlineMs)).catch((cause) => {
      throw new UploaderError('store-unavailable', 'The file to save could not be read', { cause });
    });
    if (count === clearCount) await chunkLog.saveFile(fileId as string, bytes);
  }

  /**
   * Waits for pending changes of the same record, then runs `write`. A change reads the record and writes it in two transactions,
   * so it would save the record again if another one removed it in between.
   */
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
    const byId = new Map<string, readonly StoredState[]>();
    for (const [key, chunks] of batch) {
      await saving.get(key);
      const chunksId = chunksIds.get(key) ?? (await load(key))?.chunksId;
      if (chunksId === undefined && unsure.delete(key))
        throw new UploaderError('store-unavailable', 'The saved upload was deleted while the page was open');
      if (chunksId !== undefined) byId.set(chunksId, chunks);
    }
    if (byId.size === 0 || count !== clearCount) return;
    await chunkLog.append(byId);
    for (const key of batch.keys()) if (count === clearCount) await touch(key);
  });

  /** Updates `usedAtMs`, so that an upload that runs longer than `keep-days` does not expire. */
  async function touch(key: string): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - (touchedMs.get(key) ?? Number.NEGATIVE_INFINITY) < TOUCH_MS) return;
    touchedMs.set(key, nowMs);
    await inTurn(key, () => change(key, { usedAtMs: Date.now() }));
  }

  const remove = (key: string): Promise<void> => inTurn(key, () => removeWhole(key));

  /** Changes fields of a saved record. Does nothing if there is no record. */
  async function change(key: string, fields: Partial<SavedRecord>): Promise<void> {
    const count = clearCount;
    const record = await load(key);
    if (record && count === clearCount) await saveRecord(records, { ...record, ...fields });
  }

  return {
    async find(key) {
      const record = await load(key);
      return record && withStored(record);
    },

    save: (record) => inTurn(record.key, () => saveWhole(record)),

    update: (key, fields) => inTurn(key, () => change(key, fields)),

    async fileBytes() {
      const values = await readAll();
      return values.map(readRecord).reduce((sum, record) => sum + (record?.fileId ? record.sizeBytes : 0), 0);
    },

    saveChunks: (key, chunks) => (chunks.length === 0 ? Promise.resolve() : append(key, chunks)),

    remove,

    async list() {
      const values = await readAll();
      const saved = values.map(readRecord).filter((record) => record !== undefined);
      saved.sort((a, b) => a.createdAtMs - b.createdAtMs);
      const found = await Promise.all(saved.map(withStored));
      return found.filter(({ file, session, isWithdrawn }) => (file || session) && !isWithdrawn);
    },

    async prune(maxAgeMs, isInUse = () => false) {
      // Chunk ids are listed before records, so that chunks of records that are saved in the meantime are not deleted.
      const ids = await chunkLog.listIds();
      const keys = await records.read((store) => promisifyRequest(store.getAllKeys()));
      const kept = new Set<string>();
      for (const key of keys.map(String)) {
        const record = await load(key);
        if (!record) continue;
        // Without `abs`, a record with a date in the future (wrong clock) would never expire.
        const ageMs = Math.abs(Date.now() - (record.usedAtMs ?? record.createdAtMs));
        if ((ageMs > maxAgeMs || record.isWithdrawn) && !isInUse(key)) await remove(key);
        else kept.add(record.chunksId).add(record.fileId ?? record.chunksId);
      }
      const values = await readAll();
      // The other chunks may belong to records of a newer version, which this version cannot read.
      if (values.some(isNewer)) return;
      for (const id of ids) if (!kept.has(id)) await chunkLog.remove(id);
    },

    async clear() {
      clearCount += 1;
      chunksIds.clear();
      unsure.clear();
      // The keys contain file names, so they are deleted for privacy.
      touchedMs.clear();
      const cleared = await Promise.allSettled([
        records.write((store) => void store.clear()),
        chunkLog.clear(),
      ]);
      const failed = cleared.find((result) => result.status === 'rejected');
      if (failed)
        throw new UploaderError('store-unavailable', 'Some saved uploads could not be deleted', {
          cause: failed.reason,
        });
    },
  };
}

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
    // Some browsers cannot save handles. Without the handle, the user has to pick the file again.
    const { handle: _handle, ...rest } = record;
    await save(writeRecord(rest));
  }
}
