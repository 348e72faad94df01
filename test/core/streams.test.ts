// Functions over streams: `mapAhead`, `Bell`, `withLulls` and `readAhead`.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import { Bell, mapAhead, readAhead, withLulls } from '../../src/core/streams.ts';
import { collect, deferred, rejection, settled } from '../support/collect.ts';
import { scripted, watched } from './scripted-streams.ts';

describe('mapAhead', () => {
  it('yields in the order of the items, whichever is ready first', async () => {
    const { calls, fn } = scripted<number, string>();
    const all = collect(mapAhead([1, 2, 3], 3, fn));
    await settled();
    for (const item of [3, 1, 2]) calls.get(item)?.resolve(`item ${item}`);
    expect(await all).to.deep.equal(['item 1', 'item 2', 'item 3']);
  });

  it('works on at most `limit` items in parallel, and continues while the consumer holds a result', async () => {
    const { started, calls, fn } = scripted<number, number>();
    const results = mapAhead([1, 2, 3, 4, 5], 2, fn);
    const first = results.next();
    await settled();
    expect(started()).to.deep.equal([1, 2]);
    calls.get(1)?.resolve(1);
    expect((await first).value).to.equal(1);
    const second = results.next();
    await settled();
    expect(started()).to.deep.equal([1, 2, 3]);
    calls.get(2)?.resolve(2);
    await second;
    await results.return();
  });

  it('never runs more than `limit` items, for any number of items', async () => {
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

  it('throws the error of an item in its position, after the results before it', async () => {
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

  it('ends its function by an abort', async () => {
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

describe('a bell', () => {
  it('wakes all waiting callers; later callers wait for the next time', async () => {
    const bell = new Bell();
    bell.ring();
    const woken: string[] = [];
    const wait = (name: string): Promise<unknown> => bell.wait().then(() => woken.push(name));
    void wait('one');
    void wait('two');
    await settled();
    expect(woken).to.deep.equal([]);
    bell.ring();
    void wait('three');
    await settled();
    expect(woken).to.deep.equal(['one', 'two']);
    bell.ring();
    await settled();
    expect(woken).to.deep.equal(['one', 'two', 'three']);
  });
});

const asleep = new Bell();

/** Yields 1 when `gate` opens. */
async function* oneBehind(gate: Promise<void>): AsyncGenerator<number, void, undefined> {
  await gate;
  yield 1;
}

describe('withLulls', () => {
  it('yields undefined once before each item that is not ready, and nothing before one that is', async () => {
    const gates = [deferred(), deferred()];
    async function* source(): AsyncGenerator<number, void, undefined> {
      yield 1;
      await gates[0]?.promise;
      yield 2;
      yield 3;
      await gates[1]?.promise;
    }
    const seen: (number | undefined)[] = [];
    const all = (async () => {
      for await (const item of withLulls(source(), asleep)) seen.push(item);
    })();
    await settled();
    expect(seen).to.deep.equal([1, undefined]);
    gates[0]?.resolve();
    await settled();
    expect(seen).to.deep.equal([1, undefined, 2, 3, undefined]);
    gates[1]?.resolve();
    await all;
    expect(seen).to.deep.equal([1, undefined, 2, 3, undefined]);
  });

  it('yields undefined once more each time that `wake` rings during a lull', async () => {
    const gate = deferred();
    const wake = new Bell();
    const items = withLulls(oneBehind(gate.promise), wake);
    expect((await items.next()).value).to.equal(undefined);
    for (let count = 0; count < 2; count += 1) {
      const next = items.next();
      await settled();
      wake.ring();
      expect((await next).value).to.equal(undefined);
    }
    gate.resolve();
    expect((await items.next()).value).to.equal(1);
  });

  it('throws an error of its source in its position, even if it occurred during a lull', async () => {
    const { source } = watched([], new Error('source'));
    expect((await rejection(collect(withLulls(source, asleep)))).message).to.equal('source');
    const gate = deferred();
    const items = withLulls(oneBehind(gate.promise), asleep);
    expect((await items.next()).value).to.equal(undefined);
    gate.reject(new Error('in the lull'));
    await settled();
    expect((await rejection(items.next())).message).to.equal('in the lull');
  });

  it('ends its source when the consumer stops', async () => {
    const { source, state } = watched([1, 2, 3]);
    for await (const item of withLulls(source, asleep)) if (item === 2) break;
    expect(state).to.deep.equal({ readCount: 2, isEnded: true });
  });
});

const ignore = (): void => undefined;

describe('readAhead', () => {
  it('reads at most this many items before one is requested', async () => {
    const { source, state } = watched([1, 2, 3, 4, 5, 6]);
    const items = readAhead(source, 2, ignore);
    expect((await items.next()).value).to.equal(1);
    await settled();
    // The consumer has taken one item, and two items are buffered.
    expect(state.readCount).to.equal(3);
    expect((await collect(items)).length).to.equal(5);
  });

  it('reports when a consumer waits, and when the wait is over', async () => {
    const reported: boolean[] = [];
    const gate = deferred();
    async function* source(): AsyncGenerator<number, void, undefined> {
      yield 1;
      await gate.promise;
      yield 2;
    }
    const items = readAhead(source(), 1, (isHungry) => reported.push(isHungry));
    await items.next();
    expect(reported).to.deep.equal([true, false]);
    const second = items.next();
    await settled();
    expect(reported).to.deep.equal([true, false, true]);
    gate.resolve();
    await second;
    expect(reported).to.deep.equal([true, false, true, false]);
    await items.return();
  });

  it('throws an error of the source after the items before it', async () => {
    const { source } = watched([1, 2], new Error('source'));
    const items = readAhead(source, 5, ignore);
    await settled();
    expect((await items.next()).value).to.equal(1);
    expect((await items.next()).value).to.equal(2);
    expect((await rejection(items.next())).message).to.equal('source');
  });

  it('ends its source when the consumer stops', async () => {
    const { source, state } = watched([1, 2, 3, 4, 5]);
    for await (const item of readAhead(source, 1, ignore)) if (item === 2) break;
    expect(state.isEnded).to.equal(true);
  });
});
