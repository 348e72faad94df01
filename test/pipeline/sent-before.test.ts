// Bytes that were sent on an earlier visit, or in an earlier round.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf } from '../support/bytes.ts';
import { CHUNK_BYTES, hashesOf, recordOf, setUpRun } from '../support/running.ts';

describe('an upload whose chunks an earlier visit has stored completely', () => {
  it('still calls the service once if there is no commit, so that a lost session is not reported as completed', async () => {
    const file = fileOf(24, 3 * CHUNK_BYTES);
    const { keeper, parts, service, start } = setUpRun(file);
    const { commit: _commit, ...calls } = service.calls;
    Object.assign(parts, { calls });
    await keeper.save(await recordOf(file, [0, 1, 2]));
    const running = start();
    const { session, refuse } = await service.nextRequest('presign');
    expect(session.header).to.equal('header-before');
    const gone = new UploaderError('session-expired', 'gone', { status: 404 });
    refuse(gone);
    await service.refuseAll('presign', gone, 3);
    service.answerAll();
    await running;
    expect(service.count('open')).to.equal(1);
    expect(service.puts).to.have.length(3);
  });
});

describe('a storage that has accepted chunks of a size', () => {
  it('is asked again after a 413 to a chunk of this size, also in the second round of a commit', async () => {
    const file = fileOf(47, 2500);
    const [missing = ''] = await hashesOf(file);
    const { service, start } = setUpRun(file, { minChunkBytes: 1 });
    service.answerAll('open', 'presign', 'put');
    const running = start();
    const commit = await service.nextRequest('commit');
    service.hold('put');
    service.stored.delete(missing);
    commit.answer({ missing: [missing] });
    (await service.nextRequest('put')).refuse(
      new UploaderError('upload-refused', 'too large', { status: 413 }),
    );
    service.answerAll();
    await running;
    expect(service.count('open')).to.equal(1);
  });
});
