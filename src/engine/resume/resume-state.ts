// What an upload needs to resume: its record (in memory and in the store) and its lock. The lock keeps two tabs from running the
// same upload.

import { toUploaderError, type UploaderError } from '../../core/errors.ts';
import type { StoredState, UploadRecord } from '../../core/types.ts';
import { whenSettled } from '../../core/wait.ts';
import { stateOf } from '../../pipeline/service-session.ts';
import type { RecordKeeper, SessionMarks } from '../../pipeline/upload-session.ts';
import { isKeyOf } from './same-file.ts';
import { type Release, type TabLocks, type TabObserver, UploadLock } from './tab-locks.ts';
import type { UploadStore } from './upload-store.ts';

/** The uploads of an uploader that use a record, by the key of the record. */
export type ResumeStates = Map<string, ResumeState>;

/**
 * Who uses the record of an upload. `other-row`: another upload on this page does, and this one has a copy in memory. `own`: this
 * upload does. `yielded`: this upload does until another one on this page takes the record over. `over`: no upload, and nothing is
 * saved any more.
 */
type Use = 'none' | 'other-row' | 'own' | 'yielded' | 'over';

/** Callbacks of a run for events of its record. */
export interface RecordHooks {
  /** Called once when the store fails. From then on, nothing is saved. */
  readonly onWarning: (error: UploaderError) => void;
  /** Called when the record has a different name than the file. */
  readonly onNewName: (name: string) => void;
  /** Called when another tab holds the lock. */
  readonly onLockTaken: () => void;
  /** Called when this tab has got that lock, and the record has what the other tab has stored. */
  readonly onLockAcquired: () => void;
}

/** Holds the record and the lock of one upload. If the store fails, warns once and keeps the record only in memory. */
export class ResumeState {
  /** True if the content of the file is saved or will be saved. */
  keepsFile = false;
  /** Name on the service, if it differs from the name of the file. A session that was opened with another name is not resumed. */
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
  /** Last write to the store. The lock is released only after this write is complete. Never rejects. */
  #written: Promise<void> = Promise.resolve();
  readonly #lock = new UploadLock();
  #use: Use = 'none';
  #isPaused: true | undefined;
  #isWithdrawn: true | undefined;

  constructor(store: UploadStore | undefined, byKey: ResumeStates, tabLocks: TabLocks) {
    this.#store = store;
    this.#byKey = byKey;
    this.#tabLocks = tabLocks;
  }

  /** Starts to use the record of an earlier visit. */
  adopt(record: UploadRecord): void {
    this.#record = record;
    this.#isPaused = record.isPaused;
    this.keepsFile = record.file !== undefined;
    this.#register(record.key);
    this.#use = 'own';
  }

  /** Takes the lock of a saved upload. Resolves with false if another tab has the lock. */
  tryLock(key: string): Promise<boolean> {
    return this.#acquire(() => this.#tabLocks.tryLock(key));
  }

