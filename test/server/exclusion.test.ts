// Commits, cancels and new uploads of one user at the same time: committed files stay readable.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLocks } from '../../demo/server/locks.ts';
import {
  type Answer,
  actAs,
  ask,
  begin,
  hashOf,
  type Person,
  put,
  type Rig,
  randomChunks,
  type StartedUpload,
  startRig,
} from './support.ts';

let rig: Rig;
let alice: Person;
before(async () => {
  rig = await startRig();
  alice = await actAs(rig.service, 'alice');
});
after(() => rig.end());

const cancel = ({ passport }: StartedUpload): Promise<Answer> =>
  ask(rig.service, 'DELETE', '/files/uploadsession', {
    headers: { authorization: `Bearer ${alice.token}`, 'x-service-uploadsession': passport },
  });

async function stored(chunks: Uint8Array[]): Promise<StartedUpload> {
  const started = await begin(alice, chunks);
  for (const [index, url] of started.urls.entries())
    if (url) await put(url, chunks[index] ?? new Uint8Array());
  return started;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function read(fileId: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of rig.service.readFile(fileId)) pieces.push(piece);
  return Buffer.concat(pieces);
}

test('a commit and a cancel at once: one of them succeeds, and a confirmed file can be read', async () => {
  const outcomes = new Set<string>();
  for (let round = 0; round < 30; round += 1) {
    const chunks = randomChunks(...Array<number>(12).fill(500));
    const started = await stored(chunks);
    const [committed, canceled] = await Promise.all([
      alice.commit(started.passport, started.hashes, started.receipts),
      // The service runs in this process. Waiting for some turns of the event loop moves the cancel into the middle of the commit.
      turns(round).then(() => cancel(started)),
    ]);
    outcomes.add(`${committed.status} ${canceled.status}`);
    if (committed.status === 200) assert.deepEqual(await read(committed.body.file_id), Buffer.concat(chunks));
  }
  for (const outcome of outcomes) assert.ok(['200 409', '410 204'].includes(outcome), outcome);
});

test('an upload that starts while another is canceled may rely on every chunk that is reported as stored', async () => {
  for (let round = 0; round < 12; round += 1) {
    const chunks = randomChunks(...Array<number>(40).fill(500));
    const started = await stored(chunks);
    const canceled = cancel(started);
    await turns(round);
    const [last = new Uint8Array()] = chunks.slice(-1);
    const next = await begin(alice, [last]);
    if (next.urls[0]) await put(next.urls[0], last);
    const committed = await alice.commit(next.passport, [hashOf(last)], next.receipts);
    assert.equal(committed.status, 200, JSON.stringify(committed.body));
    assert.equal((await canceled).status, 204);
    assert.deepEqual(await read(committed.body.file_id), Buffer.from(last));
  }
});

test('shared work runs together, exclusive work alone and in order', async () => {
  const locks = createLocks();
  const events: string[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const work =
    (name: string, until: Promise<void> = Promise.resolve()) =>
    async (): Promise<void> => {
      events.push(`${name} begins`);
      await until;
      events.push(`${name} ends`);
    };
  const all = [
    locks.shared('a', work('one', held)),
    locks.shared('a', work('two', held)),
    locks.exclusive('a', work('three')),
    locks.shared('a', work('four')),
    locks.exclusive('a', () => Promise.reject(new Error('five fails'))).catch(() => undefined),
    locks.shared('a', work('six')),
    locks.exclusive('b', work('other')),
  ];
  await all[6];
  assert.deepEqual(events.slice(0, 3).sort(), ['one begins', 'other begins', 'two begins']);
  release();
  await Promise.all(all);
  assert.deepEqual(events.slice(-6), [
    'three begins',
    'three ends',
    'four begins',
    'four ends',
    'six begins',
    'six ends',
  ]);
});
