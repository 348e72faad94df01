// A host that responds with `Retry-After`, or not at all: uploads to other hosts continue.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import { world } from '../support/world.ts';

describe('a service that responds with Retry-After', () => {
  for (const [sizeBytes, call] of [
    [10, 'the call'],
    [2000, 'the early call'],
  ] as const)
    it(`to ${call} for a session is not called by uploads with any settings, and uploads to another service continue`, async () => {
      const engine = world();
      await engine.uploader.addFiles([fileOf(1, sizeBytes, 'a.bin')]);
      const patience = { status: 429, retryAfterMs: 1e9 };
      const open = await engine.service.nextRequest('open');
      open.refuse(new UploaderError('rate-limited', 'slow down', patience));
      await until(() => engine.row('a.bin')?.retryAtMs !== undefined);
      engine.service.answerAll();
      engine.uploader.configure({ ...engine.input, parentId: 'folder-b' });
      await engine.uploader.addFiles([fileOf(2, 10, 'b.bin')]);
      engine.uploader.configure({ ...engine.input, baseUrl: 'https://other.test' });
      await engine.uploader.addFiles([fileOf(3, 10, 'c.bin')]);
      await engine.waitForChange('upload-completed');
      expect(engine.details('upload-completed').map(({ name }) => name)).to.deep.equal(['c.bin']);
      expect(engine.service.count('open')).to.equal(2);
    });
});

describe('a storage that does not respond', () => {
  it('occupies no slot that an upload to another storage needs', async () => {
    const engine = world({ concurrency: 1 });
    const { service } = engine;
    service.answerAll('open', 'presign', 'commit');
    await engine.uploader.addFiles([fileOf(1, 4000, 'silent.bin')]);
    const stalled = new UploaderError('upload-stalled', 'No progress');
    (await service.nextRequest('put')).refuse(stalled);
    const second = await service.nextRequest('put');
    service.hold('presign');
    await engine.uploader.addFiles([fileOf(2, 10, 'later.bin')]);
    // The first file may request URLs meanwhile, too.
    for (let id = ''; id !== 'session-2'; ) {
      const presign = await service.nextRequest('presign');
      id = presign.session.sessionId ?? '';
      presign.answer();
    }
    // With its URL, it waits for the slot.
    await settled();
    second.refuse(stalled);
    const third = await service.nextRequest('put');
    expect(third.body.size).to.equal(10);
    third.answer();
    service.answerAll();
    await engine.waitForChange('upload-completed', 2);
    const completed = engine.details('upload-completed').map(({ name }) => name);
    expect(completed).to.deep.equal(['later.bin', 'silent.bin']);
  });
});

describe('a service that is down', () => {
  it('gets no request for a file that is added later, whose row shows why and when it is tried', async () => {
    const engine = world({ policy: { baseMs: 60_000, capMs: 60_000 } });
    const { service } = engine;
    await engine.uploader.addFiles([fileOf(1, 10, 'a.bin'), fileOf(2, 10, 'b.bin')]);
    for (const open of [await service.nextRequest('open'), await service.nextRequest('open')])
      open.refuse(new UploaderError('network', 'no line'));
    await until(() => engine.uploader.snapshot.files.every(({ retryAtMs }) => retryAtMs !== undefined));
    await engine.uploader.addFiles([fileOf(3, 10, 'c.bin')]);
    await until(() => engine.row('c.bin')?.lastError?.code === 'network');
    expect(service.count('open')).to.equal(2);
  });
});