  /**
   * Saves a record with the file and its bytes, or adds the file to the existing record. If the run waits for the lock of another
   * tab, waits too, and reads the bytes afterwards. Resolves with false if `readFile` resolves with `undefined`, if another upload
   * or tab uses the record, or if the upload is over. Rejects with `store-full` or `store-unavailable`.
   */
  async saveFile(record: UploadRecord, readFile: () => Promise<ArrayBuffer | undefined>): Promise<boolean> {
    const { key } = record;
    const isFree = (): boolean =>
      this.#use !== 'over' && this.#use !== 'other-row' && (this.#byKey.get(key) ?? this) === this;
    if (!this.#store || !isFree() || !(await this.#lock.acquire(() => this.#tabLocks.tryLock(key))))
      return false;
    const bytes = await readFile();
    const savedRecord = this.#record ?? (await findWanted(this.#store, key));
    if (!bytes || !isFree()) {
      if (this.#key === undefined) this.releaseLock();
      return false;
    }
    this.#register(key);
    if (this.#use !== 'yielded') this.#use = 'own';
    const { newName } = this;
    const currentRecord =
      this.#record ?? (newName === undefined || newName === savedRecord?.newName ? savedRecord : undefined);
    const notes = { isPaused: this.#isPaused, isWithdrawn: this.#isWithdrawn };
    this.#record = { ...record, newName, ...currentRecord, file: record.file, ...notes };
    const saving = this.#store.save(this.#record, bytes);
    this.#written = whenSettled(saving);
    await saving;
    return true;
  }

  rename(name: string): void {
    this.newName = name;
    // Without the file, the next run replaces the record.
    if (this.#record?.file && this.#record.newName !== name)
      this.#update({ newName: name, session: undefined });
  }

  notePaused(isPaused: boolean): void {
    this.#isPaused = isPaused || undefined;
    if (this.#record?.isPaused !== this.#isPaused) this.#update({ isPaused: this.#isPaused });
  }

  /**
   * Marks the record, so that the next visit deletes it if this page is left before the command is complete. Until then, the lock
   * keeps other tabs from using the record.
   */
  noteWithdrawn(isWithdrawn: boolean): void {
    this.#isWithdrawn = isWithdrawn || undefined;
    const { key } = this;
    if (key === undefined || !this.#record) return;
    const write = (isOurs: boolean): unknown =>
      isOurs && this.#write(key, (store) => store.update(key, { isWithdrawn: this.#isWithdrawn }));
    void this.tryLock(key)
      .then(write)
      .finally(() => this.isLeft && this.releaseLock());
  }

  /** Key of the record; `undefined` before the first run and after `detach()`. */
  get key(): string | undefined {
    return this.#key;
  }

  /** True if an upload of this page uses a record for a file with this name and size, or another tab was seen to run one. */
  knows(file: File): boolean {
    const isOfFile = (key: string): boolean => isKeyOf(key, file);
    return [...this.#byKey.keys()].some(isOfFile) || this.#tabLocks.hasSeen(isOfFile);
  }

  get record(): UploadRecord | undefined {
    return this.#record;
  }

  /** True if a commit was accepted, or sent and not answered. It can then be repeated without the file. */
  get isCommitted(): boolean {
    if (!this.#record) return false;
    const { chunkSizeBytes, sizeBytes, bodyBytes = sizeBytes, stored } = this.#record;
    const { phase } = stateOf(this.#record);
    const isSent = phase === 'accepted' || phase === 'unsure';
    return isSent && stored.size >= Math.ceil(bodyBytes / chunkSizeBytes);
  }

  /** True if other tabs may run the upload, because the uploader is suspended. False during the deletion of the record. */
  get isLeft(): boolean {
    return this.#tabLocks.isClosed && this.#use !== 'over';
  }

  /** Calls `observer` with the reports of other tabs about this upload, even if this tab does not run the upload. */
  observeOtherTabs(observer: TabObserver): void {
    this.#observer = observer;
    if (this.#key !== undefined) this.#stopObserving = this.#tabLocks.observe(this.#key, observer);
  }

  /** Returns functions that give one run access to the record. */
  recordKeeper(signal: AbortSignal, hooks: RecordHooks): RecordKeeper {
    this.#onWarning = hooks.onWarning;
    return {
      find: (key, onTaken) => this.#find(key, signal, hooks, onTaken),
      save: (record) => this.#save(record),
      update: (key, change) => this.#mark(key, change),
      saveChunks: (key, chunks) => this.#saveChunks(key, chunks),
      remove: (key) => this.#remove(key),
    };
  }

  /** Deletes the record. If another upload or tab uses the record, keeps the record and resolves with false. */
  async deleteRecord(): Promise<boolean> {
    const { key } = this;
    this.#use = 'over';
    try {
      if (key === undefined) return true;
      if (!this.#owns(key)) return false;
      if (!(await this.tryLock(key))) return false;
      this.#onWarning = () => undefined;
      await this.#remove(key);
      return true;
    } finally {
      this.#record = undefined;
      this.#isWithdrawn = undefined;
      this.detach();
    }
  }

  /** Stops using the record, so that another upload or tab may use it. */
  detach(): void {
    this.#unregister();
    this.#use = 'over';
    this.releaseLock();
  }

  /** Releases the lock after the last write, so that another tab or uploader can run the upload. */
  releaseLock(): void {
    void this.#lock.release(() => this.#written);
  }

  /** Works like `releaseLock()`, and also lets another upload on this page take over the record. */
  yieldRecord(): void {
    if (this.#use === 'own') this.#use = 'yielded';
    this.releaseLock();
  }

  /**
   * Finds the record for a run. If another upload on this page uses the record (same file, same folder), this upload keeps its own
   * record in memory only.
   */
  async #find(
    key: string,
    signal: AbortSignal,
    { onLockAcquired, onLockTaken, onNewName }: RecordHooks,
    onTaken: (() => void) | undefined,
  ): Promise<UploadRecord | undefined> {
    const owner = this.#byKey.get(key);
    if (owner && owner !== this) {
      if (owner.#use !== 'yielded') {
        this.#use = 'other-row';
        return this.#record;
      }
      owner.#use = 'none';
      owner.#record = undefined;
    }
    // The record of an upload that has ended may be gone. The copy in memory is that of another session.
    const copy = this.#use === 'other-row' ? this.#record : undefined;
    this.#register(key);
    this.#use = 'own';
    let isOurs = true;
    let wasTaken = false;
    await this.#acquire(async () => {
      isOurs = false;
      const free = await this.#tabLocks.tryLock(key);
      if (free) return free;
      wasTaken = true;
      onTaken?.();
      onLockTaken();
      return this.#tabLocks.waitForLock(key, signal);
    });
    // Waits for pending writes, such as a new name, so that the store returns the latest record.
    await this.#written;
    // If another tab had the lock, reads the store again, because that tab may have stored more chunks.
    const recordInMemory = this.#record;
    const savedRecord =
      (isOurs && recordInMemory) ||
      (await this.#guarded((store) => findWanted(store, key), recordInMemory)) ||
      copy;
    // `saveFile()` may have set the record during the wait.
    const record = this.#record === recordInMemory ? savedRecord : this.#record;
    const { name, newName = name } = record ?? {};
    if (newName && this.newName === undefined) onNewName(newName);
    this.#record = newName === (this.newName ?? name) ? record : undefined;
    // Another tab may have paused the upload.
    if (!signal.aborted) this.notePaused(false);
    if (copy && this.#record === copy) {
      await this.#save(copy);
      await this.#saveChunks(key, statesOf(copy));
    }
    if (wasTaken) onLockAcquired();
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
    if (this.#use === 'yielded') this.#use = 'own';
    return this.#lock.acquire(take);
  }

  async #save(record: UploadRecord): Promise<void> {
    if (!this.#isUsed) return;
    const { file } = this.#record ?? {};
    const renamedRecord = {
      ...record,
      newName: this.newName,
      isWithdrawn: this.#isWithdrawn,
      isPaused: this.#isPaused,
      ...(file && { file }),
    };
    this.#record = { ...renamedRecord, stored: new Map(record.stored) };
    await this.#write(record.key, (store) => store.save(renamedRecord));
  }

  async #mark(key: string, change: SessionMarks): Promise<void> {
    if (!this.#isUsed || this.#record?.key !== key) return;
    this.#record = { ...this.#record, ...change };
    await this.#write(key, (store) => store.update(key, change));
  }

  async #saveChunks(key: string, chunks: Parameters<RecordKeeper['saveChunks']>[1]): Promise<void> {
    if (!this.#isUsed || !this.#record) return;
    const storedChunks = this.#record.stored as Map<number, { hash: string; receipt: string }>;
    for (const { index, hash, receipt } of chunks) storedChunks.set(index, { hash, receipt });
    await this.#write(key, async (store) => {
      if (!(await store.saveChunks(key, chunks))) await this.#saveAgain(store);
    });
  }

  /** Saves the whole record from memory, unless the upload is over. The storage was cleared during the upload. */
  async #saveAgain(store: UploadStore): Promise<void> {
    // Without its bytes, the user has to pick the file again after a reload.
    const bytes = await this.#record?.file?.arrayBuffer().catch(() => undefined);
    const record = this.#record;
    if (!record || !this.#isUsed) return;
    await store.save(record, bytes);
    await store.saveChunks(record.key, statesOf(record));
  }

  async #remove(key: string): Promise<void> {
    this.#record = undefined;
    // Tries to remove the record even after a failed write, because the next visit would restore the record.
    this.#isBroken = false;
    const lastWrite = this.#written;
    await this.#write(key, (store) => lastWrite.then(() => store.remove(key)));
  }

  /** Changes the record, if there is one. */
  #update(change: Pick<UploadRecord, 'newName' | 'session' | 'isPaused'>): void {
    if (!this.#record) return;
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

  get #isUsed(): boolean {
    return this.#use !== 'none' && this.#use !== 'over';
  }

  #owns(key: string): boolean {
    return this.#byKey.get(key) === this;
  }
}

const statesOf = ({ stored }: UploadRecord): StoredState[] =>
  [...stored].map(([index, chunk]) => ({ index, ...chunk }));

/** Finds a saved upload, unless an earlier visit or another tab withdrew it. */
export async function findWanted(store: UploadStore, key: string): Promise<UploadRecord | undefined> {
  const record = await store.find(key);
  return record?.isWithdrawn ? undefined : record;
}
