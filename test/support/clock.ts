// A clock that a test controls.

import { settled } from './collect.ts';

export interface Clock {
  /** Advances all clocks at once, as if the machine had slept. Then runs the timers that are due. */
  pass(ms: number): Promise<void>;
  /** Sets the system clock forward or back; no time passes. */
  jump(ms: number): void;
  /** Number of active timers. */
  readonly timerCount: number;
  /** Restores the browser's clock. */
  restore(): void;
}

/** Sets the system clock forward or back by `ms`, and keeps it running. Returns a function that restores the clock. */
export function jumpClock(ms: number): () => void {
  const { now } = Date;
  Date.now = () => now() + ms;
  return () => {
    Date.now = now;
  };
}

/** Advances all clocks by `ms`; timers are unchanged. Returns a function that restores the clocks. */
export function skipTime(ms: number): () => void {
  const { now } = performance;
  Object.assign(performance, { now: () => now.call(performance) + ms });
  const undoJump = jumpClock(ms);
  return () => {
    Reflect.deleteProperty(performance, 'now');
    undoJump();
  };
}

/**
 * Makes the clocks and timers of the page `factor` times as fast until the end of the test. For tests that wait for seconds in the
 * engine, in which workers or the network take part, so that the clock cannot stop.
 */
export function speedUp(factor: number): void {
  const { setTimeout } = globalThis;
  const { now } = Date;
  const pageNow = performance.now.bind(performance);
  const startMs = now();
  const pageStartMs = pageNow();
  Date.now = () => Math.round(startMs + (now() - startMs) * factor);
  Object.assign(performance, { now: () => pageStartMs + (pageNow() - pageStartMs) * factor });
  const start = (run: () => void, ms = 0) => setTimeout(run, ms / factor);
  Object.assign(globalThis, { setTimeout: start });
  const { timeout } = AbortSignal;
  AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / factor);
  restores.push(() => {
    Date.now = now;
    Reflect.deleteProperty(performance, 'now');
    Object.assign(globalThis, { setTimeout });
    AbortSignal.timeout = timeout;
  });
}

/**
 * What restores the clocks that are not the browser's, the first one first. A test may have timed out while its clock was stopped,
 * and the test runner needs the timers of the browser.
 */
const restores: (() => void)[] = [];
afterEach(() => {
  for (const restore of restores.splice(0).reverse()) restore();
});

/**
 * Stops `Date.now`, `performance.now` and timers. Returns a clock that controls them. With `areTimersStopped: false`, timers still
 * run in real time.
 */
export function stopClock({ areTimersStopped = true } = {}): Clock {
  const { setTimeout, clearTimeout } = globalThis;
  const { now } = Date;
  const timers = new Map<number, { readonly atMs: number; readonly run: () => void }>();
  const startMs = now();
  let passedMs = 0;
  let jumpedMs = 0;
  let lastId = 0;
  Date.now = () => startMs + passedMs + jumpedMs;
  Object.assign(performance, { now: () => passedMs });
  const start = (run: () => void, ms = 0): number => {
    // The ids of browsers are positive. With positive ids here, clearTimeout() after `restore()` could clear a timer of the page.
    lastId -= 1;
    timers.set(lastId, { atMs: passedMs + ms, run });
    return lastId;
  };
  const clear = (id: number): void => {
    // A timer of the time before is cleared, too: otherwise it would run after what it limits has ended.
    if (!timers.delete(id)) clearTimeout(id);
  };
  const restore = (): void => {
    Date.now = now;
    Reflect.deleteProperty(performance, 'now');
    Object.assign(globalThis, { setTimeout, clearTimeout });
    if (restores.includes(restore)) restores.splice(restores.indexOf(restore), 1);
  };
  restores.push(restore);
  if (areTimersStopped) Object.assign(globalThis, { setTimeout: start, clearTimeout: clear });
  return {
    get timerCount() {
      return timers.size;
    },
    jump(ms) {
      jumpedMs += ms;
    },
    async pass(ms) {
      passedMs += ms;
      for (const [id, { atMs, run }] of [...timers]) {
        if (atMs > passedMs) continue;
        timers.delete(id);
        run();
      }
      await settled();
    },
    restore,
  };
}
