// Edge cases of the store: parallel changes, changes that fail partly, and default options.

import { expect } from '@open-wc/testing';
import { Database } from '../../../src/engine/resume/database.ts';
import { SavedUploads, type UploadStore } from '../../../src/engine/resume/upload-store.ts';
import { rejection } from '../../support/collect.ts';
import { pruneOnTwoDays, rawDatabase, recordOf, statesOf } from './saved.ts';

const HOUR_MS = 3_600_000;

let name = '';
let store: UploadStore;
const record = recordOf();
const { key } = record;
const nextSession = { ...record, session: { sessionId: 's2', header: 'h2' } };

beforeEach(() => {
  name = `test-${crypto.randomUUID()}`;
  store = new SavedUploads({ name });
});

const chunkKeys = (): Promise<IDBValidKey[]> => rawDatabase(`${name}-chunks`).keys();

/** Makes all calls of `method` fail in one of the store's databases while `run` runs. */
async function failing<T>(method: 'put' | 'delete', database: string, run: () => Promise<T>): Promise<T> {
  const own = IDBObjectStore.prototype[method];
  IDBObjectStore.prototype[method] = function (this: IDBObjectStore, ...args: never[]) {
    if (this.transaction.db.name === `${name}-${database}`) throw new DOMException('', 'DataError');
    return (own as (...args: unknown[]) => never).apply(this, args);
  };
  try {
    return await run();
  } finally {
    IDBObjectStore.prototype[method] = own as never;
  }
}

describe('a store without a name', () => {
  it('has databases named after the package', async () => {
    const own = new SavedUploads();
    await own.list();
    await own.prune(() => Number.POSITIVE_INFINITY);
    const names = (await indexedDB.databases()).map((database) => database.name);
    expect(names).to.include.members(['secure-uploader-uploads', 'secure-uploader-chunks']);
  });
});

describe('a database that does not respond', () => {
  it('fails after the deadline', async () => {
    const database = new Database(name, 1);
    await rejection(database.read(() => new Promise(() => undefined))).then((error) =>
      expect(error).to.include({ code: 'store-unavailable' }),
    );
  });
});

describe('two pages that change one record at the same time', () => {
  it('keep both changes', async () => {
    const other = new SavedUploads({ name });
    for (let round = 0; round < 10; round += 1) {
      await store.save(record);
      const changes = [
        () => store.update(key, { newName: 'b.txt' }),
        () => other.update(key, { isWithdrawn: true }),
        () => store.update(key, { isPaused: true }),
      ];
      await Promise.all(changes.map((change) => change()));
      const found = await store.find(key);
      expect(found).to.include({ newName: 'b.txt', isWithdrawn: true, isPaused: true });
    }
  });
});

describe('chunks', () => {
  it('are not saved for a record that another page has removed', async () => {
    await store.save(record);
    await new SavedUploads({ name }).remove(key);
    expect(await store.find(key)).to.equal(undefined);
    await store.saveChunks(key, statesOf(0, 1));
    expect(await chunkKeys()).to.deep.equal([]);
  });

  it('are not saved once everything was deleted', async () => {
    await store.save(record);
    await store.saveChunks(key, statesOf(0, 1));
    await store.clear();
    await store.saveChunks(key, statesOf(1, 2));
    expect(await chunkKeys()).to.deep.equal([]);
  });

  it('belong to the later one of two sessions that are saved at the same time', async () => {
    const first = store.save(record);
    const second = store.save(nextSession);
    await first;
    await store.saveChunks(key, statesOf(0, 1));
    await second;
    expect((await store.find(key))?.stored.size).to.equal(1);
  });

  it('in two writes have the values of the later one', async () => {
    await store.save(record);
    for (const receipt of ['older', 'newer']) await store.saveChunks(key, [{ index: 1, hash: 'h', receipt }]);
    expect((await store.find(key))?.stored.get(1)?.receipt).to.equal('newer');
  });

  it('have 128 random bits in their key', async () => {
    await store.save(record);
    await store.saveChunks(key, statesOf(0, 1));
    const [[id]] = (await chunkKeys()) as [[string]];
    expect(id).to.match(/^\d+(-\d+){3}$/);
  });

  it('of several uploads are saved by one write, each under its own', async () => {
    await store.save(record);
    await store.save({ ...record, key: 'other' });
    await Promise.all([
      store.saveChunks(key, statesOf(0, 1)),
      store.saveChunks('other', statesOf(1, 2)),
      store.saveChunks('none', statesOf(2, 3)),
      store.saveChunks(key, statesOf(3, 4)),
    ]);
    const storedOf = async (of: string): Promise<number[]> => [
      ...((await store.find(of))?.stored.keys() ?? []),
    ];
    expect([await storedOf(key), await storedOf('other')]).to.deep.equal([[0, 3], [1]]);
  });

  it('that could not be written fail for their caller, and the next ones are written', async () => {
    await store.save(record);
    const failed = await failing('put', 'chunks', () => rejection(store.saveChunks(key, statesOf(0, 1))));
    expect(failed).to.include({ code: 'store-unavailable' });
    await store.saveChunks(key, statesOf(1, 2));
    expect([...((await store.find(key))?.stored.keys() ?? [])]).to.deep.equal([1]);
  });
});

describe('changes of one upload at the same time', () => {
  it('are all saved', async () => {
    await store.save(record);
    await Promise.all([
      store.update(key, { newName: 'b.txt' }),
      store.update(key, { isPaused: true }),
      store.update(key, { session: nextSession.session }),
    ]);
    expect(await store.find(key)).to.deep.include({ ...nextSession, newName: 'b.txt', isPaused: true });
  });
});

