// Time that a test moves by hand, for what watches the clock.

import { settled } from './collect.ts';

export interface Clock {
  /** Lets so much time pass in one go, as it does for a page that slept: what was due meanwhile runs at the end of it. */
  pass(ms: number): Promise<void>;
  /** Gives the browser's own clock back. */
  restore(): void;
}

/** Stops `Date.now`, `performance.now` and timers. */
export function stopClock(): Clock {
  const { setTimeout, clearTimeout } = globalThis;
  const { now } = Date;
  const timers = new Map<number, { readonly atMs: number; readonly run: () => void }>();
  const startMs = now();
  let passedMs = 0;
  let timerCount = 0;
  Date.now = () => startMs + passedMs;
  Object.assign(performance, { now: () => passedMs });
  globalThis.setTimeout = ((run: () => void, ms = 0): number => {
    timerCount += 1;
    timers.set(timerCount, { atMs: passedMs + ms, run });
    return timerCount;
  }) as typeof setTimeout;
  globalThis.clearTimeout = ((id: number) => void timers.delete(id)) as typeof clearTimeout;
  return {
    async pass(ms) {
      passedMs += ms;
      for (const [id, { atMs, run }] of [...timers]) {
        if (atMs > passedMs) continue;
        timers.delete(id);
        run();
      }
      await settled();
    },
    restore() {
      Date.now = now;
      Reflect.deleteProperty(performance, 'now');
      Object.assign(globalThis, { setTimeout, clearTimeout });
    },
  };
}
