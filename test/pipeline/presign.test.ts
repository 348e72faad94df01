// How tickets are requested: how many calls are made, when, and what happens to expired tickets.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import type { HashedChunk, TicketedChunk } from '../../src/core/types.ts';
import { isStale, type PresignParts, presign } from '../../src/pipeline/presign.ts';
import { collect, deferred, rejection, settled } from '../support/collect.ts';
import { chunks, KIB64, setUpPresigning, stream } from '../support/presigning.ts';

describe('tickets', () => {
  it('are requested in batches of 64, so that calls stay few', async () => {
    const { parts, sizes } = setUpPresigning();
    const result = await collect(presign(stream(chunks(300)), parts));
    expect(sizes()).to.deep.equal([64, 64, 64, 64, 44]);
    expect(result.map(({ index }) => index)).to.deep.equal(chunks(300).map(({ index }) => index));
    expect(result.every(({ ticket }) => ticket?.upload)).to.equal(true);
  });

  it('of 1,000 chunks of 64 KiB need at most 25 calls, also on a fast connection', async () => {
    for (const rate of [1e9, 1e6]) {
      const { asked, parts } = setUpPresigning({ bytesPerSecond: () => rate });
      expect(await collect(presign(stream(chunks(1000)), parts))).to.have.length(1000);
      expect(asked.length).to.be.at.most(25);
    }
  });

  it('are requested once if chunks of a batch are equal, and each of them gets its own', async () => {
    const { asked, parts } = setUpPresigning({ batch: { max: 64 } });
    const result = await collect(
      presign(stream(chunks(4, { hashOf: (index) => (index % 2 ? 'odd' : 'even') })), parts),
    );
    expect(asked).to.deep.equal([['even', 'odd']]);
    expect(result.map(({ ticket }) => ticket?.receipt)).to.deep.equal([
      'receipt of even, 1',
      'receipt of odd, 1',
      'receipt of even, 1',
      'receipt of odd, 1',
    ]);
  });

  it('are not requested for a chunk that is already stored, by an earlier visit or by this run', async () => {
    const { asked, parts } = setUpPresigning({
      receiptOf: (hash) => (hash === 'hash-1' ? 'of this run' : undefined),
    });
    const [first, second, third] = chunks(3) as [HashedChunk, HashedChunk, HashedChunk];
    const known = { ...first, receipt: 'of before', skipped: true };
    const result = await collect(presign(stream([known, second, third]), parts));
    expect(asked).to.deep.equal([['hash-2']]);
    expect(result.map(({ receipt }) => receipt)).to.have.members(['of before', 'of this run', undefined]);
  });

  it('of a partial batch are requested before chunks of an earlier visit are verified', async () => {
    const { asked, parts } = setUpPresigning({ batch: { max: 64 } });
    const rest = deferred();
    async function* source(): AsyncGenerator<HashedChunk, void, undefined> {
      const [first, second, third] = chunks(3) as [HashedChunk, HashedChunk, HashedChunk];
      yield first;
      yield { ...second, receipt: 'of before', skipped: true };
      await rest.promise;
      yield { ...third, receipt: 'of before', skipped: true };
    }
    const result = presign(source(), parts);
    expect((await result.next()).value).to.include({ index: 0 });
    expect(asked).to.deep.equal([['hash-0']]);
    rest.resolve();
    expect(await collect(result)).to.have.length(2);
  });

  it('are requested when the session is open, for the chunks that are hashed by then', async () => {
    const [late, opened] = [deferred(), deferred()];
    async function* source(): AsyncGenerator<HashedChunk, void, undefined> {
      yield* chunks(3);
      await late.promise;
    }
    const { parts, sizes } = setUpPresigning({ ready: opened.promise });
    const result = presign(source(), parts);
    const first = result.next();
    await settled();
    expect(sizes()).to.deep.equal([]);
    opened.resolve();
    expect((await first).value).to.include({ index: 0 });
    expect(sizes()).to.deep.equal([3]);
    late.resolve();
    await collect(result);
  });

  it('are requested even if the session cannot open, and report its error', async () => {
    async function* source(): AsyncGenerator<HashedChunk, void, undefined> {
      yield* chunks(1);
      await late.promise;
    }
    const [late, opened] = [deferred(), deferred()];
    const { parts } = setUpPresigning({ ready: opened.promise, ask: () => Promise.reject(error) });
    const error = new Error('no session');
    const failed = rejection(presign(source(), parts).next());
    await settled();
    opened.reject(error);
    expect(await failed).to.equal(error);
    late.resolve();
  });

  it('of the next batch are requested while the last one is being sent', async () => {
    const { parts, sizes } = setUpPresigning({ batch: { max: 2 } });
    const result = presign(stream(chunks(30)), parts);
    await result.next();
    await settled();
    // Only the first chunk was taken from `result`; the next batch was requested meanwhile.
    expect(sizes()).to.deep.equal([2, 2]);
    await result.return();
  });

  it('are requested for the chunks hashed so far if all others were taken, and not before', async () => {
    const late = deferred();
    async function* source(): AsyncGenerator<HashedChunk, void, undefined> {
      yield* chunks(5);
      await late.promise;
      yield* chunks(6).slice(5);
    }
    const { parts, sizes } = setUpPresigning({ batch: { max: 4 } });
    const result = presign(source(), parts);
    for (let count = 0; count < 4; count += 1) await result.next();
    await settled();
    expect(sizes()).to.deep.equal([4]);
    expect((await result.next()).value).to.include({ index: 4 });
    expect(sizes()).to.deep.equal([4, 1]);
    late.resolve();
    await collect(result);
    expect(sizes()).to.deep.equal([4, 1, 1]);
  });

  it('are requested in small batches if many bytes wait and the line is faster than 32 MB/s', async () => {
    for (const [bytesPerSecond, expected] of [
      [1e9, [2, 2, 2, 2, 2]],
      [32e6 + 1, [2, 2, 2, 2, 2]],
      [32e6, [10]],
    ] as const) {
      const { parts, sizes } = setUpPresigning({
        batch: { max: 64 },
        eagerBytes: 2 * KIB64,
        bytesPerSecond: () => bytesPerSecond,
      });
      await collect(presign(stream(chunks(10)), parts));
      expect(sizes(), `${bytesPerSecond}`).to.deep.equal(expected);
    }
  });

  it('are requested in small batches before anything was sent, since the line may be fast', async () => {
    for (const rate of [0, undefined]) {
      const { parts, sizes } = setUpPresigning({ bytesPerSecond: () => rate, eagerBytes: 8 * KIB64 });
      await collect(presign(stream(chunks(15)), parts));
      expect(sizes()).to.deep.equal([8, 7]);
    }
  });

  it('are limited to what can be sent in half their lifetime: the given one, or five minutes', async () => {
    // At 10 kB/s, half of five minutes is enough for 1.5 MB, and half of one minute for 0.3 MB.
    const bytesPerSecond = (): number => 10_000;
    const largest = async (lifeMs: number | undefined): Promise<number> => {
      const { lives, parts, sizes } = setUpPresigning({ bytesPerSecond, batch: { max: 64 } });
      lives.ms = lifeMs;
      expect(await collect(presign(stream(chunks(200)), parts))).to.have.length(200);
      // The lifetime is known after the first response.
      return Math.max(...sizes().slice(1));
    };
    expect(await largest(undefined)).to.equal(23);
    expect(await largest(60_000)).to.equal(5);
    expect(await largest(3_600_000)).to.equal(64);
  });
});