describe('a change of which a part fails', () => {
  it('rejects if the chunks of a removed upload stay', async () => {
    await store.save(record);
    const failed = await failing('delete', 'chunks', () => rejection(store.remove(key)));
    expect(failed).to.include({ code: 'store-unavailable' });
  });

  it('rejects if the chunks of an earlier session stay', async () => {
    await store.save(record);
    const failed = await failing('delete', 'chunks', () => rejection(store.save(nextSession)));
    expect(failed).to.include({ code: 'store-unavailable' });
  });

  it('rejects if the bytes of the file are not saved', async () => {
    const file = new File(['a'], record.name);
    const failed = await failing('put', 'chunks', () =>
      rejection(store.save({ ...record, file }, new ArrayBuffer(1))),
    );
    expect(failed).to.include({ code: 'store-unavailable' });
  });

  it('rejects if a damaged record stays', async () => {
    await store.save(record);
    await rawDatabase(`${name}-uploads`).put(key, 'damaged');
    const failed = await failing('delete', 'uploads', () => rejection(store.find(key)));
    expect(failed).to.include({ code: 'store-unavailable' });
  });

  it('rejects if an expired upload stays', async () => {
    await store.save({ ...record, createdAtMs: 1 });
    const failed = await failing('delete', 'uploads', () => rejection(pruneOnTwoDays(store, () => HOUR_MS)));
    expect(failed).to.include({ code: 'store-unavailable' });
  });

  it('rejects if chunks without a record stay', async () => {
    await store.save(record);
    await store.saveChunks(key, statesOf(0, 1));
    await rawDatabase(`${name}-chunks`).put(['nobody', 1, 1], []);
    const failed = await failing('delete', 'chunks', () => rejection(store.prune(() => HOUR_MS)));
    expect(failed).to.include({ code: 'store-unavailable' });
  });
});

describe('the date of an upload', () => {
  const usedAtMs = async (): Promise<unknown> => {
    const [saved] = (await rawDatabase(`${name}-uploads`).values()) as [{ usedAtMs?: number }];
    return saved.usedAtMs;
  };
  let nowMs = 0;

  beforeEach(() => {
    nowMs = 1_000_000;
    performance.now = () => nowMs;
  });
  afterEach(() => void Reflect.deleteProperty(performance, 'now'));

  it('is renewed by stored chunks, once an hour', async () => {
    await store.save(record);
    nowMs += HOUR_MS - 1;
    await store.saveChunks(key, statesOf(0, 1));
    expect(await usedAtMs()).to.equal(undefined);
    nowMs += 1;
    await store.saveChunks(key, statesOf(1, 2));
    const first = await usedAtMs();
    expect(first).to.be.a('number');
    nowMs += HOUR_MS - 1;
    const { now } = Date;
    try {
      Date.now = () => 1;
      await store.saveChunks(key, statesOf(2, 3));
      expect(await usedAtMs()).to.equal(first);
      nowMs += 1;
      await store.saveChunks(key, statesOf(3, 4));
      expect(await usedAtMs()).to.equal(1);
    } finally {
      Date.now = now;
    }
  });

  it('is renewed immediately by a page that did not open the upload itself', async () => {
    await store.save(record);
    await new SavedUploads({ name }).saveChunks(key, statesOf(0, 1));
    expect(await usedAtMs()).to.be.a('number');
  });

  for (const [what, forget] of [
    ['removed', () => store.remove(key)],
    ['deleted with all others', () => store.clear()],
  ] as const)
    it(`is renewed immediately if another page saved the upload after it was ${what}`, async () => {
      await store.save(record);
      await forget();
      await new SavedUploads({ name }).save(record);
      await store.saveChunks(key, statesOf(0, 1));
      expect(await usedAtMs()).to.be.a('number');
    });

  it('is not renewed after a removal, which may begin at any time during the renewal', async () => {
    // Another page renews the date with its first chunk. Each round gives it another head start.
    for (let turnCount = 0; turnCount < 16; turnCount += 1) {
      await store.save(record);
      const page = new SavedUploads({ name });
      const saved = page.saveChunks(key, statesOf(0, 1));
      for (let turn = 0; turn < turnCount; turn += 1) await page.fileBytes();
      await Promise.all([saved, page.remove(key)]);
      expect(await page.list(), `after ${turnCount} reads`).to.deep.equal([]);
    }
  });

  it('that cannot be renewed fails for the caller that saves chunks', async () => {
    await store.save(record);
    nowMs += HOUR_MS;
    const failed = await failing('put', 'uploads', () => rejection(store.saveChunks(key, statesOf(0, 1))));
    expect(failed).to.include({ code: 'store-unavailable' });
  });
});

describe('deleting everything', () => {
  it('causes no error for a caller that still saves chunks, even if the database was deleted first', async () => {
    await store.save(record);
    await store.saveChunks(key, statesOf(0, 1));
    await rawDatabase(`${name}-uploads`).remove();
    await store.clear();
    await store.saveChunks(key, statesOf(1, 2));
    expect(await chunkKeys()).to.deep.equal([]);
  });

  it('fails with a cause if something stays', async () => {
    await store.save(record);
    const { clear } = IDBObjectStore.prototype;
    const cause = new DOMException('no', 'DataError');
    IDBObjectStore.prototype.clear = () => {
      throw cause;
    };
    try {
      const failed = await rejection(store.clear());
      expect(failed).to.include({ code: 'store-unavailable' });
      expect(((failed as Error).cause as Error).cause).to.equal(cause);
    } finally {
      IDBObjectStore.prototype.clear = clear;
    }
  });
});
