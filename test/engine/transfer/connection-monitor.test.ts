// Network changes reported by the browser, and the bandwidth limit of the page.
import { expect } from '@open-wc/testing';
import { ConnectionMonitor, stallMs } from '../../../src/engine/transfer/connection-monitor.ts';
import { type Clock, stopClock } from '../../support/clock.ts';

const forever = new AbortController().signal;

/** Runs `work` with a connection that is limited to `bytesPerSecond`, while the clock is stopped. */
async function limited(
  bytesPerSecond: number,
  work: (line: ConnectionMonitor, clock: Clock) => Promise<void>,
): Promise<void> {
  const clock = stopClock();
  const line = new ConnectionMonitor(bytesPerSecond);
  try {
    await work(line, clock);
  } finally {
    line.close();
    clock.restore();
  }
}

describe('the connection monitor', () => {
  for (const name of ['online', 'offline'])
    it(`notifies running requests when the browser is ${name}`, () => {
      const line = new ConnectionMonitor();
      const { change } = line;
      window.dispatchEvent(new Event(name));
      expect(change.aborted).to.equal(true);
      expect(line.change.aborted).to.equal(false);
      line.close();
    });

  it('notifies them when a page is restored from the back/forward cache', () => {
    const line = new ConnectionMonitor();
    const { change } = line;
    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }));
    expect(change.aborted).to.equal(false);
    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    expect(change.aborted).to.equal(true);
    line.close();
  });

  it('notifies them when a frozen page resumes', () => {
    const line = new ConnectionMonitor();
    const { change } = line;
    document.dispatchEvent(new Event('resume'));
    expect(change.aborted).to.equal(true);
    line.close();
  });

  it('notifies them after the machine slept, and not if timers of a hidden page are delayed for a minute', async () => {
    const clock = stopClock();
    const line = new ConnectionMonitor();
    try {
      const { change } = line;
      for (let minute = 0; minute < 3; minute += 1) await clock.pass(60_000);
      expect(change.aborted).to.equal(false);
      await clock.pass(95_000);
      expect(change.aborted).to.equal(true);
      await clock.pass(5000);
      expect(line.change.aborted).to.equal(false);
    } finally {
      line.close();
      clock.restore();
    }
  });

  it('notifies them if the device uses another kind of network, and not if only the estimated speed changes', () => {
    const connection = Object.assign(new EventTarget(), { type: 'wifi' });
    Object.defineProperty(navigator, 'connection', { configurable: true, value: connection });
    const line = new ConnectionMonitor();
    try {
      const isTold = (type: string): boolean => {
        const { change } = line;
        connection.type = type;
        connection.dispatchEvent(new Event('change'));
        return change.aborted;
      };
      expect(['wifi', 'cellular', 'cellular', 'wifi'].map(isTold)).to.deep.equal([false, true, false, true]);
      line.close();
      expect(isTold('cellular')).to.equal(false);
    } finally {
      line.close();
      Reflect.deleteProperty(navigator, 'connection');
    }
  });

  it('treats a gap of the clock of more than 90 seconds as sleep, and checks every five seconds', async () => {
    const clock = stopClock();
    const line = new ConnectionMonitor();
    try {
      const sleptAfter = async (ms: number): Promise<boolean> => {
        const { change } = line;
        await clock.pass(ms);
        return change.aborted;
      };
      expect(await sleptAfter(90_000)).to.equal(false);
      expect(await sleptAfter(90_001)).to.equal(true);
      expect(await sleptAfter(4999)).to.equal(false);
      // One millisecond later, the regular check runs after five seconds. The next gap may then be 90 s again.
      expect(await sleptAfter(1)).to.equal(false);
      expect(await sleptAfter(90_001)).to.equal(true);
      expect(clock.timerCount).to.equal(1);
      line.close();
      await sleptAfter(0);
      expect(clock.timerCount).to.equal(0);
    } finally {
      line.close();
      clock.restore();
    }
  });

  it('keeps the order of waiting requests if the page sets the same limit again', () =>
    limited(1000, async (line, clock) => {
      await line.waitForBandwidth(1000, forever);
      line.bytesPerSecond = 1000;
      let hasGone = false;
      void line.waitForBandwidth(1, forever).then(() => {
        hasGone = true;
      });
      await clock.pass(999);
      expect(hasGone).to.equal(false);
      await clock.pass(1);
      expect(hasGone).to.equal(true);
    }));

  it('returns nothing if everything was sent', () =>
    limited(1000, async (line, clock) => {
      const giveBack = await line.waitForBandwidth(1000, forever);
      let count = 0;
      const waiting = line.waitForBandwidth(1, forever).then(() => {
        count += 1;
      });
      giveBack(0);
      await clock.pass(500);
      expect(count).to.equal(0);
      giveBack(1);
      await clock.pass(498);
      expect(count).to.equal(0);
      await clock.pass(1);
      await waiting;
    }));

  it('reports nothing after close', () => {
    const line = new ConnectionMonitor();
    const { change } = line;
    line.close();
    window.dispatchEvent(new Event('online'));
    expect(change.aborted).to.equal(false);
  });

  it('limits the bytes of all requests together', async () => {
    const line = new ConnectionMonitor(100_000);
    const { signal } = new AbortController();
    const started = performance.now();
    await Promise.all([1, 2, 3].map(() => line.waitForBandwidth(5_000, signal)));
    // The third request starts after the first two, which take 50 ms each.
    expect(performance.now() - started).to.be.at.least(99);
    line.close();
  });

  it('gives bytes that were not sent to the next request', () =>
    limited(1000, async (line, clock) => {
      const giveBack = await line.waitForBandwidth(100_000, forever);
      giveBack(99_000);
      let hasGone = false;
      void line.waitForBandwidth(1000, forever).then(() => {
        hasGone = true;
      });
      await clock.pass(999);
      expect(hasGone).to.equal(false);
      await clock.pass(1);
      expect(hasGone).to.equal(true);
    }));

  it('charges the others nothing for a request that stopped waiting', () =>
    limited(1000, async (line, clock) => {
      const stop = new AbortController();
      await line.waitForBandwidth(1000, forever);
      const stopped = line.waitForBandwidth(1e6, stop.signal).catch(() => undefined);
      stop.abort();
      await stopped;
      let hasGone = false;
      void line.waitForBandwidth(1000, forever).then(() => {
        hasGone = true;
      });
      await clock.pass(1000);
      expect(hasGone).to.equal(true);
    }));

  it('releases waiting requests when the page removes the limit', () =>
    limited(1, async (line, clock) => {
      await line.waitForBandwidth(1e6, forever);
      const waiting = line.waitForBandwidth(1e6, forever);
      await clock.pass(1000);
      line.bytesPerSecond = Number.POSITIVE_INFINITY;
      await waiting;
    }));

  it('delays nothing if no limit is set', async () => {
    const line = new ConnectionMonitor();
    await line.waitForBandwidth(Number.MAX_SAFE_INTEGER, new AbortController().signal);
    line.close();
  });

  it('stops waiting when the run is aborted', async () => {
    const line = new ConnectionMonitor(1);
    const stop = new AbortController();
    await line.waitForBandwidth(1e9, stop.signal);
    const waiting = line.waitForBandwidth(1, stop.signal).catch((reason: unknown) => reason);
    stop.abort('stopped');
    expect(await waiting).to.equal('stopped');
    line.close();
  });
});

describe('a stalled PUT', () => {
  const MIB = 2 ** 20;
  for (const [name, sizeBytes, slotBytesPerSecond, expectedMs] of [
    ['after at least ten seconds on a fast connection', 8 * MIB, 100 * MIB, 10_000],
    ['after four times the expected time of its bytes on a slow one', 8 * MIB, 0.5 * MIB, 64_000],
    ['after at most two minutes', 8 * MIB, 1000, 120_000],
    ['after half a minute if the speed is unknown', 8 * MIB, 0, 30_000],
  ] as const)
    it(`is aborted ${name}`, () => {
      expect(stallMs(sizeBytes, slotBytesPerSecond)).to.equal(expectedMs);
    });
});
