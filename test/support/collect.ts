// Helpers of tests of streams and stages: arrays in, arrays out, and promises that a test settles itself.

/** All items of a stream, in order. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** A stream of these items, each in a task of its own. */
export async function* streamOf<T>(items: Iterable<T>): AsyncGenerator<T, void, undefined> {
  for (const item of items) {
    await settled();
    yield item;
  }
}

/** What a promise rejects with; throws if it resolves. */
export async function rejection<T = Error>(promise: Promise<unknown>): Promise<T> {
  try {
    await promise;
  } catch (error) {
    return error as T;
  }
  throw new Error('it was expected to reject');
}

/** Resolves when all work that needs no network, timers or workers is done. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise<void>((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve();
      };
      port2.postMessage(undefined);
    });
  }
}

/** Resolves as soon as `isTrue` returns true; checks once per task. The timeout of the test ends it otherwise. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await settled();
}

/** As `until`, for an asynchronous condition. */
export async function untilAsync(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await settled();
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** A promise that the test settles. */
export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
