// Two tabs with the same store, simulated by two engines. One tab runs an upload, and both tabs show it.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../../src/core/errors.ts';
import type { UploadStore } from '../../../src/engine/resume/upload-store.ts';
import { fileOf } from '../../support/bytes.ts';
import { deferred, settled, until } from '../../support/collect.ts';
import { onDrive } from '../../support/drive.ts';
import { ScriptedService } from '../../support/scripted-service.ts';
import { ScriptedSignIn } from '../../support/scripted-sign-in.ts';
import { createUnfinished, newStore, SERVICE_URL, type World, world } from '../../support/world.ts';

const file = fileOf(1, 2500, 'a.bin');

/** Returns two tabs that show an upload of an earlier visit without its file. One of three chunks is stored. */
async function twoVisits(): Promise<{ store: UploadStore; one: World; other: World }> {
  const store = await createUnfinished(file);
  const [one, other] = [world({ store }), world({ store })];
  for (const tab of [one, other]) await until(() => tab.row('a.bin')?.pauseReason === 'needs-file');
  return { store, one, other };
}

/** Starts the upload in `tab`, and waits until two of its chunks are stored. */
async function runsIn(tab: World, store: UploadStore): Promise<void> {
  tab.service.answerAll('presign', 'commit');
  await tab.uploader.addFiles([file]);
  (await tab.service.nextRequest('put')).answer();
  await until(async () => (await store.list())[0]?.stored.size === 2);
}

describe('an upload that both tabs restored', () => {
  it('is not deleted by the tab that runs it when it is removed in the other one', async () => {
    const { store, one, other } = await twoVisits();
    await runsIn(one, store);
    await other.uploader.remove(other.id('a.bin'));
    expect(other.uploader.snapshot.files).to.deep.equal([]);
    expect(other.service.count('cancel')).to.equal(0);
    expect((await store.list()).map(({ stored }) => stored.size)).to.deep.equal([2]);
    await one.uploader.pause();
    one.service.answerAll();
    await one.uploader.resume();
    await one.waitForChange('upload-completed');
    expect(one.service.count('open')).to.equal(0);
  });

  it('is kept while one tab runs it, however old it is', async () => {
    const { store, one } = await twoVisits();
    await runsIn(one, store);
    await createUnfinished(fileOf(2, 2500, 'z.bin'), { store });
    const { now } = Date;
    try {
      // The second visit at which the record is too old deletes it.
      for (const days of [2, 4]) {
        Date.now = () => now() + days * 24 * 3_600_000;
        const pruned = deferred();
        const prune: typeof store.prune = (...limits) =>
          store.prune(...limits).finally(() => pruned.resolve());
        void world({ keepDays: 1, store: { ...store, prune } });
        await pruned.promise;
      }
      // Waits until the engine has deleted the old record that no tab runs.
      await until(async () => (await store.list()).every(({ name }) => name !== 'z.bin'));
      await settled();
    } finally {
      Date.now = now;
    }
    expect((await store.list()).map(({ stored }) => stored.size)).to.deep.equal([2]);
  });

  it('is deleted by a tab that never ran it if no other tab does', async () => {
    const { store, other } = await twoVisits();
    other.service.answerAll('cancel');
    await other.uploader.remove(other.id('a.bin'));
    expect(await store.list()).to.deep.equal([]);
  });

  it('shows its progress in both, and is done in both, with nothing sent twice', async () => {
    const { store, one, other } = await twoVisits();
    await runsIn(one, store);
    await until(() => (other.row('a.bin')?.storedBytes ?? 0) >= 1500);
    expect(other.row('a.bin')?.pauseReason).to.equal('needs-file');
    one.service.answerAll();
    await other.waitForChange('upload-completed');
    expect(other.phase('a.bin')).to.equal('done');
    expect(other.details('upload-completed')[0]).to.include({ sentBytes: 0, skippedBytes: 2500 });
    expect(other.details('upload-completed')[0]?.chunks).to.have.length(3);
    expect(other.service.log).to.deep.equal([]);
  });

  it('that another tab has finished accepts no file any more: the same file is a new upload', async () => {
    const { store, one, other } = await twoVisits();
    await runsIn(one, store);
    one.service.answerAll();
    await other.waitForChange('upload-completed');
    other.service.answerAll();
    await other.uploader.addFiles([file]);
    await other.waitForChange('upload-completed', 2);
    expect(other.phases()).to.deep.equal(['done', 'done']);
  });
});

