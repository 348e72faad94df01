// What is remembered of the uploads of this page: in memory for as long as a file is in the list, so that pausing loses
// nothing, and in the store behind it. The same upload is never run twice at once, neither here nor in another tab.

import { toUploaderError, type UploaderError } from '../core/errors.ts';
import type { UploadRecord } from '../core/types.ts';
import type { RecordKeeper } from '../pipeline/open.ts';
import type { Kept } from './kept-files.ts';
import type { Follower, Release, Tabs } from './tabs.ts';

/** Uploads that a row of this page has taken, by record key. */
export type Taken = Map<string, RowRecords>;

/**
 * A keeper for one row: its record in memory, written through to `store` where there is one. When the store fails, that is told once,
 * and from then on memory alone keeps.
 */
export class RowRecords {
  /** Where the file itself is kept until it is done. */
  kept: Kept | undefined;
  /** What somebody called the row; a session that calls it otherwise is not gone on with. */
  newName: string | undefined;
  readonly #store: RecordKeeper | undefined;
  readonly #taken: Taken;
  readonly #tabs: Tabs;
  #isBroken = false;
  #onWarning: (error: UploaderError) => void = () => undefined;
  #follower: Follower | undefined;
  #unfollow: (() => void) | undefined;
  #key: string | undefined;
  #record: UploadRecord | undefined;
  /** The last write: whoever comes next must find what it wrote, and not what it removes. */
  #written: Promise<void> = Promise.resolve();
  #release: Release | undefined;
  #releasing: Promise<void> | undefined;
  #isResting = false;
  #givesWay = false;
  /** One run after the other: a run that was stopped must not come to have the lock that the next one waits for. */
  #taking: Promise<void> = Promise.resolve();

  constructor(store: RecordKeeper | undefined, taken: Taken, tabs: Tabs, record?: UploadRecord) {
    this.#store = store;
    this.#taken = taken;
    this.#tabs = tabs;
    this.#record = record;
    if (record) this.#claim(record.key);
  }

  /** Names the upload from when its run opened until the row leaves it. */
  get key(): string | undefined {
    return this.#key;
  }

  get record(): UploadRecord | undefined {
    return this.#record;
  }

  /** From now on `follower` hears what other tabs do with this upload, whether it runs here or not. */
  follow(follower: Follower): void {
    this.#follower = follower;
    if (this.#key !== undefined) this.#unfollow = this.#tabs.follow(this.#key, follower);
  }

  /** The keeper of one run of the row. `onNewName`: an earlier visit gave the file another name. */
  forRun(
    signal: AbortSignal,
    onWarning: (error: UploaderError) => void,
    onNewName: (name: string) => void,
  ): RecordKeeper {
    this.#onWarning = onWarning;
    return {
      find: (key) => this.#find(key, signal, onNewName),
      save: (record) => this.#save(record),
      saveChunks: (key, chunks) => this.#saveChunks(key, chunks),
      remove: (key) => this.#remove(key),
    };
  }

  /** Nothing of this upload is to be found any more. Resolves with false where somebody else has it, who keeps it. */
  async forget(): Promise<boolean> {
    const { key } = this;
    this.kept?.drop();
    try {
      if (key === undefined) return true;
      if (!this.#owns(key)) return false;
      await this.#hold(() => this.#tabs.takeFree(key));
      if (!this.#release) return false;
      this.#isBroken = false;
      this.#onWarning = () => undefined;
      await this.#remove(key);
      return true;
    } finally {
      this.#record = undefined;
      this.leave();
    }
  }

  /** The upload is done; its run has removed the record. */
  done(): void {
    this.kept?.drop();
    this.leave();
  }

  /** The row is gone or done; the next row with this file, here or in another tab, may have the record. */
  leave(): void {
    this.kept?.leave();
    this.#unclaim();
    this.rest();
  }

  /** Nothing runs here for now: another tab, or another uploader, may have the upload meanwhile. */
  rest(): void {
    this.#isResting = true;
    void this.#written.finally(() => {
      if (!this.#isResting || !this.#release) return;
      this.#releasing = this.#release();
      this.#release = undefined;
    });
  }

  /** As `rest()`; and another row of this page may go on with it too. */
  giveWay(): void {
    this.#givesWay = true;
    this.rest();
  }

  /** A second row with the same file for the same place is an upload of its own, which only memory keeps. */
  async #find(
    key: string,
    signal: AbortSignal,
    onNewName: (name: string) => void,
  ): Promise<UploadRecord | undefined> {
    const owner = this.#taken.get(key);
    if (owner && owner !== this) {
      if (!owner.#givesWay) return this.#record;
      owner.#record = undefined;
    }
    this.#claim(key);
    const isOurs = this.#release !== undefined;
    await this.#hold(() => this.#tabs.take(key, signal, this.#follower));
    // Another tab may have got further than what is remembered here.
    const known = isOurs ? this.#record : undefined;
    const found = known ?? (await this.#guarded((store) => store.find(key), this.#record));
    const { name, newName = name } = found ?? {};
    if (newName && this.newName === undefined) onNewName(newName);
    this.#record = newName === (this.newName ?? name) ? found : undefined;
    return this.#record;
  }

  #unclaim(): void {
    this.#unfollow?.();
    this.#unfollow = undefined;
    if (this.#key !== undefined && this.#owns(this.#key)) this.#taken.delete(this.#key);
    this.#key = undefined;
  }

  #claim(key: string): void {
    this.#taken.set(key, this);
    if (this.#key === key) return;
    this.#unclaim();
    this.#key = key;
    if (this.#follower) this.follow(this.#follower);
  }

  #hold(take: () => Promise<Release | undefined>): Promise<void> {
    this.#isResting = false;
    this.#givesWay = false;
    const hold = async (): Promise<void> => {
      await this.#releasing;
      this.#release ??= await take();
    };
    this.#taking = this.#taking.then(hold, hold);
    return this.#taking;
  }

  async #save(record: UploadRecord): Promise<void> {
    if (!this.#taken.has(record.key)) return;
    const named = { ...record, newName: this.newName };
    this.#record = { ...named, stored: new Map(record.stored) };
    await this.#write(record.key, (store) => store.save(named));
  }

  async #saveChunks(key: string, chunks: Parameters<RecordKeeper['saveChunks']>[1]): Promise<void> {
    if (!this.#taken.has(key) || !this.#record) return;
    const stored = this.#record.stored as Map<number, { hash: string; receipt: string }>;
    for (const { index, hash, receipt } of chunks) stored.set(index, { hash, receipt });
    await this.#write(key, (store) => store.saveChunks(key, chunks));
  }

  async #remove(key: string): Promise<void> {
    this.#record = undefined;
    await this.#write(key, (store) => store.remove(key));
  }

  async #write(key: string, write: (store: RecordKeeper) => Promise<void>): Promise<void> {
    if (this.#owns(key)) this.#written = this.#guarded(write, undefined);
    await this.#written;
  }

  async #guarded<T>(work: (store: RecordKeeper) => Promise<T>, instead: T): Promise<T> {
    if (!this.#store || this.#isBroken) return instead;
    try {
      return await work(this.#store);
    } catch (error) {
      if (!this.#isBroken)
        this.#onWarning(toUploaderError(error, 'store-unavailable', 'Nothing is kept of this upload'));
      this.#isBroken = true;
      return instead;
    }
  }

  #owns(key: string): boolean {
    return this.#taken.get(key) === this;
  }
}
