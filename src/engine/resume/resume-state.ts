// What is needed to resume an upload: its record, in memory and in the store, and the lock that keeps two tabs from running it at
// the same time.

import { toUploaderError, type UploaderError } from '../../core/errors.ts';
import type { UploadRecord } from '../../core/types.ts';
import type { RecordKeeper } from '../../pipeline/open.ts';
import type { UploadStore } from '../../store/uploads.ts';
import { type Release, type TabLocks, type TabObserver, UploadLock } from './tab-locks.ts';

/** By record key, which upload of this page uses the record. */
export type ResumeStates = Map<string, ResumeState>;

/** Called while a run looks up its record. */
export interface RecordHooks {
  /** Called once if the store fails; from then on nothing is saved. */
  readonly onWarning: (error: UploaderError) => void;
  /** Called when the record has another name than the file. */
  readonly onNewName: (name: string) => void;
  /** `onLockTaken` is called when another tab runs the upload, `onLockAcquired` when that tab has released the lock. */
  readonly onLockTaken: () => void;
  readonly onLockAcquired: () => void;
}

/** If the store fails, it warns once and falls back to memory. */
export class ResumeState {
  /** The file itself is saved, or will be. */
  keepsFile = false;
  /** The name that the user chose; a session with another name is not resumed. */
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
  /** The last write; the lock is released after it. */
  #written: Promise<void> = Promise.resolve();
  readonly #lock = new UploadLock();
  /** Another upload of this page may take over the record. */
  #yields = false;
  #isPaused: true | undefined;
  /** The upload is done, canceled or removed: its file is no longer saved. */
  #isOver = false;

  constructor(store: UploadStore | undefined, byKey: ResumeStates, tabLocks: TabLocks) {
    this.#store = store;
    this.#byKey = byKey;
    this.#tabLocks = tabLocks;
  }

  /** Uses the record of an earlier visit. */
  adopt(record: UploadRecord): void {
    this.#record = record;
    this.keepsFile = record.file !== undefined;
    this.#register(record.key);
  }

  /** Waits for the lock of a saved upload. Resolves with false if the signal aborts, or if locks are not available. */
  async waitForLock(key: string, signal: AbortSignal): Promise<boolean> {
    return this.#acquire(() => this.#tabLocks.waitForLock(key, signal)).catch(() => false);
  }

  /**
   * Saves the record with its file; if the run has saved a record already, adds the file to that. Resolves with false if another
   * upload or tab uses the record, or the upload is over. Rejects as the store does.
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
    // A suspended list leaves its uploads to other tabs.
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

  /** The service has accepted the commit: the upload can be completed without its file. */
  get isAccepted(): boolean {
    return this.#record?.acceptedAtMs !== undefined;
  }

  /** `observer` is called with what other tabs report about this upload, whether it runs here or not. */
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

  /** Deletes the record. Resolves with false if another upload or tab uses it; then it stays. */
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

  /** The upload no longer uses the record: another upload of this page, or another tab, may use it. */
  detach(): void {
    this.#isOver = true;
    this.#unregister();
    this.releaseLock();
  }

  /** Releases the lock after the last write, so that another tab or uploader can run the upload. */
  releaseLock(): void {
    void this.#lock.release(() => this.#written);
  }

  /** As `releaseLock()`; another upload of this page may take over the record too. */
  yieldRecord(): void {
    this.#yields = true;
    this.releaseLock();
  }

  /** A second upload of the same file to the same folder is independent of the first, and only saved in memory. */
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
    // Writes under way, such as a new name, are part of what is read.
    await this.#written.catch(() => undefined);
    // Another tab may have stored more chunks since.
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
    // Tried even after a failed write: a record that stays would be restored at the next visit.
    this.#isBroken = false;
    await this.#write(key, (store) => store.remove(key));
  }

  /** Changes the saved record if it has the file. A record without the file is replaced when the next run opens. */
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
