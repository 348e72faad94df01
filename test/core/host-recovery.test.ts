// An origin that may be back: how its requests continue.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { Host } from '../../src/core/host.ts';
import { Retries, retrying } from '../../src/core/retries.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { settled } from '../support/collect.ts';

const forever = new AbortController().signal;
const network = (): UploaderError => new UploaderError('network', 'no line');

describe('an origin that was down', () => {
  let clock: Clock;
  beforeEach(() => {
    clock = stopClock();
  });
  afterEach(() => clock.restore());

  /** Starts 20 calls, and ends an outage of a minute with the first one that gets a turn. `answers` end the calls that run. */
  async function startRecovery() {
    const end = new AbortController();
    const answers: (() => void)[] = [];
    let isDown = true;
    const call = async (): Promise<void> => {
      if (isDown) throw network();
      await new Promise<void>((resolve) => answers.push(resolve));
    };
    const hooks = { policy: {}, backoff: new Host().backoff, signal: end.signal };
    for (let count = 0; count < 20; count += 1) retrying(call, hooks).catch(() => undefined);
    await settled();
    for (let second = 0; second < 60; second += 1) await clock.pass(1000);
    isDown = false;
    for (let step = 0; step < 100 && answers.length === 0; step += 1) await clock.pass(100);
    return { answers, end };
  }

  it('gets two more requests with each success after the outage, also if timers are late', async () => {
    const { answers } = await startRecovery();
    const counts: number[] = [];
    while (answers.length > 0) {
      counts.push(answers.length);
      for (const answer of answers.splice(0)) answer();
      await settled();
    }
    expect(counts).to.deep.equal([1, 2, 4, 8, 5]);
  });

  it('that is silent after a success gets two more requests, and one in each further second', async () => {
    const { answers, end } = await startRecovery();
    answers.splice(0)[0]?.();
    await settled();
    expect(answers).to.have.length(2);
    await clock.pass(999);
    expect(answers).to.have.length(2);
    await clock.pass(1);
    for (let second = 0; second < 4; second += 1) await clock.pass(1000);
    expect(answers).to.have.length(7);
    end.abort();
  });

  it('gets one request at the end of its Retry-After, and two more with each success', async () => {
    const { backoff } = new Host();
    backoff.backOff(9000);
    const answers: (() => void)[] = [];
    const call = (): Promise<void> => new Promise((resolve) => answers.push(resolve));
    for (let count = 0; count < 20; count += 1) void retrying(call, { policy: {}, backoff, signal: forever });
    await clock.pass(9000);
    expect(answers).to.have.length(1);
    answers.splice(0)[0]?.();
    await settled();
    expect(answers).to.have.length(2);
  });

  it('gets one request immediately when the network changes, and the next ones in gaps that begin again', async () => {
    let change = new AbortController();
    const { backoff } = new Host();
    let sentCount = 0;
    let isSilent = false;
    const call = async (): Promise<void> => {
      sentCount += 1;
      if (isSilent) await new Promise(() => undefined);
      throw network();
    };
    for (let count = 0; count < 60; count += 1)
      void retrying(call, { policy: {}, backoff, signal: forever, connectionChange: () => change.signal });
    await settled();
    for (let second = 0; second < 120; second += 1) await clock.pass(1000);
    isSilent = true;
    const before = change;
    change = new AbortController();
    sentCount = 0;
    before.abort();
    await settled();
    expect(sentCount).to.equal(1);
    for (let step = 0; step < 50; step += 1) await clock.pass(100);
    // Gaps of 375 ms at least, then of a third of the time, less a quarter.
    expect(sentCount).to.be.within(7, 12);
  });

  it('gets the first request immediately when the network changes although it was not down', async () => {
    const change = new AbortController();
    const { backoff } = new Host();
    const sent: number[] = [];
    const call = async (order: number): Promise<void> => {
      sent.push(order);
      if (sent.length > 3) await new Promise(() => undefined);
      throw network();
    };
    for (const order of [3, 1, 2]) {
      const hooks = { policy: {}, backoff, signal: forever, connectionChange: () => change.signal };
      void retrying(() => call(order), { ...hooks, order: () => order });
      await settled();
      backoff.onSuccess();
    }
    change.abort();
    await settled();
    expect(sent).to.deep.equal([3, 1, 2, 1]);
  });

  it('gets one request immediately at each change of the network, also if none has failed since the one before', async () => {
    let change = new AbortController();
    const { backoff } = new Host();
    const hooks = { policy: {}, backoff, signal: forever, connectionChange: () => change.signal };
    let sentCount = 0;
    let isSilent = false;
    const call = async (): Promise<void> => {
      sentCount += 1;
      if (isSilent) await new Promise(() => undefined);
      throw network();
    };
    for (let count = 0; count < 60; count += 1) void retrying(call, hooks);
    await settled();
    for (let second = 0; second < 60; second += 1) await clock.pass(1000);
    isSilent = true;
    const counts: number[] = [];
    for (let second = 0; second < 80; second += 40) {
      for (let each = 0; second > 0 && each < 40; each += 1) await clock.pass(1000);
      const before = change;
      change = new AbortController();
      sentCount = 0;
      before.abort();
      await settled();
      counts.push(sentCount);
    }
    expect(counts).to.deep.equal([1, 1]);
  });

  it('repeats a request that fails alone after its own delay, not after a gap of the outage', async () => {
    const { backoff } = new Host();
    let sentCount = 0;
    let isDown = true;
    const call = async (): Promise<void> => {
      sentCount += 1;
      if (isDown) throw network();
    };
    const start = (): Promise<void> => retrying(call, { policy: {}, backoff, signal: forever });
    const first = start();
    for (let second = 0; second < 120; second += 1) await clock.pass(1000);
    isDown = false;
    for (let second = 0; second < 11; second += 1) await clock.pass(1000);
    await first;
    isDown = true;
    sentCount = 0;
    void start();
    await settled();
    isDown = false;
    await clock.pass(1000);
    expect(sentCount).to.equal(2);
  });

  it('counts no outage while its Retry-After lasts, or nothing is sent', async () => {
    const { backoff } = new Host();
    const request = (order: number) =>
      new Retries({ policy: {}, backoff, signal: forever, order: () => order });
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
    backoff.backOff(60_000);
    await clock.pass(60_000);
    expect(request(1).enter()).to.equal(true);
    expect(backoff.remainingMs).to.be.within(375, 500);
    await clock.pass(600_000);
    expect(request(2).enter()).to.equal(true);
    expect(backoff.remainingMs).to.be.within(375, 500);
  });

  it('that was forgotten is not down again because a request waits', async () => {
    const { backoff } = new Host();
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
    await clock.pass(2 * 3_600_000);
    backoff.backOff(1000);
    const request = new Retries({ policy: {}, backoff, signal: forever });
    const waiting = request.waitForTurn();
    expect(backoff.outageError).to.equal(undefined);
    await clock.pass(1000);
    await waiting;
    expect(backoff.isOpen).to.equal(true);
  });
});
