// Retries and the backoffs that a service may shut. Times are made small; what is compared is order and counts.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { backoffMs, HostBackoff, online, RETRY_POLICY, retrying } from '../../src/core/wait.ts';
import { stopClock } from '../support/clock.ts';
import { rejection, settled } from '../support/collect.ts';
import { listenersOf } from '../support/listeners.ts';

const forever = new AbortController().signal;
const policy = { attempts: 4, baseMs: 1, capMs: 4 };
const network = (): UploaderError => new UploaderError('network', 'no line');

/** The browser's own word on whether it is online, for one test. */
function setOnline(isOnline: boolean): void {
  Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => isOnline });
  if (isOnline) window.dispatchEvent(new Event('online'));
}

describe('the delay between tries', () => {
  it('is drawn from nothing to half a second, doubled with each try, thirty seconds at most', () => {
    const most = [1, 2, 3, 4, 5, 6, 7].map((attempt) => backoffMs(attempt, RETRY_POLICY, () => 1));
    expect(most).to.deep.equal([500, 1000, 2000, 4000, 8000, 16_000, 30_000]);
    expect(backoffMs(5, RETRY_POLICY, () => 0)).to.equal(0);
    expect(RETRY_POLICY.attempts).to.equal(8);
  });
});

describe('a backoff', () => {
  it('lets everybody pass until it is shut', async () => {
    await new HostBackoff().waitUntilOver(forever);
  });

  it('holds everybody for as long as the longest wait that was asked for', async () => {
    const backoff = new HostBackoff();
    const before = Date.now();
    backoff.backOff(40);
    backoff.backOff(10);
    await Promise.all([backoff.waitUntilOver(forever), backoff.waitUntilOver(forever)]);
    expect(Date.now() - before).to.be.at.least(39);
  });

  it('opens in time though the clock of the device is set back', async () => {
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

  it('lets nobody pass whose signal is aborted, open or shut', async () => {
    const backoff = new HostBackoff();
    expect(await rejection(backoff.waitUntilOver(AbortSignal.abort('open')))).to.equal('open');
    backoff.backOff(1e9);
    expect(await rejection(backoff.waitUntilOver(AbortSignal.abort('shut')))).to.equal('shut');
  });
});

describe('retrying', () => {
  it('gives what the call gives', async () => {
    expect(
      await retrying(async () => 'yes', { policy, backoff: new HostBackoff(), signal: forever }),
    ).to.equal('yes');
  });

  it('tries as often as the policy says, then rejects with the last error', async () => {
    let calls = 0;
    const errors: UploaderError[] = [];
    const call = async (): Promise<never> => {
      calls += 1;
      const error = network();
      errors.push(error);
      throw error;
    };
    expect(await rejection(retrying(call, { policy, backoff: new HostBackoff(), signal: forever }))).to.equal(
      errors[3],
    );
    expect(calls).to.equal(4);
  });

  it('does not try again what is not worth it, nor what is no error of ours', async () => {
    for (const error of [new UploaderError('forbidden', 'no'), new TypeError('a defect')]) {
      let calls = 0;
      const call = async (): Promise<never> => {
        calls += 1;
        throw error;
      };
      expect(
        await rejection(retrying(call, { policy, backoff: new HostBackoff(), signal: forever })),
      ).to.equal(error);
      expect(calls).to.equal(1);
    }
  });

  it('tells when the next try starts, and that it has started', async () => {
    const told: (number | undefined)[] = [];
    let calls = 0;
    const before = Date.now();
    await retrying(
      async () => {
        calls += 1;
        if (calls < 3) throw network();
      },
      { policy, backoff: new HostBackoff(), signal: forever, onWait: (atMs) => told.push(atMs) },
    );
    expect(told.map((atMs) => atMs !== undefined)).to.deep.equal([true, false, true, false]);
    expect(told[0]).to.be.at.least(before);
  });

  it('obeys Retry-After, for itself and for all that goes through the same backoff', async () => {
    const backoff = new HostBackoff();
    let calls = 0;
    const before = Date.now();
    const call = async (): Promise<void> => {
      calls += 1;
      if (calls === 1) throw new UploaderError('rate-limited', 'slow down', { retryAfterMs: 60 });
    };
    const first = retrying(call, { policy, backoff, signal: forever });
    await settled();
    expect(backoff.remainingMs).to.be.within(1, 60);
    await retrying(async () => undefined, { policy, backoff, signal: forever });
    expect(Date.now() - before).to.be.at.least(59);
    await first;
    expect(calls).to.equal(2);
  });

  it('tells the time of its next try: after its own pause, or when the service lets it, whichever is later', async () => {
    const clock = stopClock();
    const { random } = Math;
    Math.random = () => 1;
    try {
      const startMs = Date.now();
      const told: (number | undefined)[] = [];
      const codes: (string | undefined)[] = [];
      const errors = [
        network(),
        new UploaderError('rate-limited', '', { retryAfterMs: 50 }),
        new UploaderError('rate-limited', '', { retryAfterMs: 10 }),
      ];
      const going = retrying(
        async () => {
          const error = errors.shift();
          if (error) throw error;
          return 'there';
        },
        {
          policy: { attempts: 4, baseMs: 10, capMs: 100 },
          backoff: new HostBackoff(),
          signal: forever,
          onWait: (atMs, error) => {
            told.push(atMs === undefined ? undefined : atMs - startMs);
            codes.push(error?.code);
          },
        },
      );
      await settled();
      expect(told).to.deep.equal([10]);
      await clock.pass(10);
      expect(told).to.deep.equal([10, undefined, 60]);
      // Its own pause is over, and the service still says no.
      await clock.pass(20);
      expect(told).to.deep.equal([10, undefined, 60]);
      await clock.pass(30);
      expect(told).to.deep.equal([10, undefined, 60, undefined, 100]);
      await clock.pass(40);
      expect(await going).to.equal('there');
      expect(told.at(-1)).to.equal(undefined);
      expect(codes.join()).to.equal('network,,rate-limited,,rate-limited,');
    } finally {
      Math.random = random;
      clock.restore();
    }
  });

  it('tries again what its caller says, and makes no call under a signal that is aborted', async () => {
    let calls = 0;
    const call = async (): Promise<never> => {
      calls += 1;
      throw new UploaderError('forbidden', 'no');
    };
    const hooks = { policy, backoff: new HostBackoff(), signal: forever, isWorthRetrying: () => true };
    await rejection(retrying(call, hooks));
    expect(calls).to.equal(4);
    const aborted = retrying(call, { ...hooks, signal: AbortSignal.abort('stop') });
    expect(await rejection(aborted)).to.equal('stop');
    expect(calls).to.equal(4);
  });

  it('ends with the reason of an abort that comes while the call is under way, and counts no try', async () => {
    const controller = new AbortController();
    let waits = 0;
    const failing = retrying(
      async () => {
        controller.abort('paused');
        throw network();
      },
      { policy, backoff: new HostBackoff(), signal: controller.signal, onWait: () => (waits += 1) },
    );
    expect(await rejection(failing)).to.equal('paused');
    expect(waits).to.equal(0);
  });

  it('ends with the reason of an abort while it waits', async () => {
    const controller = new AbortController();
    const slow = { attempts: 8, baseMs: 1e9, capMs: 1e9 };
    const waiting = retrying(
      async () => {
        throw network();
      },
      { policy: slow, backoff: new HostBackoff(), signal: controller.signal },
    );
    await settled();
    controller.abort('paused');
    expect(await rejection(waiting)).to.equal('paused');
  });

  it('waits no longer when the line is another one, but as long as the service asked for', async () => {
    const slow = { attempts: 8, baseMs: 1e9, capMs: 1e9 };
    const line = new AbortController();
    let calls = 0;
    const waiting = retrying(
      async () => {
        calls += 1;
        if (calls === 1) throw network();
        return 'there';
      },
      { policy: slow, backoff: new HostBackoff(), signal: forever, connectionChange: () => line.signal },
    );
    await settled();
    line.abort();
    expect(await waiting).to.equal('there');

    const backoff = new HostBackoff();
    backoff.backOff(30);
    const stillShut = retrying(async () => backoff.remainingMs === 0, {
      policy: slow,
      backoff,
      signal: forever,
      connectionChange: () => line.signal,
    });
    expect(await stillShut).to.equal(true);
  });
});

describe('while the browser is offline', () => {
  afterEach(() => {
    setOnline(true);
    Reflect.deleteProperty(navigator, 'onLine');
  });

  it('a call waits for `online`, says so, and spends none of its tries', async () => {
    const told: boolean[] = [];
    let calls = 0;
    setOnline(false);
    const going = retrying(
      async () => {
        calls += 1;
        if (calls <= 10) throw network();
        return 'back';
      },
      {
        policy: { ...policy, attempts: 2 },
        backoff: new HostBackoff(),
        signal: forever,
        onOffline: (isOffline) => told.push(isOffline),
      },
    );
    for (let round = 1; round <= 10; round += 1) {
      await settled();
      expect(calls).to.equal(round);
      window.dispatchEvent(new Event('online'));
    }
    expect(await going).to.equal('back');
    expect(told).to.deep.equal(Array.from({ length: 20 }, (_, at) => at % 2 === 0));
  });

  it('waiting for the line ends with an abort', async () => {
    setOnline(false);
    const controller = new AbortController();
    const waiting = online(controller.signal);
    controller.abort('gone');
    expect(await rejection(waiting)).to.equal('gone');
    setOnline(true);
    expect(await rejection(online(controller.signal))).to.equal('gone');
  });

  it('waiting for the line leaves no listener behind once it is back', async () => {
    setOnline(false);
    const { signal, count } = listenersOf(new AbortController().signal);
    const waiting = online(signal);
    await settled();
    expect(count()).to.equal(1);
    setOnline(true);
    await waiting;
    expect(count()).to.equal(0);
  });
});
