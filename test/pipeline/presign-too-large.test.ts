// Batches of chunks that are too large for a presign request.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { type PresignParts, presign } from '../../src/pipeline/presign.ts';
import { collect, rejection } from '../support/collect.ts';
import { chunks, setUpPresigning, stream } from '../support/presigning.ts';

describe('a batch that is too large for the service', () => {
  for (const status of [413, 422, 400]) {
    it(`(${status}) is halved until it fits, and later batches stay that small`, async () => {
      const { asked, parts, sizes } = setUpPresigning({ batch: { max: 8 } });
      const { ask } = parts;
      const strict: PresignParts = {
        ...parts,
        ask: async (wanted) => {
          if (wanted.length <= 3) return ask(wanted);
          asked.push(wanted.map(({ hash }) => hash));
          throw new UploaderError('upload-refused', 'too many', { status });
        },
      };
      const result = await collect(presign(stream(chunks(20)), strict));
      expect(result.map(({ index }) => index)).to.deep.equal(chunks(20).map(({ index }) => index));
      expect(sizes().slice(0, 4)).to.deep.equal([8, 4, 2, 2]);
      expect(
        sizes()
          .slice(7)
          .every((size) => size <= 2),
      ).to.equal(true);
      expect(strict.batch.max).to.equal(2);
    });
  }

  it('fails if even one chunk is rejected', async () => {
    const error = new UploaderError('upload-refused', 'no', { status: 422 });
    const { parts } = setUpPresigning({
      ask: async () => Promise.reject(error),
      batch: { max: 4 },
    });
    expect(await rejection(collect(presign(stream(chunks(4)), parts)))).to.equal(error);
  });

  it('is not halved for any other error', async () => {
    let calls = 0;
    const error = new UploaderError('forbidden', 'no', { status: 403 });
    const ask = async (): Promise<never> => {
      calls += 1;
      throw error;
    };
    const { parts } = setUpPresigning({ ask, batch: { max: 4 } });
    expect(await rejection(collect(presign(stream(chunks(4)), parts)))).to.equal(error);
    expect(calls).to.equal(1);
  });
});
