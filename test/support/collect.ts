// Helpers for asynchronous tests: arrays from streams, waiting, and promises that a test settles.

import { waits } from './waits.ts';

/** Returns all items of a stream, in order. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** Returns a stream of `items`, each in a separate task. */
export async function* streamOf<T>(items: Iterable<T>): AsyncGenerator<T, void, undefined> {
  for (const item of items) {
    await settled();
    yield item;
  }
}

/** Returns the error that `promise` rejects with. Throws if `promise` resolves. */
export async function rejection<T = Error>(promise: Promise<unknown>): Promise<T> {
  try {
    await promise;
  } catch (error) {
    return error as T;
  }
  throw new Error('it was expected to reject');
}

/** Resolves when all work that uses no network, timers or workers is done. */
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

/** The timer of the browser, also while a test stops the clock. */
const { setTimeout } = globalThis;

/** Leaves the processor to workers, the service and other pages for `ms`. */
export const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Number of looks in as many tasks. After them, `until` leaves the processor to the service and to other pages between two looks:
 * for 2 ms at first, and for 20 ms after some 250 looks.
 */
const LOOKS_AT_ONCE = 50;
const GREATEST_PAUSE_MS = 20;
const pauseMs = (looks: number): number => Math.min(GREATEST_PAUSE_MS, 2 + Math.floor(looks / 14));

/**
 * Resolves when `isTrue` returns true, or a promise of true. Looks once per task, and later every few milliseconds. If the test
 * times out, its error says what `says` returns.
 */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  says: () => string = () => String(isTrue),
): Promise<void> {
  waits.add(says);
  try {
    for (let looks = 0; ; looks += 1) {
      const answer = isTrue();
      if (answer === true || (await answer)) return;
      if (looks < LOOKS_AT_ONCE) await settled();
      else await rest(pauseMs(looks - LOOKS_AT_ONCE));
    }
  } finally {
    waits.delete(says);
  }
}

/**
 * Returns a function that returns true if the result of `count` has been the same number for `ms`. Time between two calls counts as
 * one second at most, because the machine may have been stopped meanwhile.
 */
export function quietFor(ms: number, count: () => number): () => boolean {
  let seenCount = count();
  let lastMs = performance.now();
  let quietMs = 0;
  return () => {
    const nowMs = performance.now();
    quietMs += Math.min(nowMs - lastMs, 1000);
    lastMs = nowMs;
    const current = count();
    if (current !== seenCount) {
      seenCount = current;
      quietMs = 0;
    }
    return quietMs > ms;
  };
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** Returns a promise, and the functions that settle it. */
export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
