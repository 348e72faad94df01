// What is known of an origin: the time that a silent PUT is given, and the sizes that are cut.

import { expect } from '@open-wc/testing';
import { createHosts, Host } from '../../src/core/host.ts';
import { stopClock } from '../support/clock.ts';

const MIB = 2 ** 20;
const NONE = { firstByteMs: 0, answerMs: 0 };
const timesOf = (host: Host, sizeBytes = MIB, stallMs = 30_000): number[] => {
  const { firstByteMs, stallMs: nextMs, answerMs } = host.patienceFor(sizeBytes, stallMs);
  return [firstByteMs, nextMs, answerMs].map((ms) => ms / 1000);
};
const stall = (host: Host, sizeBytes = MIB): void =>
  host.onStall(sizeBytes, host.patienceFor(sizeBytes, 30_000));

describe('the time that a PUT may be silent', () => {
  it('is four times as long before the first byte, and twice as long for the response, but not more than two minutes', () => {
    const host = new Host();
    expect(timesOf(host, MIB, 10_000)).to.deep.equal([40, 10, 20]);
    expect(timesOf(host)).to.deep.equal([120, 30, 60]);
    expect(timesOf(host, MIB, 100_000)).to.deep.equal([120, 100, 120]);
    expect(timesOf(host, MIB, 150_000)).to.deep.equal([150, 150, 150]);
  });

  it('doubles with each stall, up to ten minutes, and is halved with each PUT that is stored', () => {
    const host = new Host();
    stall(host);
    expect(timesOf(host)).to.deep.equal([240, 60, 120]);
    stall(host);
    expect(timesOf(host)).to.deep.equal([480, 120, 240]);
    for (let count = 0; count < 5; count += 1) stall(host);
    expect(timesOf(host)).to.deep.equal([600, 600, 600]);
    for (let count = 0; count < 6; count += 1) host.onStored(MIB, NONE);
    expect(timesOf(host)).to.deep.equal([240, 60, 120]);
    for (let count = 0; count < 2; count += 1) host.onStored(MIB, NONE);
    expect(timesOf(host)).to.deep.equal([120, 30, 60]);
  });

  it('doubles once for PUTs that ran at the same time', () => {
    const host = new Host();
    const patience = host.patienceFor(MIB, 30_000);
    for (let count = 0; count < 6; count += 1) host.onStall(MIB, patience);
    expect(timesOf(host)).to.deep.equal([240, 60, 120]);
  });

  it('is four times the silence that ended with a stored PUT, and falls again', () => {
    const host = new Host();
    // As if a service worker hid all progress, and the line was slow.
    host.onStored(MIB, { firstByteMs: 100_000, answerMs: 0 });
    expect(timesOf(host)).to.deep.equal([400, 30, 60]);
    host.onStored(MIB, { firstByteMs: 200_000, answerMs: 0 });
    expect(timesOf(host)).to.deep.equal([600, 30, 60]);
    for (const [firstByteS, answerMs] of [
      [400, 40_000],
      [200, 1],
      [120, 1],
    ] as const) {
      host.onStored(MIB, { firstByteMs: 1, answerMs });
      expect(timesOf(host)[0]).to.equal(firstByteS);
    }
    expect(timesOf(new Host())).to.deep.equal([120, 30, 60]);
    host.onStored(MIB, { firstByteMs: 0, answerMs: 50_000 });
    expect(timesOf(host)[2]).to.equal(200);
  });

  it('is that of PUTs of about the same size, to the same origin', () => {
    const hostOf = createHosts();
    const host = hostOf('https://a.test/chunk?1');
    stall(host, 8 * MIB);
    expect(hostOf('https://a.test/chunk?2')).to.equal(host);
    expect(timesOf(host, 7 * MIB)).to.deep.equal([240, 60, 120]);
    for (const sizeBytes of [0, 1, MIB, 4 * MIB, 9 * MIB])
      expect(timesOf(host, sizeBytes)).to.deep.equal([120, 30, 60]);
    expect(timesOf(hostOf('https://b.test/'), 8 * MIB)).to.deep.equal([120, 30, 60]);
  });
});

describe('the number of cuts', () => {
  it('counts PUTs that ran at the same time once, and starts again when one of the size is stored', async () => {
    const clock = stopClock();
    try {
      const host = new Host();
      expect([host.onCut(MIB, 0), host.onCut(MIB, 0)]).to.deep.equal([1, 2]);
      await clock.pass(100);
      // These began before the last cut.
      expect(host.onCut(MIB, 50)).to.equal(3);
      expect([host.onCut(MIB, 0), host.onCut(MIB, 99)]).to.deep.equal([3, 3]);
      host.onStored(2 * MIB, NONE);
      expect(host.onCut(MIB, 100)).to.equal(4);
      expect(host.onCut(8 * MIB, 100)).to.equal(1);
      host.onStored(MIB, NONE);
      expect(host.onCut(MIB, 100)).to.equal(1);
      await clock.pass(1_800_000);
      expect(host.onCut(MIB, 1_800_000)).to.equal(2);
      await clock.pass(1_800_001);
      expect(host.onCut(MIB, 3_600_001)).to.equal(1);
    } finally {
      clock.restore();
    }
  });
});
