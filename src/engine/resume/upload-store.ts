// Saves uploads in IndexedDB, so that they can be resumed after a reload. Each upload has a record, and a log of its stored chunks
// (decision 0014).

import { promisifyRequest } from 'idb-keyval';
import { createId } from '../../core/create-id.ts';
import { UploaderError } from '../../core/errors.ts';
import type { SavedSession, StoredState, UploadRecord } from '../../core/types.ts';
import { whenSettled } from '../../core/wait.ts';
import { createChunkLog, groupCommit } from './chunk-log.ts';
import { BATCH_SIZE, createDatabase } from './database.ts';
import { isNewer, type RecordToSave, readRecord, type SavedRecord, writeRecord } from './record.ts';

/** The saved uploads of this origin. All functions reject only with `store-full` or `store-unavailable`. */
export interface UploadStore {
  /** Resolves with the upload with this key; `undefined` if there is no such upload. Deletes the record if it is invalid. */
  find(key: string): Promise<UploadRecord | undefined>;
  /**
   * Saves or replaces a record. If session, chunk size or hash algorithm change, deletes the chunks of the previous record. `bytes`
   * is the content of `record.file`. Without `bytes`, a record with a file keeps the saved content.
   */
  save(record: RecordToSave, bytes?: ArrayBuffer): Promise<void>;
  /** Changes fields of a saved record. Does nothing if there is no record. */
  update(
    key: string,
    change: Partial<
      Pick<RecordToSave, Exclude<keyof SavedSession, 'chunkSizeBytes'> | 'fileHash'> &
        Pick<RecordToSave, 'newName' | 'isPaused' | 'isWithdrawn'>
    >,
  ): Promise<void>;
  /** Resolves with the total size of all saved files in bytes. */
  fileBytes(): Promise<number>;
  /**
   * Saves stored chunks. Calls during a write share the next write. Does nothing if there is no record. But if the record was lost
   * because the database was deleted while the page was open, resolves with false once.
   */
  saveChunks(key: string, chunks: readonly StoredState[]): Promise<boolean>;
  /**
   * Deletes the record, its chunks and its saved file. With `createdAtMs`, does nothing if the record was created at another time.
   */
  remove(key: string, createdAtMs?: number): Promise<void>;
  /** Resolves with the keys of all uploads, oldest first. Leaves out uploads without progress for `keepMsOf(record)`. */
  keys(keepMsOf?: KeepMsOf): Promise<readonly string[]>;
  /** Resolves with the uploads with these keys, in this order; by default, with all uploads, oldest first. */
  list(keys?: readonly string[]): Promise<readonly UploadRecord[]>;
  /**
   * Deletes uploads that had no progress for `keepMsOf(record)` at two visits a day apart, and chunks without a record: the clock
   * may be wrong at one visit. Keeps uploads for which `isInUse` returns true (uploads that a tab is running). Also keeps all data
   * that a newer version of this package has saved.
   */
  prune(keepMsOf: KeepMsOf, isInUse?: (key: string) => boolean): Promise<void>;
  /** Deletes everything, and drops pending writes. Rejects with `store-unavailable` if some data could not be deleted. */
  clear(): Promise<void>;
}

export interface UploadStoreOptions {
  /** Prefix of the names of the databases. Defaults to `secure-uploader`. */
  readonly name?: string;
  /** Timeout of each use of a database, in milliseconds. Defaults to 10 s. */
  readonly deadlineMs?: number;
}

/** Returns the time for which an upload without progress is kept, in milliseconds. */
export type KeepMsOf = (record: RecordToSave) => number;

