// Batches of the reference service: many files in one request, each answered as if it were alone. cases.test.ts sends each case
// of a single operation in a batch, too.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { ServiceOptions } from '../../demo/server/server.ts';
import {
  type Answer,
  actAs,
  ask,
  begin,
  fillDisk,
  hashOf,
  type Person,
  put,
  type Rig,
  randomChunks,
  startRig,
  upload,
} from './support.ts';

const BATCH = '/files/uploadsession/batch';
const MAX_FILES = 64;
const MAX_HASHES = 100;

interface Entry {
  readonly upload_url: string | null;
  readonly receipt: string;
}

const send = (rig: Rig, { token }: { readonly token: string }, body: unknown): Promise<Answer> =>
  ask(rig.service, 'POST', BATCH, { headers: { authorization: `Bearer ${token}` }, body });
const fileOf = (name: string, chunks: readonly Uint8Array[], more: object = {}): object => ({
  parent_id: 'folder-a',
  file_name: name,
  file_size: chunks.reduce((sum, { byteLength }) => sum + byteLength, 0),
  hashes: chunks.map(hashOf),
  ...more,
});
const statuses = ({ body }: Answer): number[] => body.answers.map(({ status }: { status: number }) => status);

/** Stores the chunks of an answer to `open`. Returns its file of the batch that commits. */
async function store({ body }: { body: Answer['body'] }, chunks: readonly Uint8Array[]): Promise<object> {
  const hashes = chunks.map(hashOf);
  const entries = hashes.map((hash) => body.chunks[hash] as Entry);
  for (const [at, { upload_url: url }] of entries.entries())
    if (url) assert.equal((await put(url, chunks[at] ?? new Uint8Array())).status, 200);
  return { session: body.passport, hashes, receipts: entries.map(({ receipt }) => receipt) };
}

async function startOwn(
  t: { after(work: () => Promise<void>): void },
  options: Partial<ServiceOptions> = {},
): Promise<{ rig: Rig; alice: Person }> {
  const rig = await startRig({ batches: true, ...options });
  t.after(() => rig.end());
  return { rig, alice: await actAs(rig.service, 'alice') };
}

test('A service without the option has no such path, and says so without `debuginfo`', async (t) => {
  const { rig, alice } = await startOwn(t, { batches: false });
  const { status, body } = await send(rig, alice, { open: [fileOf('a', [])] });
  assert.deepEqual([status, body.debuginfo], [404, undefined]);
});

