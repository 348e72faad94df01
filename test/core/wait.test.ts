// Functions that wait: they end on time or by an abort, and remove their timers and listeners.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import {
  abortable,
  inSlices,
  nextTask,
  runAfter,
  runUntil,
  sleep,
  sleepUntil,
  whenSettled,
} from '../../src/core/wait.ts';
import { stopClock } from '../support/clock.ts';
import { deferred, rejection, settled } from '../support/collect.ts';
import { listenersOf } from '../support/listeners.ts';

const forever = new AbortController().signal;
const network = (): UploaderError => new UploaderError('network', 'no line');

describe('sleep', () => {
  it('resolves after its time', async () => {
    const before = performance.now();
    await sleep(20, forever);
    expect(performance.now() - before).to.be.at.least(19);
  });

  it('ends immediately when its signal is aborted, with the reason', async () => {
    const controller = new AbortController();
    const sleeping = sleep(1e9, controller.signal);
    controller.abort('enough');
    expect(await rejection(sleeping)).to.equal('enough');
  });

  it('does not start under an aborted signal', async () => {
    expect(await rejection(sleep(1e9, AbortSignal.abort('before')))).to.equal('before');
  });

  it('that a test started with a stopped clock, and that ends later, clears no timer of the page', async () => {
    const next = Number(setTimeout(() => undefined)) + 1;
    const clock = stopClock();
    const stop = new AbortController();
    for (let count = 0; count < next + 100; count++) sleep(1, stop.signal).catch(() => undefined);
    clock.restore();
    const fired = new Promise((resolve) => setTimeout(resolve));
    stop.abort();
    await fired;
  });

  it('lasts the longest time that a browser supports if more is requested', async () => {
    const clock = stopClock();
    try {
      const end = { isOver: false };
      void sleep(1e12, forever).then(() => {
        end.isOver = true;
      });
      await clock.pass(2 ** 31 - 2);
      expect(end.isOver).to.equal(false);
      await clock.pass(1);
      expect(end.isOver).to.equal(true);
    } finally {
      clock.restore();
    }
  });

  it('leaves neither a timer nor a listener, however it ends', async () => {
    const clock = stopClock();
    try {
      const { signal, count } = listenersOf(new AbortController().signal);
      const over = sleep(10, signal);
      expect(count()).to.equal(1);
      await clock.pass(10);
      await over;
      expect([count(), clock.timerCount]).to.deep.equal([0, 0]);
      const controller = new AbortController();
      const aborted = rejection(sleep(10, controller.signal));
      expect(clock.timerCount).to.equal(1);
      controller.abort();
      await aborted;
      expect(clock.timerCount).to.equal(0);
    } finally {
      clock.restore();
    }
  });
});

it('runAfter calls nothing after an abort, and causes no unhandled rejection', async () => {
  const clock = stopClock();
  try {
    const log: string[] = [];
    const controller = new AbortController();
    runAfter(10, controller.signal, () => log.push('aborted'));
    runAfter(10, forever, () => log.push('in time'));
    controller.abort();
    await clock.pass(10);
    expect([log, clock.timerCount]).to.deep.equal([['in time'], 0]);
  } finally {
    clock.restore();
  }
});

it('runUntil ends with its signal, and hides no other error of the loop', async () => {
  const controller = new AbortController();
  runUntil(controller.signal, () => sleep(1e9, controller.signal));
  controller.abort('enough');
  await settled();
  const reported = new Promise<PromiseRejectionEvent>((resolve) => {
    const onRejection = (event: PromiseRejectionEvent): void => {
      event.preventDefault();
      event.stopImmediatePropagation();
      resolve(event);
    };
    addEventListener('unhandledrejection', onRejection, { capture: true, once: true });
  });
  const error = network();
  runUntil(forever, () => Promise.reject(error));
  expect((await reported).reason).to.equal(error);
});

it('whenSettled resolves with its promise, however that ends', async () => {
  const late = deferred();
  let isOver = false;
  const over = whenSettled(late.promise).then(() => {
    isOver = true;
  });
  await settled();
  expect(isOver).to.equal(false);
  late.reject(network());
  await over;
  await whenSettled(Promise.resolve(7));
});

describe('sleepUntil', () => {
  it('ends with its time, early if waiting is no longer needed, or with the reason of an abort', async () => {
    await sleepUntil(1, forever, forever);
    await sleepUntil(1e9, forever, AbortSignal.abort('over'));
    for (const over of [forever, AbortSignal.abort('over')])
      expect(await rejection(sleepUntil(1e9, AbortSignal.abort('stop'), over))).to.equal('stop');
  });
});

describe('inSlices', () => {
  it('yields to the page after a first slice of 2 ms and later slices of 8 ms, and reports it', async () => {
    let nowMs = 0;
    let breaths = 0;
    const spent: string[] = [];
    Object.assign(performance, { now: () => nowMs });
    try {
      const work = (stepMs: number): void => {
        nowMs += stepMs;
        spent.push(`${nowMs}`);
      };
      await inSlices([1, 1, 1, 4, 4, 1, 8, 1, 8], work, () => {
        breaths += 1;
        spent.push('breath');
        nowMs += 100;
      });
      await inSlices([20], work);
    } finally {
      Reflect.deleteProperty(performance, 'now');
    }
    expect(spent.join(' ')).to.equal('1 2 3 breath 107 111 112 breath 220 221 breath 329 349');
    expect(breaths).to.equal(3);
  });
});

describe('abortable', () => {
  it('settles with its promise', async () => {
    expect(await abortable(Promise.resolve(7), forever)).to.equal(7);
    expect(await rejection(abortable(Promise.reject(network()), forever))).to.be.instanceOf(UploaderError);
  });

  it('rejects on abort, even if the promise never settles', async () => {
    const controller = new AbortController();
    const waiting = abortable(new Promise(() => undefined), controller.signal);
    controller.abort('stop');
    expect(await rejection(waiting)).to.equal('stop');
  });

  it('leaves no listener on its signal, however its promise ends', async () => {
    const { signal, count } = listenersOf(new AbortController().signal);
    const ends = [abortable(Promise.resolve(), signal), abortable(Promise.reject(network()), signal)];
    expect(count()).to.equal(2);
    await Promise.allSettled(ends);
    await settled();
    expect(count()).to.equal(0);
  });

  it('causes no unhandled rejection when the promise fails after the abort', async () => {
    const late = deferred();
    expect(await rejection(abortable(late.promise, AbortSignal.abort('gone')))).to.equal('gone');
    late.reject(network());
    await settled();
  });
});

it('nextTask lets other tasks of the page run', async () => {
  let hasRun = false;
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    hasRun = true;
    channel.port1.close();
  };
  channel.port2.postMessage(undefined);
  // Browsers run tasks in any order. The test checks only that the task of the channel runs at some point.
  for (let turns = 0; turns < 1000 && !hasRun; turns += 1) await nextTask();
  expect(hasRun).to.equal(true);
});
