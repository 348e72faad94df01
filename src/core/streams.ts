// Helpers over async iterables, from which the pipeline is made. They know nothing of files.

import { nextTask } from './wait.ts';

/** Wakes whoever waits: `wake()` resolves every `sleep()` that is under way. */
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
 * Calls `fn` on up to `limit` items at once and yields the results in the order of the items. Work on later items goes on
 * while the consumer holds an earlier result, so `limit` is also how far this reads ahead.
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
    else {
      const result = fn(value);
      // A later result may fail while an earlier one is awaited; it is thrown when its turn comes.
      result.catch(() => undefined);
      results.push(result);
    }
  };
  try {
    for (;;) {
      while (!isEnded && results.length < limit) pull();
      const next = results.shift();
      if (next === undefined) return;
      yield await next;
    }
  } finally {
    iterator.return?.();
  }
}

/** Yields the items, and once before each item that is not there yet `undefined`: time to use what has come so far. */
export async function* withLulls<T>(
  source: AsyncIterable<T>,
): AsyncGenerator<T | undefined, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      // While somebody uses the lull nobody awaits it; it is thrown when its turn comes.
      next.catch(() => undefined);
      const isThere = await Promise.race([next.then(() => true), nextTask().then(() => false)]);
      if (!isThere) yield undefined;
      const { done, value } = await next;
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

/**
 * Runs `source` ahead of its consumer by at most `limit` items, and tells `onHungry` whether somebody waits for an item.
 * An error of the source is thrown when its turn comes.
 */
export async function* readAhead<T>(
  source: AsyncIterable<T>,
  limit: number,
  onHungry: (isHungry: boolean) => void = () => undefined,
): AsyncGenerator<T, void, undefined> {
  const items: T[] = [];
  const filled = new Bell();
  const emptied = new Bell();
  let isEnded = false;
  let isClosed = false;
  let failure: { readonly error: unknown } | undefined;
  const iterator = source[Symbol.asyncIterator]();
  const fill = async (): Promise<void> => {
    try {
      while (!isClosed) {
        while (items.length >= limit && !isClosed) await emptied.wait();
        if (isClosed) break;
        const { done, value } = await iterator.next();
        if (done) break;
        items.push(value);
        filled.ring();
      }
    } catch (error) {
      failure = { error };
    }
    isEnded = true;
    filled.ring();
  };
  void fill();
  try {
    for (;;) {
      const item = items.shift();
      if (item !== undefined) {
        emptied.ring();
        yield item;
      } else if (failure) throw failure.error;
      else if (isEnded) return;
      else {
        onHungry(true);
        await filled.wait();
        onHungry(false);
      }
    }
  } finally {
    isClosed = true;
    emptied.ring();
    await iterator.return?.();
  }
}

/**
 * Takes an item, waits until `admit` lets it in, and calls `fn` without waiting for the items before; yields results as
 * they are ready, in any order. At most one item waits at the door, so `admit` is the back-pressure. When `fn` fails, its
 * error is thrown at once; when the source fails, what is under way is finished and yielded first.
 */
export async function* mapUnordered<T, A, R>(
  source: AsyncIterable<T>,
  admit: (item: T) => Promise<A>,
  fn: (item: T, admitted: A) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const results: R[] = [];
  const ready = new Bell();
  let running = 0;
  let isEnded = false;
  let isClosed = false;
  let failure: { readonly error: unknown } | undefined;
  let sourceFailure: { readonly error: unknown } | undefined;
  const iterator = source[Symbol.asyncIterator]();
  const drain = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await iterator.next();
      if (done || failure || isClosed) break;
      const admitted = await admit(value);
      running += 1;
      fn(value, admitted)
        .then(
          (result) => results.push(result),
          (error: unknown) => {
            failure ??= { error };
          },
        )
        .finally(() => {
          running -= 1;
          ready.ring();
        });
    }
    isEnded = true;
    ready.ring();
  };
  const draining = drain().catch((error: unknown) => {
    sourceFailure = { error };
    ready.ring();
  });
  try {
    for (;;) {
      const next = results.shift();
      if (next !== undefined) yield next;
      else if (failure) throw failure.error;
      else if (sourceFailure && running === 0) throw sourceFailure.error;
      else if (isEnded && running === 0) return;
      else await ready.wait();
    }
  } finally {
    isClosed = true;
    await iterator.return?.();
    await draining;
  }
}