describe('an upload that waits for another tab', () => {
  it('ends with that tab even if an earlier upload of the same file was removed from the list', async () => {
    const store = newStore();
    const other = world({ store });
    other.service.answerAll();
    await other.uploader.addFiles([file]);
    await other.waitForChange('upload-completed');
    await until(async () => (await store.list()).length === 0);
    const one = world({ store });
    one.service.answerAll('open', 'presign', 'commit');
    await one.uploader.addFiles([file]);
    const put = await one.service.nextRequest('put');
    await other.uploader.addFiles([file]);
    await until(() => other.uploader.snapshot.files[1]?.pauseReason === 'other-tab');
    await other.uploader.clear();
    put.answer();
    one.service.answerAll();
    await other.waitForChange('upload-completed', 2);
    // A session that it requested before it knew of the other tab is canceled.
    expect(other.service.count('open')).to.equal(2);
    await until(() => other.service.count('cancel') === 1);
  });

  it('ends with that tab after its element was removed from the page and added again', async () => {
    const { store, one, other } = await twoVisits();
    await other.uploader.suspend();
    other.uploader.restore();
    await runsIn(one, store);
    one.service.answerAll();
    await other.waitForChange('upload-completed');
    expect(other.service.log).to.deep.equal([]);
  });
});

/** Returns two tabs: `one` has started to upload `picked` and stored one chunk; `other` waits for `one`. */
async function leaderAndWaiter(picked = file): Promise<{ store: UploadStore; one: World; other: World }> {
  const store = newStore();
  const settings = { workerUrl: '/no-such-worker.js', concurrency: 1 };
  const [one, other] = [world({ ...settings, store }), world({ ...settings, store })];
  one.service.answerAll('open', 'presign', 'cancel');
  await one.uploader.addFiles([picked]);
  (await one.service.nextRequest('put')).answer();
  await until(async () => (await store.list())[0]?.stored.size === 1);
  await other.uploader.addFiles([fileOf(1, picked.size, 'a.bin')]);
  await until(() => other.row('a.bin')?.pauseReason === 'other-tab');
  for (const hash of one.service.stored) other.service.stored.add(hash);
  return { store, one, other };
}

describe('an upload that stops in the tab that has it', () => {
  const ends: readonly (readonly [string, (one: World) => Promise<void>])[] = [
    [
      'has failed',
      async (one) =>
        (await one.service.nextRequest('put')).refuse(new UploaderError('forbidden', 'no', { status: 403 })),
    ],
    ['was paused', (one) => one.uploader.pause()],
  ];
  for (const [what, end] of ends) {
    it(`because it ${what} resumes in the tab that waits, with its stored chunks, and is done in both`, async () => {
      const { one, other } = await leaderAndWaiter();
      other.service.answerAll();
      await end(one);
      await other.waitForChange('upload-completed');
      await until(() => other.service.count('open') === other.service.count('cancel'));
      expect(other.details('upload-started')[0]?.resumedBytes).to.equal(1000);
      expect(other.service.puts).not.to.include(one.service.puts[0]);
      await one.waitForChange('upload-completed');
      expect(one.phase('a.bin')).to.equal('done');
    });
  }

  it('because its file cannot be read resumes in the tab that waits', async () => {
    const drive = { isAway: false };
    const { one, other } = await leaderAndWaiter(onDrive(fileOf(1, 25_000, 'a.bin'), drive));
    other.service.answerAll('open', 'cancel');
    await until(() => other.service.count('open') === other.service.count('cancel'));
    drive.isAway = true;
    one.service.answerAll('put');
    await until(() => one.row('a.bin')?.pauseReason === 'needs-file');
    other.service.answerAll();
    await other.waitForChange('upload-completed');
    expect(other.service.count('open')).to.equal(other.service.count('cancel'));
  });

  it('because it was paused waits when it is resumed after the other tab took it', async () => {
    const { one, other } = await leaderAndWaiter();
    other.service.answerAll('presign', 'commit');
    await one.uploader.pause();
    const put = await other.service.nextRequest('put');
    await one.uploader.resume();
    await until(() => one.row('a.bin')?.pauseReason === 'other-tab');
    put.answer();
    other.service.answerAll('put');
    await one.waitForChange('upload-completed');
    expect(one.service.count('open')).to.equal(1);
  });

  it('is not canceled at the service by a tab that no longer has it', async () => {
    const { store, one, other } = await leaderAndWaiter();
    await one.uploader.pause();
    await other.service.nextRequest('presign');
    await one.uploader.remove(one.id('a.bin'));
    expect(one.service.count('cancel')).to.equal(0);
    expect(await store.list()).to.have.length(1);
  });
});

