// Streams and functions that record their use, for tests of streams.

import { type Deferred, deferred } from '../support/collect.ts';

/** Creates a function that records its arguments and whose results the test sets. */
export function scripted<T, R>() {
  const calls = new Map<T, Deferred<R>>();
  const fn = (item: T): Promise<R> => {
    const result = deferred<R>();
    calls.set(item, result);
    return result.promise;
  };
  return { calls, fn, started: () => [...calls.keys()] };
}

/** Creates a stream that records how many items were read and whether the stream was ended. */
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
