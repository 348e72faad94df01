// Retries while the browser says that it is offline.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { Host } from '../../src/core/host.ts';
import { Retries, retrying } from '../../src/core/retries.ts';
import { online } from '../../src/core/wait.ts';
import { stopClock } from '../support/clock.ts';
import { rejection, settled, until } from '../support/collect.ts';
import { listenersOf } from '../support/listeners.ts';

const forever = new AbortController().signal;

/** Simulates that the browser is online or offline, for one test. */
function setOnline(isOnline: boolean): void {
  Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => isOnline });
  if (isOnline) window.dispatchEvent(new Event('online'));
}

describe('while the browser says that it is offline', () => {
  const offline = (): UploaderError => new UploaderError('offline', 'no line');
  let clock: ReturnType<typeof stopClock>;
  let reported: boolean[];
  /** Notes changes only. */
  const onOffline = (isOffline: boolean): void => {
    if (isOffline !== (reported.at(-1) ?? false)) reported.push(isOffline);
  };
  const hooks = { policy: { attempts: 2 }, signal: forever, onOffline };
  beforeEach(() => {
    setOnline(false);
    clock = stopClock();
    reported = [];
  });
  afterEach(() => {
    clock.restore();
    setOnline(true);
    Reflect.deleteProperty(navigator, 'onLine');
  });

  /** A call that fails `count` times. */
  function failing(count: number, error: () => UploaderError) {
    const call = {
      count: 0,
      fn: async () => {
        call.count += 1;
        if (call.count <= count) throw error();
        return 'back';
      },
    };
    return call;
  }

  it('a call waits for a change of the network, reports that, and uses none of its attempts', async () => {
    let line = new AbortController();
    const call = failing(10, offline);
    const going = retrying(call.fn, {
      ...hooks,
      backoff: new Host().backoff,
      connectionChange: () => line.signal,
    });
    for (let round = 1; round <= 10; round += 1) {
      await settled();
      expect(call.count).to.equal(round);
      const before = line;
      line = new AbortController();
      before.abort();
    }
    expect(await going).to.equal('back');
    expect(reported).to.deep.equal(Array.from({ length: 20 }, (_, at) => at % 2 === 0));
  });

  it('a call that is passed over by another one reports that the browser is online when that one succeeds', async () => {
    let isOffline = false;
    const backoff = new Host().backoff;
    for (let count = 0; count < 2; count += 1) backoff.onFailure(new UploaderError('network', 'no line'));
    const until = new AbortController();
    const first = retrying(async () => Promise.reject(offline()), {
      policy: {},
      backoff,
      signal: until.signal,
    });
    first.catch(() => undefined);
    // The second call waits because of an error of the network. Then the first one fails because the browser is offline.
    const waitingHooks = { policy: {}, backoff, signal: until.signal };
    void new Retries({ ...waitingHooks, order: () => 1 }).waitForTurn();
    const second = new Retries({
      ...waitingHooks,
      order: () => 2,
      onOffline: (isNowOffline) => {
        isOffline = isNowOffline;
      },
    });
    const waiting = second.waitForTurn();
    for (let step = 0; step < 20 && !isOffline; step += 1) await clock.pass(100);
    expect(isOffline).to.equal(true);
    backoff.onSuccess();
    await waiting;
    expect(isOffline).to.equal(false);
    until.abort('enough');
  });

  it('a call that is passed over once the browser is online again reports that, and the time of its turn', async () => {
    const { backoff } = new Host();
    for (let count = 0; count < 2; count += 1) backoff.onFailure(offline());
    const waits: string[] = [];
    const requests = [1, 2].map(
      (order) =>
        new Retries({
          ...hooks,
          backoff,
          order: () => order,
          onWait: (_atMs, { code }) => waits.push(code),
        }),
    );
    for (const request of requests) void request.waitForTurn();
    expect(reported).to.deep.equal([true]);
    setOnline(true);
    backoff.onFailure(new UploaderError('network', 'no line'));
    await clock.pass(500);
    expect([reported, waits]).to.deep.equal([[true, false], ['network']]);
  });

  it('a call is repeated within 30 seconds, because the browser may be wrong', async () => {
    const call = failing(10, offline);
    const going = retrying(call.fn, { ...hooks, backoff: new Host().backoff });
    await settled();
    for (let round = 1; round <= 10; round += 1) await clock.pass(30_000);
    expect(await going).to.equal('back');
    expect(reported).to.deep.equal([true, false]);
  });

  it('an error of the server is retried as usual', async () => {
    const waits: number[] = [];
    const onWait = (atMs: number): unknown => waits.push(atMs);
    const call = failing(1, () => new UploaderError('service-failed', 'an answer', { status: 500 }));
    const going = retrying(call.fn, { ...hooks, backoff: new Host().backoff, onWait });
    await settled();
    await clock.pass(1000);
    expect(await going).to.equal('back');
    expect([waits.length, reported]).to.deep.equal([1, []]);
  });

  it('a call whose wait is aborted reports that it no longer waits', async () => {
    const controller = new AbortController();
    const waiting = { ...hooks, backoff: new Host().backoff, signal: controller.signal };
    const going = rejection(retrying(() => Promise.reject(offline()), waiting));
    await until(() => reported.length === 1);
    controller.abort('gone');
    expect(await going).to.equal('gone');
    expect(reported).to.deep.equal([true, false]);
  });

  it('waiting for the network ends after a while, with the event, or with an abort', async () => {
    const first = online(20_000, forever);
    await clock.pass(20_000);
    await first;
    const controller = new AbortController();
    const { signal, count } = listenersOf(controller.signal);
    const second = online(20_000, signal);
    window.dispatchEvent(new Event('online'));
    await second;
    expect([count(), clock.timerCount]).to.deep.equal([0, 0]);
    const third = online(20_000, signal);
    controller.abort('gone');
    expect(await rejection(third)).to.equal('gone');
    setOnline(true);
    expect(await rejection(online(20_000, signal))).to.equal('gone');
  });
});
