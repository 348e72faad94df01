// Which files are added to the list, and which are rejected.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { connect } from '../../src/engine/connection.ts';
import { fileOf } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import { createUnfinished, newStore, SERVICE_URL, world } from '../support/world.ts';

const named = (...names: string[]): File[] => names.map((name, at) => fileOf(at, 1500, name));

describe('files that are added', () => {
  it('are listed in order, with what is known about them', async () => {
    const { uploader, details } = world({ manual: true });
    const photo = new File(['x'.repeat(10)], 'photo.png', { type: 'image/png' });
    await uploader.addFiles([photo, { file: fileOf(1, 20, 'deep.bin'), relativePath: 'a/b/deep.bin' }]);
    const [first, second] = uploader.snapshot.files;
    expect(first).to.deep.include({
      name: 'photo.png',
      relativePath: 'photo.png',
      sizeBytes: 10,
      type: 'image/png',
    });
    expect(first).to.deep.include({ phase: 'queued', parentId: 'folder-a', sentBytes: 0, storedBytes: 0 });
    expect(second).to.include({ name: 'deep.bin', relativePath: 'a/b/deep.bin' });
    expect(details).not.to.equal(undefined);
    expect(uploader.snapshot.totals).to.include({ fileCount: 2, openCount: 2, sizeBytes: 30 });
  });

  it('go to the folder that the page returns for each', async () => {
    const { uploader } = world({ manual: true, parentFor: (path) => `folder of ${path}` });
    await uploader.addFiles(named('a.bin'));
    expect(uploader.snapshot.files[0]?.parentId).to.equal('folder of a.bin');
  });

  it('are rejected with the reason and the limit, are not listed, and can be dismissed', async () => {
    const engine = world({ manual: true, accept: '.bin', maxFileSize: 2000, maxFiles: 2 });
    const { uploader } = engine;
    await uploader.addFiles([
      fileOf(1, 10, 'a.exe'),
      fileOf(2, 2001, 'large.bin'),
      ...named('one.bin', 'two.bin', 'three.bin'),
    ]);
    expect(uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['one.bin', 'two.bin']);
    expect(uploader.snapshot.rejections.map(({ name, code, limit }) => [name, code, limit])).to.deep.equal([
      ['a.exe', 'file-type-refused', '.bin'],
      ['large.bin', 'file-too-large', 2000],
      ['three.bin', 'too-many-files', 2],
    ]);
    expect(engine.changeNames().filter((name) => name === 'file-rejected')).to.have.length(3);
    const [first] = uploader.snapshot.rejections;
    uploader.dismissRejections([first?.id ?? '']);
    expect(uploader.snapshot.rejections).to.have.length(2);
    await uploader.clear();
    expect(uploader.snapshot.rejections).to.deep.equal([]);
  });

  it('are rejected if no browser could read their chunks', async () => {
    const { uploader } = world({ manual: true });
    const huge = Object.defineProperty(fileOf(1, 10, 'huge.bin'), 'size', { value: 10 * 2 ** 40 });
    await uploader.addFiles([huge]);
    expect(uploader.snapshot.files).to.deep.equal([]);
    const [rejection] = uploader.snapshot.rejections;
    expect(rejection).to.include({ code: 'file-too-large', limit: 10_000 * 512 * 2 ** 20 });
  });

  it('are counted over several calls, and a removed one makes room', async () => {
    const engine = world({ manual: true, maxFiles: 2 });
    await engine.uploader.addFiles(named('one.bin', 'two.bin'));
    await engine.uploader.addFiles(named('three.bin'));
    expect(engine.uploader.snapshot.rejections).to.have.length(1);
    await engine.uploader.remove(engine.id('one.bin'));
    await engine.uploader.addFiles(named('four.bin'));
    expect(engine.uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['two.bin', 'four.bin']);
  });

  it('are limited to one without `multiple`, and another one is accepted once the first is done', async () => {
    const engine = world({ multiple: false });
    await engine.uploader.addFiles(named('one.bin', 'two.bin'));
    expect(engine.uploader.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['too-many-files']);
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    await engine.uploader.addFiles(named('three.bin'));
    expect(engine.row('three.bin')).not.to.equal(undefined);
  });

  it('are not rejected without `multiple` because an upload of an earlier visit still needs its file', async () => {
    const store = await createUnfinished(fileOf(1, 2500, 'a.bin'));
    const engine = world({ multiple: false, store });
    await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
    await engine.uploader.addFiles(named('one.bin', 'two.bin'));
    expect(engine.uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.bin', 'one.bin']);
    expect(engine.uploader.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['too-many-files']);
  });

  it('can be skipped by the page silently', async () => {
    const engine = world({ manual: true });
    const asked: string[] = [];
    engine.uploader.mayAdd = ({ name }) => {
      asked.push(name);
      return name !== 'secret.bin';
    };
    await engine.uploader.addFiles(named('open.bin', 'secret.bin'));
    expect(asked).to.deep.equal(['open.bin', 'secret.bin']);
    expect(engine.uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['open.bin']);
    expect(engine.changeNames()).to.deep.equal(['file-added']);
  });

  it('twice are two uploads, and the second sends no bytes that are stored', async () => {
    const engine = world();
    const file = fileOf(5, 2500, 'same.bin');
    engine.service.answerAll();
    await engine.uploader.addFiles([file]);
    await engine.waitForChange('upload-completed');
    await engine.uploader.addFiles([file]);
    await engine.waitForChange('upload-completed', 2);
    expect(engine.phases()).to.deep.equal(['done', 'done']);
    expect(engine.service.puts).to.have.length(3);
    // If the lock of the first upload is not free yet, an early session is canceled.
    await until(() => engine.service.count('open') - engine.service.count('cancel') === 2);
    const [one, other] = engine.details('upload-completed');
    expect(one?.chunks.map(({ hash }) => hash)).to.deep.equal(other?.chunks.map(({ hash }) => hash));
    expect((one?.sentBytes ?? 0) + (other?.sentBytes ?? 0)).to.equal(2500);
    expect((one?.skippedBytes ?? 0) + (other?.skippedBytes ?? 0)).to.equal(2500);
  });
});

describe('the second upload of the same file', () => {
  it('keeps its own session and progress after the first is done, also over a reload', async () => {
    const store = newStore();
    const engine = world({ concurrency: 6, store });
    const file = fileOf(5, 2500, 'same.bin');
    engine.service.isForgetful = true;
    engine.service.answerAll('open', 'presign', 'commit');
    const threePuts = () => Promise.all([1, 2, 3].map(() => engine.service.nextRequest('put')));
    await engine.uploader.addFiles([file]);
    const ofFirst = await threePuts();
    await engine.uploader.addFiles([file]);
    const ofSecond = await threePuts();
    const [first, second] = engine.uploader.snapshot.files.map(({ id }) => id);
    for (const put of [...ofFirst, ofSecond[0]]) put?.answer();
    await engine.waitForChange('upload-completed');
    expect(engine.details('upload-completed')[0]?.id).to.equal(first);
    await until(() => engine.uploader.snapshot.files[1]?.storedBytes === 1000);
    await engine.uploader.pause(second);
    await engine.uploader.resume(second);
    await until(() => engine.details('upload-started').length === 3);
    expect(engine.details('upload-started')[2]?.resumedBytes).to.equal(1000);
    expect(engine.service.count('open')).to.equal(2);
    await until(async () => (await store.list())[0]?.stored.size === 1);
    engine.service.answerAll('put');
    await engine.waitForChange('upload-completed', 2);
    expect(engine.service.puts).to.have.length(8);
    await until(async () => (await store.list()).length === 0);
  });
});

describe('settings', () => {
  it('with the same values in new objects change nothing', async () => {
    let connectCount = 0;
    const sizeOf = (): undefined => undefined;
    const settings = () => ({
      authOptions: { credentialFields: [{ name: 'pin' }] },
      profile: { sendSizes: true, urlLifetime: sizeOf },
      uploadOrigins: ['https://store.test'],
    });
    const engine = world({
      ...settings(),
      connect: (...given) => {
        connectCount += 1;
        return connect(...given);
      },
    });
    const again = {
      baseUrl: SERVICE_URL,
      parentId: 'folder-a',
      auth: 'none',
      multiple: true,
    } as const;
    const more = { chunkSize: 1000, concurrency: 2, commitPath: '/commit', cancelPath: '/session' };
    const before = engine.uploader.settings;
    engine.uploader.configure({ ...again, ...more, ...settings() });
    expect(engine.uploader.settings).to.equal(before);
    engine.uploader.configure({ ...again, ...more, ...settings(), profile: { sendSizes: true } });
    expect(engine.uploader.settings).not.to.equal(before);
    expect(connectCount).to.equal(2);
  });
});

describe('the folder of a file', () => {
  it('is reported as missing once, when files are added', async () => {
    const warnings: string[] = [];
    const warn = (text: string): unknown => warnings.push(text);
    const engine = world({ parentId: undefined, manual: true, warn });
    expect(warnings).to.deep.equal([]);
    await engine.uploader.addFiles(named('one.bin', 'two.bin'));
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.contain('parent-id');
  });

  it('can be the one that parentFor returns', async () => {
    const warnings: string[] = [];
    const settings = { parentId: undefined, parentFor: (path: string) => `of ${path}`, manual: true };
    const engine = world({ ...settings, warn: (text) => warnings.push(text) });
    await engine.uploader.addFiles(named('one.bin'));
    expect(warnings).to.deep.equal([]);
    expect(engine.row('one.bin')?.parentId).to.equal('of one.bin');
  });
});

describe('a single file', () => {
  it('can be added directly, with or without a path', async () => {
    const engine = world({ manual: true });
    const [one, two] = named('one.bin', 'two.bin');
    if (!one || !two) throw new Error('there are two');
    await engine.uploader.addFiles(one);
    await engine.uploader.addFiles({ file: two, relativePath: 'far/two.bin' });
    const paths = engine.uploader.snapshot.files.map(({ relativePath }) => relativePath);
    expect(paths).to.deep.equal(['one.bin', 'far/two.bin']);
  });
});

describe('with `manual`', () => {
  it('nothing starts until one file or all are started', async () => {
    const engine = world({ manual: true });
    await engine.uploader.addFiles(named('one.bin', 'two.bin', 'three.bin'));
    await settled();
    expect(engine.service.log).to.deep.equal([]);
    engine.service.answerAll();
    await engine.uploader.start(engine.id('two.bin'));
    await engine.waitForChange('upload-completed');
    await engine.waitForChange('uploads-finished');
    expect(engine.phases()).to.deep.equal(['queued', 'done', 'queued']);
    await engine.uploader.start();
    await engine.waitForChange('uploads-finished', 2);
    expect(engine.phases()).to.deep.equal(['done', 'done', 'done']);
  });
});

describe('rows', () => {
  it('leave the list if they are done or canceled when the list is cleared; others stay', async () => {
    const engine = world({ manual: true });
    await engine.uploader.addFiles(named('done.bin', 'canceled.bin', 'failed.bin', 'waiting.bin'));
    await engine.uploader.start(engine.id('failed.bin'));
    (await engine.service.nextRequest('open')).refuse(new UploaderError('forbidden', 'no access'));
    await engine.waitForChange('upload-failed');
    engine.service.answerAll();
    await engine.uploader.start(engine.id('done.bin'));
    await engine.waitForChange('upload-completed');
    await engine.uploader.cancel(engine.id('canceled.bin'));
    await engine.uploader.clear();
    expect(engine.uploader.snapshot.files.map(({ name }) => name)).to.deep.equal([
      'failed.bin',
      'waiting.bin',
    ]);
    expect(engine.details('file-removed').map(({ name }) => name)).to.have.members([
      'done.bin',
      'canceled.bin',
    ]);
  });

  it('are removed once, however often the command is called, and are canceled first', async () => {
    const engine = world();
    await engine.uploader.addFiles(named('twice.bin'));
    await engine.service.nextRequest('open');
    await engine.waitForChange('upload-started');
    const id = engine.id('twice.bin');
    await Promise.all([engine.uploader.remove(id), engine.uploader.remove(id)]);
    await engine.uploader.remove(id);
    expect(engine.changeNames().filter((name) => name !== 'uploads-finished')).to.deep.equal([
      'file-added',
      'upload-started',
      'upload-canceled',
      'file-removed',
    ]);
    expect(engine.uploader.snapshot.files).to.deep.equal([]);
  });
});
