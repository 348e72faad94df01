// PUTs that fail: which of them are retried, and what continues meanwhile.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { Host } from '../../src/core/host.ts';
import type { Put, TicketedChunk } from '../../src/core/types.ts';
import { type UploadParts, upload } from '../../src/pipeline/upload.ts';
import { sha256 } from '../support/bytes.ts';
import { stopClock } from '../support/clock.ts';
import { collect, rejection, settled, streamOf, until } from '../support/collect.ts';
import { networkError, setUpSending } from '../support/running.ts';
import { ScriptedService } from '../support/scripted-service.ts';

describe('a PUT that fails', () => {
  it('is retried with a fresh ticket, and its progress restarts', async () => {
    const { parts, renewed, service, ticketed, reported } = await setUpSending([1]);
    const sending = collect(upload(streamOf(await ticketed()), parts));
    const first = await service.nextRequest('put');
    first.tell(400);
    first.refuse(networkError());
    const second = await service.nextRequest('put');
    expect(second.upload.url).not.to.equal(first.upload.url);
    second.answer();
    const [stored] = await sending;
    expect(renewed).to.deep.equal([0]);
    expect(stored?.receipt).to.equal('receipt-2');
    expect(reported).to.deep.equal([
      'put 0',
      'sent 400 of 0',
      'sent 0 of 0',
      'wait',
      'put 0',
      'sent 1000 of 0',
    ]);
  });

  it('is retried as often as the policy allows, then fails the file with its error', async () => {
    const { slots, pagePool, parts, service, ticketed } = await setUpSending([1]);
    const sending = rejection<UploaderError>(collect(upload(streamOf(await ticketed()), parts)));
    for (let attempt = 0; attempt < 4; attempt += 1)
      (await service.nextRequest('put')).refuse(networkError());
    expect((await sending).code).to.equal('network');
    expect(service.puts).to.have.length(4);
    expect(slots.taken).to.equal(0);
    parts.budget.releaseAll();
    expect(pagePool.freeBytes).to.equal(1e6);
  });

  it('releases its slot while it waits', async () => {
    const { slots, parts, service, ticketed } = await setUpSending([1, 2, 3], {
      policy: { attempts: 4, baseMs: 1e9, capMs: 1e9 },
    });
    const sending = collect(upload(streamOf(await ticketed()), parts));
    sending.catch(() => undefined);
    (await service.nextRequest('put')).refuse(networkError());
    await service.nextRequest('put');
    await service.nextRequest('put');
    expect(slots.taken).to.equal(2);
    expect(service.putCount).to.equal(2);
  });

  it('keeps nothing in memory while it waits: the bytes are read again, and must be the same', async () => {
    const { parts, service, ticketed, reads } = await setUpSending([1]);
    const sending = collect(upload(streamOf(await ticketed()), parts));
    (await service.nextRequest('put')).refuse(networkError());
    (await service.nextRequest('put')).answer();
    await sending;
    expect(reads).to.have.length(1);
  });

  it('is sent from memory if Android cannot send a slice of the file, and so are the others', async () => {
    const { parts, ticketed } = await setUpSending([1, 2, 3, 4]);
    const { hashSlice: copySlice } = parts;
    const slices = new WeakSet<Blob>();
    const hashSlice: UploadParts['hashSlice'] = async (slice) => {
      slices.add(slice);
      return { hash: await sha256(slice), body: slice };
    };
    const sent: string[] = [];
    const put: Put = async (_upload, body, { isUnsure }) => {
      sent.push(`${slices.has(body) ? 'slice' : 'copy'}${isUnsure ? '?' : ''}`);
      if (slices.has(body)) throw networkError();
    };
    const stored = await collect(
      upload(streamOf(await ticketed(false)), { ...parts, copySlice, hashSlice, put }),
    );
    expect(stored).to.have.length(4);
    // Two slots: the second chunk may be sent as a slice before the first one has failed.
    const sliceCount = sent.lastIndexOf('slice?') + 1;
    expect(sliceCount).to.be.within(1, 2);
    expect(sent.slice(sliceCount)).to.deep.equal(['copy', 'copy', 'copy', 'copy']);
  });

  it('does not fail all chunks of a file in turn while the storage is down', async () => {
    const seeds = Array.from({ length: 60 }, (_, at) => at);
    const { parts, service, ticketed } = await setUpSending(seeds, {
      policy: { attempts: 8, baseMs: 1e9, capMs: 1e9 },
    });
    const put: UploadParts['put'] = async (...given) => {
      service.put(...given).catch(() => undefined);
      throw networkError();
    };
    const sending = collect(upload(streamOf(await ticketed()), { ...parts, put }));
    sending.catch(() => undefined);
    await until(() => service.puts.length >= 2);
    for (let round = 0; round < 100; round += 1) await settled();
    expect(service.puts.length).to.equal(2);
  });

  it('returns the unused part of its bandwidth, once', async () => {
    const given: number[] = [];
    const { controller, parts, service, ticketed } = await setUpSending([1], {
      policy: { attempts: 4, baseMs: 1e9, capMs: 1e9 },
      waitForBandwidth: async () => (unsentBytes) => given.push(unsentBytes),
    });
    const sending = rejection(collect(upload(streamOf(await ticketed()), parts)));
    const first = await service.nextRequest('put');
    first.tell(400);
    first.refuse(networkError());
    await until(() => given.length > 0);
    controller.abort('paused');
    await sending;
    expect(given).to.deep.equal([600, 0]);
  });

  it('for a reason that no retry can fix fails the file, and aborts its other requests', async () => {
    const { controller, slots, parts, service, ticketed } = await setUpSending([1, 2, 3, 4]);
    const sending = rejection<UploaderError>(collect(upload(streamOf(await ticketed()), parts)));
    const first = await service.nextRequest('put');
    const second = await service.nextRequest('put');
    first.refuse(new UploaderError('forbidden', 'no'));
    expect((await sending).code).to.equal('forbidden');
    expect(controller.signal.aborted).to.equal(true);
    expect(second.signal.aborted).to.equal(true);
    expect(service.puts).to.have.length(2);
    expect(slots.taken).to.equal(0);
  });

  it('fails the file immediately, even while tickets for later chunks are requested', async () => {
    const { controller, parts, service, ticketed } = await setUpSending([1]);
    const [chunk] = await ticketed();
    async function* source(): AsyncGenerator<TicketedChunk, void, undefined> {
      yield chunk as TicketedChunk;
      await new Promise((_, reject) => {
        controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
      });
    }
    const sending = rejection<UploaderError>(collect(upload(source(), parts)));
    (await service.nextRequest('put')).refuse(new UploaderError('forbidden', 'no'));
    expect((await sending).code).to.equal('forbidden');
  });

  it('delays all requests to that storage if it responds with Retry-After', async () => {
    const clock = stopClock();
    try {
      const host = new Host();
      const { backoff } = host;
      const service = new ScriptedService();
      const begunMs: number[] = [];
      const put: Put = (...given) => {
        begunMs.push(performance.now());
        return service.put(...given);
      };
      const { parts, ticketed } = await setUpSending([1, 2, 3], { hostOf: () => host, put, service });
      const sending = collect(upload(streamOf(await ticketed()), parts));
      const first = await service.nextRequest('put');
      const second = await service.nextRequest('put');
      first.refuse(new UploaderError('rate-limited', 'slow down', { status: 503, retryAfterMs: 50 }));
      await until(() => backoff.remainingMs > 0);
      service.answerAll();
      second.answer();
      await clock.pass(49);
      await clock.pass(1);
      // The policy retries without a delay, but with timers.
      while (begunMs.length < 4) await clock.pass(0);
      expect(await sending).to.have.length(3);
      expect(begunMs).to.deep.equal([0, 0, 50, 50]);
    } finally {
      clock.restore();
    }
  });

  it('is not repeated before the last millisecond of the Retry-After has passed', async () => {
    const clock = stopClock();
    try {
      const host = new Host();
      const { backoff } = host;
      const { parts, service, ticketed } = await setUpSending([1], { hostOf: () => host });
      backoff.backOff(1);
      const sending = collect(upload(streamOf(await ticketed()), parts));
      await until(() => clock.timerCount > 0);
      expect(service.puts).to.deep.equal([]);
      await clock.pass(1);
      (await service.nextRequest('put')).answer();
      expect(await sending).to.have.length(1);
    } finally {
      clock.restore();
    }
  });

  it('does not block chunks for another storage, or their slots, during the Retry-After of one', async () => {
    const { parts, service, ticketed } = await setUpSending([1, 2, 3, 4, 5, 6, 7, 8]);
    const chunks = (await ticketed()).map((chunk) => {
      const upload = chunk.ticket?.upload;
      if (!chunk.ticket || !upload || chunk.index < 4) return chunk;
      const url = upload.url.replace('store.test', 'other.test');
      return { ...chunk, ticket: { ...chunk.ticket, upload: { ...upload, url } } };
    });
    const sending = collect(upload(streamOf(chunks), parts));
    sending.catch(() => undefined);
    const [first, second] = [await service.nextRequest('put'), await service.nextRequest('put')];
    const patience = { status: 429, retryAfterMs: 1e9 };
    first.refuse(new UploaderError('rate-limited', 'slow down', patience));
    second.refuse(new UploaderError('rate-limited', 'slow down', patience));
    service.answerAll();
    await until(() => service.stored.size === 4);
    const asked = new Set(service.puts);
    expect(chunks.filter(({ hash }) => asked.has(hash)).map(({ index }) => index)).to.deep.equal([
      0, 1, 4, 5, 6, 7,
    ]);
  });

  it('pulls only a few chunks from the previous stage during the Retry-After of their storage', async () => {
    const seeds = Array.from({ length: 60 }, (_, at) => at);
    const { parts, service, ticketed } = await setUpSending(seeds);
    let takenCount = 0;
    async function* source(): AsyncGenerator<TicketedChunk, void, undefined> {
      for await (const chunk of streamOf(await ticketed())) {
        takenCount += 1;
        yield chunk;
      }
    }
    const sending = collect(upload(source(), parts));
    sending.catch(() => undefined);
    const patience = { status: 429, retryAfterMs: 1e9 };
    (await service.nextRequest('put')).refuse(new UploaderError('rate-limited', 'slow down', patience));
    for (let round = 0; round < 100; round += 1) await settled();
    expect(takenCount).to.be.at.most(10);
  });

  it('waits as its response says if the network changed during the PUT, but did not end it', async () => {
    let change = new AbortController();
    const { controller, parts, service, reported, ticketed } = await setUpSending([1], {
      policy: { attempts: 3, baseMs: 1e9, capMs: 1e9 },
      connectionChange: () => change.signal,
      put: async () => {
        const aborted = change;
        change = new AbortController();
        aborted.abort();
        putCount += 1;
        throw new UploaderError('rate-limited', 'slow down', { status: 429, retryAfterMs: 1e9 });
      },
    });
    let putCount = 0;
    const sending = rejection(collect(upload(streamOf(await ticketed()), parts)));
    await until(() => reported.includes('wait'));
    expect([putCount, service.puts]).to.deep.equal([1, []]);
    controller.abort('enough');
    await sending;
  });

  it('is retried immediately, with a fresh ticket and no attempt counted, when the network changes', async () => {
    let change = new AbortController();
    const { parts, renewed, service, reported, ticketed } = await setUpSending([1], {
      policy: { attempts: 1, baseMs: 1e9, capMs: 1e9 },
      connectionChange: () => change.signal,
    });
    const sending = collect(upload(streamOf(await ticketed()), parts));
    const first = await service.nextRequest('put');
    const before = change;
    change = new AbortController();
    before.abort();
    expect(first.signal.aborted).to.equal(true);
    (await service.nextRequest('put')).answer();
    expect(await sending).to.have.length(1);
    expect(renewed).to.deep.equal([0]);
    expect(reported).not.to.include('wait');
  });
});
