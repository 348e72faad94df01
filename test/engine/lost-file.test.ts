// A file that cannot be read any more, for example because its drive was removed: its upload waits for the file, and other uploads
// continue.

import { expect } from '@open-wc/testing';
import { bytesOf, fileOf } from '../support/bytes.ts';
import { until } from '../support/collect.ts';
import { onDrive } from '../support/drive.ts';
import { type World, world } from '../support/world.ts';

/**
 * Returns an engine with two uploads. `away.bin` became unreadable after its first chunk and waits for its file; `here.bin` is
 * done.
 */
async function lost(settings = {}): Promise<World> {
  const drive = { isAway: false };
  const engine = world({ workerUrl: '/no-such-worker.js', concurrency: 1, ...settings });
  engine.service.answerAll('open', 'presign', 'commit');
  await engine.uploader.addFiles([onDrive(fileOf(1, 25_000, 'away.bin'), drive), fileOf(2, 900, 'here.bin')]);
  const first = await engine.service.nextRequest('put');
  drive.isAway = true;
  first.answer();
  engine.service.answerAll();
  await until(() => engine.row('away.bin')?.pauseReason === 'needs-file');
  await until(() => engine.phase('here.bin') === 'done');
  return engine;
}

const edited = (): File => new File([bytesOf(4, 3000)], 'away.bin', { lastModified: 1_800_000_000_000 });

