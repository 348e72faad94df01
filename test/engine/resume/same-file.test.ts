// Files with the place and size of a file that is needed, and another time: they are read to find out which upload they belong to.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../../src/core/errors.ts';
import { bytesOf, fileOf } from '../../support/bytes.ts';
import { speedUp } from '../../support/clock.ts';
import { deferred, settled, until } from '../../support/collect.ts';
import { onDrive } from '../../support/drive.ts';
import { gatedWorker, slowWorker } from '../../support/slow-worker.ts';
import { createUnfinished, type World, world } from '../../support/world.ts';

const noWorker = { workerUrl: '/no-such-worker.js', concurrency: 1 };
const file = fileOf(1, 2500, 'a.bin');
const later = (file: File, ms = 1000): File =>
  new File([file], file.name, { lastModified: file.lastModified + ms });
/** A file of the same name and size, with other bytes and another time. */
const other = (): File =>
  later(new File([bytesOf(99, 2500)], 'a.bin', { lastModified: 1_700_000_000_000 }), 7000);

/** Returns an engine whose list has `file` of an earlier visit with one stored chunk. */
async function nextVisit(settings = {}): Promise<World> {
  const engine = world({ ...noWorker, ...settings, store: await createUnfinished(file) });
  await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
  engine.service.answerAll();
  return engine;
}

/** A file that can be read when `gate` is resolved. */
function behind(gate: Promise<void>, file: File, onRead: () => void = () => undefined): File {
  const { slice } = file;
  file.slice = (...range) => {
    const part = slice.apply(file, range);
    const { arrayBuffer, stream } = part;
    part.arrayBuffer = async () => {
      onRead();
      await gate;
      return arrayBuffer.apply(part);
    };
    part.stream = () => {
      onRead();
      const { readable, writable } = new TransformStream();
      void gate.then(() => stream.apply(part).pipeTo(writable));
      return readable;
    };
    return part;
  };
  return file;
}

const phasesOf = ({ uploader }: World): unknown[] =>
  uploader.snapshot.files.map(({ phase, pauseReason }) => pauseReason ?? phase);

describe('an added file that differs from a needed one in its time', () => {
  for (const [title, files] of [
    ['after the same file', () => [later(file), other()]],
    ['before the original', () => [other(), file]],
  ] as const)
    it(`is another upload if its bytes differ, ${title}`, async () => {
      const engine = await nextVisit();
      await engine.uploader.addFiles(files());
      await engine.waitForChange('upload-completed', 2);
      expect(phasesOf(engine)).to.deep.equal(['done', 'done']);
      expect(engine.service.count('open')).to.equal(1);
    });

  it('goes to the one of two uploads of its name and size that has its bytes', async () => {
    const second = other();
    const store = await createUnfinished(file);
    await createUnfinished(second, { store });
    const engine = world({ ...noWorker, store });
    await until(() => phasesOf(engine).join() === 'needs-file,needs-file');
    engine.service.answerAll();
    await engine.uploader.addFiles([later(second), later(file)]);
    await engine.waitForChange('upload-completed', 2);
    expect(phasesOf(engine)).to.deep.equal(['done', 'done']);
    expect(engine.service.count('open')).to.equal(0);
  });

  it('is another upload if nothing is saved that it could be compared with', async () => {
    const engine = world({ ...noWorker });
    engine.service.answerAll();
    await engine.uploader.addFiles([onDrive(fileOf(1, 900, 'photo.jpg'), { isAway: true })]);
    await until(() => engine.row('photo.jpg')?.pauseReason === 'needs-file');
    await engine.uploader.addFiles([new File([bytesOf(2, 900)], 'photo.jpg', { lastModified: 1 })]);
    await engine.waitForChange('upload-completed');
    expect(phasesOf(engine)).to.deep.equal(['needs-file', 'done']);
  });

  it('counts for max-files when it was compared, and uploads-finished waits for it', async () => {
    const { workerUrl, gate } = gatedWorker();
    const engine = await nextVisit({ maxFiles: 2, workerUrl });
    const adding = engine.uploader.addFiles([other()]);
    await settled();
    await engine.uploader.addFiles([fileOf(5, 100, 'b.bin')]);
    await engine.waitForChange('upload-completed');
    expect(engine.details('uploads-finished')).to.deep.equal([]);
    gate.open();
    await adding;
    await engine.waitForChange('uploads-finished');
    expect(phasesOf(engine)).to.deep.equal(['needs-file', 'done']);
    expect(engine.uploader.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['too-many-files']);
    expect(engine.details('uploads-finished')).to.have.length(1);
  });

  it('does not wait for one before it that cannot be read yet, whose row says "resuming"', async () => {
    const small = fileOf(2, 90, 'small.bin');
    const store = await createUnfinished(file);
    await createUnfinished(small, { store, chunkSize: 50 });
    const engine = world({ ...slowWorker(), store });
    await until(() => phasesOf(engine).join() === 'needs-file,needs-file');
    engine.service.answerAll();
    void engine.uploader.addFiles([later(file), later(small)]);
    await engine.waitForChange('upload-completed');
    expect(engine.row('small.bin')?.phase).to.equal('done');
    expect(engine.row('a.bin')?.pauseReason).to.equal('resuming');
    expect(engine.service.count('open')).to.equal(0);
  });

  it('that is another one lets the user choose again', async () => {
    const engine = await nextVisit();
    await engine.uploader.addFiles([other()]);
    await engine.waitForChange('upload-completed');
    expect(phasesOf(engine)).to.deep.equal(['needs-file', 'done']);
  });

  for (const command of ['cancel', 'remove'] as const)
    it(`leaves the list as it is after ${command}() while it was compared`, async () => {
      const engine = await nextVisit();
      const gate = deferred();
      const adding = engine.uploader.addFiles([behind(gate.promise, later(file))]);
      await settled();
      await engine.uploader[command](engine.id('a.bin'));
      gate.resolve();
      await adding;
      await settled();
      expect(phasesOf(engine)).to.deep.equal(command === 'cancel' ? ['canceled'] : []);
    });

  it('is not added after a sign-out while it was compared', async () => {
    const engine = await nextVisit();
    const adding = engine.uploader.addFiles([behind(deferred().promise, later(file))]);
    await settled();
    await engine.uploader.signOut();
    await adding;
    expect(phasesOf(engine)).to.deep.equal([]);
  });

  it('is rejected if it cannot be read', async () => {
    const engine = await nextVisit();
    await engine.uploader.addFiles([onDrive(later(file), { isAway: true })]);
    expect(engine.uploader.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['file-unreadable']);
  });
});

