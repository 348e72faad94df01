// Number of used slots on simulated connections. Each connection defines its rate for a number of slots.
import { expect } from '@open-wc/testing';
import { AdaptiveConcurrency } from '../../../src/engine/transfer/adaptive-concurrency.ts';

type Throughput = (slots: number) => number;
const KB = 1000;
const MB = 1_000_000;
/** A connection with high latency: the rate of each request is limited, the total rate is not. */
const longWay: Throughput = (slots) => slots * 4 * MB;
/** A slow connection that all requests share; more requests only add overhead. */
const thinLine: Throughput = (slots) => 120 * KB * (1 - 0.01 * slots);
/** A connection that limits the rate of each request, as some proxies do. */
const proxy: Throughput = (slots) => slots * 60 * KB;
/** A connection that all requests share, on which one chunk of 1 MiB takes one second. */
const sharedLine: Throughput = () => MB;

/** Simulates `seconds` with every slot busy, in samples of 100 ms. Returns the limit after each second. */
function drive(concurrency: AdaptiveConcurrency, line: Throughput, seconds: number, startMs = 0): number[] {
  const limits: number[] = [];
  for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
    const busy = concurrency.limit;
    concurrency.measure({ nowMs: startMs + tenth * 100, bytes: line(busy) / 10, busy });
    if (tenth % 10 === 9) limits.push(concurrency.limit);
  }
  return limits;
}

