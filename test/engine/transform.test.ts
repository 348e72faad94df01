// `transformFile`: what is uploaded instead of a file, and what happens if it fails or changes between two visits.

import { expect } from '@open-wc/testing';
import { createSettings } from '../../src/core/config.ts';
import { prepare } from '../../src/engine/prepare.ts';
import { fileOf, sha256 } from '../support/bytes.ts';
import { speedUp } from '../support/clock.ts';
import { deferred, settled, until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { createUnfinished, newStore, type World, world } from '../support/world.ts';

const photo = fileOf(1, 3500, 'photo.heic');
/** The first `sizeBytes` of a photo, with another name. */
const smaller = (file: File, sizeBytes = 2500): File =>
  new File([file.slice(0, sizeBytes)], 'photo.jpg', { lastModified: file.lastModified, type: 'image/jpeg' });

describe('a file that transformFile replaces', () => {
  it('is the one that is uploaded, with its name, size and type', async () => {
    const engine = world({ transformFile: (file: File) => smaller(file) });
    engine.service.answerAll('presign', 'put', 'commit');
    await engine.uploader.addFiles([photo]);
    expect(engine.details('file-added')[0]).to.include({ name: 'photo.heic', sizeBytes: 3500 });
    const open = await engine.service.nextRequest('open');
    expect([open.fileName, open.fileSize, open.file?.type]).to.deep.equal(['photo.jpg', 2500, 'image/jpeg']);
    open.answer();
    await engine.waitForChange('upload-completed');
    const made = smaller(photo);
    const hashes = await Promise.all([0, 1000, 2000].map((at) => sha256(made.slice(at, at + 1000))));
    expect([...engine.service.stored].sort()).to.deep.equal(hashes.sort());
    const [detail] = engine.details('upload-completed');
    expect(detail).to.include({ name: 'photo.jpg', sizeBytes: 2500, sentBytes: 2500, skippedBytes: 0 });
    expect(engine.uploader.snapshot.totals).to.include({ sizeBytes: 2500, sentBytes: 2500 });
  });

  it('stays as it is if transformFile returns it, and may become larger', async () => {
    for (const made of [photo, new File([photo, photo], photo.name)]) {
      const engine = world({ transformFile: async () => made });
      engine.service.answerAll();
      await engine.uploader.addFiles([photo]);
      await engine.waitForChange('upload-completed');
      expect(engine.row('photo.heic')).to.include({ phase: 'done', sizeBytes: made.size });
      expect(engine.details('file-renamed')).to.deep.equal([]);
    }
  });

  it('may be one of another document', async () => {
    const frame = document.body.appendChild(document.createElement('iframe'));
    const { File: OtherFile } = frame.contentWindow as unknown as typeof globalThis;
    const made = new OtherFile([photo], photo.name);
    const settings = createSettings({ baseUrl: 'https://a.test', transformFile: () => made });
    const { signal } = new AbortController();
    expect(await prepare(photo, settings, signal, () => undefined)).to.equal(made);
    frame.remove();
  });

  it('has the name of what is uploaded, also if that changes', async () => {
    let made = smaller(photo);
    const engine = world({ transformFile: () => made });
    engine.service.answerAll('presign', 'put', 'commit');
    await engine.uploader.addFiles([photo]);
    expect((await engine.service.nextRequest('open')).fileName).to.equal('photo.jpg');
    await engine.uploader.pause();
    made = photo;
    await engine.uploader.resume();
    expect((await engine.service.nextRequest('open')).fileName).to.equal('photo.heic');
  });

  it('is uploaded with the name that the user chose', async () => {
    const engine = world({ transformFile: (file: File) => smaller(file), manual: true });
    engine.service.answerAll('presign', 'put', 'commit');
    await engine.uploader.addFiles([photo]);
    await engine.uploader.cancel();
    await engine.uploader.retry(engine.id('photo.heic'), 'mine.jpg');
    expect((await engine.service.nextRequest('open')).fileName).to.equal('mine.jpg');
  });
});

describe('an upload whose transformFile', () => {
  const wrong: Readonly<Record<string, () => unknown>> = {
    throws: () => {
      throw new Error('no decoder');
    },
    rejects: () => Promise.reject(new Error('no decoder')),
    'returns a Blob': () => new Blob(['x']),
    'returns nothing': () => undefined,
    'never ends': () => new Promise(() => undefined),
  };
  for (const [what, transform] of Object.entries(wrong))
    it(`${what} fails, sends nothing, and can be retried`, () =>
      captureWarnings(async (warnings) => {
        let isWrong = true;
        const transformFile = (file: File) => (isWrong ? (transform() as File) : file);
        const engine = world({ transformFile, times: { transformMs: 200 } });
        engine.service.answerAll();
        await engine.uploader.addFiles([photo, fileOf(2, 100, 'other.txt')]);
        await engine.waitForChange('upload-failed', 2);
        expect(engine.row('photo.heic')?.error).to.deep.equal({ code: 'transform-failed', retryable: true });
        expect(engine.service.log).to.deep.equal([]);
        expect(warnings.filter((text) => text.includes('could not be prepared'))).to.have.length(2);
        isWrong = false;
        await engine.uploader.retry();
        await engine.waitForChange('upload-completed', 2);
      }));

  it('never ends needs its file again, if that does not answer any more', async () => {
    speedUp(10);
    const gone = fileOf(1, 900, 'gone.mov');
    const { slice } = gone;
    const never = () => new Promise<never>(() => undefined);
    gone.slice = (...range) => Object.assign(slice.apply(gone, range), { arrayBuffer: never });
    const transformFile = async (file: File): Promise<File> => {
      await file.slice(0, 10).arrayBuffer();
      return file;
    };
    const engine = world({ transformFile, times: { transformMs: 200 } });
    await engine.uploader.addFiles([gone]);
    await until(() => engine.phase('gone.mov') === 'paused');
    expect(engine.row('gone.mov')).to.include({ pauseReason: 'needs-file', warning: 'file-unreadable' });
  });

  const refused = {
    'makes a file that is too large': [
      { maxFileSize: 3600 },
      new File([photo, photo], 'photo.heic'),
      'file-too-large',
    ],
    'makes a file of another type': [{ accept: '.heic' }, smaller(photo), 'file-type-refused'],
    'makes an empty file': [{ profile: { emptyFile: 'refuse' } }, new File([], 'photo.heic'), 'file-empty'],
  } as const;
  for (const [what, [settings, made, code]] of Object.entries(refused))
    it(`${what} fails with ${code}`, async () => {
      const engine = world({ ...settings, transformFile: () => made });
      await engine.uploader.addFiles([photo]);
      await engine.waitForChange('upload-failed');
      expect(engine.row('photo.heic')?.error?.code).to.equal(code);
      expect(engine.service.log).to.deep.equal([]);
    });

  it('is running is paused and canceled at once, which aborts its signal', async () => {
    const signals: AbortSignal[] = [];
    const wait = deferred<File>();
    const transformFile = (_file: File, signal: AbortSignal): Promise<File> => {
      signals.push(signal);
      return wait.promise;
    };
    const engine = world({ transformFile });
    engine.service.answerAll();
    await engine.uploader.addFiles([photo]);
    await until(() => signals.length === 1);
    expect(engine.phase('photo.heic')).to.equal('hashing');
    await engine.uploader.pause();
    expect([engine.phase('photo.heic'), signals[0]?.aborted]).to.deep.equal(['paused', true]);
    await engine.uploader.resume();
    await until(() => signals.length === 2);
    await engine.uploader.cancel();
    expect(signals[1]?.aborted).to.equal(true);
    wait.resolve(photo);
    await engine.uploader.retry(engine.id('photo.heic'));
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(1);
  });
});

describe('on the next visit, an upload with transformFile', () => {
  /** Returns the engine of the next visit, in which `next` replaces the file. */
  async function nextVisit(next: (file: File) => File, settings = {}): Promise<World> {
    const store = await createUnfinished(photo, {
      ...settings,
      transformFile: (file: File) => smaller(file),
    });
    const engine = world({ ...settings, transformFile: next, store });
    engine.service.stored.add(await sha256(photo.slice(0, 1000)));
    await until(() => engine.row('photo.jpg')?.pauseReason === 'needs-file');
    expect(engine.row('photo.jpg')).to.include({ sizeBytes: 2500, storedBytes: 1000 });
    engine.service.answerAll();
    await engine.uploader.addFiles([photo]);
    await engine.waitForChange('upload-completed');
    expect(engine.phases()).to.deep.equal(['done']);
    await until(async () => (await store.list()).length === 0);
    return engine;
  }

  it('continues with the original file, if it becomes the same file', async () => {
    const engine = await nextVisit((file) => smaller(file));
    expect([engine.service.count('open'), engine.service.puts.length]).to.deep.equal([0, 2]);
  });

  it('starts over if the file has another size', async () => {
    const engine = await nextVisit((file) => smaller(file, 1500));
    expect([engine.service.count('open'), engine.service.count('cancel')]).to.deep.equal([1, 1]);
    expect(engine.row('photo.jpg')).to.include({ sizeBytes: 1500, sentBytes: 1500 });
  });

  it('of another size opens its session after the one before is canceled, because a service may reserve names', async () => {
    const store = await createUnfinished(photo, { transformFile: (file: File) => smaller(file) });
    const transformFile = (file: File): File => smaller(file, 1500);
    const { service, ...engine } = world({ transformFile, store });
    await until(() => engine.row('photo.jpg')?.pauseReason === 'needs-file');
    await engine.uploader.addFiles([photo]);
    const cancel = await service.nextRequest('cancel');
    for (let round = 0; round < 20; round += 1) await settled();
    expect(service.log).to.deep.equal(['cancel']);
    cancel.answer();
    service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(service.log.slice(0, 2)).to.deep.equal(['cancel', 'open']);
  });

  it('repeats an accepted commit with all chunks, without the file, whatever its size was', async () => {
    for (const sizeBytes of [1500, 2500, 3500]) {
      const made = (file: File): File => new File([fileOf(sizeBytes, sizeBytes)], file.name);
      const original = fileOf(sizeBytes + 1, 2500, 'photo.heic');
      const store = newStore();
      const before = world({ transformFile: made, store, policy: { baseMs: 1e6 } });
      before.service.answerAll('open', 'presign', 'put');
      await before.uploader.addFiles([original]);
      (await before.service.nextRequest('commit')).answer({ missing: [], pending: { retryAfterMs: 1e6 } });
      await until(async () => (await store.list()).some(({ acceptedAtMs }) => acceptedAtMs !== undefined));
      await before.uploader.close();
      const engine = world({ transformFile: made, store });
      const { hashes, answer } = await engine.service.nextRequest('commit');
      expect(hashes, `${sizeBytes} bytes`).to.have.length(Math.ceil(sizeBytes / 1000));
      answer({ missing: [] });
      await engine.waitForChange('upload-completed');
      expect(engine.row('photo.heic')).to.include({ phase: 'done', sizeBytes });
      await engine.uploader.close();
    }
  });

  it('continues with a copy that has another time', async () => {
    const store = await createUnfinished(photo, { transformFile: (file: File) => smaller(file) });
    const engine = world({ transformFile: (file: File) => smaller(file), store });
    engine.service.stored.add(await sha256(photo.slice(0, 1000)));
    await until(() => engine.row('photo.jpg')?.pauseReason === 'needs-file');
    engine.service.answerAll();
    const copy = new File([photo], photo.name, { lastModified: 1 });
    await engine.uploader.provide(engine.id('photo.jpg'), copy);
    await engine.waitForChange('upload-completed');
    expect([engine.service.count('open'), engine.service.puts.length]).to.deep.equal([0, 2]);
  });

  it('starts over if the page has no transformFile any more', async () => {
    const engine = await nextVisit((file) => file);
    expect(engine.row('photo.jpg')?.sizeBytes).to.equal(3500);
  });

  it('sends chunks again that have other bytes', async () => {
    const engine = await nextVisit((file) => {
      const { name, lastModified } = smaller(file);
      return new File([fileOf(7, 2500)], name, { lastModified });
    });
    expect([engine.service.count('open'), engine.service.puts.length]).to.deep.equal([0, 3]);
  });

  it('whose original file was saved (keep-files) makes the file again', async () => {
    const store = newStore();
    const settings = { keepFiles: true, transformFile: (file: File) => smaller(file) };
    const before = world({ ...settings, store });
    await before.uploader.addFiles([photo]);
    await until(async () => (await store.list()).some(({ file }) => file !== undefined));
    await before.uploader.close();
    const engine = world({ ...settings, store });
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.row('photo.jpg')?.sizeBytes).to.equal(2500);
  });
});
