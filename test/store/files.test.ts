// Small files in the browser's own database: what comes back, how much there is room for, when it goes.

import { expect } from '@open-wc/testing';
import type { KeptFile } from '../../src/store/files.ts';
import { createUploadStore, type UploadStore } from '../../src/store/uploads.ts';
import { rawDatabase } from './saved.ts';

let name = '';
let store: UploadStore;
beforeEach(() => {
  name = `test-${crypto.randomUUID()}`;
  store = createUploadStore({ name });
});

const place = {
  baseUrl: 'https://api.test',
  clientId: 'app',
  owner: 'ann',
  parentId: 'folder-a',
  relativePath: 'deep/a.txt',
};

async function keep(id: string, sizeBytes: number, session?: KeptFile['session'], page = 'page') {
  const { buffer: bytes } = crypto.getRandomValues(new Uint8Array(sizeBytes));
  const file = new File([bytes], 'a.txt', { type: 'text/plain', lastModified: 1_700_000_000_000 });
  await store.files.keep(page, { ...place, id, file }, bytes);
  if (session) await store.files.saveState(page, id, { session });
  return bytes;
}

describe('a kept file', () => {
  it('comes back byte for byte, as it was called and where it was to go, with its session', async () => {
    const bytes = await keep('one', 1000, { sessionId: 's1', header: 'h1' });
    await keep('two', 0);
    const { files } = createUploadStore({ name });
    expect(await files.pages()).to.deep.equal(['page']);
    expect(await files.list('another')).to.deep.equal([]);
    const [one, two] = await files.list('page');
    expect(one).to.deep.include({ ...place, id: 'one', session: { sessionId: 's1', header: 'h1' } });
    expect(one?.file).to.include({ name: 'a.txt', type: 'text/plain', lastModified: 1_700_000_000_000 });
    expect(await one?.file.arrayBuffer()).to.deep.equal(bytes);
    expect(two?.session).to.equal(undefined);
    await keep('three', 10, undefined, 'another');
    expect(await files.sumBytes()).to.equal(1010);
  });

  it('comes back with the name that it was given, and paused where the person had paused it', async () => {
    await keep('one', 10);
    const session = { sessionId: 's1', header: 'h1' };
    await store.files.saveState('page', 'one', { session, newName: 'b.txt', isPaused: true });
    const [paused] = await createUploadStore({ name }).files.list('page');
    expect(paused).to.deep.include({ session, newName: 'b.txt', isPaused: true });
    await store.files.saveState('page', 'one', { newName: 'c.txt' });
    const [resumed] = await createUploadStore({ name }).files.list('page');
    expect(resumed).to.include({ session: undefined, newName: 'c.txt', isPaused: undefined });
  });

  it('is gone with its session when it is removed, when it is old, and when everything is forgotten', async () => {
    const raw = rawDatabase(`${name}-files`);
    const session = { sessionId: 's', header: 'h' };
    await keep('one', 10, session);
    await keep('two', 10, session);
    await store.files.remove('page', 'one');
    expect((await raw.keys()).length).to.equal(2);
    const [, key] = (await raw.keys()) as [unknown, [string, string, number, number]];
    await raw.put([key[0], 'old', 10, key[3] - 1000], {});
    await store.prune(500);
    expect((await store.files.list('page')).map(({ id }) => id)).to.deep.equal(['two']);
    await store.clear();
    expect(await raw.keys()).to.deep.equal([]);
  });

  it('that is damaged, or of a newer version, counts as none', async () => {
    await keep('one', 10);
    const raw = rawDatabase(`${name}-files`);
    const [key] = (await raw.keys()) as [IDBValidKey];
    const [saved] = (await raw.values()) as Record<string, unknown>[];
    const damages = [7, null, {}, { ...saved, version: 2 }, { ...saved, bytes: 'text' }];
    for (const damaged of damages) {
      await raw.put(key, damaged);
      expect(await store.files.list('page'), JSON.stringify(damaged)).to.deep.equal([]);
    }
  });
});
