// Faults of the browser's database: damaged, deleted, full, forbidden or not responding. Uploads must continue.

import { expect } from '@open-wc/testing';
import { SavedUploads, type UploadStore } from '../../../src/engine/resume/upload-store.ts';
import { rejection, until } from '../../support/collect.ts';
import { pruneOnTwoDays, rawDatabase, recordOf, statesOf } from './saved.ts';

let name = '';
let store: UploadStore;

beforeEach(() => {
  name = `test-${crypto.randomUUID()}`;
  store = new SavedUploads({ name });
});

describe('a damaged record', () => {
  it('is treated as missing, and is removed', async () => {
    const record = recordOf();
    const uploads = rawDatabase(`${name}-uploads`);
    await store.save(record);
    const [saved] = (await uploads.values()) as Record<string, unknown>[];
    const damages: unknown[] = [
      7,
      null,
      'text',
      [],
      {},
      { ...saved, version: 0 },
      { ...saved, key: 'another' },
      { ...saved, sessionHeader: '' },
      { ...saved, sizeBytes: -1 },
      { ...saved, sizeBytes: '10' },
      { ...saved, chunkSizeBytes: 0 },
      { ...saved, hashAlgorithm: 'md5' },
      { ...saved, lastModifiedMs: Number.NaN },
      { ...saved, chunksId: undefined },
    ];
    for (const damaged of damages) {
      await uploads.put(record.key, damaged);
      expect(await store.find(record.key), JSON.stringify(damaged)).to.equal(undefined);
      expect(await uploads.keys()).to.deep.equal([]);
      await store.saveChunks(record.key, statesOf(0, 1));
    }
    await uploads.put(record.key, saved);
    expect(await store.find(record.key)).to.deep.include(record);
  });

  it('does not hide the others, and is deleted', async () => {
    await store.save(recordOf());
    const uploads = rawDatabase(`${name}-uploads`);
    await uploads.put('other', { sizeBytes: 'many' });
    expect(await store.list()).to.have.length(1);
    await store.prune(() => Number.POSITIVE_INFINITY);
    expect(await uploads.keys()).to.deep.equal(['key']);
  });
});

describe('a record of a newer version of the package', () => {
  it('is treated as missing and is left to that version, with its chunks, however old it is', async () => {
    const record = recordOf({ createdAtMs: 1 });
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 1));
    const uploads = rawDatabase(`${name}-uploads`);
    const [saved] = (await uploads.values()) as Record<string, unknown>[];
    const newer = { version: 2, anything: saved?.chunksId };
    await uploads.put(record.key, newer);
    const page = new SavedUploads({ name });
    expect(await page.list()).to.deep.equal([]);
    expect(await page.find(record.key)).to.equal(undefined);
    await pruneOnTwoDays(page, () => 1);
    await page.remove(record.key);
    expect(await uploads.values()).to.deep.equal([newer]);
    expect(await rawDatabase(`${name}-chunks`).keys()).to.have.length(1);
  });
});

describe('damaged chunk states', () => {
  it('are skipped, so that those chunks are presigned again', async () => {
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(3, 4));
    const chunks = rawDatabase(`${name}-chunks`);
    const [key] = (await chunks.keys()) as [[string, number, number]];
    const damages: unknown[] = [
      7,
      null,
      { 0: [1, 'hash', 'receipt'] },
      [7, null, []],
      [
        [100, 'hash', 'receipt'],
        [-1, 'hash', 'receipt'],
        [1.5, 'hash', 'receipt'],
        ['1', 'hash', 'receipt'],
      ],
      [
        [1, '', 'receipt'],
        [1, 7, 'receipt'],
        [1, 'hash'],
      ],
    ];
    for (const [at, damaged] of damages.entries()) await chunks.put([key[0], key[1], 1000 + at], damaged);
    expect([...((await store.find(record.key))?.stored.keys() ?? [])]).to.deep.equal([3]);
  });
});