describe('A batch', () => {
  let rig: Rig;
  let alice: Person;
  before(async () => {
    rig = await startRig({ batches: true });
  });
  beforeEach(async () => {
    rig.service.faults.clear();
    alice = await actAs(rig.service, 'alice');
  });
  after(() => rig.end());

  /** Opens files of one chunk each, and stores the chunks. Resolves with the files of the batch that commits. */
  async function prepare(...names: string[]): Promise<object[]> {
    const chunks = names.map(() => randomChunks(10));
    const opened = await send(rig, alice, {
      open: names.map((name, at) => fileOf(name, chunks[at] ?? [])),
    });
    return Promise.all(chunks.map((each, at) => store(opened.body.answers[at], each)));
  }

  test('uploads 64 files, also empty ones, in the order of the request', async () => {
    const files = Array.from({ length: MAX_FILES }, (_, at) => randomChunks(...(at % 8 ? [10 + at] : [])));
    const opened = await send(rig, alice, { open: files.map((chunks, at) => fileOf(`many-${at}`, chunks)) });
    assert.equal(opened.status, 200);
    assert.deepEqual(statuses(opened), Array(MAX_FILES).fill(201));
    for (const [at, { body }] of opened.body.answers.entries())
      assert.deepEqual(Object.keys(body.chunks), files[at]?.map(hashOf));
    const commit = await Promise.all(files.map((chunks, at) => store(opened.body.answers[at], chunks)));
    const committed = await send(rig, alice, { commit });
    assert.deepEqual(statuses(committed), Array(MAX_FILES).fill(200));
    for (const [at, { body }] of committed.body.answers.entries()) {
      const bytes = (await alice.get(`/files/${body.file_id}`)).body;
      assert.equal(body.file_name, `many-${at}`);
      assert.equal(Buffer.byteLength(bytes) > 0, (files[at] ?? []).length > 0);
    }
  });

  test('answers as the single operations do, which can continue it', async () => {
    const chunks = randomChunks(10, 20);
    const { body: alone } = await alice.open({ size: 30 });
    const [answer] = (await send(rig, alice, { open: [fileOf('a', chunks)] })).body.answers;
    const { chunks: entries, ...opened } = answer.body;
    assert.deepEqual(Object.keys(opened), Object.keys(alone));
    const { body: again } = await alice.presign(opened.passport, chunks.map(hashOf));
    for (const hash of chunks.map(hashOf)) {
      assert.equal(again.chunks[hash].receipt, entries[hash].receipt);
      assert.deepEqual(Object.keys(again.chunks[hash]), Object.keys(entries[hash]));
    }
    const file = (await store(answer, chunks)) as { hashes: string[]; receipts: string[] };
    const single = await alice.commit(opened.passport, file.hashes, file.receipts);
    const repeated = await send(rig, alice, { commit: [file, file] });
    assert.deepEqual(repeated.body.answers, Array(2).fill({ status: 200, body: single.body }));
  });

  test('commits a file once, also if it is committed alone and in batches at the same time', async () => {
    const [file] = (await prepare('at-once')) as { session: string; hashes: string[]; receipts: string[] }[];
    assert.ok(file);
    const [one, two, single] = await Promise.all([
      send(rig, alice, { commit: [file, file] }),
      send(rig, alice, { commit: [file] }),
      alice.commit(file.session, file.hashes, file.receipts),
    ]);
    const answers = [...one.body.answers, ...two.body.answers];
    for (const answer of answers) assert.deepEqual(answer, { status: 200, body: single.body });
    const files = await rig.service.listFiles('folder-a');
    assert.equal(files.filter(({ name }) => name === 'at-once').length, 1);
  });

  test('has the entry of a chunk that this user has stored, and tells no one else', async () => {
    const chunks = randomChunks(10);
    await upload(alice, chunks);
    const vic = await actAs(rig.service, 'vic');
    for (const [person, isKnown] of [
      [alice, true],
      [vic, false],
    ] as const) {
      const { body } = await send(rig, person, { open: [fileOf('a', chunks)] });
      assert.equal(
        body.answers[0].body.chunks[hashOf(chunks[0] ?? new Uint8Array())].upload_url === null,
        isKnown,
      );
    }
  });

  test('refuses single files when opening, and no other one', async () => {
    const vic = await actAs(rig.service, 'vic');
    const taken = { name: 'taken', folder: 'folder-unique' };
    await upload(alice, randomChunks(10), taken);
    const chunks = randomChunks(10);
    const folder = (parent_id: string): object => ({ parent_id });
    const opened = await send(rig, vic, {
      open: [
        fileOf('first', chunks),
        fileOf('taken', chunks, folder('folder-unique')),
        fileOf('other', chunks, folder('folder-unique')),
        fileOf('a', chunks, folder('folder-b')),
        fileOf('a', chunks, folder('folder-small')),
        fileOf('large', chunks, { ...folder('folder-small'), file_size: 2 ** 21 }),
        fileOf('a/b', chunks),
        fileOf('last', chunks),
        ...[null, 7, 'file', [], {}],
      ],
    });
    assert.equal(opened.status, 200);
    assert.deepEqual(statuses(opened), [201, 409, 201, 403, 201, 413, 400, 201, ...Array(5).fill(400)]);
    for (const { status, body } of opened.body.answers) {
      if (status === 201) continue;
      assert.deepEqual(
        [typeof body.debuginfo, body.chunks, body.session_id],
        ['string', undefined, undefined],
      );
    }
  });

  test('opens a session without `chunks` if these can’t be presigned', async () => {
    const chunks = randomChunks(10);
    const wrong = [['x'], 'x', null, undefined, [hashOf(chunks[0] ?? new Uint8Array()), 7]];
    const opened = await send(rig, alice, {
      open: [
        ...wrong.map((hashes) => fileOf('a', chunks, { hashes })),
        fileOf('a', chunks, { sizes: [0] }),
        fileOf('a', chunks, { sizes: [10] }),
      ],
    });
    assert.deepEqual(statuses(opened), Array(7).fill(201));
    const hasChunks = opened.body.answers.map(({ body }: Answer) => body.chunks !== undefined);
    assert.deepEqual(hasChunks, [...Array(6).fill(false), true]);
    const { passport } = opened.body.answers[0].body;
    assert.equal((await alice.presign(passport, chunks.map(hashOf))).status, 200);
  });

  test('refuses single files when committing, and no other one', async () => {
    const [first, canceled, last] = (await prepare('first', 'canceled', 'last')) as { session: string }[];
    const tom = await actAs(rig.service, 'tom');
    const foreign = await begin(tom, randomChunks(10));
    const missing = await begin(alice, randomChunks(10));
    const headers = {
      authorization: `Bearer ${alice.token}`,
      'x-service-uploadsession': canceled?.session ?? '',
    };
    assert.equal((await ask(rig.service, 'DELETE', '/files/uploadsession', { headers })).status, 204);
    const proofOf = ({ passport: session, hashes, receipts }: typeof missing): object => ({
      ...{ session, hashes, receipts },
    });
    const committed = await send(rig, alice, {
      commit: [
        first,
        canceled,
        proofOf(foreign),
        proofOf(missing),
        { ...proofOf(missing), receipts: foreign.receipts },
        { ...proofOf(missing), session: 'unknown' },
        { hashes: [], receipts: [] },
        { ...proofOf(missing), session: 7 },
        ...[null, 'x', {}],
        last,
      ],
    });
    assert.equal(committed.status, 200);
    assert.deepEqual(statuses(committed), [200, 410, 403, 409, 400, 404, 400, 400, 400, 400, 400, 200]);
    assert.deepEqual(committed.body.answers[3].body.missing, missing.hashes);
  });

  test('checks the hash of a whole file as a single commit does', async () => {
    const [right, wrong] = (await prepare('right', 'wrong')) as { hashes: string[] }[];
    const committed = await send(rig, alice, {
      commit: [
        { ...right, file_hash: right?.hashes[0] },
        { ...wrong, file_hash: right?.hashes[0] },
      ],
    });
    assert.deepEqual(statuses(committed), [200, 422]);
  });

  test('answers 202 for a commit that takes longer than a second, which continues', async () => {
    const [quick, slow] = (await prepare('quick', 'slow')) as {
      session: string;
      hashes: string[];
      receipts: string[];
    }[];
    assert.ok(slow);
    let release = (): void => undefined;
    const waitFor = new Promise<void>((resolve) => {
      release = resolve;
    });
    rig.service.faults.add({ operation: 'commit', match: { fileName: 'slow' }, waitFor });
    const committed = await send(rig, alice, { commit: [slow, quick] });
    assert.deepEqual(statuses(committed), [202, 200]);
    const { retry_after, body } = committed.body.answers[0];
    assert.deepEqual([retry_after, body.debuginfo], [2, undefined]);
    // A repetition waits for the commit that runs, and starts no other one.
    assert.deepEqual(statuses(await send(rig, alice, { commit: [slow] })), [202]);
    release();
    const again = await send(rig, alice, { commit: [slow] });
    assert.deepEqual(statuses(again), [200]);
    const single = await alice.commit(slow.session, slow.hashes, slow.receipts);
    assert.deepEqual(single.body, again.body.answers[0].body);
  });

  test('says in seconds when a file may be asked for again', async () => {
    const fault = { status: 429, headers: { 'retry-after': '5' } };
    rig.service.faults.add({ operation: 'session', match: { fileName: 'later' }, ...fault });
    const opened = await send(rig, alice, { open: [fileOf('later', []), fileOf('now', [])] });
    const [later, now] = opened.body.answers;
    assert.deepEqual([later.status, later.retry_after], [429, 5]);
    assert.deepEqual([now.status, now.retry_after], [201, undefined]);
  });

  test('says of each file that the disk is full, or what else is wrong with it', async () => {
    const empty = await fillDisk();
    const open = [fileOf('a', []), fileOf('a/b', []), fileOf('b', [])];
    const opened = await send(rig, alice, { open });
    empty();
    assert.deepEqual(statuses(opened), [507, 400, 507]);
    assert.deepEqual(statuses(await send(rig, alice, { open })), [201, 400, 201]);
  });

  test('is refused as a whole without a valid token', async () => {
    const { token } = await actAs(rig.service, 'alice', 1000);
    const body = { open: [fileOf('a', [])] };
    assert.equal((await send(rig, { token }, body)).status, 200);
    rig.service.clock.shift(2000);
    for (const each of [token, 'nonsense']) {
      const { status, headers } = await send(rig, { token: each }, body);
      assert.deepEqual([status, headers.get('www-authenticate')], [401, 'Bearer error="invalid_token"']);
    }
  });

  test('is refused as a whole if it is none', async () => {
    const file = fileOf('a', []);
    const wrong = [
      ...[{}, [], null, 'x', { files: [file] }, { open: [file], commit: [] }, { open: [], commit: [] }],
      ...[
        { open: [] },
        { commit: [] },
        { open: file },
        { commit: 'x' },
        { open: null },
        { open: { length: 1 } },
      ],
    ];
    for (const body of wrong) {
      const { status, body: said } = await send(rig, alice, JSON.stringify(body));
      assert.deepEqual([status, typeof said.debuginfo], [400, 'string'], JSON.stringify(body));
    }
    const headers = { authorization: `Bearer ${alice.token}`, 'content-type': 'text/plain' };
    assert.equal((await ask(rig.service, 'POST', BATCH, { headers, body: '{}' })).status, 415);
  });

  test('has at most 64 files, 100 hashes and a limit of bytes', async () => {
    const file = fileOf('a', []);
    const hash = hashOf(new Uint8Array([1]));
    const hashes = (count: number): string[] => Array(count).fill(hash);
    const proof = { session: 'unknown', receipts: [] };
    for (const [body, wanted] of [
      [{ open: Array(MAX_FILES + 1).fill(file) }, 413],
      [{ commit: Array(MAX_FILES + 1).fill(proof) }, 413],
      [{ open: [fileOf('a', [], { file_size: 1, hashes: hashes(MAX_HASHES) })] }, 200],
      [{ open: [file, fileOf('a', [], { hashes: hashes(MAX_HASHES + 1) })] }, 413],
      [{ open: Array(2).fill(fileOf('a', [], { hashes: hashes(MAX_HASHES / 2 + 1) })) }, 413],
      [{ commit: Array(2).fill({ ...proof, hashes: hashes(MAX_HASHES / 2) }) }, 200],
      [{ commit: Array(2).fill({ ...proof, hashes: hashes(MAX_HASHES / 2 + 1) }) }, 413],
      [{ open: [{ ...file, more: 'x'.repeat(2 ** 20) }] }, 413],
    ] as const)
      assert.equal((await send(rig, alice, body)).status, wanted);
  });

  test('is one entry of the log, with all hashes, and faults find its files', async () => {
    const [chunk = new Uint8Array()] = randomChunks(10);
    rig.service.faults.add({ operation: 'chunks', status: 500, match: { fileName: 'bad' } });
    rig.service.faults.add({
      operation: 'session',
      answerFields: { more: 1 },
      match: { hash: hashOf(chunk) },
    });
    rig.service.faults.clearLog();
    const opened = await send(rig, alice, { open: [fileOf('bad', [chunk]), fileOf('good', [chunk])] });
    const [bad, good] = opened.body.answers;
    assert.deepEqual([bad.status, bad.body.chunks, bad.body.more], [201, undefined, 1]);
    assert.deepEqual([good.status, good.body.more], [201, undefined]);
    rig.service.faults.add({ operation: 'put', status: 500, match: { fileName: 'good' } });
    const { upload_url: url } = good.body.chunks[hashOf(chunk)];
    assert.equal((await put(url, chunk)).status, 500);
    const [entry] = rig.service.log;
    assert.ok(entry);
    const { fields, hashes, files } = entry;
    assert.deepEqual([entry.operation, fields, files], ['batch', ['open'], 2]);
    assert.deepEqual(hashes, [hashOf(chunk), hashOf(chunk)]);
    assert.deepEqual(entry.presigned, [hashOf(chunk)]);
    assert.equal(rig.service.log.length, 2);
  });

  test('has expired URLs if a fault says so, and none of its files is complete with `pending`', async () => {
    rig.service.faults.add({ operation: 'chunks', expireTickets: true, match: { fileName: 'old' } });
    const chunks = [randomChunks(10), randomChunks(10)];
    const opened = await send(rig, alice, {
      open: [fileOf('old', chunks[0] ?? []), fileOf('new', chunks[1] ?? [])],
    });
    const puts = opened.body.answers.map(({ body }: Answer, at: number) => {
      const [chunk = new Uint8Array()] = chunks[at] ?? [];
      return put(body.chunks[hashOf(chunk)].upload_url, chunk).then(({ status }) => status);
    });
    assert.deepEqual(await Promise.all(puts), [403, 200]);
    const commit = await prepare('pending-one', 'pending-two');
    rig.service.faults.add({ operation: 'batch', pending: true });
    assert.deepEqual(statuses(await send(rig, alice, { commit })), [202, 202]);
    rig.service.faults.add({ operation: 'commit', pending: true, match: { fileName: 'pending-one' } });
    assert.deepEqual(statuses(await send(rig, alice, { commit })), [202, 200]);
    assert.deepEqual(statuses(await send(rig, alice, { commit })), [200, 200]);
  });
});

test('The limits of a user count the files of a batch, not the request', async (t) => {
  const { rig, alice } = await startOwn(t, { maxOpenSessions: 3, maxUserBytes: 100 });
  const own = await actAs(rig.service, 'tom');
  const opened = await send(rig, alice, { open: Array(5).fill(fileOf('a', [])) });
  assert.deepEqual(statuses(opened), [201, 201, 201, 429, 429]);
  assert.equal(opened.body.answers[4].retry_after, 60);
  const large = fileOf('a', [], { file_size: 40 });
  assert.deepEqual(statuses(await send(rig, own, { open: [large, large, large] })), [201, 201, 413]);
});
