// An origin that is down: its requests take turns, and continue in the order of the list.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { Host } from '../../src/core/host.ts';
import type { HostBackoff } from '../../src/core/host-backoff.ts';
import { Retries, retrying } from '../../src/core/retries.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { settled } from '../support/collect.ts';

const forever = new AbortController().signal;
const network = (): UploaderError => new UploaderError('network', 'no line');

/** A request to an origin with this backoff. */
const requestTo = (backoff: HostBackoff): Retries => new Retries({ policy: {}, backoff, signal: forever });

describe('an origin that is down', () => {
  let clock: Clock;
  beforeEach(() => {
    clock = stopClock();
  });
  afterEach(() => clock.restore());

  /** Starts calls that fail with `error` until `mend()`. Returns the time of each call, in milliseconds. */
  async function startCalls(callCount: number, connectionChange = () => forever) {
    let isDown = true;
    const atMs: number[] = [];
    const call = async (): Promise<void> => {
      atMs.push(performance.now());
      if (isDown) throw network();
    };
    const end = new AbortController();
    const hooks = { policy: {}, backoff: new Host().backoff, signal: end.signal, connectionChange };
    const calls = Array.from({ length: callCount }, () => retrying(call, hooks).catch(() => undefined));
    const mend = (): void => {
      isDown = false;
    };
    await settled();
    return { atMs, calls, end, mend };
  }
  const passSeconds = async (seconds: number): Promise<void> => {
    for (let count = 0; count < seconds * 10; count += 1) await clock.pass(100);
  };
  const within = (atMs: readonly number[], fromMs: number, toMs: number): number =>
    atMs.filter((ms) => ms > fromMs && ms <= toMs).length;

  for (const callCount of [6, 60])
    it(`gets at most four requests in a second, and one in five seconds after a minute, from ${callCount} calls`, async () => {
      const { atMs, end } = await startCalls(callCount);
      await passSeconds(180);
      end.abort();
      expect(atMs.filter((ms) => ms === 0)).to.have.length(callCount);
      for (let ms = 0; ms < 60_000; ms += 250) expect(within(atMs, ms, ms + 1000)).to.be.at.most(4);
      for (let ms = 60_000; ms < 175_000; ms += 1000)
        expect(within(atMs, ms, ms + 5000), `after ${ms} ms`).to.be.at.most(1);
    });

  for (const callCount of [1, 3, 30])
    it(`is found within two seconds in the first 45 seconds, and later within ten, by ${callCount} calls`, async () => {
      const { atMs, end } = await startCalls(callCount);
      await passSeconds(600);
      end.abort();
      // The clock advances by 100 ms.
      for (const [at, ms] of atMs.entries()) {
        const gapMs = (atMs[at + 1] ?? 600_000) - ms;
        expect(gapMs, `after ${ms} ms`).to.be.at.most(ms < 45_000 ? 2100 : 10_100);
      }
    });

  /** Starts calls of uploads with these places in the list. `sent` has the places in the order of the calls. */
  function startInOrder(orders: readonly number[]) {
    const end = new AbortController();
    const backoff = new Host().backoff;
    const state = { isDown: true, sent: [] as number[] };
    const call = async (order: number): Promise<void> => {
      state.sent.push(order);
      if (state.isDown) throw network();
    };
    for (const order of orders)
      retrying(() => call(order), {
        policy: {},
        backoff,
        signal: end.signal,
        order: () => order,
      }).catch(() => undefined);
    return { backoff, end, state };
  }

  it('gets the requests in the order of the list: each one once, before the first one is repeated', async () => {
    const { end, state } = startInOrder([5, 3, 1, 4, 2]);
    await settled();
    await passSeconds(20);
    end.abort();
    expect(state.sent.slice(5, 15)).to.deep.equal([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
  });

  it('gets all of them in the order of the list after the outage', async () => {
    const orders = [5, 3, 1, 4, 2];
    const { end, state } = startInOrder(orders);
    await settled();
    await passSeconds(60);
    state.isDown = false;
    state.sent.length = 0;
    await passSeconds(11);
    end.abort();
    const [first, ...others] = state.sent;
    expect(others).to.deep.equal(orders.filter((order) => order !== first).sort());
  });

  it('gets a request first that has lost its turns because its preparation took longer than a gap', async () => {
    const backoff = new Host().backoff;
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
    const withOrder = (order: number): Retries =>
      new Retries({ policy: {}, backoff, signal: forever, order: () => order });
    const slow = withOrder(3);
    const quick = [withOrder(1), withOrder(2)];
    for (const request of quick) {
      await clock.pass(500);
      expect(slow.takeTurn()).to.equal(true);
      await clock.pass(500);
      expect([request.enter(), slow.enter()]).to.deep.equal([true, false]);
    }
    const given: string[] = [];
    for (const request of quick) void request.waitForTurn().then(() => given.push('quick'));
    void slow.waitForTurn().then(() => given.push('slow'));
    await clock.pass(1000);
    expect(given).to.deep.equal(['slow']);
  });

  it('gets the first request of the list first, whatever was sent in an outage before', async () => {
    const backoff = new Host().backoff;
    const [first, second] = [1, 2].map(
      (order) => new Retries({ policy: {}, backoff, signal: forever, order: () => order }),
    );
    if (!first || !second) throw new Error('two requests');
    const given: number[] = [];
    for (let outage = 0; outage < 2; outage += 1) {
      for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
      for (const request of [second, first]) void request.waitForTurn().then(() => given.push(request.order));
      await clock.pass(500);
      expect([first.enter(), given]).to.deep.equal([true, outage ? [1, 2, 1] : [1]]);
      backoff.onSuccess();
      await settled();
    }
  });

  it('reports to each upload once that its requests are passed over', async () => {
    const backoff = new Host().backoff;
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
    const told: number[] = [];
    for (const order of [1, 2, 2, 2, 3, 3])
      void new Retries({
        policy: {},
        backoff,
        signal: forever,
        order: () => order,
        onWait: () => told.push(order),
      }).waitForTurn();
    expect(told).to.deep.equal([1, 2, 2, 2, 3, 3]);
    told.length = 0;
    await clock.pass(500);
    expect(told).to.deep.equal([2, 3]);
  });

  for (const [policy, fromMs, toMs] of [
    [{ baseMs: 60_000, capMs: 60_000 }, 45_000, 60_000],
    [{ capMs: 120_000 }, 7500, 10_000],
    [{ capMs: 1000 }, 750, 1000],
  ] as const)
    it(`gets requests in gaps as the policy ${JSON.stringify(policy)} says`, async () => {
      const backoff = new Host().backoff;
      for (let count = 0; count < 2; count += 1) backoff.onFailure(network(), policy);
      await clock.pass(60_000);
      expect(requestTo(backoff).enter()).to.equal(true);
      expect(backoff.remainingMs).to.be.within(fromMs, toMs);
    });

  it('gets the next request after one gap if a turn is not used, and not the late one without a gap', async () => {
    const backoff = new Host().backoff;
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
    const [slow, quick] = [requestTo(backoff), requestTo(backoff)];
    await clock.pass(500);
    expect([slow.takeTurn(), quick.takeTurn()]).to.deep.equal([true, false]);
    await clock.pass(499);
    // It may still use its turn, and the gap begins when it does.
    expect([slow.enter(), quick.takeTurn()]).to.deep.equal([true, false]);
    await clock.pass(500);
    expect([slow.takeTurn(), quick.takeTurn()]).to.deep.equal([true, false]);
    await clock.pass(500);
    expect([quick.enter(), slow.enter()]).to.deep.equal([true, false]);
  });

  it('ends the long delay of a request that failed before', async () => {
    const backoff = new Host().backoff;
    let callCount = 0;
    const end = new AbortController();
    const call = async (): Promise<void> => {
      callCount += 1;
      throw network();
    };
    const policy = { capMs: 1e6, limitMs: Number.POSITIVE_INFINITY };
    retrying(call, { policy, backoff, signal: end.signal }).catch(() => undefined);
    for (let count = 1; count < 12; count += 1) {
      await clock.pass(1e6);
      backoff.onSuccess();
    }
    await settled();
    callCount = 0;
    backoff.onSuccess();
    backoff.onFailure(network());
    backoff.onFailure(network());
    await passSeconds(1);
    end.abort();
    expect(callCount).to.be.at.least(1);
  });

  it('is one that fails twice in succession: a request that fails alone delays no other', async () => {
    const backoff = new Host().backoff;
    for (let count = 0; count < 20; count += 1) {
      backoff.onFailure(network());
      expect(requestTo(backoff).enter()).to.equal(true);
      backoff.onSuccess();
    }
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
    expect(requestTo(backoff).enter()).to.equal(false);
    await clock.pass(500);
    expect([requestTo(backoff).enter(), requestTo(backoff).enter()]).to.deep.equal([true, false]);
  });

  it('that refuses requests, as a proxy may do in its place, gets them one at a time in the order of the list', async () => {
    const backoff = new Host().backoff;
    const failing = new AbortController();
    const failure = (): Promise<never> => Promise.reject(network());
    retrying(failure, { policy: {}, backoff, signal: failing.signal }).catch(() => undefined);
    // The gaps are long by now.
    await passSeconds(100);
    failing.abort();
    await clock.pass(10_000);
    expect(requestTo(backoff).enter()).to.equal(true);
    const refused: { readonly order: number; readonly atMs: number }[] = [];
    const beganMs = performance.now();
    for (const order of [7, 3, 8, 1, 2, 4, 6, 5]) {
      const refusal = async (): Promise<never> => {
        refused.push({ order, atMs: performance.now() - beganMs });
        throw new UploaderError('forbidden', 'no', { status: 403 });
      };
      retrying(refusal, { policy: {}, backoff, signal: forever, order: () => order }).catch(() => undefined);
    }
    await passSeconds(18);
    expect(refused.map(({ order }) => order)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
    const [first, ...others] = refused.map(({ atMs }) => atMs);
    expect(first).to.be.within(7500, 10_000);
    // The clock advances by 100 ms. A gap is a third of the time since the first refusal, and 500 ms at least.
    for (const [at, ms] of others.entries()) {
      const beforeMs = refused[at]?.atMs ?? 0;
      expect(ms - beforeMs).to.be.within(400, Math.max(500, (beforeMs - (first ?? 0)) / 3 + 100));
    }
  });

  it('that refuses some of the requests, and fails others, gets them less and less often', async () => {
    const end = new AbortController();
    const { backoff } = new Host();
    const atMs: number[] = [];
    const call = async (): Promise<void> => {
      const count = atMs.push(performance.now());
      if (count % 3 > 0) throw network();
      throw new UploaderError('bad-response', 'no', { status: 404 });
    };
    for (let count = 0; count < 60; count += 1)
      retrying(call, { policy: {}, backoff, signal: end.signal }).catch(() => undefined);
    await passSeconds(180);
    end.abort();
    expect(within(atMs, 120_000, 180_000)).to.be.within(5, 8);
  });

  it('is forgotten fifteen minutes after its last failure: the uploads may have been paused', async () => {
    const backoff = new Host().backoff;
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
    await clock.pass(899_000);
    expect([backoff.isOpen, backoff.outageError?.code]).to.deep.equal([false, 'network']);
    await clock.pass(2000);
    const entered = [requestTo(backoff).enter(), requestTo(backoff).enter()];
    expect([backoff.isOpen, ...entered]).to.deep.equal([true, true, true]);
  });

  it('is not forgotten while requests wait: they would all be sent at once', async () => {
    const backoff = new Host().backoff;
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
    let sentCount = 0;
    const silent = (): Promise<void> => {
      sentCount += 1;
      return new Promise(() => undefined);
    };
    for (let count = 0; count < 80; count += 1)
      void retrying(silent, { policy: {}, backoff, signal: forever });
    await passSeconds(180);
    // About 6 while the gaps grow to 2 s, 22 until 50 s, and 13 until 180 s, or up to a third more.
    expect(sentCount).to.be.within(39, 57);
    expect(backoff.isOpen).to.equal(false);
  });

  it('keeps what its last error says, but not the error: its stack would keep the upload that failed', () => {
    const backoff = new Host().backoff;
    const error = new UploaderError('service-failed', 'down', { status: 503, cause: 'a name of a file' });
    backoff.onFailure(error);
    const { outageError } = backoff;
    expect(outageError === error).to.equal(false);
    expect(outageError).to.include({ code: 'service-failed', message: 'down', status: 503 });
    expect(outageError?.cause).to.equal(undefined);
    backoff.onFailure(new UploaderError('network', 'no line'));
    expect(backoff.outageError?.status).to.equal(undefined);
  });

  it('gets no request before its Retry-After has passed, although the network changes', async () => {
    const change = new AbortController();
    const backoff = new Host().backoff;
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network(), {}, () => change.signal);
    backoff.backOff(9000);
    change.abort();
    expect(backoff.remainingMs).to.equal(9000);
    let isOver = false;
    void requestTo(backoff)
      .waitForTurn()
      .then(() => {
        isOver = true;
      });
    await clock.pass(8999);
    expect(isOver).to.equal(false);
    await clock.pass(1);
    expect(isOver).to.equal(true);
  });
});
