// Records that include the file itself (`keep-files`): what is saved, restored and deleted.

import { expect } from '@open-wc/testing';
import type { RecordToSave } from '../../../src/engine/resume/record.ts';
import { SavedUploads, type UploadStore } from '../../../src/engine/resume/upload-store.ts';
import { pruneOnTwoDays, rawDatabase, recordOf, statesOf } from './saved.ts';

let name = '';
let store: UploadStore;
beforeEach(() => {
  name = `test-${crypto.randomUUID()}`;
  store = new SavedUploads({ name });
});

const session = { sessionId: 's', header: 'h' };

function fileOf(sizeBytes: number): File {
  const bytes = crypto.getRandomValues(new Uint8Array(sizeBytes));
  return new File([bytes], 'a.txt', { type: 'text/plain', lastModified: 1_700_000_000_000 });
}

const saved = (key: string, file: File | undefined, more = {}) =>
  recordOf({ key, sizeBytes: file?.size ?? 10, session: undefined, ...(file && { file }), ...more });

/** Saves a record with the bytes of its file. */
const save = async (record: RecordToSave): Promise<void> =>
  store.save(record, await record.file?.arrayBuffer());

describe('a record with its file', () => {
  it('has the same bytes, name, type and time on the next visit, before a session is open and after', async () => {
    const file = fileOf(1000);
    await save(saved('one', file));
    await save(saved('none', undefined, { session }));
    for (const isOpen of [false, true]) {
      if (isOpen) await save(saved('one', file, { session }));
      const found = await new SavedUploads({ name }).find('one');
      expect(found?.session).to.deep.equal(isOpen ? session : undefined);
      expect(found?.file).to.include({ name: 'a.txt', type: 'text/plain', lastModified: 1_700_000_000_000 });
      expect(await found?.file?.arrayBuffer()).to.deep.equal(await file.arrayBuffer());
    }
    expect((await store.find('none'))?.file).to.equal(undefined);
    await save(saved('two', fileOf(7)));
    expect(await store.fileBytes()).to.equal(1007);
  });

  it('keeps its chunks under the same session only', async () => {
    const file = fileOf(10_000);
    await save(saved('one', file, { session }));
    await store.saveChunks('one', statesOf(0, 2));
    await save(saved('one', file, { session }));
    expect((await store.find('one'))?.stored.size).to.equal(2);
    await save(saved('one', file, { session: { sessionId: 't', header: 'i' } }));
    const found = await store.find('one');
    expect([found?.stored.size, found?.file?.size]).to.deep.equal([0, 10_000]);
  });

  it('can be renamed and paused without writing its bytes again', async () => {
    await save(saved('one', fileOf(10), { session }));
    await store.update('one', { newName: 'b.txt', session: undefined });
    await store.update('one', { isPaused: true });
    const renamed = await new SavedUploads({ name }).find('one');
    expect(renamed).to.include({ newName: 'b.txt', session: undefined, isPaused: true });
    expect(renamed?.file?.size).to.equal(10);
    await store.update('one', { isPaused: undefined });
    expect((await store.find('one'))?.isPaused).to.equal(undefined);
    await store.update('another', { isPaused: true });
    expect((await store.list()).map(({ key }) => key)).to.deep.equal(['one']);
  });

  it('is paused or withdrawn only if exactly that was saved', async () => {
    await save(saved('key', fileOf(10)));
    const raw = rawDatabase(`${name}-uploads`);
    const [record] = (await raw.values()) as Record<string, unknown>[];
    for (const flag of ['isPaused', 'isWithdrawn'] as const)
      for (const value of ['yes', 1, null, false]) {
        await raw.put('key', { ...record, [flag]: value });
        expect((await store.find('key'))?.[flag], `${flag} ${value}`).to.equal(undefined);
      }
  });

  it('with neither file nor session is not listed', async () => {
    await save(saved('one', fileOf(10)));
    await save(saved('two', fileOf(10), { session }));
    const raw = rawDatabase(`${name}-chunks`);
    for (const key of await raw.keys()) await raw.put(key, 'damaged');
    const found = await store.list();
    expect(found.map(({ key, file }) => [key, file])).to.deep.equal([['two', undefined]]);
  });

  it('leaves no bytes when it is removed, when it expires, and when everything is deleted', async () => {
    const raw = rawDatabase(`${name}-chunks`);
    for (const key of ['one', 'two', 'three']) await save(saved(key, fileOf(10)));
    expect(await raw.keys()).to.have.length(3);
    await store.remove('one');
    expect(await raw.keys()).to.have.length(2);
    await save(saved('two', fileOf(10), { createdAtMs: 0 }));
    await pruneOnTwoDays(store, () => 3 * 24 * 3_600_000);
    expect((await store.list()).map(({ key, file }) => [key, file?.size])).to.deep.equal([['three', 10]]);
    expect(await raw.keys()).to.have.length(1);
    await store.clear();
    expect(await raw.keys()).to.deep.equal([]);
  });

  it('leaves no bytes when everything is deleted while it is being saved', async () => {
    const saving = store.save(saved('one', fileOf(10)), new ArrayBuffer(10));
    await store.clear();
    await saving;
    expect(await rawDatabase(`${name}-chunks`).keys()).to.deep.equal([]);
  });
});
