// What the browser tells of the network, and how fast a page may use it.
import { expect } from '@open-wc/testing';
import { ConnectionMonitor, stallMs } from '../../../src/engine/transfer/connection-monitor.ts';
import { type Clock, stopClock } from '../../support/clock.ts';

const forever = new AbortController().signal;

/** A line that a page limits, in bytes a second, while the clock stands still. */
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

describe('the line', () => {
  for (const name of ['online', 'offline'])
    it(`tells requests that are under way when the browser is ${name}`, () => {
      const line = new ConnectionMonitor();
      const { change } = line;
      window.dispatchEvent(new Event(name));
      expect(change.aborted).to.equal(true);
      expect(line.change.aborted).to.equal(false);
      line.close();
    });

  it('tells them when a page comes back from the back/forward cache', () => {
    const line = new ConnectionMonitor();
    const { change } = line;
    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }));
    expect(change.aborted).to.equal(false);
    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    expect(change.aborted).to.equal(true);
    line.close();
  });

  it('tells them when a frozen page thaws', () => {
    const line = new ConnectionMonitor();
    const { change } = line;
    document.dispatchEvent(new Event('resume'));
    expect(change.aborted).to.equal(true);
    line.close();
  });

  it('tells them when the machine has slept, and not when timers of a hidden page are held back for a minute', async () => {
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

  it('tells them when the device uses another kind of network, and not when only its speed is guessed anew', () => {
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

  it('takes a gap of the clock of more than 90 seconds for sleep, and looks every five seconds', async () => {
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
      // Looked at after five seconds: with this the gap is 90 s again.
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

  it('keeps who waits in their place where the page sets the same limit again', () =>
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

  it('gives nothing back where everything was sent', () =>
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

  it('says nothing after it was closed', () => {
    const line = new ConnectionMonitor();
    const { change } = line;
    line.close();
    window.dispatchEvent(new Event('online'));
    expect(change.aborted).to.equal(false);
  });

  it('lets bytes go no faster than the page allows, whoever asks', async () => {
    const line = new ConnectionMonitor(100_000);
    const { signal } = new AbortController();
    const started = performance.now();
    await Promise.all([1, 2, 3].map(() => line.waitForBandwidth(5_000, signal)));
    // The third begins when the first two have had their 50 ms each.
    expect(performance.now() - started).to.be.at.least(99);
    line.close();
  });

  it('gives what was not sent back to whoever comes next', () =>
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

  it('takes nothing from the others for one that stopped waiting', () =>
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

  it('lets those go who wait when the page takes the limit away', () =>
    limited(1, async (line, clock) => {
      await line.waitForBandwidth(1e6, forever);
      const waiting = line.waitForBandwidth(1e6, forever);
      await clock.pass(1000);
      line.bytesPerSecond = Number.POSITIVE_INFINITY;
      await waiting;
    }));

  it('holds nothing up where no limit is set', async () => {
    const line = new ConnectionMonitor();
    await line.waitForBandwidth(Number.MAX_SAFE_INTEGER, new AbortController().signal);
    line.close();
  });

  it('stops waiting when the run is stopped', async () => {
    const line = new ConnectionMonitor(1);
    const stop = new AbortController();
    await line.waitForBandwidth(1e9, stop.signal);
    const waiting = line.waitForBandwidth(1, stop.signal).catch((reason: unknown) => reason);
    stop.abort('stopped');
    expect(await waiting).to.equal('stopped');
    line.close();
  });
});

describe('a PUT that stands still', () => {
  const MIB = 2 ** 20;
  for (const [name, sizeBytes, slotBytesPerSecond, expectedMs] of [
    ['ten seconds at least, on a fast line', 8 * MIB, 100 * MIB, 10_000],
    ['four times what its bytes should take, on a slow one', 8 * MIB, 0.5 * MIB, 64_000],
    ['two minutes at most', 8 * MIB, 1000, 120_000],
    ['half a minute, where nothing is known of the line', 8 * MIB, 0, 30_000],
  ] as const)
    it(`is given ${name}`, () => {
      expect(stallMs(sizeBytes, slotBytesPerSecond)).to.equal(expectedMs);
    });
});
