// In which form a chunk's bytes are sent: as a slice of the file, or as a copy in memory.
import { expect } from '@open-wc/testing';
import type { HashSlice } from '../../src/core/types.ts';
import { canSendSlices, createBodies } from '../../src/pipeline/bodies.ts';

const { signal } = new AbortController();

function createHashSlice(): { hashSlice: HashSlice; kept: boolean[] } {
  const kept: boolean[] = [];
  return {
    kept,
    hashSlice: async (slice, { keepBytes }) => {
      kept.push(keepBytes);
      return keepBytes ? { hash: 'h', body: new Blob([await slice.arrayBuffer()]) } : { hash: 'h' };
    },
  };
}

describe('bodies', () => {
  it('are slices in Chromium only', () => {
    expect(
      canSendSlices({ userAgentData: { brands: [{ brand: 'Not A;Brand' }, { brand: 'Chromium' }] } }),
    ).to.equal(true);
    expect(canSendSlices({ userAgentData: { brands: [{ brand: 'Other' }] } })).to.equal(false);
    expect(canSendSlices({})).to.equal(false);
  });

  it('that are slices use no memory: the worker keeps no bytes, and any number of them may wait', async () => {
    const { hashSlice, kept } = createHashSlice();
    const bodies = createBodies(hashSlice, true);
    expect(bodies).to.include({ eagerBytes: 67_108_864, isWatched: true });
    expect(await bodies.hashSlice(new Blob(['bytes']), { keepBytes: false, signal })).to.deep.equal({
      hash: 'h',
    });
    kept.length = 0;
    const slice = new Blob(['bytes']);
    expect(bodies.budget.reserve(2 ** 40)).to.equal(true);
    expect(await bodies.hashSlice(slice, { keepBytes: true, signal })).to.deep.equal({
      hash: 'h',
      body: slice,
    });
    expect(kept).to.deep.equal([false]);
  });

  it('that are kept in memory are the hashed ones, 64 MiB at most', async () => {
    const { hashSlice, kept } = createHashSlice();
    const { budget, ...bodies } = createBodies(hashSlice, false);
    expect(bodies).to.include({ eagerBytes: 16_777_216, isWatched: false });
    const { body } = await bodies.hashSlice(new Blob(['bytes']), { keepBytes: true, signal });
    expect(await body?.text()).to.equal('bytes');
    expect(kept).to.deep.equal([true]);
    expect(budget.reserve(67_108_864)).to.equal(true);
    expect(budget.reserve(1)).to.equal(false);
    budget.releaseAll();
  });

  it('are read again before the commit on Android, where a file may have no modification time that could change', () => {
    const { hashSlice } = createHashSlice();
    const on = (platform: string) => createBodies(hashSlice, true, { userAgentData: { platform } });
    expect([on('Android').isWatched, on('Windows').isWatched]).to.deep.equal([false, true]);
    // The browser may be unable to send such a file.
    expect([on('Android').copySlice, on('Windows').copySlice]).to.deep.equal([hashSlice, undefined]);
  });
});
