// A listener may call any command. Most tests call one command in one event of an upload.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { ChangeName, FileId } from '../../src/index.ts';
import { fileOf } from '../support/bytes.ts';
import { deferred, settled, until } from '../support/collect.ts';
import { onDrive } from '../support/drive.ts';
import { closeEngines, TestEngine } from '../support/engine.ts';
import { isFullSize } from '../support/scope.ts';

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
  'file-renamed',
  'file-removed',
  'file-rejected',
  'rejections-dismissed',
  'uploads-finished',
];

const COMMANDS: readonly [string, (engine: TestEngine, id: FileId) => Promise<unknown>][] = [
  ['pause', ({ uploader }, id) => uploader.pause(id)],
  ['resume', ({ uploader }, id) => uploader.resume(id)],
  ['cancel', ({ uploader }, id) => uploader.cancel(id)],
  ['retry', ({ uploader }, id) => uploader.retry(id)],
  ['remove', ({ uploader }, id) => uploader.remove(id)],
  ['prioritize', ({ uploader }, id) => uploader.prioritize(id)],
  ['start', ({ uploader }, id) => uploader.start(id)],
  ['move', ({ uploader }, id) => uploader.move(id)],
  ['provide', ({ uploader }, id) => uploader.provide(id, FILE)],
  ['withdraw', ({ uploader }, id) => uploader.apply({ type: 'withdraw', next: 'removed' }, [id])],
  ['clear', ({ uploader }) => uploader.clear()],
  ['pause all', ({ uploader }) => uploader.pause()],
  ['resume all', ({ uploader }) => uploader.resume()],
  ['cancel all', ({ uploader }) => uploader.cancel()],
  ['retry all', ({ uploader }) => uploader.retry()],
  ['addFiles', ({ uploader }) => uploader.addFiles(fileOf(2, 900, 'b.bin'))],
  ['dismissRejections', async ({ uploader }) => uploader.dismissRejections()],
  ['suspend', ({ uploader }) => uploader.suspend()],
  ['suspend and restore', ({ uploader }) => Promise.all([uploader.suspend(), uploader.restore()])],
  ['signOut', ({ uploader }) => uploader.signOut()],
  ['configure', async ({ uploader, input }) => uploader.configure({ ...input, owner: 'ann' })],
];

const FILE = fileOf(1, 2500, 'a.bin');
const rejections: unknown[] = [];
const onRejection = (event: PromiseRejectionEvent): void => void rejections.push(event.reason);

before(() => addEventListener('unhandledrejection', onRejection));
after(() => removeEventListener('unhandledrejection', onRejection));
afterEach(closeEngines);

const ACTIVE: ReadonlySet<string> = new Set(['queued', 'hashing', 'uploading', 'committing']);

/** Waits until `isTrue` returns true, or until no upload is active: the commands of a listener may have made this impossible. */
async function look({ uploader }: TestEngine, isTrue: () => boolean): Promise<void> {
  while (!isTrue() && uploader.snapshot.files.some(({ phase }) => ACTIVE.has(phase))) {
    uploader.restore();
    await settled();
  }
}

/** Causes every event, as far as the listener allows. One file is paused, resumed, fails, is renamed and completes. */
async function play(engine: TestEngine): Promise<void> {
  const { service, uploader } = engine;
  service.answerAll('open', 'presign', 'cancel');
  await uploader.addFiles([FILE, fileOf(3, 10_000, 'too-large.bin')]);
  uploader.dismissRejections();
  await look(engine, () => service.waiting('put').length > 0);
  service.waiting('put')[0]?.answer();
  await look(engine, () => engine.details('chunk-uploaded').length > 0);
  await uploader.pause();
  await uploader.resume();
  service.answerAll('put');
  await look(engine, () => {
    // After the first refusal, the upload continues in a new session, because its session may be lost.
    for (const commit of service.waiting('commit'))
      commit.refuse(new UploaderError('forbidden', 'not now', { status: 403 }));
    return engine.details('upload-failed').length > 0;
  });
  service.answerAll();
  const [file] = uploader.snapshot.files;
  if (file) await uploader.retry(file.id, 'renamed.bin');
  await look(engine, () => engine.phases()[0] === 'done');
  await uploader.addFiles([fileOf(4, 900, 'removed.bin')]);
  await uploader.remove(engine.row('removed.bin')?.id ?? '');
  await look(engine, () => engine.details('file-removed').length > 0);
}

/** Undoes all cancels and removals, then resumes and retries all uploads. Resolves when every upload is done. */
async function finish(engine: TestEngine): Promise<void> {
  const { uploader } = engine;
  uploader.restore();
  await Promise.all(uploader.snapshot.files.map(({ id }) => uploader.apply({ type: 'undo' }, [id])));
  await Promise.all([uploader.resume(), ...uploader.snapshot.files.map(({ id }) => uploader.retry(id))]);
  await until(() => uploader.snapshot.files.every(({ phase }) => phase === 'done'));
}

/** Calls a command in the first three events with this name, and checks the changes and the end of the upload. */
async function callIn(event: ChangeName, command: (typeof COMMANDS)[number][1]): Promise<void> {
  const engine = new TestEngine({ maxFileSize: 9000, baseUrl: `https://${crypto.randomUUID()}.test` });
  const commands: Promise<unknown>[] = [];
  // Counted before the call, because addFiles() reports file-added before it returns.
  let callCount = 0;
  const stop = engine.uploader.onChange((change) => {
    if (change.name !== event || callCount > 2) return;
    callCount += 1;
    const { id } = { id: '', ...(change.detail as { readonly id?: FileId }) };
    commands.push(command(engine, id));
  });
  await play(engine);
  stop();
  engine.service.answerAll();
  await Promise.all(commands);
  await finish(engine);
  await settled();
  const completed = engine.details('upload-completed').map(({ id }) => id);
  expect(new Set(completed).size).to.equal(completed.length);
  const removed = new Set<FileId>();
  for (const change of engine.changes) {
    const id = 'id' in change.detail ? change.detail.id : '';
    expect(removed.has(id), `${change.name} after file-removed`).to.equal(false);
    if (change.name === 'file-removed') removed.add(id);
  }
}

describe('a listener', () => {
  it('is called with each of these events by this sequence of commands', async () => {
    const engine = new TestEngine({ maxFileSize: 9000 });
    await play(engine);
    const names = new Set(engine.changes.map(({ name }) => name));
    expect(EVENTS.filter((name) => !names.has(name))).to.deep.equal([]);
  });

  for (const [nth, [name, command]] of COMMANDS.entries())
    describe(`that calls ${name}`, () => {
      // Otherwise each command is called in a third of the events, and each event has a third of the commands.
      const events = EVENTS.filter((_, at) => isFullSize || (at + nth) % 3 === 0);
      let runs: ReadonlyMap<ChangeName, Promise<void>>;

      // The engines wait for storage and workers most of the time, therefore the events of a command are tested in parallel.
      before(() => {
        runs = new Map(events.map((event) => [event, callIn(event, command)]));
        return Promise.allSettled(runs.values());
      });

      for (const event of events)
        it(`in ${event} leaves the upload in a valid state`, async () => {
          await runs.get(event);
          expect(rejections).to.deep.equal([]);
        });
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