describe('a page that ends while it saves', () => {
  it('leaves a valid state, whichever of the two databases is ahead', async () => {
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 2));
    const uploads = rawDatabase(`${name}-uploads`);
    const [saved] = await uploads.values();
    // Case 1: the page ends between the removal of the record and the removal of its chunks. The same file is then added again.
    await store.saveChunks(record.key, statesOf(2, 3));
    const next = new SavedUploads({ name });
    await rawDatabase(`${name}-uploads`).remove();
    await next.save({ ...record, session: { sessionId: 's2', header: 'h2' } });
    expect((await next.find(record.key))?.stored.size).to.equal(0);
    // Case 2: the page ends before the new session is saved.
    await uploads.put(record.key, saved);
    expect((await new SavedUploads({ name }).find(record.key))?.stored.size).to.equal(3);
  });

  it('loses at most the current write', async () => {
    const { put } = IDBObjectStore.prototype;
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 2));
    IDBObjectStore.prototype.put = function aborted(this: IDBObjectStore, value: unknown, key?: IDBValidKey) {
      const request = put.call(this, value, key);
      this.transaction.abort();
      return request;
    };
    try {
      const error = await rejection(store.saveChunks(record.key, statesOf(2, 4)));
      expect(error).to.include({ code: 'store-unavailable' });
    } finally {
      IDBObjectStore.prototype.put = put;
    }
    expect((await new SavedUploads({ name }).find(record.key))?.stored.size).to.equal(2);
    await store.saveChunks(record.key, statesOf(2, 4));
    expect((await store.find(record.key))?.stored.size).to.equal(4);
  });
});

describe('a missing database', () => {
  it('can be deleted while the store has it open, and is created again', async () => {
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 1));
    await rawDatabase(`${name}-uploads`).remove();
    await rawDatabase(`${name}-chunks`).remove();
    expect(await store.find(record.key)).to.equal(undefined);
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 1));
    expect((await store.find(record.key))?.stored.size).to.equal(1);
  });

  it('is reported once to a caller that keeps saving chunks of a record deleted with it', async () => {
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 1));
    await rawDatabase(`${name}-uploads`).remove();
    expect(await store.saveChunks(record.key, statesOf(1, 2))).to.equal(false);
    await store.saveChunks(record.key, statesOf(2, 3));
    await store.save(record);
    await store.saveChunks(record.key, statesOf(3, 4));
    expect([...((await store.find(record.key))?.stored.keys() ?? [])]).to.deep.equal([3]);
  });

  it('is reported also if the database was deleted during a change of the record', async () => {
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 1));
    const { put } = IDBObjectStore.prototype;
    let removed: Promise<unknown> | undefined;
    IDBObjectStore.prototype.put = function (...input) {
      const request = put.apply(this, input);
      IDBObjectStore.prototype.put = put;
      this.transaction.abort();
      removed = rawDatabase(`${name}-uploads`).remove();
      return request;
    };
    await store.update(record.key, { isPaused: true });
    await removed;
    expect(await store.find(record.key)).to.equal(undefined);
    expect(await store.saveChunks(record.key, statesOf(1, 2))).to.equal(false);
  });

  it('is reported only for the upload whose record is lost, not for others whose chunks are saved with it', async () => {
    await store.save(recordOf({ key: 'lost' }));
    await store.saveChunks('lost', statesOf(0, 1));
    await rawDatabase(`${name}-uploads`).remove();
    await store.save(recordOf());
    const saved = store.saveChunks('key', statesOf(0, 1));
    expect(await store.saveChunks('lost', statesOf(1, 2))).to.equal(false);
    await saved;
    expect((await store.find('key'))?.stored.size).to.equal(1);
  });

  it('is not reported to a caller that has saved the record again, if another page removes it later', async () => {
    const record = recordOf();
    await store.save(record);
    await store.saveChunks(record.key, statesOf(0, 1));
    await rawDatabase(`${name}-uploads`).remove();
    await store.save(record);
    await new SavedUploads({ name }).remove(record.key);
    expect(await store.find(record.key)).to.equal(undefined);
    await store.saveChunks(record.key, statesOf(1, 2));
    expect(await store.find(record.key)).to.equal(undefined);
  });

  it('is not reported to a caller whose record is still there after the connection was lost, if another page removes it later', async () => {
    const record = recordOf();
    await store.save(record);
    const { getAll } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.getAll = () => {
      IDBObjectStore.prototype.getAll = getAll;
      throw new DOMException('', 'InvalidStateError');
    };
    expect(await store.list()).to.have.length(1);
    expect(await store.find(record.key)).to.deep.include(record);
    await new SavedUploads({ name }).remove(record.key);
    expect(await store.find(record.key)).to.equal(undefined);
    await store.saveChunks(record.key, statesOf(0, 1));
    expect(await rawDatabase(`${name}-chunks`).keys()).to.deep.equal([]);
  });

  it('is not reported to a caller that has removed the record since, or deleted everything', async () => {
    for (const forget of [() => store.remove('key'), () => store.clear()]) {
      await store.save(recordOf());
      await store.saveChunks('key', statesOf(0, 1));
      await rawDatabase(`${name}-uploads`).remove();
      await forget();
      await store.saveChunks('key', statesOf(1, 2));
    }
    expect(await store.find('key')).to.equal(undefined);
  });

  it('is a warning and does not block if the browser offers none to the page, or does not respond', async () => {
    const { open } = IDBFactory.prototype;
    try {
      IDBFactory.prototype.open = () => {
        throw new DOMException('no', 'SecurityError');
      };
      expect(await rejection(store.save(recordOf()))).to.include({ code: 'store-unavailable' });
      IDBFactory.prototype.open = () => Object.create(IDBOpenDBRequest.prototype) as IDBOpenDBRequest;
      const hasty = new SavedUploads({ name, deadlineMs: 50 });
      expect(await rejection(hasty.find('key'))).to.include({ code: 'store-unavailable' });
    } finally {
      IDBFactory.prototype.open = open;
    }
    await store.save(recordOf());
    expect(await store.find('key')).not.to.equal(undefined);
  });
});

