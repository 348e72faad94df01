// Streams and functions for tests of streams, which record how they were used.

import { type Deferred, deferred } from '../support/collect.ts';

/** A function over items whose results the test sets, and the arguments of its calls. */
export function scripted<T, R>() {
  const calls = new Map<T, Deferred<R>>();
  const fn = (item: T): Promise<R> => {
    const result = deferred<R>();
    calls.set(item, result);
    return result.promise;
  };
  return { calls, fn, started: () => [...calls.keys()] };
}

/** A stream that records how far it was read and whether it was ended. */
export function watched<T>(items: readonly T[], error?: Error) {
  const state = { readCount: 0, isEnded: false };
  async function* source(): AsyncGenerator<T, void, undefined> {
    try {
      for (const item of items) {
        state.readCount += 1;
        yield item;
      }
      if (error) throw error;
    } finally {
      state.isEnded = true;
    }
  }
  return { state, source: source() };
}
