// A listener may call any command. Most tests call one command in one event of an upload.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { ChangeName, FileId } from '../../src/index.ts';
import { fileOf } from '../support/bytes.ts';
import { deferred, settled, until } from '../support/collect.ts';
import { onDrive } from '../support/drive.ts';
import { closeEngines, TestEngine } from '../support/engine.ts';

const EVENTS: readonly ChangeName[] = [
  'file-added',
  'upload-started',
  'upload-progress',
  'chunk-hashed',
  'chunk-uploaded',
  'upload-paused',
  'upload-resumed',
  'upload-completed',
  'upload-failed',
  'upload-canceled',
];

const COMMANDS: readonly [string, (engine: TestEngine, id: FileId) => Promise<unknown>][] = [
  ['pause', ({ uploader }, id) => uploader.pause(id)],
  ['resume', ({ uploader }, id) => uploader.resume(id)],
  ['cancel', ({ uploader }, id) => uploader.cancel(id)],
  ['retry', ({ uploader }, id) => uploader.retry(id)],
  ['remove', ({ uploader }, id) => uploader.remove(id)],
  ['prioritize', ({ uploader }, id) => uploader.prioritize(id)],
  ['clear', ({ uploader }) => uploader.clear()],
  ['pause all', ({ uploader }) => uploader.pause()],
  ['cancel all', ({ uploader }) => uploader.cancel()],
];

const rejections: unknown[] = [];
const onRejection = (event: PromiseRejectionEvent): void => void rejections.push(event.reason);

before(() => addEventListener('unhandledrejection', onRejection));
after(() => removeEventListener('unhandledrejection', onRejection));
afterEach(closeEngines);

/** Waits until `isTrue` returns true, for at most 150 rounds: the commands of a listener may have made this impossible. */
async function look(isTrue: () => boolean): Promise<void> {
  for (let round = 0; round < 150 && !isTrue(); round += 1) await settled();
}

/** Causes every event of a file, as far as the listener allows: pauses, resumes, fails once and completes. */
async function play(engine: TestEngine): Promise<void> {
  const { service, uploader } = engine;
  service.answerAll('open', 'presign', 'cancel');
  await uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
  await look(() => service.waiting('put').length > 0);
  service.waiting('put')[0]?.answer();
  await look(() => engine.details('chunk-uploaded').length > 0);
  await uploader.pause();
  await uploader.resume();
  service.answerAll('put');
  await look(() => service.waiting('commit').length > 0);
  service.waiting('commit')[0]?.refuse(new UploaderError('forbidden', 'not now', { status: 403 }));
  await look(() => engine.phase('a.bin') === 'failed');
  service.answerAll();
  await uploader.retry();
  await look(() => engine.phase('a.bin') === 'done');
}

/** Resumes and retries all uploads. Waits until every upload in the list is done. */
async function finish(engine: TestEngine): Promise<void> {
  const { uploader } = engine;
  await Promise.all([uploader.resume(), ...uploader.snapshot.files.map(({ id }) => uploader.retry(id))]);
  await until(() => uploader.snapshot.files.every(({ phase }) => phase === 'done'));
}

describe('a listener', () => {
  for (const [name, command] of COMMANDS)
    for (const event of EVENTS)
      it(`of ${event} that calls ${name} leaves the upload in a valid state`, async () => {
        rejections.length = 0;
        const engine = new TestEngine();
        const commands: Promise<unknown>[] = [];
        const stop = engine.uploader.onChange((change) => {
          if (change.name !== event || commands.length > 2) return;
          commands.push(command(engine, (change.detail as { id: FileId }).id));
        });
        await play(engine);
        stop();
        engine.service.answerAll();
        await Promise.all(commands);
        await finish(engine);
        await settled();
        expect(rejections).to.deep.equal([]);
        expect(engine.details('upload-completed').length).to.be.at.most(1);
        const removedAt = engine.changes.findIndex((change) => change.name === 'file-removed');
        const after = removedAt < 0 ? [] : engine.changes.slice(removedAt + 1);
        const late = after.filter(({ detail }) => 'id' in detail).map((change) => change.name);
        expect(late, 'changes of a file that was removed').to.deep.equal([]);
      });

  it('of the last progress event that pauses or cancels cannot undo a committed upload', async () => {
    for (const name of ['pause', 'cancel'] as const) {
      const engine = new TestEngine();
      engine.service.answerAll();
      const commands: Promise<void>[] = [];
      engine.uploader.on('upload-progress', ({ id, sentBytes, sizeBytes }) => {
        if (sentBytes === sizeBytes && commands.length === 0) commands.push(engine.uploader[name](id));
      });
      await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
      await engine.waitForChange('upload-completed');
      await Promise.all(commands);
      await engine.uploader.close();
      expect(commands).to.have.length(1);
      expect(engine.phase('a.bin')).to.equal('done');
      expect(engine.service.count('commit')).to.equal(1);
      expect(engine.changeNames('a.bin')).to.deep.equal(['file-added', 'upload-started', 'upload-completed']);
    }
  });

  it('that cancels one file while all are being paused does not stop the others from being paused', async () => {
    const engine = new TestEngine({ concurrency: 6 });
    engine.service.answerAll('open', 'presign', 'cancel');
    await engine.uploader.addFiles([1, 2, 3].map((seed) => fileOf(seed, 900, `${seed}.bin`)));
    await until(() => engine.service.waiting('put').length === 3);
    const reported = deferred();
    engine.uploader.on('upload-paused', ({ id }) => {
      void engine.uploader.cancel(id).then(reported.resolve, reported.reject);
    });
    const first = engine.id('1.bin');
    await engine.uploader.pause(first);
    await reported.promise;
    engine.uploader.on('upload-paused', () => undefined);
    await engine.uploader.pause();
    expect(engine.phases()).to.deep.equal(['canceled', 'canceled', 'canceled']);
  });

  it('that cancels a file that became unreadable finds it canceled', async () => {
    const engine = new TestEngine();
    engine.service.answerAll();
    engine.uploader.on('upload-progress', ({ id, warning }) => {
      if (warning === 'file-unreadable') void engine.uploader.cancel(id);
    });
    await engine.uploader.addFiles([onDrive(fileOf(1, 2500, 'a.bin'), { isAway: true })]);
    await engine.waitForChange('upload-canceled');
    expect(engine.phase('a.bin')).to.equal('canceled');
  });
});
