// What all requests to one origin share: the delay of `Retry-After`.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { Host } from '../../src/core/host.ts';
import type { HostBackoff } from '../../src/core/host-backoff.ts';
import { Retries } from '../../src/core/retries.ts';
import { stopClock } from '../support/clock.ts';
import { rejection } from '../support/collect.ts';
import { listenersOf } from '../support/listeners.ts';

const forever = new AbortController().signal;
const network = (): UploaderError => new UploaderError('network', 'no line');

/** A request to an origin with this backoff. */
const requestTo = (backoff: HostBackoff): Retries => new Retries({ policy: {}, backoff, signal: forever });

describe('a backoff', () => {
  it('delays no caller until it is closed', () => {
    expect(requestTo(new Host().backoff).enter()).to.equal(true);
  });

  it('delays every caller for the longest requested time', async () => {
    const backoff = new Host().backoff;
    const before = Date.now();
    backoff.backOff(40);
    backoff.backOff(10);
    await Promise.all([requestTo(backoff).waitForTurn(), requestTo(backoff).waitForTurn()]);
    expect(Date.now() - before).to.be.at.least(39);
  });

  it('opens in time even if the system clock is set back', async () => {
    const { now } = Date;
    const backoff = new Host().backoff;
    backoff.backOff(10);
    Date.now = () => now() - 7_200_000;
    try {
      await requestTo(backoff).waitForTurn();
      expect(backoff.remainingMs).to.equal(0);
    } finally {
      Date.now = now;
    }
  });

  it('rejects every caller whose signal is aborted, open or closed', async () => {
    const backoff = new Host().backoff;
    const wait = (signal: AbortSignal): Promise<string> =>
      rejection(new Retries({ policy: {}, backoff, signal }).waitForTurn());
    expect(await wait(AbortSignal.abort('open'))).to.equal('open');
    backoff.backOff(1e9);
    expect(await wait(AbortSignal.abort('shut'))).to.equal('shut');
  });

  it('keeps no listener of a wait, and one for changes of the network, however many requests wait', async () => {
    const [user, network] = [new AbortController(), new AbortController()];
    const [signal, change] = [listenersOf(user.signal), listenersOf(network.signal)];
    const { backoff } = new Host();
    const wait = (): Promise<void> =>
      new Retries({
        policy: {},
        backoff,
        signal: signal.signal,
        connectionChange: () => change.signal,
      }).waitForTurn();
    await wait();
    expect([signal.count(), change.count()]).to.deep.equal([0, 0]);
    backoff.backOff(1e9);
    const waiting = [wait(), wait(), wait()].map(rejection);
    expect([signal.count(), change.count()]).to.deep.equal([3, 1]);
    user.abort('gone');
    expect(await Promise.all(waiting)).to.deep.equal(['gone', 'gone', 'gone']);
    expect([signal.count(), change.count()]).to.deep.equal([0, 1]);
  });

  it('keeps no timer after a wait that was aborted', async () => {
    const clock = stopClock();
    try {
      const user = new AbortController();
      const backoff = new Host().backoff;
      backoff.backOff(1e9);
      const waiting = rejection(new Retries({ policy: {}, backoff, signal: user.signal }).waitForTurn());
      expect(clock.timerCount).to.equal(1);
      user.abort('gone');
      expect(await waiting).to.equal('gone');
      expect(clock.timerCount).to.equal(0);
    } finally {
      clock.restore();
    }
  });

  it('that calls and PUTs to one origin have shares its Retry-After, but an outage of PUTs does not end with a call', () => {
    const { backoff, putBackoff } = new Host();
    for (let count = 0; count < 2; count += 1) putBackoff.onFailure(network());
    backoff.onSuccess();
    expect([backoff.isOpen, putBackoff.isOpen]).to.deep.equal([true, false]);
    backoff.backOff(1e9);
    expect(putBackoff.remainingMs).to.be.greaterThan(1e8);
  });
});