describe('a file that cannot be read any more', () => {
  it('is requested again, with the error beside it, while other files continue', async () => {
    const engine = await lost();
    expect(engine.row('away.bin')).to.include({ phase: 'paused', warning: 'file-unreadable' });
    expect(engine.changeNames('away.bin')).not.to.include('upload-failed');
    expect(engine.details('upload-paused').map(({ reason }) => reason)).to.deep.equal(['needs-file']);
  });

  it('resumes where it stopped when it is added again', async () => {
    const engine = await lost();
    const id = engine.id('away.bin');
    await engine.uploader.addFiles([fileOf(1, 25_000, 'away.bin')]);
    await until(() => engine.phase('away.bin') === 'done');
    expect(engine.id('away.bin')).to.equal(id);
    expect(engine.row('away.bin')?.warning).to.equal(undefined);
    expect(engine.details('upload-started').filter((each) => each.id === id)).to.have.length(2);
    expect(engine.service.count('open')).to.equal(2);
  });

  for (const [title, change, isSame] of [
    ['only its time has changed', 0, true],
    ['its stored part has changed', 500, false],
  ] as const)
    it(`and can be opened by its handle ${isSame ? 'continues' : 'is requested again'} if ${title}`, async () => {
      const drive = { isAway: false };
      const file = fileOf(1, 25_000, 'away.bin');
      const bytes = new Uint8Array(await file.arrayBuffer());
      bytes[change] = change ? 255 - (bytes[change] ?? 0) : (bytes[change] ?? 0);
      const handle = {
        name: 'away.bin',
        queryPermission: async () => 'granted',
        getFile: async () => new File([bytes], 'away.bin', { lastModified: file.lastModified + 1000 }),
      } as unknown as FileSystemFileHandle;
      const engine = world({ workerUrl: '/no-such-worker.js', concurrency: 1 });
      engine.service.answerAll('open', 'presign', 'commit');
      const picked = { file: onDrive(file, drive), relativePath: 'away.bin', handle };
      await engine.uploader.addFiles([picked]);
      const first = await engine.service.nextRequest('put');
      first.answer();
      await engine.waitForChange('chunk-uploaded');
      drive.isAway = true;
      engine.service.answerAll();
      if (isSame) await engine.waitForChange('upload-completed');
      else await until(() => engine.row('away.bin')?.pauseReason === 'needs-file');
      expect(engine.details('upload-paused')).to.have.length(isSame ? 0 : 1);
      expect(engine.service.count('open')).to.equal(1);
    });

  it('keeps its metadata when it is given to its row, unless it comes with new metadata', async () => {
    for (const metadata of [undefined, { tag: 'new' }]) {
      const engine = world({ workerUrl: '/no-such-worker.js' });
      const away = onDrive(fileOf(1, 25_000, 'away.bin'), { isAway: true });
      await engine.uploader.addFiles([{ file: away, relativePath: 'away.bin', metadata: { tag: 'old' } }]);
      await until(() => engine.row('away.bin')?.pauseReason === 'needs-file');
      const file = fileOf(1, 25_000, 'away.bin');
      const picked = { file, relativePath: 'away.bin', ...(metadata && { metadata }) };
      await engine.uploader.provide(engine.id('away.bin'), picked);
      const opened = await engine.service.nextRequest('open');
      expect(opened.file?.metadata).to.deep.equal(metadata ?? { tag: 'old' });
      await engine.uploader.close();
    }
  });

  it('resumes when it is given to its row, and another file is rejected there', async () => {
    const engine = await lost();
    const id = engine.id('away.bin');
    await engine.uploader.provide(id, fileOf(3, 25_000, 'other.bin'));
    expect(engine.uploader.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['wrong-file']);
    expect(engine.phase('away.bin')).to.equal('paused');
    await engine.uploader.provide(id, fileOf(1, 25_000, 'away.bin'));
    await until(() => engine.phase('away.bin') === 'done');
  });

  it('that was changed meanwhile is uploaded in its new version when it is given to its row, and nothing is canceled', async () => {
    const engine = await lost();
    const id = engine.id('away.bin');
    await engine.uploader.provide(id, edited());
    await until(() => engine.phase('away.bin') === 'done');
    expect(engine.id('away.bin')).not.to.equal(id);
    expect(engine.row('away.bin')?.sizeBytes).to.equal(3000);
    expect(engine.uploader.snapshot.files).to.have.length(2);
    expect(engine.changeNames()).not.to.include('upload-canceled');
    expect(engine.details('uploads-finished').at(-1)).to.include({ doneCount: 2, waitingCount: 0 });
  });

  it('that was changed meanwhile keeps its metadata in its new version, and its place in a list of one file', async () => {
    for (const metadata of [undefined, { tag: 'new' }]) {
      const engine = world({ workerUrl: '/no-such-worker.js', multiple: false });
      const away = onDrive(fileOf(1, 25_000, 'away.bin'), { isAway: true });
      await engine.uploader.addFiles([{ file: away, relativePath: 'away.bin', metadata: { tag: 'old' } }]);
      await until(() => engine.row('away.bin')?.pauseReason === 'needs-file');
      const picked = { file: edited(), relativePath: 'away.bin', ...(metadata && { metadata }) };
      await engine.uploader.provide(engine.id('away.bin'), picked);
      const opened = await engine.service.nextRequest('open');
      expect(opened.file?.metadata).to.deep.equal(metadata ?? { tag: 'old' });
      expect(engine.uploader.snapshot.rejections).to.deep.equal([]);
      await engine.uploader.close();
    }
  });

  it('stays in its folder, even if the page shows another one by now', async () => {
    const engine = await lost();
    engine.uploader.configure({ ...engine.input, parentId: 'folder-b' });
    await engine.uploader.addFiles([edited()]);
    await until(() => engine.phase('away.bin') === 'done');
    const [first, , other] = engine.uploader.snapshot.files;
    expect(first).to.include({ parentId: 'folder-a', pauseReason: 'needs-file' });
    expect(other).to.include({ parentId: 'folder-b', phase: 'done' });
    await engine.uploader.provide(first?.id ?? '', edited());
    await until(() => engine.uploader.snapshot.files.every(({ phase }) => phase === 'done'));
    expect(engine.row('away.bin')?.parentId).to.equal('folder-a');
  });

  it('still waits if the returned file exceeds the size limit', async () => {
    const engine = await lost({ maxFileSize: 30_000 });
    const large = new File([bytesOf(4, 30_001)], 'away.bin');
    await engine.uploader.provide(engine.id('away.bin'), large);
    expect(engine.uploader.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['file-too-large']);
    expect(engine.row('away.bin')?.pauseReason).to.equal('needs-file');
  });

  it('of one chunk resumes in its own row too, as do two files of the same name', async () => {
    const drives = [{ isAway: true }, { isAway: true }];
    const cards = [fileOf(1, 900, 'photo.jpg'), fileOf(2, 800, 'photo.jpg')];
    const engine = world({ workerUrl: '/no-such-worker.js' });
    engine.service.answerAll();
    await engine.uploader.addFiles(cards.map((card, at) => onDrive(card, drives[at] ?? { isAway: true })));
    await engine.waitForChange('uploads-finished');
    expect(engine.details('uploads-finished')).to.deep.equal([
      { doneCount: 0, failedCount: 0, canceledCount: 0, waitingCount: 2 },
    ]);
    await engine.uploader.addFiles([fileOf(2, 800, 'photo.jpg')]);
    await engine.waitForChange('upload-completed');
    expect(engine.phases()).to.deep.equal(['paused', 'done']);
    expect(engine.uploader.snapshot.files[1]?.warning).to.equal(undefined);
  });

  it('is requested again when its drive is removed during hashing, and is not committed', async () => {
    const drive = { isAway: false };
    const engine = world({ workerUrl: '/no-such-worker.js' });
    engine.service.answerAll();
    engine.uploader.on('chunk-hashed', () => {
      drive.isAway = true;
    });
    await engine.uploader.addFiles([onDrive(fileOf(1, 25_000, 'away.bin'), drive)]);
    await until(() => engine.row('away.bin')?.pauseReason === 'needs-file');
    expect(engine.row('away.bin')?.warning).to.equal('file-unreadable');
    expect(engine.changeNames('away.bin')).not.to.include('upload-failed');
    expect(engine.service.count('commit')).to.equal(0);
  });

  it('is requested again when its drive is removed between pause and resume, and resumes where it was', async () => {
    const drive = { isAway: false };
    const engine = world({ workerUrl: '/no-such-worker.js' });
    engine.service.answerAll('open', 'presign');
    await engine.uploader.addFiles([onDrive(fileOf(1, 25_000, 'away.bin'), drive)]);
    (await engine.service.nextRequest('put')).answer();
    await engine.waitForChange('chunk-uploaded');
    await engine.uploader.pause();
    drive.isAway = true;
    await engine.uploader.resume();
    await until(() => engine.row('away.bin')?.pauseReason === 'needs-file');
    expect(engine.changeNames('away.bin')).not.to.include('upload-failed');
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(1, 25_000, 'away.bin')]);
    await engine.waitForChange('upload-completed');
    expect(new Set(engine.service.puts).size).to.equal(25);
    expect(engine.details('upload-started').at(-1)?.resumedBytes).to.be.at.least(1000);
  });

  it('can be canceled while it is requested', async () => {
    const engine = await lost();
    await engine.uploader.cancel(engine.id('away.bin'));
    expect(engine.phase('away.bin')).to.equal('canceled');
  });

  it('is a new upload when it is added after its row was canceled', async () => {
    const engine = await lost();
    await engine.uploader.cancel(engine.id('away.bin'));
    await engine.uploader.addFiles([fileOf(1, 25_000, 'away.bin')]);
    await engine.waitForChange('upload-completed', 2);
    expect(engine.phases()).to.deep.equal(['canceled', 'done', 'done']);
  });
});
