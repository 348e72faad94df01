// Mapping a stream in any order, with back-pressure.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import { mapUnordered } from '../../src/core/streams.ts';
import { collect, deferred, rejection, settled, streamOf, until } from '../support/collect.ts';
import { scripted, watched } from './scripted-streams.ts';

const openDoor = async (): Promise<void> => undefined;

/** Maps `source`, of which the first item has passed its door. The second item waits. */
async function afterFirst(
  source: AsyncIterable<number>,
  doors: ReturnType<typeof scripted<number, number>>,
): Promise<AsyncGenerator<number, void, undefined>> {
  const results = mapUnordered(source, doors.fn, async (item) => item);
  const first = results.next();
  await settled();
  doors.calls.get(1)?.resolve(1);
  await first;
  await settled();
  return results;
}

describe('mapUnordered', () => {
  it('yields every result as soon as it is ready', async () => {
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

  it('reads only one item ahead of the limit', async () => {
    const { source, state } = watched([1, 2, 3, 4, 5]);
    const doors = scripted<number, number>();
    const { started, fn } = scripted<number, number>();
    const results = mapUnordered(source, doors.fn, fn);
    const first = results.next();
    await settled();
    expect(state.readCount).to.equal(1);
    doors.calls.get(1)?.resolve(1);
    await settled();
    expect(started()).to.deep.equal([1]);
    expect(state.readCount).to.equal(2);
    doors.calls.get(2)?.reject(new Error('the door fell'));
    await settled();
    expect(started()).to.deep.equal([1]);
    expect(state.readCount).to.equal(2);
    first.catch(() => undefined);
  });

  it('yields the running items when the source fails, then throws', async () => {
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

  it('throws the error of an item, even if others are still running', async () => {
    const { source } = watched([1, 2, 3]);
    const { calls, fn } = scripted<number, number>();
    const all = collect(mapUnordered(source, openDoor, fn));
    await settled();
    calls.get(2)?.reject(new Error('item 2'));
    expect((await rejection(all)).message).to.equal('item 2');
  });

  it('starts no item after one has failed', async () => {
    const { source, state } = watched([1, 2, 3, 4]);
    const doors = scripted<number, number>();
    const { started, calls, fn } = scripted<number, number>();
    const all = collect(mapUnordered(source, doors.fn, fn));
    all.catch(() => undefined);
    await settled();
    doors.calls.get(1)?.resolve(1);
    await settled();
    calls.get(1)?.reject(new Error('item 1'));
    doors.calls.get(2)?.reject('aborted');
    expect((await rejection(all)).message).to.equal('item 1');
    expect(started()).to.deep.equal([1]);
    expect(state.isEnded).to.equal(true);
  });

  it('ends only after the waiting item was rejected', async () => {
    const { source, state } = watched([1, 2, 3]);
    const doors = scripted<number, number>();
    const results = await afterFirst(source, doors);
    let isOver = false;
    const over = results.return().then(() => {
      isOver = true;
    });
    await settled();
    expect([isOver, state.isEnded]).to.deep.equal([false, true]);
    doors.calls.get(2)?.reject('aborted');
    await over;
  });

  it('ends only after its source has cleaned up', async () => {
    const isClean = deferred();
    async function* source(): AsyncGenerator<number, void, undefined> {
      try {
        yield 1;
        yield 2;
      } finally {
        await isClean.promise;
      }
    }
    const doors = scripted<number, number>();
    const results = await afterFirst(source(), doors);
    let isOver = false;
    const over = results.return().then(() => {
      isOver = true;
    });
    doors.calls.get(2)?.reject('aborted');
    await settled();
    expect(isOver).to.equal(false);
    isClean.resolve();
    await over;
  });

  it('passes every item to the function exactly once, for any order of results', async () => {
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
