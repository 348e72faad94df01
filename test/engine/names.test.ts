// A name that exists in the folder: which name is tried next, and how the conflict is resolved.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { nextName, pathUnder } from '../../src/core/names.ts';
import type { UploadStore } from '../../src/engine/resume/upload-store.ts';
import { fileOf } from '../support/bytes.ts';
import { until } from '../support/collect.ts';
import { newStore, world } from '../support/world.ts';

const taken = (): UploaderError => new UploaderError('name-taken', 'there is one', { status: 409 });

describe('the name after one that exists', () => {
  const table: readonly [string, string][] = [
    ['report.pdf', 'report (2).pdf'],
    ['report (2).pdf', 'report (3).pdf'],
    ['report (9).pdf', 'report (10).pdf'],
    ['README', 'README (2)'],
    ['.gitignore', '.gitignore (2)'],
    ['(2).txt', '(2) (2).txt'],
    ['a (x).txt', 'a (x) (2).txt'],
    ['photo (20241231).jpg', 'photo (20241231) (2).jpg'],
    ['tidy.up/report', 'tidy.up/report (2)'],
    ['tidy.up/.env', 'tidy.up/.env (2)'],
    ['a/b/c.tar.gz', 'a/b/c.tar (2).gz'],
    ['two\nlines.txt', 'two\nlines (2).txt'],
  ];
  for (const [name, next] of table) {
    it(`is ${JSON.stringify(next)} for ${JSON.stringify(name)}`, () => {
      expect(nextName(name)).to.equal(next);
    });
  }
});

describe('the path of a renamed file', () => {
  for (const [path, renamed] of [
    ['report.pdf', 'summary.pdf'],
    ['a/b.c/report.pdf', 'a/b.c/summary.pdf'],
  ] as const)
    it(`is ${renamed} for ${path}`, () => {
      expect(pathUnder('summary.pdf', 'report.pdf', path)).to.equal(renamed);
      expect(pathUnder('report.pdf', 'report.pdf', path)).to.equal(path);
    });
});

describe('a name that exists', () => {
  it('fails the file, which resumes under the name that the user chooses', async () => {
    const engine = world();
    await engine.uploader.addFiles([fileOf(1, 10, 'report.pdf')]);
    (await engine.service.nextRequest('open')).refuse(taken());
    await engine.waitForChange('upload-failed');
    const id = engine.id('report.pdf');
    await engine.uploader.retry(id, 'report (2).pdf');
    const open = await engine.service.nextRequest('open');
    expect(open.fileName).to.equal('report (2).pdf');
    engine.service.answerAll();
    open.answer();
    await engine.waitForChange('upload-completed');
    expect(engine.changeNames('report (2).pdf')).to.deep.equal([
      'file-added',
      'upload-started',
      'upload-failed',
      'file-renamed',
      'upload-resumed',
      'upload-started',
      'upload-completed',
    ]);
    expect(engine.details('upload-completed')[0]).to.include({ id, name: 'report (2).pdf' });
    expect(engine.uploader.snapshot.files[0]).to.include({
      name: 'report (2).pdf',
      relativePath: 'report.pdf',
    });
  });

  it('is replaced by the first free one with `on-conflict="rename"`, which is reported once', async () => {
    const engine = world({ onConflict: 'rename', profile: { fileName: 'path' } });
    engine.service.answerAll('presign', 'put', 'commit');
    await engine.uploader.addFiles([{ file: fileOf(1, 10, 'report.pdf'), relativePath: 'a/report.pdf' }]);
    const asked: string[] = [];
    for (const isFree of [false, false, true]) {
      const open = await engine.service.nextRequest('open');
      asked.push(open.fileName);
      if (isFree) open.answer();
      else open.refuse(taken());
    }
    await engine.waitForChange('upload-completed');
    expect(asked).to.deep.equal(['a/report.pdf', 'a/report (2).pdf', 'a/report (3).pdf']);
    expect(engine.details('file-renamed').map(({ name }) => name)).to.deep.equal(['report (3).pdf']);
    expect(engine.changeNames()).not.to.include('upload-failed');
  });

  it('at the commit gets a session with the next name, and no byte is sent again', async () => {
    const engine = world({ onConflict: 'rename' });
    engine.service.answerAll('presign', 'put');
    await engine.uploader.addFiles([fileOf(1, 10, 'report.pdf')]);
    const asked: string[] = [];
    for (const isFree of [false, false, true]) {
      const open = await engine.service.nextRequest('open');
      asked.push(open.fileName);
      open.answer();
      const commit = await engine.service.nextRequest('commit');
      if (isFree) commit.answer();
      else commit.refuse(taken());
    }
    await engine.waitForChange('upload-completed');
    expect(asked).to.deep.equal(['report.pdf', 'report (2).pdf', 'report (3).pdf']);
    expect(engine.service.count('put')).to.equal(1);
    expect(engine.uploader.snapshot.files[0]?.name).to.equal('report (3).pdf');
  });

  it('at a repeated commit may be the one of this file, so no other name is offered', async () => {
    const engine = world({ onConflict: 'rename' });
    engine.service.answerAll('open', 'presign', 'put');
    await engine.uploader.addFiles([fileOf(1, 10, 'report.pdf')]);
    (await engine.service.nextRequest('commit')).refuse(new UploaderError('network', 'no response'));
    (await engine.service.nextRequest('commit')).refuse(taken());
    await engine.waitForChange('upload-failed');
    expect(engine.row('report.pdf')?.error?.code).to.equal('session-expired');
    expect(engine.service.count('open')).to.equal(1);
  });

  it('of files that are uploaded at the same time is used once, and free again afterwards', async () => {
    const engine = world({ onConflict: 'rename' });
    engine.service.answerAll('presign', 'put');
    const at = (path: string, seed: number) => ({ file: fileOf(seed, 10, 'a.jpg'), relativePath: path });
    await engine.uploader.addFiles([at('x/a.jpg', 1), at('y/a.jpg', 2), at('z/a.jpg', 3)]);
    const opens = [];
    for (let count = 0; count < 3; count++) opens.push(await engine.service.nextRequest('open'));
    expect(opens.map(({ fileName }) => fileName)).to.deep.equal(['a.jpg', 'a (2).jpg', 'a (3).jpg']);
    await engine.uploader.cancel();
    await engine.waitForChange('upload-canceled', 3);
    await engine.uploader.addFiles([at('x/a.jpg', 4)]);
    expect((await engine.service.nextRequest('open')).fileName).to.equal('a.jpg');
  });

  it('is replaced after a limited number of attempts, and only for this error', async () => {
    const engine = world({ onConflict: 'rename' });
    await engine.uploader.addFiles([fileOf(1, 10, 'a'), fileOf(2, 10, 'b')]);
    for (let count = 0; count < 51; count += 1) {
      const open = await engine.service.nextRequest('open');
      open.refuse(open.fileName === 'b' ? new UploaderError('forbidden', 'no') : taken());
    }
    await engine.waitForChange('upload-failed', 2);
    expect(engine.row('a')?.error?.code).to.equal('name-taken');
    expect(engine.row('b')?.error?.code).to.equal('forbidden');
  });

  it('does not reuse a session opened for another name: the chosen name gets its own', async () => {
    for (const sizeBytes of [10, 2500]) {
      const engine = world();
      engine.service.answerAll('open', 'put', 'cancel');
      await engine.uploader.addFiles([fileOf(1, sizeBytes, 'report.pdf')]);
      (await engine.service.nextRequest('presign')).refuse(new UploaderError('forbidden', 'no'));
      await engine.waitForChange('upload-failed');
      engine.service.hold('open');
      await engine.uploader.retry(engine.id('report.pdf'), 'other.pdf');
      const open = await engine.service.nextRequest('open');
      expect(open.fileName).to.equal('other.pdf');
      open.answer();
      engine.service.answerAll();
      await engine.waitForChange('upload-completed');
      expect(engine.service.count('open')).to.equal(2);
    }
  });
});

