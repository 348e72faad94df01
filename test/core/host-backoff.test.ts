// What all requests to one origin share: the delay of `Retry-After`, and the gaps between requests while the origin is down.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { HostBackoff, retrying } from '../../src/core/retries.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { rejection, settled } from '../support/collect.ts';

const forever = new AbortController().signal;
const network = (): UploaderError => new UploaderError('network', 'no line');

describe('a backoff', () => {
  it('delays no caller until it is closed', async () => {
    await new HostBackoff().waitUntilOver(forever);
  });

  it('delays every caller for the longest requested time', async () => {
    const backoff = new HostBackoff();
    const before = Date.now();
    backoff.backOff(40);
    backoff.backOff(10);
    await Promise.all([backoff.waitUntilOver(forever), backoff.waitUntilOver(forever)]);
    expect(Date.now() - before).to.be.at.least(39);
  });

  it('opens in time even if the system clock is set back', async () => {
    const { now } = Date;
    const backoff = new HostBackoff();
    backoff.backOff(10);
    Date.now = () => now() - 7_200_000;
    try {
      await backoff.waitUntilOver(forever);
      expect(backoff.remainingMs).to.equal(0);
    } finally {
      Date.now = now;
    }
  });

  it('rejects every caller whose signal is aborted, open or closed', async () => {
    const backoff = new HostBackoff();
    expect(await rejection(backoff.waitUntilOver(AbortSignal.abort('open')))).to.equal('open');
    backoff.backOff(1e9);
    expect(await rejection(backoff.waitUntilOver(AbortSignal.abort('shut')))).to.equal('shut');
  });
});

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
    const hooks = { policy: {}, backoff: new HostBackoff(), signal: end.signal, connectionChange };
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
      // It is found soon after it works again.
      for (let ms = 60_000; ms < 160_000; ms += 1000) expect(within(atMs, ms, ms + 20_000)).to.be.at.least(1);
    });

  it('gets all requests again after the first one that succeeds', async () => {
    const { atMs, calls, mend } = await startCalls(20);
    await passSeconds(60);
    mend();
    await passSeconds(16);
    await Promise.all(calls);
    const after = atMs.filter((ms) => ms > 60_000);
    expect(after).to.have.length(20);
    expect((after.at(-1) ?? 0) - (after[0] ?? 0)).to.equal(0);
  });

  it('gets a request immediately when the network changes, and then the next one soon', async () => {
    let change = new AbortController();
    const { atMs, end } = await startCalls(20, () => change.signal);
    await passSeconds(60);
    const before = change;
    change = new AbortController();
    const changedAtMs = performance.now();
    before.abort();
    await passSeconds(3);
    end.abort();
    expect(within(atMs, changedAtMs - 1, changedAtMs + 3000)).to.be.at.least(3);
  });

  it('is one that fails twice in succession: a request that fails alone delays no other', async () => {
    const backoff = new HostBackoff();
    for (let count = 0; count < 20; count += 1) {
      backoff.onFailure(network());
      expect(backoff.enter()).to.equal(true);
      backoff.onSuccess();
    }
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
    expect(backoff.enter()).to.equal(false);
    await clock.pass(250);
    expect([backoff.enter(), backoff.enter()]).to.deep.equal([true, false]);
  });

  it('is not one that refuses requests', async () => {
    let refusedCount = 0;
    const backoff = new HostBackoff();
    for (let count = 0; count < 5; count += 1) backoff.onFailure(network());
    expect(backoff.enter()).to.equal(false);
    const refusal = async (): Promise<never> => {
      refusedCount += 1;
      throw new UploaderError('forbidden', 'no', { status: 403 });
    };
    const refused = Array.from({ length: 20 }, () =>
      rejection(retrying(refusal, { policy: {}, backoff, signal: forever })),
    );
    await settled();
    await clock.pass(250);
    expect(refusedCount).to.equal(1);
    await clock.pass(500);
    await Promise.all(refused);
    expect(refusedCount).to.equal(20);
  });

  it('is forgotten two minutes after its last failure: the uploads may have been paused', async () => {
    const backoff = new HostBackoff();
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
    await clock.pass(119_000);
    expect([backoff.isOpen, backoff.outageError?.code]).to.deep.equal([false, 'network']);
    await clock.pass(2000);
    expect([backoff.isOpen, backoff.enter(), backoff.enter()]).to.deep.equal([true, true, true]);
  });

  it('keeps what its last error says, but not the error: its stack would keep the upload that failed', () => {
    const backoff = new HostBackoff();
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
    const backoff = new HostBackoff();
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network(), {}, change.signal);
    backoff.backOff(9000);
    change.abort();
    expect(backoff.remainingMs).to.equal(9000);
    let isOver = false;
    void backoff.waitUntilOver(forever).then(() => {
      isOver = true;
    });
    await clock.pass(8999);
    expect(isOver).to.equal(false);
    await clock.pass(1);
    expect(isOver).to.equal(true);
  });
});
