// Detection of a storage server whose responses the page may not read, tested with the reference storage.

import { expect } from '@open-wc/testing';
import { createHosts } from '../../src/core/host.ts';
import { readabilityOf } from '../../src/service/readability.ts';
import { captureWarnings } from '../support/console.ts';
import { findReference, forever } from './reference.ts';

async function setUp() {
  const { storageUrl } = await findReference();
  const hostOf = createHosts();
  return (sizeBytes = 1000, url = `${storageUrl}/chunk?secret`) =>
    readabilityOf(hostOf(url).evidence, new URL(url), sizeBytes);
}

/** Resolves with the error codes of PUTs that fail one after the other, each after the next number of `sentBytes`. */
async function codesOf(
  begin: Awaited<ReturnType<typeof setUp>>,
  sentBytes: readonly number[],
  sizeBytes?: number,
): Promise<string[]> {
  const codes: string[] = [];
  await captureWarnings(async () => {
    for (const sent of sentBytes) codes.push((await begin(sizeBytes).explain(sent, forever)).code);
  });
  return codes;
}

/** Counts the requests that find out whether the storage can be reached. */
function countRequests(): { end(): number } {
  const { fetch } = globalThis;
  let requestCount = 0;
  globalThis.fetch = (...given) => {
    requestCount += 1;
    return fetch(...given);
  };
  return {
    end() {
      globalThis.fetch = fetch;
      return requestCount;
    },
  };
}

describe('a PUT without a readable response', () => {
  it('is unreadable storage from the third time on, whether nothing or everything was sent', async () => {
    expect(await codesOf(await setUp(), [0, 1000, 0, 1000])).to.deep.equal([
      'network',
      'network',
      'storage-unreadable',
      'storage-unreadable',
    ]);
  });

  it('is a broken connection if only a part was sent', async () => {
    const codes = await codesOf(await setUp(), [1, 500, 999, 500]);
    expect(new Set(codes)).to.deep.equal(new Set(['network']));
  });

  it('counts once together with those that were sent at the same time', async () => {
    const begin = await setUp();
    const parallel = [begin(), begin(), begin(), begin()];
    const asked = countRequests();
    const errors = await Promise.all(parallel.map((attempt) => attempt.explain(1000, forever)));
    expect(new Set(errors.map(({ code }) => code))).to.deep.equal(new Set(['network']));
    expect(asked.end()).to.equal(1);
    expect(await codesOf(begin, [0, 0])).to.deep.equal(['network', 'storage-unreadable']);
  });

  it('is a network error if the storage has answered one of that size readably', async () => {
    const begin = await setUp();
    await codesOf(begin, [0, 0, 0]);
    begin(1000).onReadable();
    expect(new Set(await codesOf(begin, [0, 0, 0, 0]))).to.deep.equal(new Set(['network']));
    begin(10).onReadable();
    expect(await codesOf(begin, [0, 0, 0], 1001)).to.deep.equal(['network', 'network', 'storage-unreadable']);
  });

  it('still counts if the storage answers no larger one readably than before', async () => {
    const begin = await setUp();
    begin(10).onReadable();
    await codesOf(begin, [0, 0]);
    begin(10).onReadable();
    expect(await codesOf(begin, [0])).to.deep.equal(['storage-unreadable']);
  });

  it('counts from one again after the server could not be reached', async () => {
    const begin = await setUp();
    await codesOf(begin, [0, 0]);
    const { fetch } = globalThis;
    globalThis.fetch = () => Promise.reject(new TypeError('no line'));
    try {
      expect(await codesOf(begin, [0])).to.deep.equal(['network']);
    } finally {
      globalThis.fetch = fetch;
    }
    expect(await codesOf(begin, [0, 0, 0])).to.deep.equal(['network', 'network', 'storage-unreadable']);
  });

  it('says nothing about the server if it was aborted', async () => {
    const begin = await setUp();
    await codesOf(begin, [0, 0]);
    await begin().explain(0, AbortSignal.abort());
    expect(await codesOf(begin, [0])).to.deep.equal(['storage-unreadable']);
  });

  it('says nothing about another origin, or about a server that cannot be reached', async () => {
    const begin = await setUp();
    await codesOf(begin, [0, 0, 0]);
    // Browsers block requests to port 1, so this server can never be reached.
    const unreachable = 'http://localhost:1/chunk';
    for (let count = 0; count < 4; count += 1)
      expect(await begin(1000, unreachable).explain(0, forever)).to.include({ code: 'network' });
  });
});
