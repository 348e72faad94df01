// The three ways of running over a stream: in order, ahead, and unordered with a door.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import { mapAhead, mapUnordered, readAhead } from '../../src/core/streams.ts';
import { collect, type Deferred, deferred, rejection, settled, streamOf, until } from '../support/collect.ts';

/** A function over items whose results the test gives, and what it was called with. */
function scripted<T, R>() {
  const calls = new Map<T, Deferred<R>>();
  const fn = (item: T): Promise<R> => {
    const result = deferred<R>();
    calls.set(item, result);
    return result.promise;
  };
  return { calls, fn, begun: () => [...calls.keys()] };
}

/** A stream that tells how far it was read and whether it was ended. */
function watched<T>(items: readonly T[], error?: Error) {
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

const openDoor = async (): Promise<void> => undefined;

describe('mapAhead', () => {
  it('yields in the order of the items, whichever is ready first', async () => {
    const { calls, fn } = scripted<number, string>();
    const all = collect(mapAhead([1, 2, 3], 3, fn));
    await settled();
    for (const item of [3, 1, 2]) calls.get(item)?.resolve(`item ${item}`);
    expect(await all).to.deep.equal(['item 1', 'item 2', 'item 3']);
  });

  it('works on at most `limit` items at once, and goes on while the consumer holds a result', async () => {
    const { begun, calls, fn } = scripted<number, number>();
    const results = mapAhead([1, 2, 3, 4, 5], 2, fn);
    const first = results.next();
    await settled();
    expect(begun()).to.deep.equal([1, 2]);
    calls.get(1)?.resolve(1);
    expect((await first).value).to.equal(1);
    const second = results.next();
    await settled();
    expect(begun()).to.deep.equal([1, 2, 3]);
    calls.get(2)?.resolve(2);
    await second;
    await results.return();
  });

  it('never has more than `limit` under way, for any number of items', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(3), { maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        async (waits, limit) => {
          let running = 0;
          let most = 0;
          const results = await collect(
            mapAhead(waits.entries(), limit, async ([at, wait]) => {
              running += 1;
              most = Math.max(most, running);
              for (let round = 0; round < wait; round += 1) await Promise.resolve();
              running -= 1;
              return at;
            }),
          );
          expect(results).to.deep.equal([...waits.keys()]);
          expect(most).to.be.at.most(limit);
        },
      ),
    );
  });

  it('throws the error of an item when its turn comes, after the results before it', async () => {
    const { calls, fn } = scripted<number, number>();
    const results = mapAhead([1, 2, 3], 3, fn);
    const first = results.next();
    await settled();
    calls.get(2)?.reject(new Error('item 2'));
    await settled();
    calls.get(1)?.resolve(1);
    expect((await first).value).to.equal(1);
    expect((await rejection(results.next())).message).to.equal('item 2');
    expect(calls.has(4)).to.equal(false);
  });

  it('ends its source when the consumer stops', async () => {
    let isEnded = false;
    function* source(): Generator<number, void, undefined> {
      try {
        for (let item = 0; ; item += 1) yield item;
      } finally {
        isEnded = true;
      }
    }
    for await (const item of mapAhead(source(), 2, async (item) => item)) if (item === 3) break;
    expect(isEnded).to.equal(true);
  });

  it('ends with an abort that its function hears of', async () => {
    const controller = new AbortController();
    const work = collect(
      mapAhead(
        [1, 2, 3],
        2,
        () =>
          new Promise((_, reject) => {
            controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
          }),
      ),
    );
    await settled();
    controller.abort('stopped');
    expect(await rejection(work)).to.equal('stopped');
  });
});

