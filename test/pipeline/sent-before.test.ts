// Bytes that were sent on an earlier visit, or in an earlier round.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { Calls } from '../../src/core/types.ts';
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

describe('a session that is gone', () => {
  for (const [what, isSent] of [
    ['after a commit that was never sent is replaced by the next one', false],
    ['after a commit without a response is not: the file may be complete', true],
  ] as const)
    it(what, async () => {
      const { parts, service, start } = setUpRun(fileOf(30, 500));
      const { commit } = service.calls;
      const errors = [
        new UploaderError('timeout', 'too late'),
        ...Array(4).fill(new UploaderError('session-expired', 'gone', { status: 410 })),
      ];
      const calls: Calls = {
        ...service.calls,
        commit: async (session, proof, signal, options) => {
          const error = errors.shift();
          if (!error) return commit(session, proof, signal, options);
          if (error.code !== 'timeout' || isSent) await options?.onSend?.();
          throw error;
        },
      };
      Object.assign(parts, { calls });
      service.answerAll();
      const outcome = await start().then(
        () => 'done',
        ({ code }) => code,
      );
      expect([outcome, service.count('open')]).to.deep.equal(isSent ? ['session-expired', 1] : ['done', 2]);
    });
});
