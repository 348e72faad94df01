// Timers, retries and the doors that a service may shut. Times are made small; what is compared is order and counts.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import {
  abortable,
  backoffMs,
  Gate,
  nextTask,
  online,
  RETRY_POLICY,
  retrying,
  sleep,
} from '../../src/core/wait.ts';
import { deferred, rejection, settled } from '../support/collect.ts';

const forever = new AbortController().signal;
const policy = { attempts: 4, baseMs: 1, capMs: 4 };
const network = (): UploaderError => new UploaderError('network', 'no line');

/** The browser's own word on whether it is online, for one test. */
function setOnline(isOnline: boolean): void {
  Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => isOnline });
  if (isOnline) window.dispatchEvent(new Event('online'));
}

describe('sleep', () => {
  it('resolves after its time', async () => {
    const before = performance.now();
    await sleep(20, forever);
    expect(performance.now() - before).to.be.at.least(19);
  });

  it('ends at once when its signal is aborted, with the reason', async () => {
    const controller = new AbortController();
    const sleeping = sleep(1e9, controller.signal);
    controller.abort('enough');
    expect(await rejection(sleeping)).to.equal('enough');
  });

  it('does not begin under a signal that is aborted already', async () => {
    expect(await rejection(sleep(1e9, AbortSignal.abort('before')))).to.equal('before');
  });
});

describe('abortable', () => {
  it('follows its promise', async () => {
    expect(await abortable(Promise.resolve(7), forever)).to.equal(7);
    expect(await rejection(abortable(Promise.reject(network()), forever))).to.be.instanceOf(UploaderError);
  });

  it('rejects on abort, though the promise never settles', async () => {
    const controller = new AbortController();
    const waiting = abortable(new Promise(() => undefined), controller.signal);
    controller.abort('stop');
    expect(await rejection(waiting)).to.equal('stop');
  });

  it('leaves no unhandled rejection behind when the promise fails after the abort', async () => {
    const late = deferred();
    expect(await rejection(abortable(late.promise, AbortSignal.abort('gone')))).to.equal('gone');
    late.reject(network());
    await settled();
  });
});

describe('the delay between tries', () => {
  it('is drawn from nothing to half a second, doubled with each try, thirty seconds at most', () => {
    const most = [1, 2, 3, 4, 5, 6, 7].map((attempt) => backoffMs(attempt, RETRY_POLICY, () => 1));
    expect(most).to.deep.equal([500, 1000, 2000, 4000, 8000, 16_000, 30_000]);
    expect(backoffMs(5, RETRY_POLICY, () => 0)).to.equal(0);
    expect(RETRY_POLICY.attempts).to.equal(8);
  });
});

describe('a gate', () => {
  it('lets everybody pass until it is shut', async () => {
    await new Gate().pass(forever);
  });

  it('holds everybody for as long as the longest wait that was asked for', async () => {
    const gate = new Gate();
    const before = Date.now();
    gate.shut(40);
    gate.shut(10);
    await Promise.all([gate.pass(forever), gate.pass(forever)]);
    expect(Date.now() - before).to.be.at.least(39);
  });

  it('lets nobody pass whose signal is aborted, open or shut', async () => {
    const gate = new Gate();
    expect(await rejection(gate.pass(AbortSignal.abort('open')))).to.equal('open');
    gate.shut(1e9);
    expect(await rejection(gate.pass(AbortSignal.abort('shut')))).to.equal('shut');
  });
});

describe('retrying', () => {
  it('gives what the call gives', async () => {
    expect(await retrying(async () => 'yes', { policy, gate: new Gate(), signal: forever })).to.equal('yes');
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
    expect(await rejection(retrying(call, { policy, gate: new Gate(), signal: forever }))).to.equal(
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
      expect(await rejection(retrying(call, { policy, gate: new Gate(), signal: forever }))).to.equal(error);
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
      { policy, gate: new Gate(), signal: forever, onWait: (atMs) => told.push(atMs) },
    );
    expect(told.map((atMs) => atMs !== undefined)).to.deep.equal([true, false, true, false]);
    expect(told[0]).to.be.at.least(before);
  });

  it('obeys Retry-After, for itself and for all that goes through the same gate', async () => {
    const gate = new Gate();
    let calls = 0;
    const before = Date.now();
    const call = async (): Promise<void> => {
      calls += 1;
      if (calls === 1) throw new UploaderError('rate-limited', 'slow down', { retryAfterMs: 60 });
    };
    const first = retrying(call, { policy, gate, signal: forever });
    await settled();
    expect(gate.opensAtMs).to.be.at.least(before + 60);
    await retrying(async () => undefined, { policy, gate, signal: forever });
    expect(Date.now() - before).to.be.at.least(59);
    await first;
    expect(calls).to.equal(2);
  });

  it('ends with the reason of an abort while it waits', async () => {
    const controller = new AbortController();
    const slow = { attempts: 8, baseMs: 1e9, capMs: 1e9 };
    const waiting = retrying(
      async () => {
        throw network();
      },
      { policy: slow, gate: new Gate(), signal: controller.signal },
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
      { policy: slow, gate: new Gate(), signal: forever, lineChange: () => line.signal },
    );
    await settled();
    line.abort();
    expect(await waiting).to.equal('there');

    const gate = new Gate();
    gate.shut(30);
    const stillShut = retrying(async () => gate.opensAtMs <= Date.now(), {
      policy: slow,
      gate,
      signal: forever,
      lineChange: () => line.signal,
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
        gate: new Gate(),
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
  });
});

it('nextTask lets other tasks of the page have their turn', async () => {
  let hasRun = false;
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    hasRun = true;
    channel.port1.close();
  };
  channel.port2.postMessage(undefined);
  // In which order ports have their turn is the browser's; that they have it is not.
  for (let turns = 0; turns < 1000 && !hasRun; turns += 1) await nextTask();
  expect(hasRun).to.equal(true);
});
