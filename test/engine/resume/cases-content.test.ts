// Files that are known by their content: renamed, rewritten, longer or shorter.

import { expect } from '@open-wc/testing';
import type { PickedFile } from '../../../src/core/types.ts';
import { bytesOf, fileOf } from '../../support/bytes.ts';
import { settled, until } from '../../support/collect.ts';
import { createUnfinished, type World, world } from '../../support/world.ts';

const noWorker = { workerUrl: '/no-such-worker.js' };
const content = bytesOf(1, 2500);
const named = (bytes: Uint8Array<ArrayBuffer>, name: string, lastModified = 5000): File =>
  new File([bytes], name, { lastModified });

/** The bytes of `content`, with another byte at `place`. */
function changedAt(place: number): Uint8Array<ArrayBuffer> {
  const bytes = content.slice();
  bytes[place] = (bytes[place] ?? 0) ^ 255;
  return bytes;
}

/** Returns an engine that waits for the file of an earlier visit, of which the first chunk is stored. */
async function nextVisit(): Promise<World> {
  const store = await createUnfinished(fileOf(1, 2500, 'a.bin'));
  const engine = world({ ...noWorker, store });
  await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
  engine.service.answerAll();
  return engine;
}

describe('a file that is provided for an unfinished upload', () => {
  it('under another name and of another time continues it', async () => {
    const engine = await nextVisit();
    await engine.uploader.provide(engine.id('a.bin'), named(content, 'a (1).bin'));
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(0);
  });

  for (const [title, bytes] of [
    ['with one other byte in a stored chunk', changedAt(999)],
    ['that has become longer', new Uint8Array([...content, 1])],
    ['that has become shorter', content.slice(0, 2499)],
  ] as const)
    it(`${title} is rejected by name, and sends nothing`, async () => {
      const engine = await nextVisit();
      await engine.uploader.provide(engine.id('a.bin'), named(bytes, 'other.bin'));
      await until(() => engine.uploader.snapshot.rejections.length === 1);
      await settled();
      expect(engine.uploader.snapshot.rejections[0]).to.include({ name: 'other.bin', code: 'wrong-file' });
      expect(engine.row('a.bin')?.pauseReason).to.equal('needs-file');
      expect(engine.service.log).to.deep.equal([]);
      await engine.uploader.provide(engine.id('a.bin'), named(content, 'a.bin', 9));
      await engine.waitForChange('upload-completed');
    });
});

describe('a saved handle', () => {
  /** Saves a file with its handle as unfinished. Returns `undefined` where the browser has no writable handles. */
  async function saved() {
    const folder = await navigator.storage?.getDirectory?.().catch(() => undefined);
    const name = `${crypto.randomUUID()}.bin`;
    const handle = await folder?.getFileHandle(name, { create: true });
    if (typeof handle?.createWritable !== 'function') return undefined;
    const write = async (bytes: Uint8Array<ArrayBuffer>): Promise<void> => {
      const writable = await handle.createWritable();
      await writable.write(bytes);
      await writable.close();
    };
    await write(content);
    const picked: PickedFile = { file: await handle.getFile(), relativePath: name, handle };
    return { store: await createUnfinished(picked), write, handle, name };
  }

  for (const [title, place, isSame] of [
    ['whose file was rewritten with the same bytes resumes without a click', 0, true],
    ['whose file has another first byte asks for the file', 0, false],
    ['whose file has another byte in its stored chunk asks for the file', 700, false],
  ] as const)
    it(title, async () => {
      const made = await saved();
      if (!made) {
        const engine = await nextVisit();
        await engine.uploader.provide(
          engine.id('a.bin'),
          named(isSame ? content : changedAt(place), 'a.bin'),
        );
        await until(
          () => engine.details('upload-completed').length + engine.uploader.snapshot.rejections.length === 1,
        );
        expect(engine.details('upload-completed')).to.have.length(Number(isSame));
        return;
      }
      await made.write(isSame ? content : changedAt(place));
      const engine = world({ ...noWorker, store: made.store });
      engine.service.answerAll();
      if (!isSame) {
        await until(() => engine.row(made.name)?.pauseReason === 'needs-file');
        await settled();
        expect(engine.service.log).to.deep.equal([]);
        await engine.uploader.provide(engine.id(made.name), named(content, made.name));
      }
      await engine.waitForChange('upload-completed');
      expect(engine.service.count('open')).to.equal(0);
    });
});
