// Uploads saved in IndexedDB: what is restored after a reload, and how much is written.

import { expect } from '@open-wc/testing';
import type { RecordToSave } from '../../../src/engine/resume/record.ts';
import { SavedUploads, type UploadStore } from '../../../src/engine/resume/upload-store.ts';
import { pruneOnTwoDays, rawDatabase, recordOf, statesOf } from './saved.ts';

let name = '';
let store: UploadStore;
/** Opens the same databases as a reloaded page does. */
const reload = (): UploadStore => new SavedUploads({ name });

beforeEach(() => {
  name = `test-${crypto.randomUUID()}`;
  store = reload();
});

describe('a saved upload', () => {
  it('is found after a reload, with its stored chunks', async () => {
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 2));
    await store.saveChunks(record.key, statesOf(5, 6));
    const found = await reload().find(record.key);
    expect(found).to.deep.include(record);
    expect([...(found?.stored ?? [])]).to.deep.equal([
      [0, { hash: 'hash-0', receipt: 'receipt-0' }],
      [1, { hash: 'hash-1', receipt: 'receipt-1' }],
      [5, { hash: 'hash-5', receipt: 'receipt-5' }],
    ]);
  });

  it('can be removed while its record is being saved', async () => {
    const record = recordOf();
    const saved = store.save(record);
    await store.remove(record.key);
    await saved;
    expect(await reload().find(record.key)).to.equal(undefined);
  });

  it('has the chunks that were stored while it was still being written', async () => {
    const record = recordOf();
    const saved = store.save(record);
    await store.saveChunks(record.key, statesOf(0, 2));
    await saved;
    expect((await reload().find(record.key))?.stored.size).to.equal(2);
  });

  it('has the chunks of its new session, also those stored while that was being written', async () => {
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 3));
    const saved = store.save({ ...record, session: { sessionId: 's2', header: 'h2' } });
    await store.saveChunks(record.key, statesOf(3, 4));
    await saved;
    expect([...((await reload().find(record.key))?.stored.keys() ?? [])]).to.deep.equal([3]);
  });

  it('is not found under another key, nor after it was removed', async () => {
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 3));
    expect(await store.find(`${record.key} `)).to.equal(undefined);
    await store.remove(record.key);
    expect(await reload().find(record.key)).to.equal(undefined);
    expect(await rawDatabase(`${name}-chunks`).keys()).to.deep.equal([]);
  });

  it('continues under the same session, and starts over under another', async () => {
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 3));
    await store.save({ ...record, type: 'a/b' });
    expect((await store.find(record.key))?.stored.size).to.equal(3);
    await store.save({ ...record, session: { sessionId: 's2', header: 'h2' } });
    expect((await reload().find(record.key))?.stored.size).to.equal(0);
    await store.saveChunks(record.key, statesOf(3, 4));
    expect([...((await reload().find(record.key))?.stored.keys() ?? [])]).to.deep.equal([3]);
  });

  it('does not get chunks back that were stored for a removed one', async () => {
    const record = recordOf();
    await store.save(record);
    await store.remove(record.key);
    await store.saveChunks(record.key, statesOf(0, 3));
    expect(await rawDatabase(`${name}-chunks`).keys()).to.deep.equal([]);
    await store.save(record);
    expect((await store.find(record.key))?.stored.size).to.equal(0);
  });

  it('continues in another page, with the latest state of each chunk', async () => {
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 2));
    const other = reload();
    await other.saveChunks(record.key, [{ index: 1, hash: 'hash-1', receipt: 'newer' }]);
    await other.saveChunks(record.key, statesOf(2, 3));
    const found = await store.find(record.key);
    expect(found?.stored.get(1)?.receipt).to.equal('newer');
    expect(found?.stored.size).to.equal(3);
  });

  it('has no field that the record does not have', async () => {
    const record = recordOf();
    const session = { ...record.session, token: 'secret' };
    await store.save({ ...record, token: 'secret', session } as RecordToSave);
    expect(JSON.stringify(await rawDatabase(`${name}-uploads`).values())).not.to.include('secret');
  });
});