describe('readAhead', () => {
  it('reads at most so many items before anybody wants them', async () => {
    const { source, state } = watched([1, 2, 3, 4, 5, 6]);
    const items = readAhead(source, 2);
    expect((await items.next()).value).to.equal(1);
    await settled();
    // One was handed out, two lie ready.
    expect(state.readCount).to.equal(3);
    expect((await collect(items)).length).to.equal(5);
  });

  it('tells when somebody waits, and when the wait is over', async () => {
    const told: boolean[] = [];
    const gate = deferred();
    async function* source(): AsyncGenerator<number, void, undefined> {
      yield 1;
      await gate.promise;
      yield 2;
    }
    const items = readAhead(source(), 1, (isHungry) => told.push(isHungry));
    await items.next();
    const second = items.next();
    await settled();
    expect(told.at(-1)).to.equal(true);
    gate.resolve();
    await second;
    expect(told.at(-1)).to.equal(false);
    await items.return();
  });

  it('throws an error of the source after the items that came before it', async () => {
    const { source } = watched([1, 2], new Error('source'));
    const items = readAhead(source, 5);
    await settled();
    expect((await items.next()).value).to.equal(1);
    expect((await items.next()).value).to.equal(2);
    expect((await rejection(items.next())).message).to.equal('source');
  });

  it('ends its source when the consumer stops', async () => {
    const { source, state } = watched([1, 2, 3, 4, 5]);
    for await (const item of readAhead(source, 1)) if (item === 2) break;
    expect(state.isEnded).to.equal(true);
  });
});

describe('mapUnordered', () => {
  it('yields whatever is ready, and all of it', async () => {
    const { calls, fn } = scripted<number, number>();
    const results = mapUnordered(streamOf([1, 2, 3]), openDoor, fn);
    const first = results.next();
    await until(() => calls.has(3));
    calls.get(3)?.resolve(3);
    expect((await first).value).to.equal(3);
    calls.get(1)?.resolve(1);
    calls.get(2)?.resolve(2);
    expect(await collect(results)).to.have.members([1, 2]);
  });

  it('reads no further than the one item that waits at the door', async () => {
    const { source, state } = watched([1, 2, 3, 4, 5]);
    const doors = scripted<number, number>();
    const { begun, fn } = scripted<number, number>();
    const results = mapUnordered(source, doors.fn, fn);
    const first = results.next();
    await settled();
    expect(state.readCount).to.equal(1);
    doors.calls.get(1)?.resolve(1);
    await settled();
    expect(begun()).to.deep.equal([1]);
    expect(state.readCount).to.equal(2);
    doors.calls.get(2)?.reject(new Error('the door fell'));
    await settled();
    expect(begun()).to.deep.equal([1]);
    expect(state.readCount).to.equal(2);
    first.catch(() => undefined);
  });

  it('finishes and yields what is under way when the source fails, then throws', async () => {
    const { source } = watched([1, 2], new Error('source'));
    const { calls, fn } = scripted<number, number>();
    const seen: number[] = [];
    const all = (async () => {
      for await (const result of mapUnordered(source, openDoor, fn)) seen.push(result);
    })();
    await settled();
    calls.get(2)?.resolve(2);
    await settled();
    calls.get(1)?.resolve(1);
    expect((await rejection(all)).message).to.equal('source');
    expect(seen).to.deep.equal([2, 1]);
  });

  it('throws the error of an item, though others are still under way', async () => {
    const { source } = watched([1, 2, 3]);
    const { calls, fn } = scripted<number, number>();
    const all = collect(mapUnordered(source, openDoor, fn));
    await settled();
    calls.get(2)?.reject(new Error('item 2'));
    expect((await rejection(all)).message).to.equal('item 2');
  });

  it('begins nothing more once an item has failed', async () => {
    const { source, state } = watched([1, 2, 3, 4]);
    const doors = scripted<number, number>();
    const { begun, calls, fn } = scripted<number, number>();
    const all = collect(mapUnordered(source, doors.fn, fn));
    all.catch(() => undefined);
    await settled();
    doors.calls.get(1)?.resolve(1);
    await settled();
    calls.get(1)?.reject(new Error('item 1'));
    doors.calls.get(2)?.reject('aborted');
    expect((await rejection(all)).message).to.equal('item 1');
    expect(begun()).to.deep.equal([1]);
    expect(state.isEnded).to.equal(true);
  });

  it('gives every item to the function exactly once, for any order of results', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(4), { maxLength: 40 }), async (waits) => {
        const { source } = watched([...waits.entries()]);
        const results = await collect(
          mapUnordered(source, openDoor, async ([at, wait]) => {
            for (let round = 0; round < wait; round += 1) await Promise.resolve();
            return at;
          }),
        );
        expect(results.sort((one, other) => one - other)).to.deep.equal([...waits.keys()]);
      }),
    );
  });
});
