// Commits without a response, commits that are refused later, and commits that take long.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf, sha256 } from '../support/bytes.ts';
import { deferred, settled, until } from '../support/collect.ts';
import { newStore, world } from '../support/world.ts';

const taken = new UploaderError('name-taken', 'there is one', { status: 409 });
const gone = (debugInfo?: string): UploaderError =>
  new UploaderError('session-expired', 'gone', { status: 404, debugInfo });
const CERTAIN = gone('the session is closed');

describe('a commit whose response is lost', () => {
  const lost = new UploaderError('network', 'no response');

  for (const onConflict of ['fail', 'rename'] as const)
    for (const [answer, error] of [
      ['404', CERTAIN],
      ['404 without `debuginfo`', gone()],
      ['409', taken],
    ] as const)
      for (const sizeBytes of [500, 2500])
        it(`and whose session then gets a ${answer} sends nothing a second time (${onConflict}, ${sizeBytes} bytes)`, async () => {
          const engine = world({ onConflict, answers: ['open', 'presign', 'put'] });
          await engine.uploader.addFiles([fileOf(1, sizeBytes, 'a.bin')]);
          (await engine.service.nextRequest('commit')).refuse(lost);
          void engine.service.serve('commit', (commit) => commit.refuse(error));
          await engine.waitForChange('upload-failed');
          await engine.uploader.retry();
          await engine.waitForChange('upload-failed', 2);
          expect(engine.details('upload-failed').map(({ code }) => code)).to.deep.equal([
            'session-expired',
            'session-expired',
          ]);
          expect(engine.row('a.bin')?.phase).to.equal('failed');
          expect(engine.service.count('open')).to.equal(1);
          expect(engine.service.count('put')).to.equal(Math.ceil(sizeBytes / 1000));
        });

  for (const error of [CERTAIN, taken])
    it(`because a proxy answers 503, and whose session then gets a ${error.status}, stores no second file`, async () => {
      const engine = world({ onConflict: 'rename', answers: ['open', 'presign', 'put'] });
      await engine.uploader.addFiles([fileOf(1, 500, 'a.bin')]);
      const busy = new UploaderError('rate-limited', 'busy', { status: 503 });
      (await engine.service.nextRequest('commit')).refuse(busy);
      void engine.service.refuseAll('commit', error);
      await until(() => engine.phase('a.bin') === 'failed' || engine.service.count('open') > 1);
      expect(engine.service.count('open')).to.equal(1);
      expect(engine.row('a.bin')?.error?.code).to.equal('session-expired');
    });

  /** Returns an engine whose chunks are stored, but not saved until `saving` resolves. */
  async function withUnsavedChunks() {
    const store = newStore();
    const saving = deferred<void>();
    const saveChunks: typeof store.saveChunks = async (...given) => {
      await saving.promise;
      return store.saveChunks(...given);
    };
    const engine = world({ store: { ...store, saveChunks }, answers: ['open', 'presign', 'put'] });
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await engine.waitForChange('chunk-uploaded', 3);
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.service.count('commit')).to.equal(0);
    return { engine, saving, store };
  }

  it('is sent only when all chunks are saved, so that none is sent again on the next visit', async () => {
    const { engine, saving, store } = await withUnsavedChunks();
    saving.resolve();
    await engine.service.nextRequest('commit');
    expect((await store.list())[0]?.stored.size).to.equal(3);
  });

  it('was not sent if the upload was paused while its chunks were saved, so that a lost session is opened again', async () => {
    const { engine, saving, store } = await withUnsavedChunks();
    const pausing = engine.uploader.pause();
    saving.resolve();
    await pausing;
    expect((await store.list())[0]?.commitSentAtMs).to.equal(undefined);
    void engine.service.serve('commit', (commit) =>
      engine.service.count('open') === 1 ? commit.refuse(CERTAIN) : commit.answer(),
    );
    await engine.uploader.resume();
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(2);
  });

  it('is repeated on the next visit without the file, and nothing is sent again if the session is gone', async () => {
    const store = newStore();
    const first = world({ store, answers: ['open', 'presign', 'put'] });
    await first.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await first.service.nextRequest('commit');
    await until(async () => (await store.list())[0]?.stored.size === 3);
    await first.uploader.close();
    const engine = world({ store, onConflict: 'rename' });
    await engine.service.refuseAll('commit', gone());
    await engine.waitForChange('upload-failed');
    expect(engine.row('a.bin')?.error?.code).to.equal('session-expired');
    engine.service.answerAll('commit');
    await engine.uploader.retry();
    for (const hash of await Promise.all(
      [0, 1000, 2000].map((at) => sha256(fileOf(1, 2500).slice(at, at + 1000))),
    ))
      engine.service.stored.add(hash);
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(0);
  });

  it('is sent again in a new session after the user has canceled the upload', async () => {
    const engine = world({ answers: ['open', 'presign', 'put', 'cancel'] });
    await engine.uploader.addFiles([fileOf(1, 500, 'a.bin')]);
    (await engine.service.nextRequest('commit')).refuse(lost);
    await engine.service.refuseAll('commit', CERTAIN);
    await engine.waitForChange('upload-failed');
    await engine.uploader.cancel();
    await engine.waitForChange('upload-canceled');
    engine.service.answerAll('commit');
    await engine.uploader.retry(engine.id('a.bin'));
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(2);
  });

  it('is not refused by a busy service: a session that is lost then is opened again', async () => {
    const engine = world({ answers: ['open', 'presign', 'put'] });
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    const busy = new UploaderError('rate-limited', 'busy', { status: 429, retryAfterMs: 0 });
    (await engine.service.nextRequest('commit')).refuse(busy);
    await engine.service.refuseAll('commit', CERTAIN);
    engine.service.answerAll('commit');
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(2);
  });
});

