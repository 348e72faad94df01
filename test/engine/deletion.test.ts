// A sign-out that could not delete saved uploads: the next uploader that uses them deletes them first.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { UploadStore } from '../../src/engine/resume/upload-store.ts';
import { fileOf } from '../support/bytes.ts';
import { rejection, settled, until } from '../support/collect.ts';
import { createUnfinished, newStore, replace, world } from '../support/world.ts';

const MARK = 'secure-uploader:delete';
const marked = (): boolean => localStorage.getItem(MARK) !== null;
const no = new UploaderError('store-unavailable', 'no');
const refusing = (store: UploadStore): UploadStore => ({ ...store, clear: () => Promise.reject(no) });
const namesIn = async (store: UploadStore): Promise<string[]> =>
  (await store.list()).map(({ name }) => name).sort();

afterEach(() => localStorage.clear());

/** Returns a store with an upload of Ann, who has signed out, while the database refused to delete it. */
async function leftByAnn(): Promise<UploadStore> {
  const store = await createUnfinished(fileOf(1, 2500, 'salary.pdf'), { owner: 'ann' });
  const { uploader } = world({ owner: 'ann', store: refusing(store) });
  expect(await rejection(uploader.signOut())).to.equal(no);
  expect(await namesIn(store)).to.deep.equal(['salary.pdf']);
  await uploader.close();
  return store;
}

/** Uploads a file of Bob until a chunk is stored. */
async function uploadOfBob(store: UploadStore): Promise<void> {
  const { service, uploader } = world({ owner: 'bob', store, answers: ['open', 'presign'] });
  await uploader.addFiles([fileOf(2, 2500, 'of-bob.bin')]);
  (await service.nextRequest('put')).answer();
  await until(async () => (await store.list()).some(({ stored }) => stored.size === 1));
  await uploader.close();
}

describe('saved uploads that a sign-out could not delete', () => {
  it('are deleted by the next uploader, which lists none of them', async () => {
    const store = await leftByAnn();
    const engine = world({ owner: 'ann', store });
    await until(async () => (await store.list()).length === 0);
    await until(() => !marked());
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.changeNames()).not.to.include('file-added');
  });

  it('are deleted before an uploader that does not resume saves anything', async () => {
    const store = await leftByAnn();
    void world({ owner: 'ann', store, noResume: true });
    await until(async () => (await store.list()).length === 0);
    await until(() => !marked());
  });

  it('are not listed while the database still refuses', async () => {
    const store = await leftByAnn();
    let clearCount = 0;
    const clear = (): Promise<void> => {
      clearCount += 1;
      return Promise.reject(no);
    };
    const engine = world({ owner: 'ann', store: { ...store, clear } });
    await until(() => clearCount > 0);
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.changeNames()).not.to.include('file-added');
    expect(marked()).to.equal(true);
  });

  it('are deleted by an uploader that was open at the sign-out before it saves, and its own stay', async () => {
    const store = await createUnfinished(fileOf(1, 2500, 'salary.pdf'), { owner: 'ann' });
    const open = world({ owner: 'bob', store, answers: ['open', 'presign'] });
    for (let round = 0; round < 20; round += 1) await settled();
    // Of another page: the open uploader does not learn of it.
    localStorage.setItem(MARK, 'of-another-page');
    await open.uploader.addFiles([fileOf(2, 2500, 'of-bob.bin')]);
    (await open.service.nextRequest('put')).answer();
    await until(async () => (await store.list()).some(({ name }) => name === 'of-bob.bin'));
    await open.uploader.close();
    expect(await namesIn(store)).to.deep.equal(['of-bob.bin']);
    void world({ owner: 'carol', store });
    for (let round = 0; round < 20; round += 1) await settled();
    expect(await namesIn(store)).to.deep.equal(['of-bob.bin']);
  });

  it('are deleted once: what the next user saves stays for the visit after', async () => {
    const store = await leftByAnn();
    await uploadOfBob(store);
    expect(await namesIn(store)).to.deep.equal(['of-bob.bin']);
    const { changeNames } = world({ owner: 'bob', store });
    await until(() => changeNames().includes('file-added'));
    expect(await namesIn(store)).to.deep.equal(['of-bob.bin']);
  });

  it('are deleted by the next uploader of the page also without localStorage', async () => {
    replace(Storage.prototype, 'setItem', () => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    const store = await leftByAnn();
    const engine = world({ owner: 'ann', store });
    await until(async () => (await store.list()).length === 0);
    expect(engine.changeNames()).not.to.include('file-added');
  });
});

it('a sign-out marks its deletion before it deletes, and until all is deleted', async () => {
  const store = newStore();
  const seen: boolean[] = [];
  const clear = async (): Promise<void> => {
    seen.push(marked());
    await store.clear();
    seen.push(marked());
  };
  const { uploader } = world({ store: { ...store, clear } });
  await uploader.signOut();
  expect(seen).to.deep.equal([true, true, true, true]);
  expect(marked()).to.equal(false);
});

it('an uploader that starts during a sign-out in its page lists nothing that this could not delete', async () => {
  const store = await createUnfinished(fileOf(1, 2500, 'salary.pdf'), { owner: 'ann' });
  let refuse = (): void => undefined;
  const refused = new Promise<void>((_, reject) => {
    refuse = () => reject(no);
  });
  const { uploader } = world({ owner: 'ann', store: { ...store, clear: () => refused } });
  const leaving = rejection(uploader.signOut());
  const next = world({ owner: 'ann', store });
  for (let round = 0; round < 20; round += 1) await settled();
  refuse();
  await leaving;
  await until(async () => (await store.list()).length === 0);
  expect(next.changeNames()).not.to.include('file-added');
});
