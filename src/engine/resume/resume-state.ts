// What an upload needs to resume: its record, in memory and in the store, and the lock that keeps two tabs from running it at the
// same time.

import { toUploaderError, type UploaderError } from '../../core/errors.ts';
import type { UploadRecord } from '../../core/types.ts';
import type { RecordKeeper } from '../../pipeline/open.ts';
import type { UploadStore } from '../../store/uploads.ts';
import { type Release, type TabLocks, type TabObserver, UploadLock } from './tab-locks.ts';

/** Which upload on this page uses a record, by the key of the record. */
export type ResumeStates = Map<string, ResumeState>;

/** Callbacks of a run. */
export interface RecordHooks {
  /** Called once when the store fails. After that, nothing is saved. */
  readonly onWarning: (error: UploaderError) => void;
  /** Called when the record has a different name than the file. */
  readonly onNewName: (name: string) => void;
  /** Called when another tab holds the lock. `onLockAcquired` follows when this tab gets it. */
  readonly onLockTaken: () => void;
  readonly onLockAcquired: () => void;
}

/** If the store fails, it warns once and keeps the record in memory only. */
export class ResumeState {
  /** True if the content of the file is saved, or will be. */
  keepsFile = false;
  /** The name on the service, if it differs from the file's. A session that was opened with another name is not resumed. */
  newName: string | undefined;
  readonly #store: UploadStore | undefined;
  readonly #byKey: ResumeStates;
  readonly #tabLocks: TabLocks;
  #isBroken = false;
  #onWarning: (error: UploaderError) => void = () => undefined;
  #observer: TabObserver | undefined;
  #stopObserving: (() => void) | undefined;
  #key: string | undefined;
  #record: UploadRecord | undefined;
  /** The last write. The lock is not released before it is complete. */
  #written: Promise<void> = Promise.resolve();
  readonly #lock = new UploadLock();
  /** True if another upload on this page may take over the record. */
  #yields = false;
  #isPaused: true | undefined;
  /** True once the upload is done, canceled or removed: `saveFile()` then saves nothing. */
  #isOver = false;

  constructor(store: UploadStore | undefined, byKey: ResumeStates, tabLocks: TabLocks) {
    this.#store = store;
    this.#byKey = byKey;
    this.#tabLocks = tabLocks;
  }

  /** Starts to use the record of an earlier visit. */
  adopt(record: UploadRecord): void {
    this.#record = record;
    this.keepsFile = record.file !== undefined;
    this.#register(record.key);
  }

  /** Waits for the lock of a saved upload. Resolves with false if the signal aborts, or the browser refuses the lock. */
  async waitForLock(key: string, signal: AbortSignal): Promise<boolean> {
    return this.#acquire(() => this.#tabLocks.waitForLock(key, signal)).catch(() => false);
  }

