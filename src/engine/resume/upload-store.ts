// Saves uploads in IndexedDB, so that they can be resumed after a reload. Each upload has a record, and a log of its stored chunks
// (decision 0014).

import { promisifyRequest } from 'idb-keyval';
import { createId } from '../../core/create-id.ts';
import { UploaderError } from '../../core/errors.ts';
import type { SavedSession, StoredState, UploadRecord } from '../../core/types.ts';
import { whenSettled } from '../../core/wait.ts';
import { ChunkLog, groupCommit } from './chunk-log.ts';
import { BATCH_SIZE, Database } from './database.ts';
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

/** The store in IndexedDB. The databases open on first use. */
export class SavedUploads implements UploadStore {
  readonly #records: Database;
  readonly #chunkLog: ChunkLog;
  readonly #chunksIds = new Map<string, string>();
  /** Keys of records that may have been lost because the database was deleted while the page was open. */
  readonly #unsure = new Set<string>();
  /** Keys of records that were lost in this way, until their upload reports the loss. */
  readonly #lost = new Set<string>();
  /** Pending changes of records, by key. Chunks may be saved before the write of their record is complete. */
  readonly #saving = new Map<string, Promise<unknown>>();
  readonly #touchedMs = new Map<string, number>();
  readonly #append = groupCommit((batch) => this.#appendBatch(batch));
  /** Number of `clear()` calls. A record that was read before a `clear()` must not be written afterwards. */
  #clearCount = 0;

