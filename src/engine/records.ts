// What is remembered of the uploads of this page: in memory for as long as a file is in the list, so that pausing loses
// nothing, and in the store behind it. The same upload is never run twice at once.

import type { UploadRecord } from '../core/types.ts';
import type { RecordKeeper } from '../pipeline/open.ts';

/** Uploads that a row of this page has taken, by record key. */
export type Taken = Map<string, object>;

/** A keeper for one row: its record in memory, written through to `store` where there is one. */
export class RowRecords implements RecordKeeper {
  readonly #store: RecordKeeper | undefined;
  readonly #taken: Taken;
  #record: UploadRecord | undefined;

  constructor(store: RecordKeeper | undefined, taken: Taken) {
    this.#store = store;
    this.#taken = taken;
  }

  get key(): string | undefined {
    return this.#record?.key;
  }

  /** A second row with the same file for the same place gets nothing: it is an upload of its own. */
  async find(key: string): Promise<UploadRecord | undefined> {
    const owner = this.#taken.get(key);
    if (owner && owner !== this) return undefined;
    this.#taken.set(key, this);
    this.#record ??= await this.#store?.find(key);
    return this.#record;
  }

  async save(record: UploadRecord): Promise<void> {
    if (!this.#owns(record.key)) return;
    this.#record = { ...record, stored: new Map(record.stored) };
    await this.#store?.save(record);
  }

  async saveChunks(key: string, chunks: Parameters<RecordKeeper['saveChunks']>[1]): Promise<void> {
    if (!this.#owns(key) || !this.#record) return;
    const stored = this.#record.stored as Map<number, { hash: string; receipt: string }>;
    for (const { index, hash, receipt } of chunks) stored.set(index, { hash, receipt });
    await this.#store?.saveChunks(key, chunks);
  }

  async remove(key: string): Promise<void> {
    if (!this.#owns(key)) return;
    this.#record = undefined;
    await this.#store?.remove(key);
  }

  /** Nothing of this upload is to be found any more. */
  async forget(): Promise<void> {
    const { key } = this;
    if (key === undefined) return;
    await this.remove(key);
    this.leave();
  }

  /** The row is gone or done; the next row with this file may have the record. */
  leave(): void {
    for (const [key, owner] of this.#taken) if (owner === this) this.#taken.delete(key);
  }

  #owns(key: string): boolean {
    return this.#taken.get(key) === this;
  }
}