describe('all saved uploads', () => {
  it('are listed from the oldest, each with its stored chunks', async () => {
    for (const [key, createdAtMs] of [
      ['b', 2],
      ['a', 1],
      ['c', 3],
    ] as const) {
      await store.save(recordOf({ key, createdAtMs }));
    }
    await store.saveChunks('a', statesOf(0, 1));
    const listed = await store.list();
    expect(listed.map(({ key, stored }) => [key, stored.size])).to.deep.equal([
      ['a', 1],
      ['b', 0],
      ['c', 0],
    ]);
  });

  it('expire, and so do chunks without a record', async () => {
    const day = 24 * 3_600_000;
    await store.save(recordOf({ key: 'old', createdAtMs: Date.now() - 8 * day }));
    await store.save(recordOf({ key: 'young', createdAtMs: Date.now() - 6 * day }));
    await store.saveChunks('old', statesOf(0, 1));
    await store.saveChunks('young', statesOf(0, 1));
    await rawDatabase(`${name}-chunks`).put(['nobody', 1, 1], []);
    await pruneOnTwoDays(store, () => 7 * day);
    expect((await reload().list()).map(({ key }) => key)).to.deep.equal(['young']);
    expect(await rawDatabase(`${name}-chunks`).keys()).to.have.length(1);
    // It is not too old for this limit, and loses the mark of the second visit.
    await store.prune(() => Number.POSITIVE_INFINITY);
    await pruneOnTwoDays(store, () => day);
    expect(await rawDatabase(`${name}-chunks`).keys()).to.deep.equal([]);
  });

  it('do not expire while a tab runs them, nor while chunks of them are being stored', async () => {
    const day = 24 * 3_600_000;
    const { now } = performance;
    try {
      await store.save(recordOf({ key: 'running', createdAtMs: Date.now() - 8 * day }));
      await store.save(recordOf({ key: 'long', createdAtMs: Date.now() - 8 * day }));
      performance.now = () => now.call(performance) + 2 * 3_600_000;
      await store.saveChunks('long', statesOf(0, 1));
    } finally {
      Reflect.deleteProperty(performance, 'now');
    }
    await pruneOnTwoDays(
      store,
      () => 7 * day,
      (key) => key === 'running',
    );
    expect((await reload().list()).map(({ key, stored }) => [key, stored.size])).to.have.deep.members([
      ['running', 0],
      ['long', 1],
    ]);
    await pruneOnTwoDays(store, () => 7 * day);
    expect((await reload().list()).map(({ key }) => key)).to.deep.equal(['long']);
  });

  it('are deleted when everything is', async () => {
    await store.save(recordOf());
    await store.saveChunks(recordOf().key, statesOf(0, 1));
    await store.clear();
    expect(await reload().list()).to.deep.equal([]);
    expect(await rawDatabase(`${name}-chunks`).keys()).to.deep.equal([]);
  });

  it('are deleted when everything is deleted while they are being saved', async () => {
    const saving = store.save(recordOf());
    const chunks = store.saveChunks(recordOf().key, statesOf(0, 1));
    await store.clear();
    await Promise.all([saving, chunks]);
    expect(await reload().list()).to.deep.equal([]);
    expect(await rawDatabase(`${name}-chunks`).keys()).to.deep.equal([]);
  });

  it('are deleted from every database that permits it, and the failing one is reported', async () => {
    await store.saveChunks(recordOf().key, []);
    await store.save(recordOf());
    const { clear } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.clear = function (this: IDBObjectStore) {
      if (this.transaction.db.name.endsWith('-chunks')) throw new DOMException('no', 'UnknownError');
      return clear.call(this);
    };
    try {
      expect(await store.clear().catch((error: unknown) => error)).to.include({ code: 'store-unavailable' });
    } finally {
      IDBObjectStore.prototype.clear = clear;
    }
    expect(await reload().list()).to.deep.equal([]);
  });
});