describe('an expiring ticket', () => {
  const upload = (life: { receivedAtMs?: number; expiresAtMs?: number }) => ({
    receipt: 'r',
    upload: { url: 'https://store.test/', method: 'PUT' as const, headers: {}, ...life },
  });

  it('is stale with less than 30 s left, or less than a fifth of its life', () => {
    const now = 1_000_000;
    expect(isStale(upload({ receivedAtMs: 0, expiresAtMs: now + 30_000 }), now)).to.equal(false);
    expect(isStale(upload({ receivedAtMs: 0, expiresAtMs: now + 29_999 }), now)).to.equal(true);
    expect(isStale(upload({ receivedAtMs: now - 8000, expiresAtMs: now + 2000 }), now)).to.equal(false);
    expect(isStale(upload({ receivedAtMs: now - 8001, expiresAtMs: now + 1999 }), now)).to.equal(true);
    expect(isStale(upload({}), now)).to.equal(false);
    expect(isStale({ receipt: 'stored already' }, now)).to.equal(false);
    expect(isStale(undefined, now)).to.equal(false);
  });

  it('is requested again together with the rest of its batch, in one call', async () => {
    const { asked, lives, parts } = setUpPresigning({ batch: { max: 5 } });
    lives.ms = -1;
    const { ask } = parts;
    const onceOutOfDate: PresignParts = {
      ...parts,
      ask: (wanted) => {
        const answer = ask(wanted);
        lives.ms = 60_000;
        return answer;
      },
    };
    const got: TicketedChunk[] = await collect(presign(stream(chunks(5)), onceOutOfDate));
    expect(asked.map(({ length }) => length)).to.deep.equal([5, 5]);
    expect(got.map(({ ticket }) => ticket?.receipt)).to.deep.equal(
      chunks(5).map(({ hash }) => `receipt of ${hash}, 2`),
    );
  });

  it('is requested again in one call with its waiting batch, not one by one, also the second time', async () => {
    const { asked, lives, parts } = setUpPresigning({ batch: { max: 6 } });
    lives.ms = -1;
    const result = presign(stream(chunks(6)), parts);
    await result.next();
    await result.next();
    await result.next();
    // Every ticket has expired before it is used. Each chunk that is taken causes one call, which renews the tickets of all
    // waiting chunks.
    expect(asked.map(({ length }) => length)).to.deep.equal([6, 6, 5, 4]);
    lives.ms = 60_000;
    expect(await collect(result)).to.have.length(3);
    expect(asked.map(({ length }) => length)).to.deep.equal([6, 6, 5, 4, 3]);
  });
});

it('a chunk without a ticket in the response is an error that identifies it', async () => {
  const { parts } = setUpPresigning({ ask: async () => new Map() });
  const error = await rejection<UploaderError>(collect(presign(stream(chunks(1)), parts)));
  expect(error).to.include({ code: 'bad-response', chunkIndex: 0 });
});
