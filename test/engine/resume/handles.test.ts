// Uploads of an earlier visit whose file handle was saved (Chromium).

import { expect } from '@open-wc/testing';
import type { PickedFile } from '../../../src/core/types.ts';
import type { UploadStore } from '../../../src/engine/resume/upload-store.ts';
import { fileOf } from '../../support/bytes.ts';
import { stopClock } from '../../support/clock.ts';
import { deferred, settled, until } from '../../support/collect.ts';
import { createUnfinished, replace, world } from '../../support/world.ts';

const file = fileOf(1, 2500, 'a.bin');

/**
 * Creates a file with a handle, and saves its unfinished upload in a store. The handle needs no permission. Without a handle, and
 * without `remove`, if the browser has no writable handles.
 */
async function createWithHandle(
  options: { readonly store?: UploadStore } = {},
): Promise<{ store: UploadStore; file: File; remove?: () => Promise<void> }> {
  const folder = await navigator.storage?.getDirectory?.().catch(() => undefined);
  const name = `${crypto.randomUUID()}.bin`;
  const handle = await folder?.getFileHandle(name, { create: true });
  if (!folder || typeof handle?.createWritable !== 'function') {
    const own = fileOf(1, 2500, name);
    return { store: await createUnfinished(own, options), file: own };
  }
  const writable = await handle.createWritable();
  await writable.write(file);
  await writable.close();
  const picked: PickedFile = { file: await handle.getFile(), relativePath: 'a.bin', handle };
  return {
    store: await createUnfinished(picked, options),
    file: picked.file,
    remove: () => folder.removeEntry(name),
  };
}