/** Minimum time between two updates of `usedAtMs`, in milliseconds. */
const TOUCH_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** Creates the store. The databases open on first use. */
export function createUploadStore({
  name = 'secure-uploader',
  deadlineMs = 10_000,
}: UploadStoreOptions = {}): UploadStore {
  const chunksIds = new Map<string, string>();
  /** Keys of records that may have been lost because the database was deleted while the page was open. */
  const unsure = new Set<string>();
  /** Keys of records that were lost in this way, until their upload reports the loss. */
  const lost = new Set<string>();
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

  /** Returns the record in a value of the database. Remembers the id of its chunks. */
  function own(key: string, value: unknown): SavedRecord | undefined {
    const record = readRecord(value);
    chunksIds.delete(key);
    if (record?.key !== key) return undefined;
    chunksIds.set(key, record.chunksId);
    unsure.delete(key);
    return record;
  }

  /**
   * Replaces a record by `next(record)`, or deletes the record if `next` returns `undefined`. Deletes a damaged record, and keeps a
   * record of a newer version unless `next` returns another one. Resolves with the record before.
   */
  async function replace(
    key: string,
    next: (before: SavedRecord | undefined) => SavedRecord | undefined,
  ): Promise<SavedRecord | undefined> {
    const count = clearCount;
    let before: SavedRecord | undefined;
    let written: unknown;
    await records.replace(key, (value) => {
      written = undefined; // The transaction may run twice.
      if (count !== clearCount) return value;
      before = own(key, value);
      const changed = next(before);
      if (!changed) return isNewer(value) ? value : undefined;
      written = writeRecord(changed);
      return written;
    });
    if (written && count === clearCount) own(key, written);
    return before;
  }

  async function load(key: string): Promise<SavedRecord | undefined> {
    const value: unknown = await records.read((store) => promisifyRequest(store.get(key)));
    const record = own(key, value);
    if (!record && value !== undefined) await replace(key, (before) => before);
    return record;
  }

  /** Yields all records. Leaves out invalid ones. */
  async function* readAll(): AsyncGenerator<SavedRecord> {
    for await (const batch of records.entries())
      for (const [, value] of batch) {
        const record = readRecord(value);
        if (record) yield record;
      }
  }

  async function withStored(saved: readonly SavedRecord[]): Promise<UploadRecord[]> {
    const contents = await chunkLog.read(saved);
    return saved.map(({ chunksId: _, fileId: __, expiredAtMs: ___, ...record }, at) => {
      const { stored = new Map(), handle, bytes } = contents[at] ?? {};
      const { lastModifiedMs: lastModified, type } = record;
      const file = bytes && new File([bytes], record.name, { type, lastModified });
      return { ...record, stored, ...(handle && { handle }), ...(file && { file }) };
    });
  }

  async function remove(key: string, createdAtMs?: number): Promise<void> {
    const isMeant = (record: SavedRecord | undefined): boolean =>
      createdAtMs === undefined || record?.createdAtMs === createdAtMs;
    const record = await replace(key, (before) => (isMeant(before) ? undefined : before));
    if (!isMeant(record)) return;
    touchedMs.delete(key);
    chunksIds.delete(key);
    unsure.delete(key);
    if (!record) return;
    await chunkLog.remove(record.chunksId);
    if (record.fileId) await chunkLog.remove(record.fileId);
  }

  async function save({ file, handle, ...record }: RecordToSave, bytes?: ArrayBuffer): Promise<void> {
    const { key } = record;
    const count = clearCount;
    touchedMs.set(key, performance.now());
    let chunksId = '';
    let fileId: string | undefined;
    const before = await replace(key, (before) => {
      chunksId = before && isSameUpload(before, record) ? before.chunksId : createId();
      fileId = file && (before?.fileId ?? (bytes && createId()));
      return { ...record, chunksId, fileId };
    });
    if (before && before.chunksId !== chunksId) await chunkLog.remove(before.chunksId);
    // Some browsers cannot save handles. Without the handle, the user has to pick the file again.
    if (handle && count === clearCount) await chunkLog.saveHandle(chunksId, handle).catch(() => undefined);
    if (bytes && fileId && fileId !== before?.fileId && count === clearCount)
      await chunkLog.saveFile(fileId, bytes);
  }

  /**
   * Waits for pending changes of the same record, then runs `write`. A removal must delete the bytes of a file that is being saved,
   * and chunks must be saved for the latest session.
   */
  async function inTurn(key: string, write: () => Promise<unknown>): Promise<void> {
    const count = clearCount;
    const before = saving.get(key);
    const done = (before ?? Promise.resolve()).then(() => (count === clearCount ? write() : undefined));
    const ended = whenSettled(done);
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
      if (chunksId !== undefined) byId.set(chunksId, chunks);
      else if (unsure.delete(key)) lost.add(key);
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

  /** Changes fields of a saved record. Does nothing if there is no record. */
  const change = (key: string, fields: Partial<SavedRecord>): Promise<unknown> =>
    replace(key, (before) => before && { ...before, ...fields });

  async function keys(keepMsOf: KeepMsOf = () => Number.POSITIVE_INFINITY): Promise<readonly string[]> {
    const saved: Pick<SavedRecord, 'key' | 'createdAtMs'>[] = [];
    for await (const record of readAll()) {
      const { key, createdAtMs } = record;
      if (!isExpired(record, keepMsOf)) saved.push({ key, createdAtMs });
    }
    return saved.sort((a, b) => a.createdAtMs - b.createdAtMs).map(({ key }) => key);
  }

  return {
    async find(key) {
      const record = await load(key);
      return record && (await withStored([record]))[0];
    },

    keys,

    save: (record, bytes) => inTurn(record.key, () => save(record, bytes)),

    update: (key, fields) => inTurn(key, () => change(key, fields)),

    async fileBytes() {
      let bytes = 0;
      for await (const { fileId, sizeBytes } of readAll()) if (fileId) bytes += sizeBytes;
      return bytes;
    },

    async saveChunks(key, chunks) {
      if (chunks.length > 0) await append(key, chunks);
      return !lost.delete(key);
    },

    remove: (key, createdAtMs) => inTurn(key, () => remove(key, createdAtMs)),

    async list(wanted) {
      const listed = wanted ?? (await keys());
      const list: UploadRecord[] = [];
      for (let at = 0; at < listed.length; at += BATCH_SIZE) {
        const batch = listed.slice(at, at + BATCH_SIZE);
        const values = await records.read((store) =>
          Promise.all(batch.map((key) => promisifyRequest<unknown>(store.get(key)))),
        );
        const saved = values.map(readRecord).filter((record) => record !== undefined);
        list.push(...(await withStored(saved)));
      }
      return list.filter(({ file, session, isWithdrawn }) => (file || session) && !isWithdrawn);
    },

    async prune(keepMsOf, isInUse = () => false) {
      // Chunk ids are listed before records, so that chunks of records that are saved in the meantime are not deleted.
      const ids = await chunkLog.listIds();
      const kept = new Set<string>();
      let hasNewer = false;
      for await (const batch of records.entries())
        for (const [key, value] of batch) {
          const record = own(key, value);
          if (!record) {
            hasNewer ||= isNewer(value);
            await replace(key, (before) => before);
            continue;
          }
          const isOld = isExpired(record, keepMsOf);
          if ((record.isWithdrawn || (isOld && wasExpired(record))) && !isInUse(key)) {
            await inTurn(key, () => remove(key));
            continue;
          }
          kept.add(record.chunksId).add(record.fileId ?? record.chunksId);
          const isMarked = record.expiredAtMs !== undefined;
          const expiredAtMs = isOld ? Date.now() : undefined;
          if (isMarked !== isOld) await inTurn(key, () => change(key, { expiredAtMs }));
        }
      // The other chunks may belong to records of a newer version, which this version cannot read.
      if (hasNewer) return;
      for (const id of ids) if (!kept.has(id)) await chunkLog.remove(id);
    },

    async clear() {
      clearCount += 1;
      chunksIds.clear();
      unsure.clear();
      lost.clear();
      // The keys contain file names, so they are deleted for privacy.
      touchedMs.clear();
      // A deletion that is late may wait until the next user has saved uploads.
      let isGivenUp = false;
      const empty = (store: IDBObjectStore): void => {
        if (!isGivenUp) store.clear();
      };
      const cleared = await Promise.allSettled([records.write(empty), chunkLog.write(empty)]);
      const failed = cleared.find((result) => result.status === 'rejected');
      isGivenUp = failed !== undefined;
      if (failed)
        throw new UploaderError('store-unavailable', 'Saved uploads could not be deleted', {
          cause: failed.reason,
        });
    },
  };
}

/** True if the record was too old at a visit on another day. */
const wasExpired = ({ expiredAtMs }: SavedRecord): boolean =>
  expiredAtMs !== undefined && Math.abs(Date.now() - expiredAtMs) >= DAY_MS;

/** The age is negative if a clock was ahead. The record is then kept longer. */
const isExpired = (record: SavedRecord, keepMsOf: KeepMsOf): boolean =>
  Date.now() - (record.usedAtMs ?? record.createdAtMs) > keepMsOf(record);

const isSameUpload = (before: SavedRecord, after: RecordToSave): boolean =>
  before.session?.header === after.session?.header &&
  before.chunkSizeBytes === after.chunkSizeBytes &&
  before.hashAlgorithm === after.hashAlgorithm;