describe('a file that is opened again by its handle', () => {
  const large = (): File => fileOf(1, 25_000, 'away.bin');
  const handleOf = (getFile: () => Promise<File>): FileSystemFileHandle =>
    ({
      name: 'away.bin',
      queryPermission: async () => 'granted',
      getFile,
    }) as unknown as FileSystemFileHandle;

  /** Returns an engine that has stored one chunk of `away.bin`, which then became unreadable. */
  async function touched(getFile: () => Promise<File>): Promise<World> {
    const drive = { isAway: false };
    const engine = world({ ...noWorker });
    engine.service.answerAll('open', 'presign', 'commit');
    const picked = { file: onDrive(large(), drive), relativePath: 'away.bin', handle: handleOf(getFile) };
    await engine.uploader.addFiles([picked]);
    (await engine.service.nextRequest('put')).answer();
    await engine.waitForChange('chunk-uploaded');
    drive.isAway = true;
    engine.service.answerAll();
    return engine;
  }

  it('is requested if the handle never answers, and commands do not wait for it', async () => {
    speedUp(10);
    const asked = deferred();
    const engine = await touched(() => {
      asked.resolve();
      return new Promise(() => undefined);
    });
    await asked.promise;
    await engine.uploader.pause();
    await engine.uploader.resume();
    await until(() => engine.row('away.bin')?.pauseReason === 'needs-file');
    await engine.uploader.cancel();
    await engine.uploader.remove(engine.id('away.bin'));
  });

  it('is compared again after a pause in the meantime, and cancel() does not wait for the comparison', async () => {
    for (const command of ['pause', 'cancel'] as const) {
      const gate = deferred();
      const isRead = deferred();
      const engine = await touched(async () => behind(gate.promise, later(large()), isRead.resolve));
      await isRead.promise;
      await engine.uploader[command]();
      gate.resolve();
      if (command === 'cancel') continue;
      await engine.uploader.resume();
      await engine.waitForChange('upload-completed');
    }
  });

  it('is opened once if it is changed again and again', async () => {
    let openedCount = 0;
    const engine = world({ ...noWorker });
    engine.service.answerAll('open', 'presign', 'commit');
    const handle = handleOf(async () => later(large(), ++openedCount * 1000));
    await engine.uploader.addFiles([{ file: large(), relativePath: 'away.bin', handle }]);
    (await engine.service.nextRequest('put')).answer();
    const refuse = async (): Promise<void> => {
      for (;;)
        (await engine.service.nextRequest('put')).refuse(new UploaderError('file-unreadable', 'touched'));
    };
    void refuse();
    await until(() => engine.row('away.bin')?.pauseReason === 'needs-file');
    expect(openedCount).to.equal(1);
  });

  it('is requested if nothing is saved that it could be compared with', async () => {
    const engine = world({ ...noWorker });
    engine.service.answerAll();
    const handle = handleOf(async () => new File([bytesOf(9, 900)], 'away.bin', { lastModified: 1 }));
    const away = onDrive(fileOf(1, 900, 'away.bin'), { isAway: true });
    await engine.uploader.addFiles([{ file: away, relativePath: 'away.bin', handle }]);
    await until(() => engine.row('away.bin')?.pauseReason === 'needs-file');
    expect(engine.changeNames('away.bin')).not.to.include('upload-completed');
  });
});
