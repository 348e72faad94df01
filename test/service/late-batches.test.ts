// The code for batches, which only pages with `batch-path` load: until it is there, and without it, files go alone.

import { expect } from '@open-wc/testing';
import { createBatches } from '../../src/service/batches.ts';
import { createLateBatches } from '../../src/service/late-batches.ts';
import { deferred, rejection, settled } from '../support/collect.ts';
import { scripted } from './batching.ts';

const rules = {
  send: () => Promise.reject(new Error('not sent')),
  path: '/batch',
  commitPatience: 10,
  isTokenRefused: () => false,
  isFromElsewhere: () => false,
  suits: () => true,
};

describe('the code for batches', () => {
  it('is there once it has loaded', async () => {
    const code = deferred<{ createBatches: typeof createBatches }>();
    const late = createLateBatches(rules, () => code.promise);
    await settled();
    expect(late).to.deep.equal({});
    code.resolve({ createBatches });
    await settled();
    expect(Object.keys(late)).to.deep.equal(['open', 'commit']);
  });

  it('is missing without an error if it cannot be loaded', async () => {
    const late = createLateBatches(rules, () => Promise.reject(new TypeError('Failed to fetch')));
    await settled();
    expect(late).to.deep.equal({});
  });

  it('shares no requests before a call has succeeded, nor after a batch has failed until the next one has', async () => {
    const { calls, open, openInBatch, says } = scripted();
    const { batch, open: usual } = says;
    says.open = () => ({ status: 403, body: { debuginfo: 'no' } });
    await openInBatch().catch(() => undefined);
    expect(calls.isBatching?.()).to.equal(false);
    says.open = usual;
    await open('a');
    expect(calls.isBatching?.()).to.equal(true);
    says.batch = () => ({ status: 500 });
    await rejection(open('b'));
    expect(calls.isBatching?.()).to.equal(false);
    says.batch = batch;
    await open('c');
    expect(calls.isBatching?.()).to.equal(true);
  });

  it('holds up no file: those that come before it go alone, without a wait for their hashes', async () => {
    const { calls, open, paths } = scripted();
    expect(calls.isBatching?.()).to.equal(false);
    void open('a', new Promise(() => undefined));
    void open('b');
    await settled();
    expect(paths()).to.deep.equal(['uploadsession', 'uploadsession']);
  });
});