it('a deletion that was given up deletes nothing later, when the next user has saved uploads', async () => {
  await store.save(recordOf({ key: 'of-ann' }));
  const { open } = IDBFactory.prototype;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const late = new SavedUploads({ name, deadlineMs: 50 });
  try {
    IDBFactory.prototype.open = function opensLate(this: IDBFactory, ...given) {
      const request = {} as Record<string, unknown>;
      void released.then(() => {
        const own = open.apply(this, given);
        own.onsuccess = () => {
          request.result = own.result;
          (request.onsuccess as () => void)();
        };
      });
      return request as unknown as IDBOpenDBRequest;
    };
    expect(await rejection(late.clear())).to.include({ code: 'store-unavailable' });
  } finally {
    IDBFactory.prototype.open = open;
  }
  await store.clear();
  await store.save(recordOf({ key: 'of-bob' }));
  release();
  await until(() => late.fileBytes().then(Number.isFinite, () => false));
  expect((await store.list()).map(({ key }) => key)).to.deep.equal(['of-bob']);
});

describe('a full disk', () => {
  it('has its own error', async () => {
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    try {
      expect(await rejection(store.save(recordOf()))).to.include({ code: 'store-full' });
    } finally {
      IDBObjectStore.prototype.put = put;
    }
  });
});

describe('a handle that the browser does not save', () => {
  it('is left out, and the rest is saved', async () => {
    const handle = { getFile: () => undefined } as unknown as FileSystemFileHandle;
    const record = recordOf();
    await store.save({ ...record, handle });
    const found = await store.find(record.key);
    expect(found).to.deep.include(record);
    expect(found?.handle).to.equal(undefined);
  });

  it('is restored if the browser saves it', async () => {
    const folder = await navigator.storage?.getDirectory?.().catch(() => undefined);
    const handle = await folder?.getFileHandle(name, { create: true });
    const canKeep = handle !== undefined;
    await store.save(recordOf(handle ? { handle } : {}));
    const found = await store.find('key');
    expect(found?.handle !== undefined).to.equal(canKeep);
    const [saved] = (await rawDatabase(`${name}-uploads`).values()) as [object];
    expect(saved, 'reading many records would be slow').not.to.have.property('handle');
    expect(await handle?.isSameEntry(found?.handle as FileSystemFileHandle)).to.equal(
      canKeep ? true : undefined,
    );
  });
});