describe('a file whose handle was saved', () => {
  /** Makes the browser report that the user has to be asked again, as Chromium does for most files after a reload. */
  function denyHandles(): void {
    const { prototype } = FileSystemFileHandle;
    Object.defineProperty(prototype, 'queryPermission', { configurable: true, value: async () => 'prompt' });
  }
  afterEach(() => {
    if (typeof FileSystemFileHandle === 'function')
      Reflect.deleteProperty(FileSystemFileHandle.prototype, 'queryPermission');
  });

  it('resumes without a click while the permission lasts', async () => {
    const { store, remove } = await createWithHandle();
    const engine = world({ store });
    engine.service.answerAll();
    if (remove) await engine.waitForChange('upload-completed');
    else await until(() => engine.uploader.snapshot.files[0]?.pauseReason === 'needs-file');
    const reasons = engine.details('upload-paused').map(({ reason }) => reason);
    expect(reasons).to.deep.equal([remove ? 'resuming' : 'needs-file']);
    expect(engine.service.count('open')).to.equal(0);
  });

  it('resumes in its turn, if more files are found than run at once', async () => {
    const { store, remove } = await createWithHandle();
    for (let count = 1; count < 5; count += 1) await createWithHandle({ store });
    const engine = world({ concurrency: 1, store });
    const reasons = (): string => engine.uploader.snapshot.files.map((row) => row.pauseReason).join();
    await until(() => reasons() === new Array(5).fill(remove ? undefined : 'needs-file').join());
    engine.service.answerAll();
    if (remove) await engine.waitForChange('upload-completed', 5);
    const reported = engine.details('upload-paused').map(({ reason }) => reason);
    expect(reported).to.deep.equal(new Array(5).fill(remove ? 'resuming' : 'needs-file'));
    expect(engine.phases()).to.deep.equal(new Array(5).fill(remove ? 'done' : 'paused'));
  });

  it('resumes after a cancel that was undone, even if its file was found in between', async () => {
    const { store, remove } = await createWithHandle();
    await createWithHandle({ store });
    if (!remove) {
      // Without a saved handle, the upload waits for its file again.
      const { uploader } = world({ store });
      await until(() => uploader.snapshot.files[1]?.pauseReason === 'needs-file');
      const ids = uploader.snapshot.files.slice(0, 1).map(({ id }) => id);
      await uploader.undo.withdraw('canceled', ids);
      const reasons = (): unknown[] => uploader.snapshot.files.map(({ pauseReason }) => pauseReason);
      await uploader.undo.undo();
      expect(reasons()).to.deep.equal(['needs-file', 'needs-file']);
      return;
    }
    const asked = deferred();
    const mayRead = deferred();
    Object.defineProperty(FileSystemFileHandle.prototype, 'queryPermission', {
      configurable: true,
      value: async () => {
        asked.resolve();
        await mayRead.promise;
        return 'granted';
      },
    });
    const engine = world({ store });
    engine.service.answerAll();
    await asked.promise;
    const [first] = engine.uploader.snapshot.files;
    const ids = [first?.id ?? ''];
    await engine.uploader.undo.withdraw('canceled', ids);
    mayRead.resolve();
    await until(() => engine.uploader.snapshot.files[1]?.pauseReason === undefined);
    await engine.uploader.undo.undo();
    await engine.waitForChange('upload-completed', 2);
  });

  it('stays paused if the user paused it, and resumes with a click', async () => {
    const { store, file: own, remove } = await createWithHandle();
    const before = world({ store });
    before.service.answerAll('presign');
    await until(
      () => before.uploader.snapshot.files[0]?.pauseReason === 'needs-file' || remove !== undefined,
    );
    if (!remove) await before.uploader.addFiles([own]);
    await before.service.nextRequest('put');
    await before.uploader.pause();
    await before.uploader.close();
    const engine = world({ store });
    engine.service.answerAll();
    await until(() => engine.uploader.snapshot.files[0]?.pauseReason === (remove ? 'user' : 'needs-file'));
    await settled();
    expect(engine.service.log).to.deep.equal([]);
    if (remove) await engine.uploader.resume();
    else await engine.uploader.addFiles([own]);
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(0);
  });

  it('is not waited for longer than a few seconds if its drive never answers', async () => {
    const { store, remove } = await createWithHandle();
    await createWithHandle({ store });
    if (!remove) {
      const engine = world({ store });
      await until(() => engine.uploader.snapshot.files[1]?.pauseReason === 'needs-file');
      return;
    }
    let askedCount = 0;
    Object.defineProperty(FileSystemFileHandle.prototype, 'queryPermission', {
      configurable: true,
      value: () => (askedCount++ === 0 ? new Promise(() => undefined) : Promise.resolve('granted')),
    });
    const engine = world({ store });
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.phases()).to.have.members(['paused', 'done']);
  });

  it('does not wait for those before it whose drive never answers', async () => {
    const { store, remove } = await createWithHandle();
    for (let count = 1; count < 7; count += 1) await createWithHandle({ store });
    let askedCount = 0;
    if (remove)
      Object.defineProperty(FileSystemFileHandle.prototype, 'queryPermission', {
        configurable: true,
        value: () => (askedCount++ < 6 ? new Promise(() => undefined) : Promise.resolve('granted')),
      });
    // The last one must not wait for the limits of the others either.
    replace(AbortSignal, 'timeout', () => new AbortController().signal);
    const clock = stopClock();
    const engine = world({ store });
    engine.service.answerAll();
    const reasons = (): string => engine.uploader.snapshot.files.map((row) => row.pauseReason).join();
    // Four handles are asked at the same time.
    if (remove) await until(() => askedCount === 4);
    else await until(() => reasons() === new Array(7).fill('needs-file').join());
    await clock.pass(1000);
    clock.restore();
    if (!remove) return;
    await until(() => askedCount === 7);
    await engine.waitForChange('upload-completed');
    expect(reasons()).to.equal('resuming,resuming,resuming,resuming,resuming,resuming,');
  });

  it('resumes without a click if only its time has changed', async () => {
    const { store, file: own, remove } = await createWithHandle();
    const { getFile } = FileSystemFileHandle.prototype;
    FileSystemFileHandle.prototype.getFile = async function touched(this: FileSystemFileHandle) {
      const file = await getFile.call(this);
      return new File([file], file.name, { lastModified: file.lastModified + 1000 });
    };
    try {
      const engine = world({ store });
      engine.service.answerAll();
      if (!remove) {
        await until(() => engine.uploader.snapshot.files[0]?.pauseReason === 'needs-file');
        const [{ id } = { id: '' }] = engine.uploader.snapshot.files;
        await engine.uploader.provide(id, new File([own], own.name));
      }
      await engine.waitForChange('upload-completed');
      expect(engine.service.count('open')).to.equal(0);
    } finally {
      FileSystemFileHandle.prototype.getFile = getFile;
    }
  });

  it('needs the user if its file is gone', async () => {
    const { store, remove } = await createWithHandle();
    await remove?.();
    const engine = world({ store });
    await until(() => engine.uploader.snapshot.files[0]?.pauseReason === 'needs-file');
    expect(engine.uploader.snapshot.rejections).to.deep.equal([]);
  });

  it('resumes from its handle on request if the browser has to ask, without being picked', async () => {
    const { store, file: own, remove } = await createWithHandle();
    if (remove) denyHandles();
    const engine = world({ store });
    engine.service.answerAll();
    await until(() => engine.uploader.snapshot.files[0]?.pauseReason === 'needs-file');
    const id = engine.uploader.snapshot.files[0]?.id ?? '';
    expect(await engine.uploader.provide(id)).to.equal(remove !== undefined);
    // Without a saved handle, the upload still waits for its file.
    if (!remove) await engine.uploader.provide(id, own);
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(0);
    expect(engine.details('upload-started')[0]?.resumedBytes).to.equal(1000);
  });
});
