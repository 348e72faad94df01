// What each implementation of the example's sessions must do: memory (the gate) and PostgreSQL (`npm run test:stack`).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { digestOf, type Kind, type Session } from '../../demo/examples/service-s3/sessions.ts';
import { testBatches } from './session-batches.ts';
import { addTo, openOne, PLENTY, type Setup, sessionOf } from './session-steps.ts';

const MIB = 2 ** 20;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LEASE_MS = 30_000;
const KINDS: Kind[] = ['committing', 'done', 'ended'];
const SENTENCE = 'The file contains a virus.';

/** Adds the tests. `start` returns the same rows for each test, so each test uses its own users. */
export function testSessions(start: () => Setup): void {
  testBatches(start);
  const opened = async ({ one }: Setup, user: string = randomUUID(), sizeBytes = 10): Promise<Session> => {
    const session = sessionOf(user, sizeBytes);
    assert.equal(await openOne(one, session, PLENTY), 'opened');
    return session;
  };
  /** Takes all work that is due. */
  const due = async ({ one, other }: Setup, holder: string): Promise<Map<string, string[]>> => {
    const found = new Map<string, string[]>();
    for (;;) {
      const works = await Promise.all(
        KINDS.flatMap((kind) => [one.takeWork(holder, kind, []), other.takeWork(holder, kind, [])]),
      );
      for (const work of works) {
        if (!work) continue;
        assert.ok(!found.has(work.id), 'the same work twice');
        found.set(work.id, work.chunks.sort());
      }
      if (works.every((work) => !work)) return found;
    }
  };

  test('opens as many sessions as the user may have, also at the same time', async () => {
    const { one, other } = start();
    const user = randomUUID();
    const all = Array.from({ length: 20 }, (_, index) =>
      openOne(index % 2 ? one : other, sessionOf(user, 10), { ...PLENTY, freeBytes: 50 }),
    );
    const results = await Promise.all(all);
    assert.equal(results.filter((result) => result === 'opened').length, 5);
    assert.equal(results.filter((result) => result === 'full').length, 15);
    assert.equal(await openOne(one, sessionOf(user, 0), { ...PLENTY, unfinishedFiles: 5 }), 'many');
    assert.equal(
      await openOne(one, sessionOf(randomUUID(), 10), { ...PLENTY, freeBytes: 10 }),
      'opened',
      'another user',
    );
  });

  test('counts what is not delivered, and nothing that has expired or was canceled', async () => {
    const setup = start();
    const { one, pass } = setup;
    const user = randomUUID();
    const first = await opened(setup, user);
    const isFull = async (): Promise<boolean> =>
      (await openOne(one, sessionOf(user, 1), { ...PLENTY, freeBytes: 10 })) === 'full';
    assert.ok(await one.claim(first.id, 'p', ['a']));
    assert.ok(await one.move(first.id, 'p', 'done'));
    await pass(8 * DAY_MS);
    assert.ok(await isFull(), 'done, but not delivered');
    await due(setup, 'p');
    assert.ok(await one.move(first.id, 'p', 'delivered'));
    const second = await opened(setup, user);
    assert.ok(await isFull());
    assert.ok(await one.move(second.id, '', 'expired'));
    await opened(setup, user);
    assert.ok(await isFull());
    await pass(2 * HOUR_MS);
    assert.ok(!(await isFull()), 'a session without chunks');
  });

  test('counts the files and bytes of a day, canceled ones too, and none that it refuses', async () => {
    const setup = start();
    const { one, pass } = setup;
    const user = randomUUID();
    const limits = { ...PLENTY, filesPerDay: 3, bytesPerDay: 25, freeBytes: 15 };
    const open = (sizeBytes: number): Promise<unknown> => openOne(one, sessionOf(user, sizeBytes), limits);
    assert.equal(await open(16), 'full');
    for (let count = 0; count < 2; count += 1) {
      const { id } = await opened(setup, user, 10);
      assert.ok(await one.move(id, '', 'expired'));
    }
    await pass(HOUR_MS);
    for (const id of (await due(setup, 'p')).keys()) assert.ok(await one.move(id, 'p', 'cleared'));
    assert.equal(await open(6), 'day');
    assert.equal(await open(5), 'opened');
    assert.equal(await open(0), 'day');
    await pass(DAY_MS);
    assert.equal(await open(15), 'opened');
  });

  test('finds a session until it expires', async () => {
    const setup = start();
    const session = await opened(setup);
    const found = { ...(await setup.other.find(session.id)) };
    assert.deepEqual({ ...found, ...session }, found);
    assert.equal(await setup.one.find('unknown'), undefined);
    assert.ok(await addTo(setup.one, session.id, new Map([['a', 1]]), 10, 10));
    await setup.pass(7 * DAY_MS - 60_000);
    assert.ok(await setup.one.find(session.id));
    await setup.pass(120_000);
    assert.equal(await setup.one.find(session.id), undefined);
    assert.equal(await setup.one.claim(session.id, 'p', ['a']), false);
    for (const hash of ['a', 'b'])
      assert.equal(await addTo(setup.one, session.id, new Map([[hash, 1]]), 10, 10), false);
    const { id: empty } = await opened(setup);
    await setup.pass(HOUR_MS - 60_000);
    assert.ok(await setup.one.claim(empty, 'p', []));
    assert.ok(await setup.one.move(empty, 'p', 'committing'));
    await setup.pass(DAY_MS);
    for (const id of (await due(setup, 'q')).keys()) await setup.one.move(id, 'q', 'open');
    assert.ok(await setup.one.find(empty), 'committed before it expired');
    const { id: unused } = await opened(setup);
    await setup.pass(HOUR_MS + 60_000);
    assert.equal(await setup.one.find(unused), undefined, 'no chunk was sent');
    assert.equal(await addTo(setup.one, unused, new Map([['a', 1]]), 10, 10), false);
  });

  test('adds chunks within the limits, and keeps nothing of a batch that it refuses', async () => {
    const setup = start();
    const { one, other } = setup;
    const { id } = await opened(setup);
    assert.ok(
      await addTo(
        one,
        id,
        new Map([
          ['a', 3],
          ['b', 3],
        ]),
        3,
        10,
      ),
    );
    assert.ok(await addTo(other, id, new Map([['a', 3]]), 3, 10), 'again');
    assert.equal(
      await addTo(
        one,
        id,
        new Map([
          ['c', 1],
          ['a', 4],
        ]),
        3,
        10,
      ),
      false,
      'another size',
    );
    assert.equal(await addTo(one, id, new Map([['c', 5]]), 3, 10), false, 'too many bytes');
    assert.equal(
      await addTo(
        one,
        id,
        new Map([
          ['c', 1],
          ['d', 1],
        ]),
        3,
        10,
      ),
      false,
      'too many chunks',
    );
    const both = await Promise.all([
      addTo(one, id, new Map([['c', 1]]), 3, 10),
      addTo(other, id, new Map([['d', 1]]), 3, 10),
    ]);
    assert.deepEqual(both.sort(), [false, true]);
  });

  test('lets one process commit a session, and another one continue when it has died', async () => {
    const setup = start();
    const { one, other, pass } = setup;
    const { id } = await opened(setup);
    const claims = Array.from({ length: 10 }, (_, index) =>
      (index % 2 ? one : other).claim(id, `p${index}`, ['a', 'b']),
    );
    const holder = `p${(await Promise.all(claims)).indexOf(true)}`;
    assert.equal((await Promise.all(claims)).filter(Boolean).length, 1);
    assert.equal((await one.find(id))?.digest, digestOf(['a', 'b']));
    await pass(LEASE_MS - 1000);
    assert.ok(await one.renew(id, holder));
    await pass(LEASE_MS - 1000);
    assert.equal(await other.claim(id, 'q', ['a', 'b']), false);
    assert.equal(await other.renew(id, 'q'), false);
    assert.equal(await other.move(id, '', 'expired'), false, 'cannot be canceled');
    assert.ok(!(await due(setup, 'q')).has(id));
    await pass(2000);
    assert.equal(await other.claim(id, 'q', ['b', 'a']), false, 'other chunks');
    assert.ok(await other.claim(id, 'q', ['a', 'b']));
    assert.equal(await one.renew(id, holder), false);
    assert.equal(await one.move(id, holder, 'open'), false);
    await pass(2 * LEASE_MS);
    assert.ok((await due(setup, 'r')).has(id));
    await pass(8 * DAY_MS);
    assert.equal((await one.find(id))?.state, 'committing', 'does not expire');
    assert.ok(await one.move(id, 'r', 'committing'));
    assert.ok(!(await due(setup, 't')).has(id), 'not at once after a failure');
    assert.ok(await one.claim(id, 's', ['a', 'b']), 'at once if the browser repeats it');
    assert.ok(await one.move(id, 's', 'done'));
    assert.equal(await one.claim(id, 'q', ['a', 'b']), false);
    assert.equal(await one.move(id, '', 'expired'), false, 'cannot be canceled when it is done');
  });

  test('leaves a commit to any process at once, and a repetition does not postpone it', async () => {
    const setup = start();
    const { one, other, pass } = setup;
    const { id } = await opened(setup);
    const { id: running } = await opened(setup);
    assert.ok(await other.claim(running, 'p', ['a']));
    assert.ok(await one.claim(id, '', ['a']));
    assert.deepEqual((await one.find(id))?.digest, digestOf(['a']));
    assert.equal(await one.find(id).then((found) => found?.state), 'committing');
    for (const each of [id, running]) assert.equal(await other.claim(each, '', ['a']), false);
    assert.ok((await due(setup, 'q')).has(id));
    assert.equal(await one.claim(id, '', ['a']), false, 'it is being built');
    assert.ok(await one.move(id, 'q', 'committing'));
    await pass(LEASE_MS - 1000);
    assert.equal(await one.claim(id, '', ['a']), false, 'it has failed');
    await pass(2000);
    assert.ok((await due(setup, 'r')).has(id), 'when it was due before');
    assert.ok(await one.move(id, 'r', 'done'));
    assert.equal(await one.claim(id, '', ['a']), false, 'it is done');
    const { id: expired } = await opened(setup);
    await pass(8 * DAY_MS);
    assert.equal(await one.claim(expired, '', ['a']), false, 'it has expired');
  });

  test('takes the work of other users, when some have their turn', async () => {
    const setup = start();
    const { one, other } = setup;
    const [noisy, busy, calm] = [randomUUID(), randomUUID(), randomUUID()];
    const left = async (user: string): Promise<string> => {
      const { id } = await opened(setup, user);
      assert.ok(await one.claim(id, '', ['a']));
      return id;
    };
    await due(setup, 'p');
    const [first, second, third, last] = [
      await left(noisy),
      await left(noisy),
      await left(busy),
      await left(calm),
    ];
    const taken = async (without: string[]): Promise<string | undefined> =>
      (await other.takeWork('q', 'committing', without))?.id;
    assert.equal(await taken([noisy, busy]), last);
    assert.equal(await taken([noisy, busy]), undefined);
    assert.equal(await taken([noisy]), third);
    assert.deepEqual([await taken([]), await taken([busy, calm])].sort(), [first, second].sort());
  });

  test('returns a file that is not delivered until it is, and keeps the reason of a refusal', async () => {
    const setup = start();
    const { one, pass } = setup;
    const { id } = await opened(setup);
    const { id: refused } = await opened(setup);
    for (const each of [id, refused]) assert.ok(await one.claim(each, 'p', ['a']));
    assert.ok(await one.move(id, 'p', 'done'));
    assert.ok(await one.move(refused, 'p', 'refused', SENTENCE));
    const first = await due(setup, 'p');
    assert.deepEqual([first.has(id), first.has(refused)], [true, false]);
    assert.ok(!(await due(setup, 'q')).has(id));
    await pass(LEASE_MS + 1000);
    assert.ok((await due(setup, 'q')).has(id));
    assert.equal(await one.move(id, 'p', 'delivered'), false);
    assert.ok(await one.move(id, 'q', 'delivered'));
    await pass(LEASE_MS + 1000);
    assert.ok(!(await due(setup, 'q')).has(id));
    assert.equal((await one.find(id))?.state, 'delivered');
    const { state, sentence } = (await one.find(refused)) ?? {};
    assert.deepEqual({ state, sentence }, { state: 'refused', sentence: SENTENCE });
  });

  test('deletes an expired session when its URLs have expired, with the chunks that no other session needs', async () => {
    const setup = start();
    const { one, pass } = setup;
    const user = randomUUID();
    const first = await opened(setup, user, 10 * MIB);
    const foreign = await opened(setup);
    await addTo(
      one,
      first.id,
      new Map([
        ['a', 1],
        ['b', 1],
        ['c', 1],
      ]),
      10,
      10,
    );
    await addTo(one, foreign.id, new Map([['a', 1]]), 10, 10);
    await pass(3 * DAY_MS);
    const second = await opened(setup, user, 10 * MIB);
    await addTo(one, second.id, new Map([['b', 1]]), 10, 10);
    await pass(4 * DAY_MS + 60_000);
    const early = await due(setup, 'p');
    assert.ok(!early.has(first.id) && !early.has(second.id));
    await pass(600_000);
    const late = await due(setup, 'p');
    assert.deepEqual(late.get(first.id), ['a', 'c']);
    assert.ok(!late.has(second.id));
    assert.ok(await one.move(first.id, 'p', 'cleared'));
    await pass(8 * DAY_MS);
    const last = await due(setup, 'p');
    assert.ok(!last.has(first.id));
    assert.deepEqual(last.get(second.id), ['b']);
  });

  test('forgets the chunks of a file an hour after it was delivered, and answers a commit for a week', async () => {
    const setup = start();
    const { one, pass } = setup;
    const user = randomUUID();
    const { id } = await opened(setup, user);
    await addTo(one, id, new Map([['a', 1]]), 10, 10);
    assert.ok(await one.claim(id, 'p', ['a']));
    assert.ok(await one.move(id, 'p', 'done'));
    await due(setup, 'q');
    assert.ok(await one.move(id, 'q', 'delivered'));
    await pass(HOUR_MS - 60_000);
    assert.ok(!(await due(setup, 'r')).has(id));
    await pass(120_000);
    assert.deepEqual((await due(setup, 'r')).get(id), ['a']);
    assert.ok(await one.move(id, 'r', 'cleared'));
    const { id: other } = await opened(setup, user);
    await addTo(one, other, new Map([['a', 1]]), 10, 10);
    await pass(6 * DAY_MS);
    const { state, digest } = (await one.find(id)) ?? {};
    assert.deepEqual({ state, digest }, { state: 'delivered', digest: digestOf(['a']) });
    assert.ok(await one.move(other, '', 'expired'));
    await pass(HOUR_MS);
    assert.deepEqual((await due(setup, 's')).get(other), ['a'], 'the delivered file needs it no more');
    await pass(DAY_MS);
    assert.deepEqual((await due(setup, 's')).get(id), []);
    assert.ok(await one.move(id, 's', 'cleared'));
    assert.equal(await one.renew(id, ''), false, 'it is deleted');
  });

  test('knows the key of a file that was made, and whether a commit fails for too long', async () => {
    const setup = start();
    const { one, pass } = setup;
    const { id } = await opened(setup);
    assert.ok(await one.claim(id, 'first', ['b', 'a']));
    await pass(LEASE_MS + 1000);
    const work = async (kind: Kind) => {
      for (;;) {
        const taken = await one.takeWork('second', kind, []);
        if (!taken || taken.id === id) return taken;
      }
    };
    const { keyEnd, hashes, isOver } = (await work('committing')) ?? {};
    assert.deepEqual({ keyEnd, hashes, isOver }, { keyEnd: '', hashes: ['b', 'a'], isOver: false });
    assert.equal(await one.move(id, 'first', 'done'), false);
    assert.ok(await one.move(id, 'second', 'committing'));
    await pass(8 * DAY_MS);
    assert.equal((await work('committing'))?.isOver, true);
    assert.ok(await one.move(id, 'second', 'done'));
    const done = await work('done');
    assert.deepEqual([done?.keyEnd, done?.isOver], [done?.digest, false]);
  });

  test('is available', async () => {
    await start().one.check();
  });
}
