// A store in memory for tests of runs, with a log of its calls.

import type { UploadRecord } from '../../src/core/types.ts';
import type { RecordKeeper, SessionMarks } from '../../src/pipeline/upload-session.ts';

export class MemoryKeeper implements RecordKeeper {
  readonly records = new Map<string, UploadRecord>();
  /** Names of all calls, oldest first. */
  readonly log: string[] = [];
  /** True if `remove` must never resolve. */
  isStuck = false;

  find(key: string, _onTaken?: () => void): Promise<UploadRecord | undefined> {
    return this.#do('find', () => this.records.get(key));
  }

  save(record: UploadRecord): Promise<void> {
    return this.#do(
      'save',
      () => void this.records.set(record.key, { ...record, stored: new Map(record.stored) }),
    );
  }

  update(key: string, change: SessionMarks): Promise<void> {
    return this.#do('update', () => {
      const record = this.records.get(key);
      if (record) this.records.set(key, { ...record, ...change });
    });
  }

  saveChunks(key: string, chunks: Parameters<RecordKeeper['saveChunks']>[1]): Promise<void> {
    return this.#do('saveChunks', () => {
      const stored = this.records.get(key)?.stored as
        | Map<number, { hash: string; receipt: string }>
        | undefined;
      for (const { index, hash, receipt } of chunks) stored?.set(index, { hash, receipt });
    });
  }

  remove(key: string): Promise<void> {
    if (this.isStuck) return new Promise(() => undefined);
    return this.#do('remove', () => void this.records.delete(key));
  }

  async #do<T>(name: keyof RecordKeeper, work: () => T): Promise<T> {
    this.log.push(name);
    return work();
  }
}
