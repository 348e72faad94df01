// What is remembered of the uploads of this page: in memory for as long as a file is in the list, so that pausing loses
// nothing, and in the store behind it. The same upload is never run twice at once, neither here nor in another tab.

import type { UploadRecord } from '../core/types.ts';
import type { RecordKeeper } from '../pipeline/open.ts';
import type { Kept } from './kept-files.ts';
import type { Follower, Tabs } from './tabs.ts';

/** Uploads that a row of this page has taken, by record key. */
export type Taken = Map<string, object>;

/** How a run waits for an upload that another tab has. */
export interface Waiting extends Follower {
  readonly signal: AbortSignal;
  /** An earlier visit gave the file another name. */
  readonly onNewName: (name: string) => void;
}

/** A keeper for one row: its record in memory, written through to `store` where there is one. */
export class RowRecords {
  /** Where the file itself is kept until it is done. */
  kept: Kept | undefined;
  /** What somebody called the row; a session that calls it otherwise is not gone on with. */
  newName: string | undefined;
  readonly #store: RecordKeeper | undefined;
  readonly #taken: Taken;
  readonly #tabs: Tabs;
  #key: string | undefined;
  #record: UploadRecord | undefined;
  #removing: Promise<void> = Promise.resolve();
  #release: (() => void) | undefined;
  /** One run after the other: a run that was stopped must not come to have the lock that the next one waits for. */
  #taking: Promise<void> = Promise.resolve();

  constructor(store: RecordKeeper | undefined, taken: Taken, tabs: Tabs, record?: UploadRecord) {
    this.#store = store;
    this.#taken = taken;
    this.#tabs = tabs;
    this.#record = record;
    this.#key = record?.key;
    if (record) taken.set(record.key, this);
  }

  /** Names the upload from when its run opened until the row leaves it. */
  get key(): string | undefined {
    return this.#key;
  }

  get record(): UploadRecord | undefined {
    return this.#record;
  }

  /** The keeper of one run of the row. */
  forRun(waiting: Waiting): RecordKeeper {
    return {
      find: (key) => this.#find(key, waiting),
      save: (record) => this.#save(record),
      saveChunks: (key, chunks) => this.#saveChunks(key, chunks),
      remove: (key) => this.#remove(key),
    };
  }

  /** Nothing of this upload is to be found any more. */
  async forget(): Promise<void> {
    const { key } = this;
    this.kept?.drop();
    if (key !== undefined) await this.#remove(key);
    this.leave();
  }

  /** The upload is done; its run has removed the record. */
  done(): void {
    this.kept?.drop();
    this.leave();
  }

  /** The row is gone or done; the next row with this file, here or in another tab, may have the record. */
  leave(): void {
    this.kept?.leave();
    for (const [key, owner] of this.#taken) if (owner === this) this.#taken.delete(key);
    this.#key = undefined;
    this.rest();
  }

  /** Nothing runs here for now: another tab, or another uploader, may have the upload meanwhile. */
  rest(): void {
    const release = this.#release;
    this.#release = undefined;
    // Whoever comes next must not find what is being removed.
    if (release) void this.#removing.finally(release);
  }

  /** A second row with the same file for the same place gets nothing: it is an upload of its own. */
  async #find(key: string, waiting: Waiting): Promise<UploadRecord | undefined> {
    const owner = this.#taken.get(key);
    if (owner && owner !== this) return undefined;
    this.#taken.set(key, this);
    this.#key = key;
    const isOurs = this.#release !== undefined;
    const take = async (): Promise<void> => {
      this.#release ??= await this.#tabs.take(key, waiting.signal, waiting);
    };
    this.#taking = this.#taking.then(take, take);
    await this.#taking;
    // Another tab may have got further than what is remembered here.
    const known = this.#record?.key === key ? this.#record : undefined;
    const found = this.#store && !(isOurs && known) ? await this.#store.find(key) : known;
    const { name, newName = name } = found ?? {};
    if (newName && this.newName === undefined) waiting.onNewName(newName);
    this.#record = newName === (this.newName ?? name) ? found : undefined;
    return this.#record;
  }

  async #save(record: UploadRecord): Promise<void> {
    if (!this.#owns(record.key)) return;
    const named = { ...record, newName: this.newName };
    this.#record = { ...named, stored: new Map(record.stored) };
    await this.#store?.save(named);
  }

  async #saveChunks(key: string, chunks: Parameters<RecordKeeper['saveChunks']>[1]): Promise<void> {
    if (!this.#owns(key) || !this.#record) return;
    const stored = this.#record.stored as Map<number, { hash: string; receipt: string }>;
    for (const { index, hash, receipt } of chunks) stored.set(index, { hash, receipt });
    await this.#store?.saveChunks(key, chunks);
  }

  async #remove(key: string): Promise<void> {
    if (!this.#owns(key)) return;
    this.#record = undefined;
    const removing = this.#store?.remove(key);
    this.#removing = Promise.resolve(removing).catch(() => undefined);
    await removing;
  }

  #owns(key: string): boolean {
    return this.#taken.get(key) === this;
  }
}
