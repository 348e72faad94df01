// After a host responds with `Retry-After`, no upload calls this host, and uploads to other hosts continue.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf } from '../support/bytes.ts';
import { until } from '../support/collect.ts';
import { closeEngines, TestEngine } from '../support/engine.ts';

afterEach(closeEngines);

describe('a service that responds with Retry-After', () => {
  it('is not called by uploads with any settings, and uploads to another service continue', async () => {
    const engine = new TestEngine();
    await engine.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    const patience = { status: 429, retryAfterMs: 1e9 };
    const open = await engine.service.nextRequest('open');
    open.refuse(new UploaderError('rate-limited', 'slow down', patience));
    await until(() => engine.row('a.bin')?.retryAt !== undefined);
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