describe('concurrency', () => {
  it('starts with two slots', () => {
    expect(new AdaptiveConcurrency(6).limit).to.equal(2);
  });

  it('uses all slots within the first second on a connection that is not slow', () => {
    expect(drive(new AdaptiveConcurrency(6), longWay, 1)).to.deep.equal([6]);
  });

  it('uses all slots immediately on a connection that takes more bytes than buffers hold', () => {
    const concurrency = new AdaptiveConcurrency(6);
    concurrency.measure({ nowMs: 10, bytes: 2 * MB, busy: 2 });
    expect(concurrency.limit).to.equal(2);
    const fast = new AdaptiveConcurrency(6);
    fast.measure({ nowMs: 10, bytes: 3 * MB, busy: 2 });
    expect(fast.limit).to.equal(6);
  });

  it('opens as many slots as the rate needs at 512 KiB/s each, at most all', () => {
    const afterLook = (bytes: number): number => {
      const concurrency = new AdaptiveConcurrency(6);
      concurrency.measure({ nowMs: 0, bytes: 0, busy: 2 });
      concurrency.measure({ nowMs: 1000, bytes, busy: 2 });
      return concurrency.limit;
    };
    const step = 512 * 1024;
    for (const [bytes, limit] of [
      [step, 2],
      [2 * step, 2],
      [2 * step + 1, 3],
      [5 * step, 5],
      [5 * step + 1, 6],
      [20 * step, 6],
    ] as const)
      expect(afterLook(bytes), `${bytes}`).to.equal(limit);
  });

  it('opens no slots that a shared connection of 1 MB/s does not need, and keeps two', () => {
    const limits = drive(new AdaptiveConcurrency(6), sharedLine, 120);
    expect(Math.max(...limits)).to.be.at.most(3);
    expect(Math.min(...limits)).to.equal(2);
    expect(limits.filter((limit) => limit === 2).length).to.be.greaterThan(80);
  });

  it('closes the slots that a shared connection does not need after it was fast', () => {
    const concurrency = new AdaptiveConcurrency(6);
    drive(concurrency, longWay, 4);
    const limits = drive(concurrency, sharedLine, 60, 4000);
    expect(limits[40]).to.equal(2);
    expect(Math.max(...limits.slice(40))).to.equal(3);
  });

  it('opens more slots within the first seconds if each request is limited separately', () => {
    const limits = drive(new AdaptiveConcurrency(6), (slots) => slots * 700 * KB, 3);
    expect(limits.at(-1)).to.equal(6);
  });

  it('never exceeds two slots on a slow connection, and mostly uses one', () => {
    const limits = drive(new AdaptiveConcurrency(6), thinLine, 120);
    expect(Math.max(...limits)).to.be.at.most(2);
    expect(limits.filter((limit) => limit === 1).length).to.be.greaterThan(60);
  });

  it('grows to all slots if each request is limited separately', () => {
    const limits = drive(new AdaptiveConcurrency(6), proxy, 300);
    expect(Math.max(...limits)).to.equal(6);
  });

  it('follows a connection whose best number of slots changes during the upload', () => {
    const concurrency = new AdaptiveConcurrency(6);
    expect(drive(concurrency, longWay, 30).at(-1)).to.equal(6);
    const thin = drive(concurrency, thinLine, 200, 30_000);
    expect(thin.at(-1)).to.be.at.most(2);
    // The limit grows within seven seconds, however long the connection was slow.
    expect(drive(concurrency, longWay, 7, 230_000).at(-1)).to.equal(6);
  });

  /** Stores as many chunks as there are slots, `count` times. Returns the limit after each time. */
  function storeRounds(concurrency: AdaptiveConcurrency, count: number): number[] {
    return Array.from({ length: count }, () => {
      for (let left = concurrency.limit; left > 0; left -= 1) concurrency.onChunkStored(900);
      return concurrency.limit;
    });
  }

  it('halves on congestion, and adds a slot whenever each slot has stored a chunk, up to the limit before', () => {
    const concurrency = new AdaptiveConcurrency(6);
    drive(concurrency, longWay, 2);
    concurrency.halve();
    expect(concurrency.limit).to.equal(3);
    // A rate, however high, is no reason to grow sooner, and a low rate none to shrink.
    expect(drive(concurrency, longWay, 20, 2000).at(-1)).to.equal(3);
    expect(drive(concurrency, () => 10 * KB, 20, 22_000).at(-1)).to.equal(3);
    concurrency.onChunkStored(90);
    concurrency.onChunkStored(90);
    expect(concurrency.limit).to.equal(3);
    concurrency.onChunkStored(90);
    expect(concurrency.limit).to.equal(4);
    expect(storeRounds(concurrency, 3)).to.deep.equal([5, 6, 6]);
    const few = new AdaptiveConcurrency(6);
    few.halve();
    expect(few.limit).to.equal(1);
    expect(storeRounds(few, 3)).to.deep.equal([2, 2, 2]);
  });

  it('halves once for all requests that were refused at the same time', () => {
    const concurrency = new AdaptiveConcurrency(6);
    drive(concurrency, longWay, 2);
    for (let count = 0; count < 6; count += 1) concurrency.halve();
    expect(concurrency.limit).to.equal(3);
    concurrency.onChunkStored(900);
    concurrency.halve();
    expect(concurrency.limit).to.equal(1);
    expect(storeRounds(concurrency, 6)).to.deep.equal([2, 3, 4, 5, 6, 6]);
    concurrency.setMaximum(12);
    expect(concurrency.limit).to.equal(12);
  });

  it('is one slot after a request has failed twice, however many requests fail', () => {
    const concurrency = new AdaptiveConcurrency(6);
    drive(concurrency, longWay, 2);
    for (const attempts of [1, 1, 2, 2, 1, 2]) concurrency.halve(attempts);
    expect(concurrency.limit).to.equal(1);
    concurrency.onChunkStored(900);
    expect(concurrency.limit).to.equal(2);
  });

  it('measures again when the limit is as before the congestion', () => {
    const concurrency = new AdaptiveConcurrency(6);
    drive(concurrency, longWay, 2);
    concurrency.halve();
    storeRounds(concurrency, 3);
    expect(drive(concurrency, thinLine, 60, 3000).at(-1)).to.be.at.most(5);
    concurrency.onChunkStored(90);
    expect(concurrency.limit).to.be.at.most(6);
  });

  it('grows if the connection becomes faster: immediately if all slots were in use', () => {
    const concurrency = new AdaptiveConcurrency(6);
    drive(concurrency, longWay, 2);
    concurrency.setMaximum(12);
    expect(concurrency.limit).to.equal(12);
    const slow = new AdaptiveConcurrency(6);
    drive(slow, thinLine, 30);
    slow.setMaximum(12);
    expect(slow.limit).to.be.at.most(2);
  });

  it('grows by one slot with each small chunk that is stored immediately, however low the rate of a slot', () => {
    const concurrency = new AdaptiveConcurrency(6);
    drive(concurrency, (slots) => slots * 100 * KB, 1);
    expect(concurrency.limit).to.equal(2);
    for (let count = 0; count < 10; count += 1) concurrency.onChunkStored(90);
    expect(concurrency.limit).to.equal(6);
    const slow = new AdaptiveConcurrency(6);
    for (let count = 0; count < 10; count += 1) slow.onChunkStored(900);
    expect(slow.limit).to.equal(2);
  });

  // A sample takes 50 ms, a window 3,000 ms. Each number in the lists below is the limit after one more window.
  const lookMs = 50;
  const windowMs = 3000;

  /** Returns an instance that has measured a slow connection once, and tries one slot more or less in its next window. */
  function slowPace(most = 6): AdaptiveConcurrency {
    const concurrency = new AdaptiveConcurrency(most);
    concurrency.measure({ nowMs: 0, bytes: 0, busy: 2 });
    concurrency.measure({ nowMs: lookMs, bytes: KB, busy: 2 });
    return concurrency;
  }

  function windows(
    concurrency: AdaptiveConcurrency,
    line: Throughput,
    count: number,
    startMs = lookMs,
  ): number[] {
    return Array.from({ length: count }, (_, index) => {
      const busy = concurrency.limit;
      concurrency.measure({
        nowMs: startMs + (index + 1) * windowMs,
        bytes: (line(busy) * windowMs) / 1000,
        busy,
      });
      return concurrency.limit;
    });
  }

  for (const [title, line, limits] of [
    [
      'decreases to one slot if all share a slow connection, and tries a second one now and then',
      thinLine,
      [1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1],
    ],
    [
      'increases slot by slot if each request is limited separately',
      proxy,
      [1, 2, 2, 2, 2, 2, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6, 5, 6],
    ],
    [
      'stays at the best number of slots if both more and fewer are slower',
      (slots: number) => 100 * KB * (slots <= 3 ? slots : 6 - slots),
      [1, 2, 2, 2, 2, 2, 2, 3, 4, 3, 3, 3, 3, 3, 3, 2, 3, 3, 3, 3, 3, 3, 4, 3],
    ],
  ] as const)
    it(title, () => {
      expect(windows(slowPace(), line, limits.length)).to.deep.equal(limits);
    });

  it('decreases from all slots to the best number', () => {
    const concurrency = slowPace();
    expect(windows(concurrency, longWay, 1)).to.deep.equal([6]);
    const limits = windows(
      concurrency,
      (slots) => 500 * KB * (slots <= 3 ? slots : 6 - slots),
      18,
      lookMs + windowMs,
    );
    expect(limits).to.deep.equal([6, 6, 6, 6, 6, 5, 4, 3, 4, 3, 3, 3, 3, 3, 3, 4, 3, 3]);
  });

  it('does not change before a sample or a window is complete', () => {
    const concurrency = new AdaptiveConcurrency(6);
    concurrency.measure({ nowMs: 0, bytes: 0, busy: 2 });
    concurrency.measure({ nowMs: lookMs - 1, bytes: MB, busy: 2 });
    expect(concurrency.limit).to.equal(2);
    concurrency.measure({ nowMs: lookMs, bytes: 0, busy: 2 });
    expect(concurrency.limit).to.equal(6);
    const slow = slowPace();
    slow.measure({ nowMs: windowMs - 1, bytes: 300 * KB, busy: 2 });
    expect(slow.limit).to.equal(2);
    slow.measure({ nowMs: windowMs, bytes: 0, busy: 2 });
    expect(slow.limit).to.equal(1);
  });

  it('ignores a window in which slots were idle, even briefly', () => {
    const concurrency = slowPace();
    for (const [ms, busy] of [
      [1000, 2],
      [2000, 1],
      [3000, 2],
    ] as const)
      concurrency.measure({ nowMs: lookMs + ms, bytes: 100 * KB, busy });
    expect(concurrency.limit).to.equal(2);
    expect(windows(concurrency, thinLine, 1, lookMs + windowMs)).to.deep.equal([1]);
  });

  it('restarts its window while no slot is busy', () => {
    const concurrency = slowPace();
    concurrency.measure({ nowMs: 2000, bytes: 0, busy: 0 });
    concurrency.measure({ nowMs: 2000 + windowMs - 1, bytes: 300 * KB, busy: 2 });
    expect(concurrency.limit).to.equal(2);
    concurrency.measure({ nowMs: 2000 + windowMs, bytes: 0, busy: 2 });
    expect(concurrency.limit).to.equal(1);
  });

  it('is at least one slot, and never exceeds its maximum', () => {
    const concurrency = new AdaptiveConcurrency(6);
    for (const limit of [1, 1, 1]) {
      concurrency.halve();
      expect(concurrency.limit).to.equal(limit);
      concurrency.onChunkStored(900);
    }
    expect(new AdaptiveConcurrency(1).limit).to.equal(1);
    expect(Math.max(...windows(slowPace(2), proxy, 30))).to.equal(2);
  });

  it('treats a chunk as quick below half a second, not at it', () => {
    const concurrency = new AdaptiveConcurrency(6);
    concurrency.onChunkStored(500);
    expect(concurrency.limit).to.equal(2);
    concurrency.onChunkStored(499);
    expect(concurrency.limit).to.equal(3);
  });

  it('uses all slots immediately for more bytes than buffers hold, not for exactly as many', () => {
    const [full, more] = [new AdaptiveConcurrency(6), new AdaptiveConcurrency(6)];
    full.measure({ nowMs: 0, bytes: 2 * 2 ** 20, busy: 2 });
    more.measure({ nowMs: 0, bytes: 2 * 2 ** 20 + 1, busy: 2 });
    expect([full.limit, more.limit]).to.deep.equal([2, 6]);
  });

  it('opens the slots that the rate needs as soon as it more than doubles', () => {
    const enough = 512 * 1024;
    const after = (before: number, now: number): number => {
      const concurrency = slowPace();
      windows(concurrency, () => before, 1);
      return windows(concurrency, () => now, 1, lookMs + windowMs)[0] ?? 0;
    };
    expect(after(3 * enough, 5.5 * enough)).to.equal(5);
    expect(after(3 * enough, 5.95 * enough)).to.equal(6);
    expect(after(100 * KB, enough)).to.equal(1);
    expect(after(100 * KB, 4 * enough)).to.equal(4);
    expect(after(100 * KB, 4 * enough + 1)).to.equal(5);
  });

  it('does not mistake the end of a stall for a connection that became fast', () => {
    const concurrency = slowPace();
    windows(concurrency, proxy, 3);
    windows(concurrency, () => 0, 2, lookMs + 3 * windowMs);
    expect(windows(concurrency, longWay, 3, lookMs + 5 * windowMs)).to.deep.equal([2, 2, 3]);
  });
});