  /**
   * Saves a record with the file, or adds the file to the record that exists. Resolves with false if another upload or tab uses the
   * record, or the upload is over. Rejects with `store-full` or `store-unavailable`.
   */
  async saveFile(record: UploadRecord): Promise<boolean> {
    const { key } = record;
    const isFree = (): boolean => !this.#isOver && (this.#byKey.get(key) ?? this) === this;
    if (!this.#store || !isFree() || !(await this.#lock.acquire(() => this.#tabLocks.tryLock(key))))
      return false;
    const saved = this.#record ?? (await this.#store.find(key));
    if (!isFree()) {
      if (this.#key === undefined) this.releaseLock();
      return false;
    }
    this.#register(key);
    const { newName } = this;
    const known = this.#record ?? (newName === undefined || newName === saved?.newName ? saved : undefined);
    this.#record = { ...record, newName, ...known, file: record.file, isPaused: this.#isPaused };
    this.#written = this.#store.save(this.#record);
    await this.#written;
    // While the uploader is suspended, other tabs may run the upload.
    if (this.#tabLocks.isClosed) this.releaseLock();
    return true;
  }

  rename(name: string): void {
    this.newName = name;
    if (this.#record?.newName !== name) this.#update({ newName: name, session: undefined });
  }

  notePaused(isPaused: boolean): void {
    this.#isPaused = isPaused || undefined;
    this.#update({ isPaused: this.#isPaused });
  }

  /** The key of the record; `undefined` before the first run and after `detach()`. */
  get key(): string | undefined {
    return this.#key;
  }

  get record(): UploadRecord | undefined {
    return this.#record;
  }

  /** True if the service has accepted the commit (202): the upload can then be completed without its file. */
  get isAccepted(): boolean {
    return this.#record?.acceptedAtMs !== undefined;
  }

  /** Calls `observer` with what other tabs report about this upload, whether or not it runs here. */
  observeOtherTabs(observer: TabObserver): void {
    this.#observer = observer;
    if (this.#key !== undefined) this.#stopObserving = this.#tabLocks.observe(this.#key, observer);
  }

  /** Returns the record access of one run. */
  recordKeeper(signal: AbortSignal, hooks: RecordHooks): RecordKeeper {
    this.#onWarning = hooks.onWarning;
    return {
      find: (key) => this.#find(key, signal, hooks),
      save: (record) => this.#save(record),
      saveChunks: (key, chunks) => this.#saveChunks(key, chunks),
      remove: (key) => this.#remove(key),
    };
  }

  /** Deletes the record. Resolves with false, and keeps the record, if another upload or tab uses it. */
  async deleteRecord(): Promise<boolean> {
    const { key } = this;
    this.#isOver = true;
    try {
      if (key === undefined) return true;
      if (!this.#owns(key)) return false;
      if (!(await this.#acquire(() => this.#tabLocks.tryLock(key)))) return false;
      this.#onWarning = () => undefined;
      await this.#remove(key);
      return true;
    } finally {
      this.#record = undefined;
      this.detach();
    }
  }

  /** Stops using the record, so that another upload or tab may use it. */
  detach(): void {
    this.#isOver = true;
    this.#unregister();
    this.releaseLock();
  }

  /** Releases the lock after the last write, so that another tab or uploader can run the upload. */
  releaseLock(): void {
    void this.#lock.release(() => this.#written);
  }

  /** Like `releaseLock()`, and also lets another upload on this page take over the record. */
  yieldRecord(): void {
    this.#yields = true;
    this.releaseLock();
  }

  /** If another upload on this page uses the record (same file, same folder), this one keeps its record in memory only. */
  async #find(
    key: string,
    signal: AbortSignal,
    { onLockAcquired, onLockTaken, onNewName }: RecordHooks,
  ): Promise<UploadRecord | undefined> {
    const owner = this.#byKey.get(key);
    if (owner && owner !== this) {
      if (!owner.#yields) return this.#record;
      owner.#record = undefined;
    }
    this.#register(key);
    let isOurs = true;
    await this.#acquire(async () => {
      isOurs = false;
      const free = await this.#tabLocks.tryLock(key);
      if (free) return free;
      onLockTaken();
      const release = await this.#tabLocks.waitForLock(key, signal);
      onLockAcquired();
      return release;
    });
    // Waits for pending writes, such as a new name, so that they are read too.
    await this.#written.catch(() => undefined);
    // After waiting for another tab, reads the store again: that tab may have stored more chunks.
    const before = this.#record;
    const saved = (isOurs && before) || (await this.#guarded((store) => store.find(key), before));
    // `saveFile()` may have set the record meanwhile.
    const found = this.#record === before ? saved : this.#record;
    const { name, newName = name } = found ?? {};
    if (newName && this.newName === undefined) onNewName(newName);
    this.#record = newName === (this.newName ?? name) ? found : undefined;
    return this.#record;
  }

  #unregister(): void {
    this.#stopObserving?.();
    this.#stopObserving = undefined;
    if (this.#key !== undefined && this.#owns(this.#key)) this.#byKey.delete(this.#key);
    this.#key = undefined;
  }

  #register(key: string): void {
    this.#byKey.set(key, this);
    if (this.#key === key) return;
    this.#unregister();
    this.#key = key;
    if (this.#observer) this.observeOtherTabs(this.#observer);
  }

  #acquire(take: () => Promise<Release | undefined>): Promise<boolean> {
    this.#yields = false;
    return this.#lock.acquire(take);
  }

  async #save(record: UploadRecord): Promise<void> {
    if (!this.#byKey.has(record.key)) return;
    const { file } = this.#record ?? {};
    const named = { ...record, newName: this.newName, ...(file && { file, isPaused: this.#isPaused }) };
    this.#record = { ...named, stored: new Map(record.stored) };
    await this.#write(record.key, (store) => store.save(named));
  }

  async #saveChunks(key: string, chunks: Parameters<RecordKeeper['saveChunks']>[1]): Promise<void> {
    if (!this.#byKey.has(key) || !this.#record) return;
    const stored = this.#record.stored as Map<number, { hash: string; receipt: string }>;
    for (const { index, hash, receipt } of chunks) stored.set(index, { hash, receipt });
    await this.#write(key, (store) => store.saveChunks(key, chunks));
  }

  async #remove(key: string): Promise<void> {
    this.#record = undefined;
    // Tries even after a failed write: the next visit would restore a record that is left.
    this.#isBroken = false;
    await this.#write(key, (store) => store.remove(key));
  }

  /** Changes the saved record if it contains the file. The next run replaces a record without the file anyway. */
  #update(change: Pick<UploadRecord, 'newName' | 'session' | 'isPaused'>): void {
    if (!this.#record?.file) return;
    const { key } = this.#record;
    this.#record = { ...this.#record, ...change };
    void this.#write(key, (store) => store.update(key, change));
  }

  async #write(key: string, write: (store: UploadStore) => Promise<void>): Promise<void> {
    if (this.#owns(key)) this.#written = this.#guarded(write, undefined);
    await this.#written;
  }

  async #guarded<T>(work: (store: UploadStore) => Promise<T>, instead: T): Promise<T> {
    if (!this.#store || this.#isBroken) return instead;
    try {
      return await work(this.#store);
    } catch (error) {
      if (!this.#isBroken)
        this.#onWarning(toUploaderError(error, 'store-unavailable', 'The upload cannot be saved'));
      this.#isBroken = true;
      return instead;
    }
  }

  #owns(key: string): boolean {
    return this.#byKey.get(key) === this;
  }
}