describe('a file that waits for another tab', () => {
  it('leaves its slot to the others of its list', async () => {
    const { other } = await leaderAndWaiter(fileOf(1, 50_000, 'a.bin'));
    other.service.answerAll();
    await other.uploader.addFiles([fileOf(2, 500, 'b.bin')]);
    await until(() => other.phase('b.bin') === 'done' && other.row('a.bin')?.pauseReason === 'other-tab');
  });

  it('leaves its slot also to uploads that were in the list before it started to wait', async () => {
    const store = newStore();
    const one = world({ store });
    one.service.answerAll('open', 'presign');
    await one.uploader.addFiles([fileOf(1, 50_000, 'a.bin')]);
    await one.service.nextRequest('put');
    const other = world({ concurrency: 1, store });
    other.service.answerAll();
    await other.uploader.addFiles([fileOf(1, 50_000, 'a.bin'), fileOf(2, 500, 'b.bin')]);
    await until(() => other.phase('b.bin') === 'done' && other.row('a.bin')?.pauseReason === 'other-tab');
  });

  it("still waits if the user has to sign in, shows the other tab's progress, and is done with it", async () => {
    const store = newStore();
    const one = world({ store });
    one.service.answerAll('open', 'presign', 'commit');
    await one.uploader.addFiles([file]);
    const put = await one.service.nextRequest('put');
    const signIn = new ScriptedSignIn();
    const connect = signIn.connectTo(SERVICE_URL, new ScriptedService());
    const other = world({ store, connect });
    await other.uploader.addFiles([file]);
    signIn.say({ required: true, state: 'prompt' });
    expect(other.row('a.bin')?.pauseReason).to.equal('signed-out');
    await until(() => other.row('a.bin')?.pauseReason === 'other-tab');
    signIn.say({});
    expect(other.row('a.bin')).to.include({ phase: 'paused', pauseReason: 'other-tab' });
    put.answer();
    await until(() => (other.row('a.bin')?.storedBytes ?? 0) >= 1000);
    expect(other.row('a.bin')).to.include({ phase: 'paused', pauseReason: 'other-tab', hashedBytes: 0 });
    one.service.answerAll();
    await other.waitForChange('upload-completed');
    expect(other.phase('a.bin')).to.equal('done');
  });
});

describe('uploads that wait for sign-in', () => {
  it('leave their slots to uploads to another service, and not to those to the same one', async () => {
    const signIn = new ScriptedSignIn();
    const service = new ScriptedService();
    const connect = signIn.connectTo(SERVICE_URL, service);
    const engine = world({ concurrency: 1, noResume: true, connect });
    await engine.uploader.addFiles([fileOf(1, 50_000, 'a.bin'), fileOf(2, 500, 'b.bin')]);
    engine.uploader.configure({ ...engine.input, baseUrl: 'https://other.test' });
    await engine.uploader.addFiles([fileOf(3, 500, 'c.bin')]);
    const first = await service.nextRequest('open');
    expect(first.fileName).to.equal('a.bin');
    signIn.say({ required: true, state: 'prompt' });
    expect((await service.nextRequest('open')).fileName).to.equal('c.bin');
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.phase('b.bin')).to.equal('queued');
    expect(service.waiting('open')).to.deep.equal([]);
  });
});
