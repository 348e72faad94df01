// PUTs during an outage of the storage: how often they are sent, and how they continue.

import { expect } from '@open-wc/testing';
import { Host } from '../../src/core/host.ts';
import type { Put, Ticket } from '../../src/core/types.ts';
import { type UploadParts, upload } from '../../src/pipeline/upload.ts';
import { stopClock } from '../support/clock.ts';
import { collect, deferred, rejection, settled, streamOf, until } from '../support/collect.ts';
import { networkError, setUpSending } from '../support/running.ts';

describe('a PUT that fails', () => {
  it('in a long outage gets a new ticket in its turn, so that each turn sends a request', async () => {
    const clock = stopClock();
    try {
      let putCount = 0;
      const { controller, parts, renewed, service, ticketed } = await setUpSending([1, 2, 3, 4, 5, 6, 7, 8], {
        policy: {},
        put: async () => {
          putCount += 1;
          throw networkError();
        },
      });
      service.ticketLifeMs = 60_000;
      const passTenMinutes = async (): Promise<void> => {
        for (let second = 0; second < 600; second += 1) {
          await clock.pass(1000);
          // Chunks are read and hashed in real time.
          for (let task = 0; task < 5; task += 1) await settled();
        }
      };
      const sending = rejection(collect(upload(streamOf(await ticketed()), parts)));
      await passTenMinutes();
      const [putsBefore, renewedBefore] = [putCount, renewed.length];
      await passTenMinutes();
      // Gaps of 7.5 to 10 s, rounded up to the seconds of the clock, or one more.
      expect(putCount - putsBefore).to.be.within(54, 75);
      // On a busy machine, a ticket may expire while its chunk is read.
      const ticketCount = renewed.length - renewedBefore;
      expect(ticketCount - (putCount - putsBefore)).to.be.within(-1, 5);
      controller.abort('enough');
      await sending;
    } finally {
      clock.restore();
    }
  });

  it('in an outage of PUTs alone is sent as rarely if the service, which answers, has the same origin', async () => {
    const clock = stopClock();
    try {
      const host = new Host();
      const puts: number[] = [];
      const halved: number[] = [];
      const urls = new Set<string>();
      const { controller, parts, ticketed } = await setUpSending([1, 2, 3, 4, 5, 6, 7, 8], {
        policy: {},
        hostOf: () => host,
        slowDown: (_host, attempts) => halved.push(attempts),
        put: async ({ url }) => {
          puts.push(performance.now());
          urls.add(url.split('?')[0] ?? '');
          throw networkError();
        },
      });
      const renew: UploadParts['renew'] = async (chunk) => {
        const ticket = await parts.renew(chunk);
        host.backoff.onSuccess();
        return ticket;
      };
      const sending = rejection(collect(upload(streamOf(await ticketed()), { ...parts, renew })));
      for (let step = 0; step < 1800; step += 1) {
        await clock.pass(100);
        for (let task = 0; task < 5; task += 1) await settled();
      }
      const late = puts.filter((ms) => ms > 60_000);
      for (const [at, ms] of late.slice(1).entries()) expect(ms - (late[at] ?? 0)).to.be.at.least(7500);
      expect(puts.length - late.length).to.be.within(30, 50);
      // Once for each PUT that is not the first one of its chunk, although it also passes over other chunks.
      expect(halved).to.have.length(puts.length - urls.size);
      controller.abort('enough');
      await sending;
    } finally {
      clock.restore();
    }
  });

  it('gets its new ticket while it waits for a slot, and its slot in the order of the chunks', async () => {
    const clock = stopClock();
    try {
      const tickets = new Map<number, ReturnType<typeof deferred<Ticket>>>();
      const { controller, parts, service, slots, ticketed } = await setUpSending([1, 2, 3, 4, 5], {
        policy: {},
      });
      const chunks = await ticketed();
      let isDown = true;
      const failed = new Set<number>();
      const begun = new Set<number>();
      const put: Put = async (...given) => {
        const index = chunks.findIndex(({ hash }) => given[0].url.includes(hash));
        (isDown ? failed : begun).add(index);
        if (isDown) throw networkError();
        return service.put(...given);
      };
      const renew: UploadParts['renew'] = (chunk) => {
        if (isDown) return parts.renew(chunk);
        const ticket = deferred<Ticket>();
        tickets.set(chunk.index, ticket);
        return ticket.promise;
      };
      const hand = (index: number): void => {
        const { hash = '' } = chunks[index] ?? {};
        tickets.get(index)?.resolve(service.tickets([hash]).get(hash) as Ticket);
      };
      const host = new Host();
      let waitingCount = 0;
      const wait = host.putBackoff.wait.bind(host.putBackoff);
      host.putBackoff.wait = (...given) => {
        waitingCount += 1;
        return wait(...given).finally(() => {
          waitingCount -= 1;
        });
      };
      const sending = collect(upload(streamOf(chunks), { ...parts, put, renew, hostOf: () => host }));
      sending.catch(() => undefined);
      while (failed.size < 5) {
        for (let task = 0; task < 5; task += 1) await settled();
        await clock.pass(500);
      }
      await clock.pass(5000);
      // The last one that had a turn reads its bytes in real time. After the outage, its failure would begin another one.
      await until(() => waitingCount === 5);
      isDown = false;
      // Each success ends two waits.
      await until(() => {
        host.putBackoff.onSuccess();
        return tickets.size === 5;
      });
      expect(slots.taken).to.equal(2);
      for (const index of [4, 3, 2, 0]) hand(index);
      await until(() => begun.size === 1);
      hand(1);
      await until(() => begun.size === 2);
      service.answerAll();
      expect(await sending).to.have.length(5);
      expect([...begun]).to.deep.equal([0, 1, 2, 3, 4]);
      expect([slots.taken, controller.signal.aborted]).to.deep.equal([0, false]);
    } finally {
      clock.restore();
    }
  });

  it('and gets no new ticket keeps no other chunk from being sent', async () => {
    const clock = stopClock();
    try {
      const { parts, service, ticketed } = await setUpSending(
        Array.from({ length: 30 }, (_, seed) => seed),
        { policy: {} },
      );
      const ticket = deferred<Ticket>();
      const chunks = await ticketed();
      let putCount = 0;
      const stored: number[] = [];
      const host = new Host();
      const put: Put = async () => {
        putCount += 1;
        if (putCount <= 6) throw networkError();
        host.putBackoff.onSuccess();
      };
      const sending = upload(streamOf(chunks), {
        ...parts,
        put,
        renew: async () => ticket.promise,
        hostOf: () => host,
      });
      const all = (async () => {
        for await (const { index } of sending) stored.push(index);
      })();
      for (let step = 0; step < 60; step += 1) {
        await clock.pass(500);
        for (let task = 0; task < 5; task += 1) await settled();
      }
      expect([putCount, stored.length]).to.deep.equal([30, 24]);
      const [{ hash } = { hash: '' }] = chunks;
      ticket.resolve(service.tickets([hash]).get(hash) as Ticket);
      await all;
      expect(stored).to.have.length(30);
    } finally {
      clock.restore();
    }
  });

  it('in an outage keeps no turn while it waits for a ticket, and then takes another one', async () => {
    const clock = stopClock();
    try {
      const ticket = deferred<Ticket>();
      const puts: { readonly index: number; readonly atMs: number }[] = [];
      const { controller, parts, service, ticketed } = await setUpSending([1, 2], { policy: {} });
      const chunks = await ticketed();
      const put: Put = async ({ url }) => {
        const index = chunks.findIndex(({ hash }) => url.includes(hash));
        puts.push({ index, atMs: performance.now() });
        throw networkError();
      };
      const { renew } = parts;
      const slowRenew: UploadParts['renew'] = (chunk) => (chunk.index === 0 ? ticket.promise : renew(chunk));
      const pass = async (seconds: number): Promise<void> => {
        for (let step = 0; step < seconds * 10; step += 1) {
          await clock.pass(100);
          for (let task = 0; task < 5; task += 1) await settled();
        }
      };
      const sending = rejection(collect(upload(streamOf(chunks), { ...parts, put, renew: slowRenew })));
      await pass(30);
      const countOf = (wanted: number): number => puts.filter(({ index }) => index === wanted).length;
      expect(countOf(0)).to.equal(1);
      expect(countOf(1)).to.be.at.least(12);
      const [{ hash } = { hash: '' }] = chunks;
      ticket.resolve(service.tickets([hash]).get(hash) as Ticket);
      await pass(15);
      expect(countOf(0)).to.be.at.least(2);
      const late = puts.filter(({ atMs }) => atMs > 10_000);
      for (const [at, { atMs }] of late.slice(1).entries())
        expect(atMs - (late[at]?.atMs ?? 0)).to.be.at.least(1500);
      controller.abort('enough');
      await sending;
    } finally {
      clock.restore();
    }
  });
});
