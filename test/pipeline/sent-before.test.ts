// Bytes that were sent before, by this page or on an earlier visit.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf } from '../support/bytes.ts';
import { CHUNK_BYTES, recordOf, setUpRun } from '../support/running.ts';

describe('an upload', () => {
  it('of bytes that were sent before, to a service that never reports them as stored, costs no more than the first time', async () => {
    const file = fileOf(23, 40 * CHUNK_BYTES);
    const first = setUpRun(file);
    first.service.answerAll();
    await first.start();
    const second = setUpRun(file, { inFlight: first.parts.inFlight });
    second.service.isForgetful = true;
    second.service.answerAll();
    await second.start();
    expect(second.service.count('presign')).to.equal(first.service.count('presign'));
    // Timing decides which bodies stay in memory until their PUT; other bodies are read again. With a new ticket for each chunk,
    // all 40 bodies would be read twice.
    expect(second.reads.length).to.be.at.most(first.reads.length + 4);
    expect(second.service.mostPuts).to.be.at.most(2);
  });
});

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
