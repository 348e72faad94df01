// The code for batches, which only pages with `batch-path` load. Files wait for it for a second; without it, they go alone.

import { expect } from '@open-wc/testing';
import { createBatches } from '../../src/service/batches.ts';
import { createLateBatches } from '../../src/service/late-batches.ts';
import { meaningOf } from '../../src/service/profile.ts';
import { stopClock } from '../support/clock.ts';
import { deferred, rejection, settled } from '../support/collect.ts';
import { scripted } from './batching.ts';

const rules = {
  send: () => Promise.reject(new Error('not sent')),
  path: '/batch',
  commitPatience: 10,
  meaningOf: ({ status }: { readonly status: number }) => meaningOf(status),
  isFromElsewhere: () => false,
  sessionOf: () => 'session',
};

describe('the code for batches', () => {
  it('is there once it has loaded', async () => {
    const code = deferred<{ createBatches: typeof createBatches }>();
    const late = createLateBatches(rules, () => code.promise);
    await settled();
    expect(Object.keys(late)).to.deep.equal(['whenLoaded']);
    code.resolve({ createBatches });
    await late.whenLoaded;
    expect(Object.keys(late)).to.deep.equal(['whenLoaded', 'open', 'commit']);
  });

  it('is missing without an error if it cannot be loaded', async () => {
    const late = createLateBatches(rules, () => Promise.reject(new TypeError('Failed to fetch')));
    await late.whenLoaded;
    expect(Object.keys(late)).to.deep.equal(['whenLoaded']);
  });

  it('holds up no file for more than a second', async () => {
    const clock = stopClock();
    let isLoaded = false;
    void createLateBatches(rules, () => new Promise(() => undefined)).whenLoaded.then(() => {
      isLoaded = true;
    });
    await clock.pass(999);
    await settled();
    expect(isLoaded).to.equal(false);
    await clock.pass(1);
    await settled();
    expect(isLoaded).to.equal(true);
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

  it('is awaited by files that come at once: the first one goes alone, and the others in a batch', async () => {
    const { open, paths } = scripted();
    await Promise.all([open('a', new Promise(() => undefined)), open('b'), open('c')]);
    expect(paths()).to.deep.equal(['uploadsession', 'batch']);
  });
});
