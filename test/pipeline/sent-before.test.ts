// Bytes that were sent on an earlier visit.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf } from '../support/bytes.ts';
import { CHUNK_BYTES, recordOf, setUpRun } from '../support/running.ts';

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
    (await service.nextRequest('presign')).refuse(gone);
    service.answerAll();
    await running;
    expect(service.count('open')).to.equal(1);
    expect(service.puts).to.have.length(3);
  });
});
