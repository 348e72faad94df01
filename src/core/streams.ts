// Helpers for async iterables, on which the pipeline is built.

import { awaitedLater, nextTask } from './wait.ts';

/** `ring()` resolves every promise that `wait()` has returned since the last `ring()`. */
export class Bell {
  #ring: (() => void) | undefined;
  #waiting: Promise<void> | undefined;

  wait(): Promise<void> {
    this.#waiting ??= new Promise((resolve) => {
      this.#ring = resolve;
    });
    return this.#waiting;
  }

  ring(): void {
    this.#ring?.();
    this.#ring = undefined;
    this.#waiting = undefined;
  }
}

/**
 * Calls `fn` for up to `limit` items at the same time and yields the results in the order of the items. Does not wait for the
 * consumer, so up to `limit` items are read ahead.
 */
export async function* mapAhead<T, R>(
  source: Iterable<T>,
  limit: number,
  fn: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const iterator = source[Symbol.iterator]();
  const results: Promise<R>[] = [];
  let isEnded = false;
  const pull = (): void => {
    const { done, value } = iterator.next();
    if (done) isEnded = true;
    else results.push(awaitedLater(fn(value)));
  };
  try {
    for (;;) {
      while (!isEnded && results.length < limit) pull();
      const result = results.shift();
      if (result === undefined) return;
      yield await result;
    }
  } finally {
    iterator.return?.();
  }
}

/** Yields the items, and `undefined` while an item is not ready: at once, and each time that `wake` rings. */
export async function* withLulls<T>(
  source: AsyncIterable<T>,
  wake: Bell,
): AsyncGenerator<T | undefined, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const nextResult = iterator.next();
      const isReady = nextResult.then(() => true);
      let lull = nextTask();
      while (!(await Promise.race([isReady, lull.then(() => false)]))) {
        yield undefined;
        lull = wake.wait();
      }
      const { done, value } = await nextResult;
      if (done) return;
      yield value;
    }
  } finally {
    // Not awaited, since the source may be waiting for its next item.
    void iterator.return?.();
  }
}

/**
 * Reads at most `limit` items of `source` before the consumer needs them. Calls `onHungry(true)` when the consumer starts to wait
 * for an item, and `onHungry(false)` when the wait ends. An error of `source` is thrown after the items that were read before the
 * error.
 */
export async function* readAhead<T>(
  source: AsyncIterable<T>,
  limit: number,
  onHungry: (isHungry: boolean) => void,
): AsyncGenerator<T, void, undefined> {
  const items: T[] = [];
  const filledBell = new Bell();
  const emptiedBell = new Bell();
  let isEnded = false;
  let failure: { readonly error: unknown } | undefined;
  const iterator = source[Symbol.asyncIterator]();
  const fill = async (): Promise<void> => {
    try {
      for (;;) {
        while (items.length >= limit) await emptiedBell.wait();
        const { done, value } = await iterator.next();
        if (done) break;
        items.push(value);
        filledBell.ring();
      }
    } catch (error) {
      failure = { error };
    }
    isEnded = true;
    filledBell.ring();
  };
  void fill();
  try {
    for (;;) {
      const item = items.shift();
      if (item !== undefined) {
        emptiedBell.ring();
        yield item;
      } else if (failure) throw failure.error;
      else if (isEnded) return;
      else {
        onHungry(true);
        await filledBell.wait();
        onHungry(false);
      }
    }
  } finally {
    // Also ends `fill()`, whose next item is `done`. If `fill()` waits for room, it never continues.
    await iterator.return?.();
  }
}

/**
 * Awaits `admit` for one item at a time. Calls `fn` with each admitted item, without waiting for other items, and yields the
 * results as they arrive. The next item of `source` is read when `admit` has resolved. An error of `fn` is thrown at once. An error
 * of `source` or `admit` is thrown after the results of all admitted items.
 */
export async function* mapUnordered<T, A, R>(
  source: AsyncIterable<T>,
  admit: (item: T) => Promise<A>,
  fn: (item: T, admitted: A) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const results: R[] = [];
  const resultBell = new Bell();
  let runningCount = 0;
  let isEnded = false;
  let isClosed = false;
  let failure: { readonly error: unknown } | undefined;
  let sourceFailure: { readonly error: unknown } | undefined;
  const iterator = source[Symbol.asyncIterator]();
  const drain = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await iterator.next();
      if (done || failure || isClosed) break;
      const admission = await admit(value);
      runningCount += 1;
      fn(value, admission)
        .then(
          (result) => results.push(result),
          (error: unknown) => {
            failure ??= { error };
          },
        )
        .finally(() => {
          runningCount -= 1;
          resultBell.ring();
        });
    }
    isEnded = true;
    resultBell.ring();
  };
  const draining = drain().catch((error: unknown) => {
    sourceFailure = { error };
    resultBell.ring();
  });
  try {
    for (;;) {
      const result = results.shift();
      if (result !== undefined) yield result;
      else if (failure) throw failure.error;
      else if (sourceFailure && runningCount === 0) throw sourceFailure.error;
      else if (isEnded && runningCount === 0) return;
      else await resultBell.wait();
    }
  } finally {
    isClosed = true;
    await iterator.return?.();
    await draining;
  }
}
