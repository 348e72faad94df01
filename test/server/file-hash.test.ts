// The check of `file_hash` in a commit: what it reads, and when it ends. The service runs in this process, so that its readings can
// be counted and held.
import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { after, before, beforeEach, describe, mock, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';
import {
  actAs,
  ask,
  begin,
  hashOf,
  type Person,
  page,
  put,
  type Rig,
  randomChunks,
  type StartedUpload,
  startRig,
} from './support.ts';

const WRONG = '0'.repeat(64);

let rig: Rig;
let alice: Person;
let reads = 0;
let held: Promise<void> | undefined;
before(async () => {
  const file = await open(fileURLToPath(import.meta.url));
  const prototype = Object.getPrototypeOf(file) as typeof file;
  const { read } = prototype;
  await file.close();
  mock.method(prototype, 'read', async function (this: typeof file, ...args: Parameters<typeof read>) {
    reads += 1;
    await held;
    return read.apply(this, args);
  });
});
beforeEach(async () => {
  rig = await startRig({ batches: true });
  alice = await actAs(rig.service, 'alice');
  reads = 0;
});
after(() => mock.restoreAll());

/** Holds all readings. Returns a function that lets them continue. */
function holdReads(): () => void {
  let release = (): void => undefined;
  held = new Promise((resolve) => {
    release = resolve;
  });
  return () => {
    held = undefined;
    release();
  };
}

async function stored(chunks: Uint8Array[], person = alice): Promise<StartedUpload> {
  const started = await begin(person, chunks);
  for (const [index, url] of started.urls.entries())
    if (url) await put(url, chunks[index] ?? new Uint8Array());
  return started;
}

const commit = ({ passport, hashes, receipts }: StartedUpload, fileHash: string, person = alice) =>
  person.commit(passport, hashes, receipts, fileHash);

test('each stored chunk is read once', async (t) => {
  t.after(() => rig.end());
  const chunks = randomChunks(9, 7, 5);
  assert.equal((await commit(await stored(chunks), hashOf(Buffer.concat(chunks)))).status, 200);
  assert.equal(reads, 3);
});

test('a file that repeats a chunk is accepted without file_hash only, and not read', async (t) => {
  t.after(() => rig.end());
  const [chunk = new Uint8Array()] = randomChunks(1000);
  const started = await stored([chunk, chunk, chunk]);
  const refused = await commit(started, hashOf(Buffer.concat([chunk, chunk, chunk])));
  assert.equal(refused.status, 422);
  assert.match(refused.body.debuginfo, /file_hash/);
  assert.equal(reads, 0);
  assert.equal((await alice.commit(started.passport, started.hashes, started.receipts)).status, 200);
});

test('a finished upload is not read again', async (t) => {
  t.after(() => rig.end());
  const started = await stored(randomChunks(1000));
  const fileHash = hashOf(started.chunks[0] ?? new Uint8Array());
  assert.equal((await commit(started, fileHash)).status, 200);
  assert.equal((await commit(started, fileHash)).status, 200);
  assert.equal(reads, 1);
});

test('a user’s files are read one after the other, other users’ files meanwhile', async (t) => {
  t.after(() => rig.end());
  const vic = await actAs(rig.service, 'vic');
  const uploads = [await stored(randomChunks(10)), await stored(randomChunks(10))];
  const other = await stored(randomChunks(10), vic);
  const release = holdReads();
  rig.service.faults.clearLog();
  const answers = [...uploads.map((upload) => commit(upload, WRONG)), commit(other, WRONG, vic)];
  await until(() => rig.service.log.filter(({ operation }) => operation === 'commit').length === 3);
  await until(() => reads >= 2);
  assert.equal((await alice.open({ size: 1 })).status, 201);
  assert.equal(reads, 2);
  release();
  for (const answer of answers) assert.equal((await answer).status, 422);
  assert.equal(reads, 3);
});

test('a client that leaves, or a service that is closed, ends the reading', async () => {
  const started = await stored(randomChunks(10, 10, 10, 10));
  const release = holdReads();
  const { passport, hashes, receipts } = started;
  const answer = fetch(`${rig.service.baseUrl}/files/uploadsession/commit`, {
    method: 'POST',
    headers: {
      origin: page,
      authorization: `Bearer ${alice.token}`,
      'content-type': 'application/json',
      'x-service-uploadsession': passport,
    },
    body: JSON.stringify({ hashes, receipts, file_hash: WRONG }),
  });
  await until(() => reads === 1);
  const closed = rig.end();
  await assert.rejects(answer);
  release();
  await closed;
  assert.equal(reads, 1);
});

test('a cancel does not wait for the reading, which then ends', async (t) => {
  t.after(() => rig.end());
  const started = await stored(randomChunks(10, 10));
  const release = holdReads();
  const committed = commit(started, WRONG);
  await until(() => reads === 1);
  const headers = { authorization: `Bearer ${alice.token}`, 'x-service-uploadsession': started.passport };
  assert.equal((await ask(rig.service, 'DELETE', '/files/uploadsession', { headers })).status, 204);
  release();
  const { status, body } = await committed;
  assert.equal(status, 410, body.debuginfo);
});

describe('In a batch', () => {
  /** Opens files of these chunks, and stores them. Resolves with what commits them with this hash. */
  const prepare = (count: number, fileHash: string, person = alice): Promise<object[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const { passport: session, hashes, receipts } = await stored(randomChunks(10, 10), person);
        return { session, hashes, receipts, file_hash: fileHash };
      }),
    );
  const send = async (commit: readonly object[], { token } = alice): Promise<number[]> => {
    const headers = { authorization: `Bearer ${token}` };
    const { body } = await ask(rig.service, 'POST', '/files/uploadsession/batch', {
      headers,
      body: { commit },
    });
    return body.answers.map(({ status }: { status: number }) => status);
  };

  test('one file of a user is read after the response, and delays others no longer than that', async (t) => {
    t.after(() => rig.end());
    const vic = await actAs(rig.service, 'vic');
    const [files, own] = [await prepare(3, WRONG), await stored(randomChunks(10))];
    const [other] = await prepare(1, WRONG, vic);
    const release = holdReads();
    assert.deepEqual(await send(files), [202, 202, 202]);
    assert.equal(reads, 1);
    // A repetition adds nothing, nor does another batch.
    assert.deepEqual(await send(files.slice(1)), [202, 202]);
    const plain = await stored(randomChunks(10));
    assert.equal((await alice.commit(plain.passport, plain.hashes, plain.receipts)).status, 200);
    const single = commit(own, WRONG);
    const foreign = send([other ?? {}], vic);
    await until(() => reads === 2);
    release();
    assert.equal((await single).status, 422);
    assert.deepEqual(await foreign, [422]);
    assert.equal(reads, 2 + 2 + 1);
    assert.deepEqual(await send(files), [422, 422, 422]);
  });

  test('a finished file waits for no other one', async (t) => {
    t.after(() => rig.end());
    const done = await stored(randomChunks(10));
    const { passport: session, hashes, receipts } = done;
    const fileHash = hashOf(done.chunks[0] ?? new Uint8Array());
    assert.equal((await commit(done, fileHash)).status, 200);
    const release = holdReads();
    const files = await prepare(1, WRONG);
    const again = { session, hashes, receipts, file_hash: fileHash };
    assert.deepEqual(await send([...files, again]), [202, 200]);
    release();
  });

  test('the session of another user is refused at once, also while it is committed', async (t) => {
    t.after(() => rig.end());
    const vic = await actAs(rig.service, 'vic');
    const files = await prepare(1, WRONG);
    const release = holdReads();
    assert.deepEqual(await send(files), [202]);
    assert.deepEqual(await send(files, vic), [403]);
    release();
  });

  test('a service that is closed ends the reading, and waits for its end', async () => {
    const files = await prepare(2, WRONG);
    const release = holdReads();
    assert.deepEqual(await send(files), [202, 202]);
    const steps: string[] = [];
    const closed = rig.end().then(() => steps.push('closed'));
    await until(() =>
      fetch(rig.service.baseUrl).then(
        () => false,
        () => true,
      ),
    );
    steps.push('released');
    release();
    await closed;
    assert.deepEqual(steps, ['released', 'closed']);
    assert.equal(reads, 1);
  });
});