  constructor({ name = 'secure-uploader', deadlineMs = 10_000 }: UploadStoreOptions = {}) {
    this.#records = new Database(`${name}-uploads`, deadlineMs, () => {
      for (const key of this.#chunksIds.keys()) this.#unsure.add(key);
      this.#chunksIds.clear();
    });
    this.#chunkLog = new ChunkLog(`${name}-chunks`, deadlineMs);
  }

  async find(key: string): Promise<UploadRecord | undefined> {
    const record = await this.#load(key);
    return record && (await this.#withStored([record]))[0];
  }

  save(record: RecordToSave, bytes?: ArrayBuffer): Promise<void> {
    return this.#inTurn(record.key, () => this.#save(record, bytes));
  }

  update(key: string, fields: Partial<SavedRecord>): Promise<void> {
    return this.#inTurn(key, () => this.#change(key, fields));
  }

  async fileBytes(): Promise<number> {
    let bytes = 0;
    for await (const { fileId, sizeBytes } of this.#all()) if (fileId) bytes += sizeBytes;
    return bytes;
  }

  async saveChunks(key: string, chunks: readonly StoredState[]): Promise<boolean> {
    if (chunks.length > 0) await this.#append(key, chunks);
    return !this.#lost.delete(key);
  }

  remove(key: string, createdAtMs?: number): Promise<void> {
    return this.#inTurn(key, () => this.#remove(key, createdAtMs));
  }

  async keys(keepMsOf: KeepMsOf = () => Number.POSITIVE_INFINITY): Promise<readonly string[]> {
    const saved: Pick<SavedRecord, 'key' | 'createdAtMs'>[] = [];
    for await (const record of this.#all()) {
      const { key, createdAtMs } = record;
      if (!isExpired(record, keepMsOf)) saved.push({ key, createdAtMs });
    }
    return saved.sort((a, b) => a.createdAtMs - b.createdAtMs).map(({ key }) => key);
  }

  async list(wantedKeys?: readonly string[]): Promise<readonly UploadRecord[]> {
    const keys = wantedKeys ?? (await this.keys());
    const list: UploadRecord[] = [];
    for (let at = 0; at < keys.length; at += BATCH_SIZE) {
      const batch = keys.slice(at, at + BATCH_SIZE);
      const values = await this.#records.read((store) =>
        Promise.all(batch.map((key) => promisifyRequest<unknown>(store.get(key)))),
      );
      const saved = values.map(readRecord).filter((record) => record !== undefined);
      list.push(...(await this.#withStored(saved)));
    }
    return list.filter(({ file, session, isWithdrawn }) => (file || session) && !isWithdrawn);
  }

  async prune(keepMsOf: KeepMsOf, isInUse: (key: string) => boolean = () => false): Promise<void> {
    // Chunk ids are listed before records, so that chunks of records that are saved in the meantime are not deleted.
    const ids = await this.#chunkLog.listIds();
    const keptIds = new Set<string>();
    let hasNewer = false;
    for await (const [key, value] of this.#entries()) {
      const record = this.#note(key, value);
      if (!record) {
        hasNewer ||= isNewer(value);
        await this.#change(key);
        continue;
      }
      const isOld = isExpired(record, keepMsOf);
      if ((record.isWithdrawn || (isOld && wasExpired(record))) && !isInUse(key)) {
        await this.remove(key);
        continue;
      }
      keptIds.add(record.chunksId).add(record.fileId ?? record.chunksId);
      const isMarked = record.expiredAtMs !== undefined;
      const expiredAtMs = isOld ? Date.now() : undefined;
      if (isMarked !== isOld) await this.update(key, { expiredAtMs });
    }
    // The other chunks may belong to records of a newer version, which this version cannot read.
    if (hasNewer) return;
    for (const id of ids) if (!keptIds.has(id)) await this.#chunkLog.remove(id);
  }

  async clear(): Promise<void> {
    this.#clearCount += 1;
    this.#chunksIds.clear();
    this.#unsure.clear();
    this.#lost.clear();
    // The keys contain file names, so they are deleted for privacy.
    this.#touchedMs.clear();
    // A deletion that is late may wait until the next user has saved uploads.
    let isGivenUp = false;
    const empty = (store: IDBObjectStore): void => {
      if (!isGivenUp) store.clear();
    };
    const results = await Promise.allSettled([this.#records.write(empty), this.#chunkLog.clear(empty)]);
    const failure = results.find((result) => result.status === 'rejected');
    isGivenUp = failure !== undefined;
    if (failure)
      throw new UploaderError('store-unavailable', 'Saved uploads could not be deleted', {
        cause: failure.reason,
      });
  }

  /** Returns the record in a value of the database. Remembers the id of its chunks. */
  #note(key: string, value: unknown): SavedRecord | undefined {
    const record = readRecord(value);
    this.#chunksIds.delete(key);
    if (record?.key !== key) return undefined;
    this.#chunksIds.set(key, record.chunksId);
    this.#unsure.delete(key);
    return record;
  }

  /** Resolves with the record with this key. Deletes it if it is damaged. */
  async #load(key: string): Promise<SavedRecord | undefined> {
    const value: unknown = await this.#records.read((store) => promisifyRequest(store.get(key)));
    const record = this.#note(key, value);
    if (!record && value !== undefined) await this.#change(key);
    return record;
  }

  /** Yields the keys and values of all records. */
  async *#entries(): AsyncGenerator<readonly [key: string, value: unknown]> {
    for await (const batch of this.#records.entries()) yield* batch;
  }

  /** Yields all records. Leaves out invalid ones. */
  async *#all(): AsyncGenerator<SavedRecord> {
    for await (const [, value] of this.#entries()) {
      const record = readRecord(value);
      if (record) yield record;
    }
  }

  /**
   * Replaces a record by `next(record)`, or deletes the record if `next` returns `undefined`. Deletes a damaged record, and keeps a
   * record of a newer version unless `next` returns another one. Resolves with the record before.
   */
  async #replace(
    key: string,
    next: (before: SavedRecord | undefined) => SavedRecord | undefined,
  ): Promise<SavedRecord | undefined> {
    const isCleared = this.#clearedSince();
    let before: SavedRecord | undefined;
    let written: unknown;
    await this.#records.replace(key, (value) => {
      written = undefined; // The transaction may run twice.
      if (isCleared()) return value;
      before = this.#note(key, value);
      const after = next(before);
      if (!after) return isNewer(value) ? value : undefined;
      written = writeRecord(after);
      return written;
    });
    if (written && !isCleared()) this.#note(key, written);
    return before;
  }

  /** Changes fields of a record. Does nothing if there is no record, but deletes one that is damaged. */
  #change(key: string, fields: Partial<SavedRecord> = {}): Promise<unknown> {
    return this.#replace(key, (before) => before && { ...before, ...fields });
  }

  async #withStored(saved: readonly SavedRecord[]): Promise<UploadRecord[]> {
    const contents = await this.#chunkLog.read(saved);
    return saved.map(({ chunksId: _, fileId: __, expiredAtMs: ___, ...record }, at) => {
      const { stored = new Map(), handle, bytes } = contents[at] ?? {};
      const { lastModifiedMs: lastModified, type } = record;
      const file = bytes && new File([bytes], record.name, { type, lastModified });
      return { ...record, stored, ...(handle && { handle }), ...(file && { file }) };
    });
  }

  async #save({ file, handle, ...record }: RecordToSave, bytes?: ArrayBuffer): Promise<void> {
    const { key } = record;
    const log = this.#chunkLog;
    const isCleared = this.#clearedSince();
    this.#touchedMs.set(key, performance.now());
    let chunksId = '';
    let fileId: string | undefined;
    const before = await this.#replace(key, (before) => {
      chunksId = before && isSameUpload(before, record) ? before.chunksId : createId();
      fileId = file && (before?.fileId ?? (bytes && createId()));
      return { ...record, chunksId, fileId };
    });
    if (before && before.chunksId !== chunksId) await log.remove(before.chunksId);
    // Some browsers cannot save handles. Without the handle, the user has to pick the file again.
    if (handle && !isCleared()) await log.saveHandle(chunksId, handle).catch(() => undefined);
    if (bytes && fileId && fileId !== before?.fileId && !isCleared()) await log.saveFile(fileId, bytes);
  }

  async #remove(key: string, createdAtMs?: number): Promise<void> {
    const isMeant = (record: SavedRecord | undefined): boolean =>
      createdAtMs === undefined || record?.createdAtMs === createdAtMs;
    const record = await this.#replace(key, (before) => (isMeant(before) ? undefined : before));
    if (!isMeant(record)) return;
    this.#touchedMs.delete(key);
    this.#chunksIds.delete(key);
    this.#unsure.delete(key);
    if (!record) return;
    await this.#chunkLog.remove(record.chunksId);
    if (record.fileId) await this.#chunkLog.remove(record.fileId);
  }

  /**
   * Waits for pending changes of the same record, then runs `write`. A removal must delete the bytes of a file that is being saved,
   * and chunks must be saved for the latest session.
   */
  async #inTurn(key: string, write: () => Promise<unknown>): Promise<void> {
    const isCleared = this.#clearedSince();
    const before = this.#saving.get(key);
    const done = (before ?? Promise.resolve()).then(() => (isCleared() ? undefined : write()));
    const ended = whenSettled(done);
    this.#saving.set(key, ended);
    await done.finally(() => {
      if (this.#saving.get(key) === ended) this.#saving.delete(key);
    });
  }

  async #appendBatch(batch: ReadonlyMap<string, readonly StoredState[]>): Promise<void> {
    const isCleared = this.#clearedSince();
    const byId = new Map<string, readonly StoredState[]>();
    for (const [key, chunks] of batch) {
      await this.#saving.get(key);
      const chunksId = this.#chunksIds.get(key) ?? (await this.#load(key))?.chunksId;
      if (chunksId !== undefined) byId.set(chunksId, chunks);
      else if (this.#unsure.delete(key)) this.#lost.add(key);
    }
    if (byId.size === 0 || isCleared()) return;
    await this.#chunkLog.append(byId);
    for (const key of batch.keys()) if (!isCleared()) await this.#touch(key);
  }

  /** Updates `usedAtMs`, so that an upload that runs longer than `keep-days` does not expire. */
  async #touch(key: string): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - (this.#touchedMs.get(key) ?? Number.NEGATIVE_INFINITY) < TOUCH_MS) return;
    this.#touchedMs.set(key, nowMs);
    await this.update(key, { usedAtMs: Date.now() });
  }

  /** Returns a function that returns true if everything was deleted after this call. */
  #clearedSince(): () => boolean {
    const count = this.#clearCount;
    return () => this.#clearCount !== count;
  }
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
