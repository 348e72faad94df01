// Sending chunks: slots, equal chunks, tickets and memory. Each test sets the responses of the service.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import type { HashSlice, StoredChunk, Ticket } from '../../src/core/types.ts';
import { ConnectionMonitor } from '../../src/engine/transfer/connection-monitor.ts';
import { upload } from '../../src/pipeline/upload.ts';
import { bytesOf } from '../support/bytes.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { collect, deferred, rejection, settled, streamOf, until } from '../support/collect.ts';
import { CHUNK_BYTES, networkError, setUpSending } from '../support/running.ts';

const indexes = (chunks: readonly StoredChunk[]): number[] =>
  chunks.map(({ index }) => index).sort((a, b) => a - b);

describe('chunks', () => {
  it('are sent to the URLs of their tickets, and leave with their receipts and without their bytes', async () => {
    const { parts, service, ticketed } = await setUpSending([1, 2, 3]);
    service.answerAll();
    const chunks = await ticketed();
    const stored = await collect(upload(streamOf(chunks), parts));
    expect(indexes(stored)).to.deep.equal([0, 1, 2]);
    for (const chunk of stored) {
      expect(chunk.receipt).to.equal(chunks[chunk.index]?.ticket?.receipt);
      expect(chunk).not.to.have.any.keys('body', 'ticket', 'skipped');
    }
    expect(service.puts).to.have.members(chunks.map(({ hash }) => hash));
  });

  it('never use more slots than there are', async () => {
    const { slots, parts, service, ticketed } = await setUpSending([1, 2, 3, 4, 5, 6, 7]);
    const sending = collect(upload(streamOf(await ticketed()), parts));
    for (let sent = 0; sent < 7; sent += 1) {
      const request = await service.nextRequest('put');
      await settled();
      expect(service.putCount).to.be.at.most(2);
      request.answer();
    }
    expect(await sending).to.have.length(7);
    expect(slots.mostTaken).to.equal(2);
    expect(slots.taken).to.equal(0);
  });

  it('that the service already has use neither slot nor PUT (U4)', async () => {
    const { slots, parts, service, ticketed } = await setUpSending([1, 2]);
    for (const { hash } of await ticketed()) service.stored.add(hash);
    const stored = await collect(upload(streamOf(await ticketed()), parts));
    expect(stored.every(({ skipped }) => skipped)).to.equal(true);
    expect(service.puts).to.deep.equal([]);
    expect(slots.mostTaken).to.equal(0);
  });

  it('that are equal within a file are sent once, and the receipt is set in both positions (U14)', async () => {
    const { parts, service, ticketed } = await setUpSending([1, 1, 1, 2]);
    service.answerAll();
    const stored = await collect(upload(streamOf(await ticketed()), parts));
    expect(indexes(stored)).to.deep.equal([0, 1, 2, 3]);
    expect(service.puts).to.have.length(2);
    const equal = stored.filter(({ index }) => index < 3);
    expect(new Set(equal.map(({ receipt }) => receipt)).size).to.equal(1);
    expect(equal.filter(({ skipped }) => skipped)).to.have.length(2);
  });
});

describe('a ticket that expires while its chunk waits', () => {
  const later = async (clock: Clock, ms: number): Promise<void> => {
    for (let round = 0; round < 10; round += 1) await clock.pass(0);
    await clock.pass(ms);
  };

  for (const name of ['for its share of what the page allows', 'for a storage in Retry-After'] as const)
    it(`${name} is replaced before anything is sent`, async () => {
      const clock = stopClock();
      const { parts, renewed, service, ticketed } = await setUpSending([1]);
      const line = new ConnectionMonitor(name.startsWith('for its share') ? 1 : Number.POSITIVE_INFINITY);
      try {
        service.ticketLifeMs = 60_000;
        service.answerAll();
        await line.waitForBandwidth(61, parts.signal);
        if (name.startsWith('for a storage')) parts.hostOf('https://store.test').backoff.backOff(61_000);
        const waitForBandwidth = line.waitForBandwidth.bind(line);
        const sending = collect(upload(streamOf(await ticketed()), { ...parts, waitForBandwidth }));
        await later(clock, 61_000);
        expect(await sending).to.have.length(1);
        expect(renewed).to.deep.equal([0]);
        expect(service.puts).to.have.length(1);
      } finally {
        line.close();
        clock.restore();
      }
    });
});

