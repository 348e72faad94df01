// Retries. Delays are short; the tests compare order and counts.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { Host } from '../../src/core/host.ts';
import { backoffMs, retrying } from '../../src/core/retries.ts';
import { stopClock } from '../support/clock.ts';
import { rejection, settled } from '../support/collect.ts';

const forever = new AbortController().signal;
const policy = { attempts: 4, baseMs: 1, capMs: 4 };
const network = (): UploaderError => new UploaderError('network', 'no line');

describe('the delay between attempts', () => {
  it('is random from half a second to one second, doubled with each attempt, thirty seconds at most', () => {
    const most = [1, 2, 3, 4, 5, 6, 7].map((attempt) => backoffMs(attempt, {}, () => 1));
    expect(most).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect([1, 5, 60].map((attempt) => backoffMs(attempt, {}, () => 0))).to.deep.equal([500, 500, 500]);
    expect(backoffMs(5, { baseMs: 100 }, () => 0.5)).to.equal(1650);
    expect(backoffMs(1, { baseMs: 0, capMs: 0 }, () => 1)).to.equal(0);
  });
});

describe('retrying', () => {
  it('returns the result of the call', async () => {
    expect(
      await retrying(async () => 'yes', { policy, backoff: new Host().backoff, signal: forever }),
    ).to.equal('yes');
  });

  it('makes as many attempts as the policy allows, then rejects with the last error', async () => {
    let calls = 0;
    const errors: UploaderError[] = [];
    const call = async (): Promise<never> => {
      calls += 1;
      const error = network();
      errors.push(error);
      throw error;
    };
    expect(
      await rejection(retrying(call, { policy, backoff: new Host().backoff, signal: forever })),
    ).to.equal(errors[3]);
    expect(calls).to.equal(4);
  });

  it('does not retry errors that a retry cannot fix, nor errors of other classes', async () => {
    for (const error of [new UploaderError('forbidden', 'no'), new TypeError('a defect')]) {
      let calls = 0;
      const call = async (): Promise<never> => {
        calls += 1;
        throw error;
      };
      expect(
        await rejection(retrying(call, { policy, backoff: new Host().backoff, signal: forever })),
      ).to.equal(error);
      expect(calls).to.equal(1);
    }
  });

  it('reports when each further attempt starts, and once that the call has succeeded', async () => {
    const reported: (number | string)[] = [];
    let calls = 0;
    const before = Date.now();
    await retrying(
      async () => {
        calls += 1;
        if (calls < 3) throw network();
      },
      {
        policy,
        backoff: new Host().backoff,
        signal: forever,
        onWait: (atMs) => reported.push(atMs),
        onRecovered: () => reported.push('recovered'),
      },
    );
    expect(reported.map((entry) => typeof entry)).to.deep.equal(['number', 'number', 'string']);
    expect(reported[0]).to.be.at.least(before);
    const onRecovered = (): void => void reported.push('again');
    await retrying(async () => 1, { policy, backoff: new Host().backoff, signal: forever, onRecovered });
    expect(reported).to.not.include('again');
  });

  it('obeys Retry-After, for itself and for all calls with the same backoff', async () => {
    const clock = stopClock();
    try {
      const backoff = new Host().backoff;
      let calls = 0;
      const call = async (): Promise<void> => {
        calls += 1;
        if (calls === 1) throw new UploaderError('rate-limited', 'slow down', { retryAfterMs: 60 });
      };
      const first = retrying(call, { policy, backoff, signal: forever });
      await settled();
      expect(backoff.remainingMs).to.equal(60);
      const second = retrying(call, { policy, backoff, signal: forever });
      await clock.pass(59);
      expect(calls).to.equal(1);
      await clock.pass(1);
      await Promise.all([first, second]);
      expect(calls).to.equal(3);
    } finally {
      clock.restore();
    }
  });

  it('reports the time of its next attempt: after its own delay, the Retry-After of the service, or the gap while it is down', async () => {
    const clock = stopClock();
    const { random } = Math;
    Math.random = () => 1;
    try {
      const startMs = Date.now();
      const reported: number[] = [];
      const codes: string[] = [];
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
          policy: { baseMs: 5, capMs: 100 },
          backoff: new Host().backoff,
          signal: forever,
          onWait: (atMs, error) => {
            reported.push(atMs - startMs);
            codes.push(error.code);
          },
        },
      );
      await settled();
      expect(reported).to.deep.equal([10]);
      await clock.pass(10);
      expect(reported).to.deep.equal([10, 60]);
      // The backoff of the call has passed. The `Retry-After` of 50 ms from the service has not.
      await clock.pass(20);
      expect(reported).to.deep.equal([10, 60]);
      await clock.pass(30);
      // After two failures: the gap, which grows from the end of `Retry-After` on.
      expect(reported).to.deep.equal([10, 60, 70]);
      await clock.pass(40);
      expect(await going).to.equal('there');
      expect(codes.join()).to.equal('network,rate-limited,rate-limited');
    } finally {
      Math.random = random;
      clock.restore();
    }
  });

  it('uses the result of a call that was made before without a turn; the outage continues', async () => {
    const { backoff } = new Host();
    for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
    const hooks = { policy, backoff, signal: forever };
    expect(await retrying(async () => 'again', hooks, Promise.resolve('made before'))).to.equal(
      'made before',
    );
    expect([backoff.isOpen, backoff.hasSucceededSince(0)]).to.deep.equal([false, false]);
  });

  it('counts the failure of a call that was made before as an attempt, but not as a failure of the origin now', async () => {
    const clock = stopClock();
    try {
      const { backoff } = new Host();
      const hooks = { policy: { ...policy, attempts: 2 }, backoff, signal: forever };
      const before = new UploaderError('rate-limited', 'slow down', { retryAfterMs: 1e6 });
      const last = network();
      const failing = rejection(retrying(() => Promise.reject(last), hooks, Promise.reject(before)));
      const repeated = retrying(async () => 'repeated', hooks, Promise.reject(before));
      await settled();
      expect(backoff.isOpen).to.equal(true);
      // The second wait ends a second later.
      for (let count = 0; count < 2; count += 1) await clock.pass(1004);
      expect([await repeated, await failing]).to.deep.equal(['repeated', last]);
    } finally {
      clock.restore();
    }
  });

  it('repeats a call that was made before and failed in its turn', async () => {
    const clock = stopClock();
    try {
      const { backoff } = new Host();
      for (let count = 0; count < 2; count += 1) backoff.onFailure(network());
      let calls = 0;
      const call = async (): Promise<string> => {
        calls += 1;
        return 'repeated';
      };
      const repeated = retrying(call, { policy: {}, backoff, signal: forever }, Promise.reject(network()));
      await settled();
      await clock.pass(499);
      expect(calls).to.equal(0);
      await clock.pass(1);
      expect([await repeated, calls]).to.deep.equal(['repeated', 1]);
    } finally {
      clock.restore();
    }
  });

  it('retries what its caller allows, and makes no call under an aborted signal', async () => {
    let calls = 0;
    const call = async (): Promise<never> => {
      calls += 1;
      throw new UploaderError('forbidden', 'no');
    };
    const hooks = { policy, backoff: new Host().backoff, signal: forever, isWorthRetrying: () => true };
    await rejection(retrying(call, hooks));
    expect(calls).to.equal(4);
    const aborted = retrying(call, { ...hooks, signal: AbortSignal.abort('stop') });
    expect(await rejection(aborted)).to.equal('stop');
    expect(calls).to.equal(4);
  });

  it('ends with the reason of an abort during the call, and counts no attempt', async () => {
    const controller = new AbortController();
    let waits = 0;
    const failing = retrying(
      async () => {
        controller.abort('paused');
        throw network();
      },
      { policy, backoff: new Host().backoff, signal: controller.signal, onWait: () => (waits += 1) },
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
      { policy: slow, backoff: new Host().backoff, signal: controller.signal },
    );
    await settled();
    controller.abort('paused');
    expect(await rejection(waiting)).to.equal('paused');
  });

  it('ends the delay when the network changes, but not before the Retry-After of the service', async () => {
    const slow = { attempts: 8, baseMs: 1e9, capMs: 1e9 };
    const line = new AbortController();
    let calls = 0;
    const waiting = retrying(
      async () => {
        calls += 1;
        if (calls === 1) throw network();
        return 'there';
      },
      { policy: slow, backoff: new Host().backoff, signal: forever, connectionChange: () => line.signal },
    );
    await settled();
    line.abort();
    expect(await waiting).to.equal('there');

    const backoff = new Host().backoff;
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