describe('the cost of saving', () => {
  const { put } = IDBObjectStore.prototype;
  let writtenBytes = 0;
  let writes = 0;

  beforeEach(() => {
    writtenBytes = 0;
    writes = 0;
    IDBObjectStore.prototype.put = function counted(this: IDBObjectStore, value: unknown, key?: IDBValidKey) {
      writtenBytes += JSON.stringify([key, value]).length;
      writes += 1;
      return put.call(this, value, key);
    };
  });
  afterEach(() => {
    IDBObjectStore.prototype.put = put;
  });

  /** Returns the cost of saving 1,000 chunks one by one if `savedCount` chunks are saved already. */
  async function costAfter(savedCount: number): Promise<{ bytes: number; puts: number }> {
    const count = 1000;
    const record = recordOf({ sizeBytes: (savedCount + count) * 100, key: `after ${savedCount}` });
    const chunk = (index: number) => ({ index, hash: 'a'.repeat(64), receipt: 'r'.repeat(200) });
    await store.save(record);
    if (savedCount > 0)
      await store.saveChunks(
        record.key,
        Array.from({ length: savedCount }, (_, at) => chunk(at)),
      );
    writtenBytes = 0;
    writes = 0;
    for (let index = savedCount; index < savedCount + count; index += 1)
      await store.saveChunks(record.key, [chunk(index)]);
    const cost = { bytes: writtenBytes, puts: writes };
    expect((await reload().find(record.key))?.stored.size).to.equal(savedCount + count);
    return cost;
  }

  it('is the same for the ten-thousandth chunk as for the first', async () => {
    const first = await costAfter(0);
    const last = await costAfter(9000);
    expect(first.puts).to.equal(1000);
    expect(last.puts).to.equal(1000);
    expect(last.bytes / first.bytes).to.be.within(1 / 1.15, 1.15);
    expect(first.bytes / 1000).to.be.below(2 * (64 + 200));
  });

  it('is shared by chunks that arrive during a write', async () => {
    const record = recordOf({ sizeBytes: 10_000 });
    await store.save(record);
    writes = 0;
    await Promise.all(
      Array.from({ length: 100 }, (_, at) => store.saveChunks(record.key, statesOf(at, at + 1))),
    );
    expect(writes).to.be.below(5);
    expect((await reload().find(record.key))?.stored.size).to.equal(100);
  });

  it('is zero if nothing was stored', async () => {
    await store.saveChunks('none', []);
    expect(writes).to.equal(0);
  });
});

describe('the cost of reading many uploads', () => {
  const COUNT = 600;
  const READS = ['get', 'getAll', 'getAllKeys', 'openKeyCursor'] as const;
  const own = Object.fromEntries(READS.map((read) => [read, IDBObjectStore.prototype[read]]));
  const { continue: next } = IDBCursor.prototype;
  /** Number of entries that each transaction has asked for. */
  const asked = new Map<IDBTransaction, number>();
  const count = (transaction: IDBTransaction, entryCount = 1): unknown =>
    asked.set(transaction, (asked.get(transaction) ?? 0) + entryCount);

  beforeEach(async () => {
    await store.save(recordOf({ key: '0' }));
    await store.saveChunks('0', statesOf(0, 1));
    const [uploads, chunks] = [rawDatabase(`${name}-uploads`), rawDatabase(`${name}-chunks`)];
    const [[record], [entry]] = [await uploads.values(), await chunks.values()];
    const { createdAtMs } = record as { createdAtMs: number };
    const others = Array.from({ length: COUNT - 1 }, (_, at) => at + 1);
    await uploads.putAll(
      others.map((at) => {
        const more = { key: `${at}`, chunksId: `chunks ${at}`, createdAtMs: createdAtMs + at };
        return [`${at}`, { ...(record as object), ...more }];
      }),
    );
    await chunks.putAll(others.map((at) => [[`chunks ${at}`, 1, 1], entry]));
    asked.clear();
    for (const read of READS)
      Object.assign(IDBObjectStore.prototype, {
        [read](this: IDBObjectStore, ...given: unknown[]) {
          // `getAll()` without a limit reads as many entries as there are. Chunks have a range for each upload.
          const limit = given[1] ?? (read.startsWith('getAll') && !given[0] ? COUNT : 1);
          count(this.transaction, Number(limit));
          return (own[read] as (...input: unknown[]) => unknown).apply(this, given);
        },
      });
    IDBCursor.prototype.continue = function counted(this: IDBCursor, ...given) {
      count((this.source as IDBObjectStore).transaction);
      next.apply(this, given);
    };
  });
  afterEach(() => {
    Object.assign(IDBObjectStore.prototype, own);
    IDBCursor.prototype.continue = next;
  });

  for (const [what, read] of [
    ['a list', async () => expect((await reload().list()).map(({ key }) => key)).to.have.length(COUNT)],
    ['the size of the saved files', () => reload().fileBytes()],
    ['looking for old ones', () => reload().prune(() => Number.POSITIVE_INFINITY)],
  ] as const)
    it(`is few transactions for ${what}, none of which reads more than a part of them`, async () => {
      await read();
      expect(asked.size).to.be.within(2, COUNT / 20);
      expect(Math.max(...asked.values())).to.be.below(COUNT / 2);
    });

  it('is small until the first ones can be shown, which are the oldest', async () => {
    const page = reload();
    const keys = await page.keys();
    expect(keys).to.deep.equal(Array.from({ length: COUNT }, (_, at) => `${at}`));
    asked.clear();
    const listed = await page.list(keys.slice(0, 10));
    expect(listed.map(({ key, stored }) => [key, stored.size])).to.deep.equal(
      keys.slice(0, 10).map((key) => [key, 1]),
    );
    expect(asked.size).to.equal(2);
  });
});