describe('a slot', () => {
  it('is free for others if a new ticket takes longer than a second', async () => {
    const clock = stopClock();
    const waiting = deferred<Ticket>();
    const { parts, service, slots, ticketed } = await setUpSending([1], { renew: () => waiting.promise });
    try {
      service.ticketLifeMs = 60_000;
      service.answerAll();
      const [chunk] = await ticketed();
      if (!chunk) throw new Error('a chunk');
      parts.hostOf('https://store.test').backoff.backOff(61_000);
      const sending = collect(upload(streamOf([chunk]), parts));
      for (let round = 0; round < 10; round += 1) await clock.pass(0);
      await clock.pass(61_000);
      await clock.pass(999);
      expect(slots.taken).to.equal(1);
      await clock.pass(1);
      expect([slots.mostTaken, slots.taken]).to.deep.equal([1, 0]);
      waiting.resolve({ receipt: 'r' });
      expect(await sending).to.have.length(1);
    } finally {
      clock.restore();
    }
  });
});

describe('the ticket of a chunk', () => {
  it('that expired while the chunk waited is renewed before use', async () => {
    const { parts, renewed, service, ticketed } = await setUpSending([1]);
    service.ticketLifeMs = -1;
    const chunks = await ticketed();
    service.ticketLifeMs = 60_000;
    service.answerAll();
    await collect(upload(streamOf(chunks), parts));
    expect(renewed).to.deep.equal([0]);
    expect(service.puts).to.have.length(1);
  });

  it('may turn out not to be needed: the service has the bytes by now', async () => {
    const { budget, pagePool, parts, service, ticketed } = await setUpSending([1, 2]);
    const chunks = await ticketed();
    expect(budget.reserve(5000)).to.equal(true);
    const sending = collect(upload(streamOf(chunks), parts));
    const first = await service.nextRequest('put');
    const second = await service.nextRequest('put');
    const freeBytes = pagePool.freeBytes;
    service.stored.add(first.hash);
    first.refuse(networkError());
    second.answer();
    const stored = await sending;
    expect(stored.find(({ hash }) => hash === first.hash)?.skipped).to.equal(true);
    expect(pagePool.freeBytes).to.equal(freeBytes);
    expect(pagePool.freeBytes).to.equal(1e6 - 5000);
  });
});

describe('memory', () => {
  it('of a chunk belongs to its slot from the first byte on, and to the budget before', async () => {
    const { pagePool, parts, service, ticketed } = await setUpSending([1, 2, 3, 4]);
    const sending = collect(upload(streamOf(await ticketed()), parts));
    await service.nextRequest('put');
    const second = await service.nextRequest('put');
    await settled();
    expect(pagePool.freeBytes).to.equal(1e6 - 2 * CHUNK_BYTES);
    second.answer();
    await service.nextRequest('put');
    expect(pagePool.freeBytes).to.equal(1e6 - CHUNK_BYTES);
    parts.budget.releaseAll();
    sending.catch(() => undefined);
  });

  it('is released once, also for chunks that did not have to be sent', async () => {
    const { budget, pagePool, parts, service, ticketed } = await setUpSending([1, 1, 2]);
    const chunks = await ticketed();
    expect(budget.reserve(5000)).to.equal(true);
    service.answerAll();
    await collect(upload(streamOf(chunks), parts));
    expect(pagePool.freeBytes).to.equal(1e6 - 5000);
  });

  it('of a chunk that was hashed far ahead is read before it is sent, and a changed file is detected', async () => {
    const { parts, service, ticketed, reads } = await setUpSending([1]);
    service.answerAll();
    await collect(upload(streamOf(await ticketed(false)), parts));
    expect(reads).to.have.length(1);
    const changed = { ...parts, receipts: new Map(), file: new Blob([bytesOf(2, CHUNK_BYTES)]) };
    service.stored.clear();
    const error = await rejection<UploaderError>(collect(upload(streamOf(await ticketed(false)), changed)));
    expect(error).to.include({ code: 'file-changed', chunkIndex: 0 });
  });
});

