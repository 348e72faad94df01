// A countdown renders its element once a second, only while the countdown runs and the element is on the page.

import { expect } from '@open-wc/testing';
import { Countdown } from '../../src/ui/countdown.ts';
import { type Clock, stopClock } from '../support/clock.ts';

/** Creates a countdown, and counts the renderings of its host. */
function counting(): { countdown: Countdown; updates(): number } {
  let count = 0;
  const host = {
    addController: () => undefined,
    removeController: () => undefined,
    requestUpdate: () => {
      count += 1;
    },
    updateComplete: Promise.resolve(true),
  };
  const countdown = new Countdown(host);
  countdown.hostConnected();
  return { countdown, updates: () => count };
}

describe('a countdown', () => {
  let clock: Clock;
  beforeEach(() => {
    clock = stopClock();
  });
  afterEach(() => clock.restore());

  it('returns whole seconds, rounded up, and none once it is over', () => {
    const { countdown } = counting();
    const now = Date.now();
    expect(
      [now - 5000, now, now + 1, now + 1000, now + 1001].map((at) => countdown.secondsUntil(at)),
    ).to.deep.equal([0, 0, 1, 1, 2]);
    expect(countdown.secondsUntil()).to.equal(0);
  });

  it('renders once a second, however often it is read, and not once it is over', async () => {
    const { countdown, updates } = counting();
    const endMs = Date.now() + 2000;
    for (const [left, expected] of [
      [2, 1],
      [1, 2],
      [0, 2],
    ]) {
      expect(countdown.secondsUntil(endMs)).to.equal(left);
      countdown.secondsUntil(endMs);
      await clock.pass(999);
      const before = updates();
      await clock.pass(1);
      expect([updates(), updates() - before]).to.deep.equal([expected, left ? 1 : 0]);
    }
  });

  it('stops when its element is removed from the page, and continues when it is added again', async () => {
    const { countdown, updates } = counting();
    const endMs = Date.now() + 60_000;
    countdown.secondsUntil(endMs);
    countdown.hostDisconnected();
    await clock.pass(1000);
    expect(updates()).to.equal(0);
    countdown.hostConnected();
    countdown.secondsUntil(endMs);
    await clock.pass(1000);
    expect(updates()).to.equal(1);
  });
});