it('a commit that was accepted and is then refused because of the name sends nothing under another name', async () => {
  const engine = world({ onConflict: 'rename', answers: ['open', 'presign', 'put'] });
  await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
  (await engine.service.nextRequest('commit')).answer({ missing: [], pending: { retryAfterMs: 0 } });
  (await engine.service.nextRequest('commit')).refuse(taken);
  await engine.waitForChange('upload-failed');
  expect(engine.row('a.bin')?.error?.code).to.equal('name-taken');
  expect(engine.service.count('open')).to.equal(1);
});

describe('a file of one chunk whose commit is accepted while another tab has its lock', () => {
  for (const how of ['is closed', 'cancels it'] as const)
    it(`is done when that tab ${how}, and nothing is sent a second time`, async () => {
      const file = fileOf(1, 900, 'a.bin');
      const store = newStore();
      const other = world({ store, chunkSize: 500, answers: ['open', 'presign', 'cancel'] });
      await other.uploader.addFiles([file]);
      (await other.service.nextRequest('put')).answer();
      await until(async () => (await store.list())[0]?.stored.size === 1);
      const engine = world({ store, answers: ['open', 'presign', 'put'] });
      await engine.uploader.addFiles([file]);
      (await engine.service.nextRequest('commit')).answer({ missing: [], pending: { retryAfterMs: 0 } });
      await until(() => engine.row('a.bin')?.pauseReason === 'other-tab');
      if (how === 'is closed') await other.uploader.close();
      else await other.uploader.cancel();
      engine.service.answerAll();
      await engine.waitForChange('upload-completed');
      expect(engine.service.count('open')).to.equal(1);
      expect(engine.service.count('put')).to.equal(1);
    });
});

describe('a commit that takes longer than its timeout', () => {
  it('gets more time with each attempt, and fails when its time is over', async () => {
    const engine = world({
      answers: ['open', 'presign', 'put'],
      policy: { baseMs: 0, capMs: 0 },
      commitDeadlineMs: 50,
    });
    await engine.uploader.addFiles([fileOf(1, 500, 'a.bin')]);
    const slow = new UploaderError('timeout', 'no response in time');
    const patience: (number | undefined)[] = [];
    const begunMs = performance.now();
    void engine.service.serve('commit', async (commit) => {
      patience.push(commit.patience);
      await settled();
      commit.refuse(slow);
    });
    await engine.waitForChange('upload-failed');
    expect(engine.row('a.bin')?.error?.code).to.equal('timeout');
    expect(performance.now() - begunMs).to.be.at.least(50);
    expect(patience.slice(0, 3)).to.deep.equal([1, 1.5, 2]);
    expect(engine.service.count('open')).to.equal(1);
  });
});
