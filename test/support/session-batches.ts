// The part of sessions-contract.ts for many sessions at once.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type Addition, DAY_MS, type Limits, type Opening } from '../../demo/examples/service-s3/sessions.ts';
import { addTo, openOne, PLENTY, type Setup, sessionOf } from './session-steps.ts';

const HOUR_MS = 3_600_000;

/** Adds the tests. `start` returns the same rows for each test, so each test uses its own users. */
export function testBatches(start: () => Setup): void {
  test('opens the sessions of a batch in their order, as many as the user may have', async () => {
    const { one, other } = start();
    const user = randomUUID();
    const opening = (sizeBytes: number, more: Partial<Limits> = {}): Opening => ({
      session: sessionOf(user, sizeBytes),
      limits: { ...PLENTY, freeBytes: 50, ...more },
    });
    const batch = [
      opening(20),
      opening(40),
      opening(0),
      opening(30),
      opening(1),
      opening(60, { freeBytes: 200 }),
    ];
    const results = ['opened', 'full', 'opened', 'opened', 'full', 'opened'];
    assert.deepEqual(await one.open(batch), results);
    for (const [at, { session }] of batch.entries()) {
      const found = await other.find(session.id);
      assert.deepEqual(found && { ...found, ...session }, results[at] === 'opened' ? found : undefined);
    }
    const few = { freeBytes: 1e12, unfinishedFiles: 6 };
    assert.deepEqual(await other.open([opening(0, few), opening(0, few), opening(0, few)]), [
      ...['opened', 'opened', 'many'],
    ]);
    const day = { freeBytes: 1e12, filesPerDay: 7, bytesPerDay: 111 };
    assert.deepEqual(await one.open([opening(2, day), opening(1, day), opening(0, day)]), [
      ...['day', 'opened', 'day'],
    ]);
    assert.deepEqual(await one.open([]), []);
  });

  test('never opens more in batches at the same time than the user may have', async () => {
    const { one, other } = start();
    const user = randomUUID();
    const limits = { ...PLENTY, unfinishedFiles: 40 };
    const batches = Array.from({ length: 8 }, (_, index) =>
      (index % 2 ? one : other).open(
        Array.from({ length: 16 }, () => ({ session: sessionOf(user, 1), limits })),
      ),
    );
    const results = (await Promise.all(batches)).flat();
    assert.equal(results.filter((result) => result === 'opened').length, 40);
    assert.equal(results.filter((result) => result === 'many').length, 88);
  });

  test('adds chunks to many sessions, and nothing to those that it refuses', async () => {
    const { one, other } = start();
    const user = randomUUID();
    const openedId = async (): Promise<string> => {
      const session = sessionOf(user);
      assert.equal(await openOne(one, session), 'opened');
      return session.id;
    };
    const ids = await Promise.all(Array.from({ length: 4 }, async () => openedId()));
    const [first = '', second = '', third = '', fourth = ''] = ids;
    assert.ok(await addTo(one, second, new Map([['a', 2]]), 3, 10));
    const addition = (id: string, chunks: [string, number][], most = 3): Addition => ({
      ...{ id, sizes: new Map(chunks), most, mostBytes: 10, isOpening: false },
    });
    const results = await other.addChunks([
      addition(fourth, [
        ['a', 1],
        ['b', 2],
      ]),
      addition(second, [
        ['a', 1],
        ['b', 2],
      ]),
      addition('unknown', [['a', 1]]),
      addition(third, [
        ['a', 6],
        ['b', 5],
      ]),
      addition(first, [['a', 9]], 1),
    ]);
    assert.deepEqual(results, [true, false, false, false, true]);
    assert.deepEqual(await one.addChunks([]), []);
    // What was refused is not there: `a` may have another size, and `b` is not counted.
    assert.ok(
      await addTo(
        one,
        third,
        new Map([
          ['a', 4],
          ['c', 1],
          ['d', 1],
        ]),
        3,
        10,
      ),
    );
    assert.ok(
      await addTo(
        one,
        second,
        new Map([
          ['a', 2],
          ['c', 1],
          ['d', 1],
        ]),
        3,
        10,
      ),
    );
    assert.equal(await addTo(one, first, new Map([['a', 8]]), 1, 10), false);
    assert.equal(await addTo(one, first, new Map([['b', 1]]), 1, 10), false);
    assert.equal(await addTo(one, fourth, new Map([['b', 3]]), 3, 10), false);
    // Also in the other order at the same time.
    const more = (order: string[]): Promise<boolean[]> =>
      one.addChunks(order.map((id) => addition(id, [['a', id === second ? 2 : 1]], 9)));
    for (let count = 0; count < 5; count += 1)
      assert.deepEqual(
        (await Promise.all([more([second, fourth]), more([fourth, second]), more([second])])).flat(),
        Array(5).fill(true),
      );
  });

  test('keeps a session for an hour if its chunks came with the opening, and for a week after a later request', async () => {
    const { one, other, pass } = start();
    const user = randomUUID();
    const sessions = ['left', 'presigned', 'committed', 'late'].map(() => sessionOf(user));
    const ids = sessions.map(({ id }) => id);
    const [left = '', presigned = '', committed = '', late = ''] = ids;
    await one.open(sessions.map((session) => ({ session, limits: PLENTY })));
    const addition = (id: string, isOpening: boolean): Addition => ({
      ...{ id, sizes: new Map([['a', 1]]), most: 3, mostBytes: 10, isOpening },
    });
    await pass(HOUR_MS / 2);
    assert.deepEqual(await one.addChunks(ids.map((id) => addition(id, true))), Array(4).fill(true));
    // Of one call, each counts for itself.
    const again = [addition(left, true), addition(presigned, false)];
    assert.deepEqual(await other.addChunks(again), [true, true]);
    assert.ok(await one.claim(committed, '', ['a']));
    await pass(HOUR_MS / 2 - 60_000);
    for (const id of ids) assert.ok(await one.find(id));
    await pass(120_000);
    const found = await Promise.all([left, presigned, committed, late].map((id) => other.find(id)));
    assert.deepEqual(found.map(Boolean), [false, true, true, false]);
    assert.equal((await other.addChunks([addition(late, false)]))[0], false);
    // Nor is the work for it postponed: its chunks are deleted when the URLs have expired.
    await pass(HOUR_MS / 6);
    const ended = new Set<string>();
    for (let work = await one.takeWork(user, 'ended', []); work; work = await one.takeWork(user, 'ended', []))
      ended.add(work.id);
    assert.deepEqual(
      ids.map((id) => ended.has(id)),
      [true, false, false, true],
    );
    await pass(6 * DAY_MS);
    assert.ok(await one.find(presigned));
  });
}
