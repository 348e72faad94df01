// Saved data of an upload is deleted with the upload. Nothing is saved if the page disables saving.

import { expect } from '@open-wc/testing';
import { openAuthSession } from '../../src/auth/session.ts';
import { createSettings } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf } from '../support/bytes.ts';
import { deferred, rejection, settled, until } from '../support/collect.ts';
import { signOutElsewhere } from '../support/other-page.ts';
import { ScriptedService } from '../support/scripted-service.ts';
import { ScriptedSignIn } from '../support/scripted-sign-in.ts';
import { createUnfinished, halfWay, newStore, SERVICE_URL, world } from '../support/world.ts';

describe('saved data of an upload', () => {
  it('is deleted when the upload is removed before it is done', async () => {
    const store = newStore();
    const engine = await halfWay({ store });
    engine.service.answerAll('cancel');
    await until(async () => (await store.list())[0]?.stored.size === 1);
    await engine.uploader.remove(engine.id('a.bin'));
    expect(await store.list()).to.deep.equal([]);
  });

  for (const next of ['removed', 'cleared from the list'] as const) {
    it(`is deleted when the upload is canceled and, in the same task, ${next}`, async () => {
      const store = newStore();
      const engine = await halfWay({ store });
      await until(async () => (await store.list())[0]?.stored.size === 1);
      const id = engine.id('a.bin');
      const { uploader } = engine;
      engine.service.answerAll('cancel');
      await Promise.all([uploader.cancel(id), next === 'removed' ? uploader.remove(id) : uploader.clear()]);
      expect(uploader.snapshot.files).to.deep.equal([]);
      expect(await store.list()).to.deep.equal([]);
    });
  }

  it('is deleted, and reported once, when a listener of the cancellation removes the upload synchronously', async () => {
    const store = newStore();
    const engine = await halfWay({ store });
    await until(async () => (await store.list())[0]?.stored.size === 1);
    const id = engine.id('a.bin');
    engine.service.answerAll('cancel');
    const removed: Promise<void>[] = [];
    engine.uploader.on('upload-canceled', () => void removed.push(engine.uploader.remove(id)));
    await engine.uploader.remove(id);
    await Promise.all(removed);
    expect(removed).to.have.length(1);
    expect(engine.details('file-removed')).to.have.length(1);
    expect(await store.list()).to.deep.equal([]);
  });

  it('is deleted, and nothing runs, if the upload is retried while it is being removed', async () => {
    const store = newStore();
    const engine = await halfWay({ store });
    const id = engine.id('a.bin');
    const removed = engine.uploader.remove(id);
    const request = await engine.service.nextRequest('cancel');
    expect(engine.uploader.snapshot.files).to.deep.equal([]);
    await engine.uploader.retry(id);
    request.answer();
    await removed;
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.uploader.snapshot.files).to.deep.equal([]);
    expect(engine.service.count('open')).to.equal(1);
    expect(await store.list()).to.deep.equal([]);
  });

  for (const [state, count] of [
    ['signed-in', 1],
    ['prompt', 0],
  ] as const)
    it(`is canceled at the service ${count ? 'with the token' : 'only if there is a token'} (sign-in: ${state})`, async () => {
      const signIn = new ScriptedSignIn();
      const service = new ScriptedService();
      const store = newStore();
      const engine = world({ store, connect: signIn.connectTo(SERVICE_URL, service) });
      service.answerAll('open', 'presign', 'cancel');
      await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
      await service.nextRequest('put');
      signIn.say({ mode: 'popup', state });
      await engine.uploader.cancel();
      await until(async () => (await store.list()).length === 0);
      expect(service.count('cancel')).to.equal(count);
    });

  it('of an earlier visit is canceled at the service too', async () => {
    const store = await createUnfinished(fileOf(1, 2500, 'a.bin'));
    const engine = world({ store });
    await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
    void engine.uploader.remove(engine.id('a.bin'));
    const request = await engine.service.nextRequest('cancel');
    expect(request.session.sessionId).to.equal('session-1');
  });

  it('of a failed upload is resumed by the same file, added again, and not canceled with the failed upload', async () => {
    const store = newStore();
    const engine = await halfWay({ store });
    (await engine.service.nextRequest('put')).refuse(new UploaderError('forbidden', 'no', { status: 403 }));
    await engine.waitForChange('upload-failed');
    const failed = engine.id('a.bin');
    engine.service.answerAll('cancel');
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await engine.waitForChange('upload-started', 2);
    expect(engine.details('upload-started')[1]?.resumedBytes).to.equal(1000);
    await engine.uploader.remove(failed);
    expect(engine.service.count('cancel')).to.equal(0);
    expect(await store.list()).to.have.length(1);
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(1);
  });

  it('is deleted when the user signs out, also that of another owner, which is not in the list', async () => {
    const store = await createUnfinished(fileOf(1, 2500, 'a.bin'), { owner: 'ann' });
    const engine = world({ owner: 'bob', store });
    await engine.uploader.signOut();
    expect(await store.list()).to.deep.equal([]);
  });

  it('is deleted on sign-out, but the service keeps files that it has, or has accepted (202)', async () => {
    const store = newStore();
    const engine = world({ store });
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(1, 2500, 'done.bin')]);
    await engine.waitForChange('upload-completed');
    engine.service.hold('commit');
    await engine.uploader.addFiles([fileOf(2, 2500, 'accepted.bin')]);
    (await engine.service.nextRequest('commit')).answer({ missing: [], pending: {} });
    await until(async () => (await store.list())[0]?.acceptedAtMs !== undefined);
    engine.service.hold('put');
    await engine.uploader.addFiles([fileOf(3, 2500, 'open.bin')]);
    await engine.service.nextRequest('put');
    await engine.uploader.signOut();
    expect(await store.list()).to.deep.equal([]);
    expect(engine.service.log.filter((line) => line === 'cancel')).to.have.length(1);
    expect(engine.service.log.filter((line) => line === 'open')).to.have.length(3);
  });

  it('is not canceled on sign-out if the service has accepted it, also before its record is written', async () => {
    const store = newStore();
    const find: typeof store.find = () => new Promise(() => undefined);
    const engine = world({ store: { ...store, find }, answers: ['open', 'presign', 'put', 'cancel'] });
    await engine.uploader.addFiles([fileOf(1, 500, 'a.bin')]);
    (await engine.service.nextRequest('commit')).answer({ missing: [], pending: {} });
    await settled();
    await engine.uploader.signOut();
    expect(engine.service.count('commit')).to.equal(1);
    expect(engine.service.count('cancel')).to.equal(0);
  });

  it('is deleted by a second sign-out too, if a file was added since the first', async () => {
    const store = newStore();
    const cleared = deferred();
    const engine = world({ store: { ...store, clear: () => cleared.promise.then(() => store.clear()) } });
    const first = engine.uploader.signOut();
    await engine.uploader.addFiles([fileOf(1, 2500, 'late.bin')]);
    const second = engine.uploader.signOut();
    cleared.resolve();
    await Promise.all([first, second]);
    expect(engine.uploader.snapshot.files).to.deep.equal([]);
  });

  for (const [what, settings] of Object.entries({
    'no call reaches the service': {},
    'the sign-out call fails': { logoutPath: '/auth/logout', auth: 'popup', silent: 'off' },
  } as const))
    it(`is deleted before any call, with the upload and the data of another owner, even if ${what}`, async () => {
      const store = await createUnfinished(fileOf(2, 2500, 'salary.pdf'), { owner: 'ann' });
      const engine = await halfWay({ owner: 'bob', store });
      engine.uploader.configure({ ...engine.input, ...settings, owner: 'bob' });
      const left = engine.uploader.signOut();
      await until(async () => (await store.list()).length === 0);
      expect(engine.uploader.snapshot.files).to.deep.equal([]);
      const canceled = await engine.service.nextRequest('cancel');
      expect(canceled.session.sessionId).to.equal('session-1');
      canceled.answer();
      await left;
      expect(await store.list()).to.deep.equal([]);
      expect(
        engine.changeNames().filter((name) => name.startsWith('upload-c') || name === 'file-removed'),
      ).to.deep.equal(['upload-canceled', 'file-removed']);
    });

  it('is deleted before any call, however long that takes', async () => {
    const store = newStore();
    const mayClear = deferred();
    const clear = (): Promise<void> => mayClear.promise.then(() => store.clear());
    const engine = await halfWay({ store: { ...store, clear } });
    const left = engine.uploader.signOut();
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.service.count('cancel')).to.equal(0);
    mayClear.resolve();
    (await engine.service.nextRequest('cancel')).answer();
    await left;
  });

  it('is canceled on the service even if the connection of the upload is closed while the data is deleted', async () => {
    const store = newStore();
    const mayClear = deferred();
    const clear = (): Promise<void> => mayClear.promise.then(() => store.clear());
    const engine = await halfWay({ store: { ...store, clear } });
    engine.uploader.configure({ ...engine.input, auth: 'popup', silent: 'off' });
    const left = engine.uploader.signOut();
    await until(() => engine.uploader.snapshot.files.length === 0);
    await engine.uploader.clear();
    mayClear.resolve();
    (await engine.service.nextRequest('cancel')).answer();
    await left;
  });

  it('includes no token after another user takes over, even if an earlier run is still ending', async () => {
    const input = { auth: 'token', owner: 'ann', getToken: () => 'token-of-ann' } as const;
    const engine = world({ ...input });
    const settings = createSettings({ ...engine.input, ...input });
    const deps = { post: () => Promise.reject(new Error('no call')), report: () => undefined };
    const stateOfAnn = (): string => {
      const session = openAuthSession(settings, deps);
      const { state } = session.snapshot;
      session.close();
      return state;
    };
    const shared = openAuthSession(settings, deps);
    await shared.withToken(async () => undefined, AbortSignal.timeout(10_000));
    shared.close();
    expect(stateOfAnn()).to.equal('signed-in');
    engine.uploader.configure({ ...engine.input, owner: 'bob' });
    await until(() => stateOfAnn() === 'signed-out');
  });

  it('includes no token if the owner is set late and no upload needs it; the new owner does not get it', async () => {
    const input = { auth: 'token', clientId: 'named-late', getToken: () => 'token-of-before' } as const;
    const engine = world({ ...input });
    const deps = { post: () => Promise.reject(new Error('no call')), report: () => undefined };
    const stateOf = (owner: string): string => {
      const session = openAuthSession(createSettings({ ...engine.input, ...input, owner }), deps);
      const { state } = session.snapshot;
      session.close();
      return state;
    };
    const shared = openAuthSession(createSettings({ ...engine.input, ...input }), deps);
    await shared.withToken(async () => undefined, AbortSignal.timeout(10_000));
    shared.close();
    expect(stateOf('')).to.equal('signed-in');
    engine.uploader.configure({ ...engine.input, owner: 'ann' });
    await until(() => stateOf('') === 'signed-out');
    expect(stateOf('ann')).to.equal('signed-out');
  });

  it('is reported as not deleted if the database refuses, after everything else is deleted', async () => {
    const store = newStore();
    const no = new UploaderError('store-unavailable', 'no');
    const engine = await halfWay({ store: { ...store, clear: () => Promise.reject(no) } });
    engine.service.answerAll('cancel');
    expect(await rejection(engine.uploader.signOut())).to.equal(no);
    expect(engine.uploader.snapshot.files).to.deep.equal([]);
  });

  it('is deleted in every other uploader and tab too when a user signs out in one of them', async () => {
    const store = newStore();
    const engine = await halfWay({ clientId: 'two-tabs', store });
    engine.service.answerAll('cancel');
    signOutElsewhere();
    await engine.waitForChange('signed-out');
    expect(engine.details('signed-out')).to.deep.equal([{ reason: 'other-tab' }]);
    expect(engine.uploader.snapshot.files).to.deep.equal([]);
    await until(async () => (await store.list()).length === 0);
  });

  it('is not written with `no-resume`, however many chunks there are', async () => {
    const asked: string[] = [];
    const store = newStore();
    const engine = await halfWay({
      noResume: true,
      store: {
        ...store,
        save: async () => void asked.push('save'),
        saveChunks: async () => asked.push('saveChunks') > 0,
      },
    });
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(asked).to.deep.equal([]);
  });

  it('that could not be saved is reported during the upload, and no longer when it is done', async () => {
    const store = newStore();
    const find = () => Promise.reject(new UploaderError('store-unavailable', 'no'));
    const engine = await halfWay({ store: { ...store, find } });
    expect(engine.row('a.bin')?.warning).to.equal('store-unavailable');
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.row('a.bin')?.warning).to.equal(undefined);
  });
});