describe('a chunk whose bytes do not arrive when it is read again', () => {
  it('leaves its slot after a second, and takes one again when they arrive', async () => {
    const clock = stopClock();
    try {
      const arrived = deferred<void>();
      const { parts, service, slots, ticketed } = await setUpSending([1, 2, 3]);
      const [first, ...others] = await ticketed();
      if (!first) throw new Error('a chunk');
      const { body: _body, ...unread } = first;
      const hashSlice: HashSlice = async (...given) => {
        await arrived.promise;
        return parts.hashSlice(...given);
      };
      service.answerAll();
      const sending = collect(upload(streamOf([unread, ...others]), { ...parts, hashSlice }));
      await until(() => service.stored.size === 2);
      expect(slots.taken).to.equal(1);
      await clock.pass(999);
      expect(slots.taken).to.equal(1);
      await clock.pass(1);
      expect(slots.taken).to.equal(0);
      arrived.resolve();
      expect(await sending).to.have.length(3);
      expect(service.stored.size).to.equal(3);
      expect(slots.taken).to.equal(0);
      expect(clock.timerCount).to.equal(0);
    } finally {
      clock.restore();
    }
  });
});

describe('a copy that the browser has to send instead of a slice', () => {
  it('is made once, also if that takes longer than the chunk keeps its slot', async () => {
    const clock = stopClock();
    try {
      const { parts, service, slots, ticketed } = await setUpSending([1]);
      let copyCount = 0;
      const arrivals = [deferred<void>(), deferred<void>()];
      const copySlice: HashSlice = async (...given) => {
        copyCount += 1;
        await arrivals[copyCount - 1]?.promise;
        return parts.hashSlice(...given);
      };
      const sending = collect(upload(streamOf(await ticketed()), { ...parts, copySlice }));
      (await service.nextRequest('put')).refuse(networkError());
      await until(async () => {
        await clock.pass(0);
        return copyCount === 1;
      });
      await clock.pass(1000);
      expect(slots.taken).to.equal(0);
      arrivals[0]?.resolve();
      await until(() => service.waiting('put').length === 1 || copyCount > 1);
      expect(copyCount).to.equal(1);
      (await service.nextRequest('put')).answer();
      expect(await sending).to.have.length(1);
    } finally {
      clock.restore();
    }
  });
});

describe('an abort', () => {
  it('ends every PUT, releases every slot, and rejects with its reason', async () => {
    const { controller, slots, parts, service, ticketed } = await setUpSending([1, 2, 3]);
    const sending = rejection(collect(upload(streamOf(await ticketed()), parts)));
    const requests = [await service.nextRequest('put'), await service.nextRequest('put')];
    controller.abort('paused');
    expect(await sending).to.equal('paused');
    expect(requests.every(({ signal }) => signal.aborted)).to.equal(true);
    expect(slots.taken).to.equal(0);
  });

  it('directly after a slot was granted starts no PUT', async () => {
    const { controller, parts, service, ticketed, reported } = await setUpSending([1, 2, 3]);
    const sending = (async () => {
      for await (const _ of upload(streamOf(await ticketed()), parts)) controller.abort('paused');
    })();
    sending.catch(() => undefined);
    const first = await service.nextRequest('put');
    await service.nextRequest('put');
    first.answer();
    expect(await rejection(sending)).to.equal('paused');
    expect(reported.filter((line) => line.startsWith('put'))).to.have.length.at.most(3);
    expect(service.waiting('put')).to.deep.equal([]);
  });
});
