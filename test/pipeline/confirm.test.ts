// A commit that the service accepted on an earlier visit: what is repeated, and what remains of the record.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { confirm } from '../../src/pipeline/confirm.ts';
import { fileOf } from '../support/bytes.ts';
import { rejection, settled } from '../support/collect.ts';
import { recordOf, setUpRun } from '../support/running.ts';

describe('a commit that was accepted on an earlier visit', () => {
  const file = fileOf(1, 2500);

  async function setUp() {
    const { keeper, parts, service } = setUpRun(file);
    await keeper.save({ ...(await recordOf(file, [0, 1, 2])), acceptedAtMs: Date.now(), fileHash: 'a0' });
    return {
      isAccepted: () => keeper.records.get(file.name)?.acceptedAtMs !== undefined,
      keeper,
      parts,
      service,
    };
  }

  it('is repeated, and the record is removed when the file is complete', async () => {
    const { keeper, parts, service } = await setUp();
    const running = confirm(file.name, parts);
    const commit = await service.nextRequest('commit');
    expect(commit.session.header).to.equal('header-before');
    expect(commit.receipts).to.deep.equal(['of before 0', 'of before 1', 'of before 2']);
    expect(commit.fileHash).to.equal('a0');
    commit.answer({ missing: [], body: 'done' });
    expect(await running).to.include({ body: 'done', fileHash: 'a0' });
    await settled();
    expect(keeper.records.size).to.equal(0);
  });

  it('no longer counts as accepted if chunks are missing, so that the next visit uploads the file', async () => {
    const { isAccepted, parts, service } = await setUp();
    const running = confirm(file.name, parts);
    (await service.nextRequest('commit')).answer({ missing: ['a hash'] });
    expect(await running).to.equal(undefined);
    expect(isAccepted()).to.equal(false);
  });

  it('is not sent again if its session is gone: it fails, and still counts as accepted', async () => {
    const { isAccepted, parts, service } = await setUp();
    const running = rejection(confirm(file.name, parts));
    await service.refuseAll('commit', new UploaderError('session-expired', 'gone', { status: 410 }));
    expect(await running).to.include({ code: 'session-expired', status: 410 });
    expect(isAccepted()).to.equal(true);
  });

  it('fails with any other error, and still counts as accepted', async () => {
    const { isAccepted, parts, service } = await setUp();
    const running = rejection(confirm(file.name, parts));
    const error = new UploaderError('forbidden', 'no', { status: 403 });
    await service.refuseAll('commit', error);
    expect(await running).to.equal(error);
    expect(isAccepted()).to.equal(true);
  });
});