/**
 * Returns the store of a closed page with one upload. The upload has one stored chunk and a new file name, because a file
 * with its original name existed.
 */
async function renamedBefore(file: File): Promise<UploadStore> {
  const store = newStore();
  const before = world({ onConflict: 'rename', store });
  before.service.answerAll('presign');
  await before.uploader.addFiles([file]);
  (await before.service.nextRequest('open')).refuse(taken());
  (await before.service.nextRequest('open')).answer();
  (await before.service.nextRequest('put')).answer();
  await until(async () => (await store.list())[0]?.stored.size === 1);
  await before.uploader.close();
  return store;
}

describe('a file that has another name at the service, after a reload', () => {
  const file = fileOf(1, 2500, 'report.pdf');

  it('is shown under that name, is recognized by its own, and keeps the other in a new session', async () => {
    const engine = world({ store: await renamedBefore(file) });
    await until(() => engine.row('report (2).pdf')?.pauseReason === 'needs-file');
    await engine.uploader.addFiles([file]);
    await engine.service.refuseAll('presign', new UploaderError('session-expired', 'gone'));
    const open = await engine.service.nextRequest('open');
    expect(open.fileName).to.equal('report (2).pdf');
    open.answer();
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['report (2).pdf']);
    expect(engine.details('upload-completed')[0]?.name).to.equal('report (2).pdf');
  });

  it('accepts its file also if it is retried after it was canceled', async () => {
    const engine = world({ store: await renamedBefore(file) });
    await until(() => engine.row('report (2).pdf')?.pauseReason === 'needs-file');
    engine.service.answerAll();
    const id = engine.id('report (2).pdf');
    await engine.uploader.cancel(id);
    await engine.uploader.retry(id);
    await engine.uploader.provide(id, file);
    await engine.waitForChange('upload-completed');
    expect(engine.uploader.snapshot.rejections).to.deep.equal([]);
  });

  it('gets that name again if the file was added before its upload was restored', async () => {
    const store = await renamedBefore(file);
    const engine = world({ store: { ...store, list: async () => [] } });
    engine.service.answerAll();
    await engine.uploader.addFiles([file]);
    await engine.waitForChange('upload-completed');
    await until(() => engine.service.count('open') === engine.service.count('cancel'));
    expect(engine.details('upload-completed')[0]?.name).to.equal('report (2).pdf');
  });
});
