// When the session of a file of several chunks is requested before the store has responded (decision 68).

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { requestLock } from '../../src/engine/resume/tab-locks.ts';
import { fileOf } from '../support/bytes.ts';
import { deferred, settled, until } from '../support/collect.ts';
import { newStore, type World, world } from '../support/world.ts';

/** Adds a file, and returns the number of sessions that are requested before the store responds. */
async function sessionsOf(
  settings: SettingsInput,
  prepare: (engine: World) => Promise<unknown> = async () => undefined,
): Promise<number> {
  const store = newStore();
  const [asked, answer] = [deferred(), deferred()];
  const find: typeof store.find = async (key) => {
    asked.resolve();
    await answer.promise;
    return store.find(key);
  };
  const engine = world({ ...settings, store: { ...store, find } });
  await prepare(engine);
  const before = engine.service.count('open');
  await engine.uploader.addFiles([fileOf(1, 2500, crypto.randomUUID())]);
  await asked.promise;
  await settled();
  const count = engine.service.count('open') - before;
  answer.resolve();
  return count;
}

describe('a session', () => {
  it('is requested before the store has responded', async () => {
    expect(await sessionsOf({})).to.equal(1);
  });

  it('waits for the store if names are chosen, because a saved upload has its name already', async () => {
    expect(await sessionsOf({ onConflict: 'rename' })).to.equal(0);
  });

  it('waits while no user is signed in, but not if the page supplies tokens', async () => {
    expect(await sessionsOf({ auth: 'auto' })).to.equal(0);
    expect(await sessionsOf({ auth: 'auto', getToken: () => 'a token' })).to.equal(1);
  });

  it('waits for the lock of a file that another tab is sending, also while the saved uploads are read', async () => {
    const file = fileOf(1, 2500, crypto.randomUUID());
    const release = await requestLock(`${JSON.stringify(file.name)},2500,`, {});
    const [asked, answer, store] = [deferred(), deferred(), newStore()];
    const find: typeof store.find = async (key) => {
      asked.resolve();
      await answer.promise;
      return store.find(key);
    };
    const keys: typeof store.keys = () => answer.promise.then(() => []);
    const engine = world({ store: { ...store, find, keys } });
    await navigator.locks.query();
    await settled();
    await engine.uploader.addFiles([file]);
    await asked.promise;
    await settled();
    expect(engine.service.count('open')).to.equal(0);
    answer.resolve();
    await release?.();
  });

  it('waits for a Retry-After of the service', async () => {
    const slowDown = async (engine: World): Promise<void> => {
      await engine.uploader.addFiles([fileOf(2, 10, 'small.bin')]);
      const patience = { status: 429, retryAfterMs: 1e9 };
      (await engine.service.nextRequest('open')).refuse(new UploaderError('rate-limited', 'slow', patience));
      await until(() => engine.row('small.bin')?.retryAtMs !== undefined);
    };
    expect(await sessionsOf({}, slowDown)).to.equal(0);
  });
});
