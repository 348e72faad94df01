// Batches of the example service for S3: what they cost, and files that are slow or fail among others. In memory; cases.test.ts has
// the statuses, and test/stack the database.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type FakeStore, startFakeStore } from '../support/fake-store.ts';
import { copyExample, PAGE, type RunningExample, receiptOf, startExample } from '../support/service-s3.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { type Answer, ask, hashOf, randomChunks } from './support.ts';

const GO = join(temporaryFolder(), 'go');
/**
 * The token of a user is the name. Files whose name begins with `slow` are scanned until there is a file `GO`. A request that asks
 * twice for the same right to a folder fails, and one for the folder `held` waits for `GO`, too.
 */
const HOOKS = `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
const asked = new WeakMap();
let [now, most] = [0, 0];
export async function authorize(request, { operation, folder }) {
  const user = /^Bearer (user-\\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
  if (!user) return 401;
  const known = asked.get(request) ?? [];
  const once = operation + folder;
  asked.set(request, [...known, once]);
  if (folder === 'broken' || known.includes(once)) throw new Error('the hook is broken');
  if (folder?.startsWith('many')) {
    most = Math.max(most, ++now);
    await sleep(20);
    now -= 1;
    console.log(JSON.stringify({ level: 'info', most }));
  }
  if (folder === 'no-chunks' && operation === 'presign') return 403;
  if (folder === 'ended') return 401;
  while (folder === 'held' && !existsSync('${GO}')) await sleep(20);
  return folder === 'forbidden' ? 403 : { user, freeBytes: 1000, maxFileBytes: 500 };
}
export async function onCompleted() {}
export async function refuse({ name }) {
  if (name.startsWith('brief')) await sleep(50);
  while (name.startsWith('slow') && !existsSync('${GO}')) await sleep(20);
  return name.startsWith('bad') ? 'It is bad.' : undefined;
}`;
const BATCH = '/files/uploadsession/batch';
const CHUNKS = '/files/uploadsession/chunks';
const FILE_COUNT = 64;

let store: FakeStore;
let example: RunningExample;
before(async () => {
  store = await startFakeStore(PAGE);
  example = await startExample('hono', { S3_ENDPOINT: store.origin }, { folder: copyExample(HOOKS) });
});
beforeEach(() => {
  rmSync(GO, { force: true });
  store.fault = () => undefined;
});
after(async () => {
  writeFileSync(GO, '');
  await example.stop();
  await store.close();
});

const post = (user: string, body: unknown, path = BATCH, session = ''): Promise<Answer> =>
  ask(example, 'POST', path, {
    headers: { origin: PAGE, authorization: `Bearer user-${user}`, 'x-service-uploadsession': session },
    body,
  });
const statuses = ({ body }: Answer): number[] => body.answers.map(({ status }: { status: number }) => status);
const fileOf = (name: string, chunks: readonly Uint8Array[], parent_id = 'folder-a'): object => ({
  ...{ parent_id, file_name: name, file_size: chunks.reduce((sum, { length }) => sum + length, 0) },
  ...{ hashes: chunks.map(hashOf), sizes: chunks.map(({ length }) => length) },
});

interface Proof {
  readonly session: string;
  readonly hashes: string[];
  readonly receipts: string[];
}
/** Opens files of one chunk each, and stores the chunks. Resolves with the files of the batch that commits. */
async function prepare(user: string, ...names: string[]): Promise<Proof[]> {
  const chunks = names.map(() => randomChunks(9));
  const { body } = await post(user, { open: names.map((name, at) => fileOf(name, chunks[at] ?? [])) });
  const commit: Proof[] = [];
  // One after the other: the service limits the requests of a user at the same time.
  for (const [at, [chunk = new Uint8Array()]] of chunks.entries()) {
    const opened = body.answers[at].body;
    const { session_id: session } = opened;
    const hash = hashOf(chunk);
    // What is not presigned within a second has no chunks.
    const request = { hashes: [hash], sizes: [chunk.length] };
    const { chunks: entries } = opened.chunks ? opened : (await post(user, request, CHUNKS, session)).body;
    const { upload_url: url, headers } = entries[hash];
    const put = {
      method: 'PUT',
      body: chunk as Uint8Array<ArrayBuffer>,
      headers: { origin: PAGE, ...headers },
    };
    assert.equal((await fetch(url, put)).status, 200);
    commit.push({ session, hashes: [hash], receipts: [receiptOf(session, hash)] });
  }
  return commit;
}
const isProblem = (line: string): boolean => JSON.parse(line).level === 'error';
const problems = (): string[] => example.output().trim().split('\n').filter(isProblem);

test('64 files are opened in one request and committed in another, and a single commit has the same answer', async () => {
  const names = Array.from({ length: FILE_COUNT }, (_, at) => `file-${at}`);
  const commit = await prepare('many', ...names);
  const committed = await post('many', { commit });
  // What is not assembled within a second is committed in the background.
  for (const status of statuses(committed)) assert.ok(status === 200 || status === 202, `${status}`);
  const again = await until(async () => {
    const answer = await post('many', { commit });
    return statuses(answer).every((status) => status === 200) && answer;
  });
  assert.deepEqual(
    again.body.answers.map(({ body }: Answer) => body.file_name),
    names,
  );
  const [first] = commit;
  const single = await post('many', first, '/files/uploadsession/commit', first?.session);
  assert.deepEqual(single.body, again.body.answers[0].body);
});

/** Commits until the answers are as wanted. */
const commitUntil = (user: string, commit: readonly Proof[], wanted: readonly number[]): Promise<unknown> =>
  until(async () => isDeepStrictEqual(statuses(await post(user, { commit })), wanted));

test('a slow commit is a 202 after a second, delays no other file, and continues', async () => {
  const names = ['slow-1', 'quick-1', 'quick-2', 'quick-3', 'quick-4', 'bad', 'slow-2'];
  const commit = await prepare('slow', ...names);
  await commitUntil('slow', commit, [202, 200, 200, 200, 200, 422, 202]);
  writeFileSync(GO, '');
  await commitUntil('slow', commit, [200, 200, 200, 200, 200, 422, 200]);
});

test('quick commits of two batches at once wait for a place, and are not left to the background', async () => {
  const names = Array.from({ length: 12 }, (_, at) => `brief-${at}`);
  // Beside all other suites, 24 commits may take more than their second.
  await until(async () => {
    const [one, two] = [await prepare('two', ...names), await prepare('two', ...names)];
    const both = await Promise.all([post('two', { commit: one }), post('two', { commit: two })]);
    return both.flatMap(statuses).every((status) => status === 200);
  });
});

test('more slow commits than a user may have at once are all 202, and all are completed', async () => {
  const commit = await prepare('stuck', ...Array.from({ length: 6 }, (_, at) => `slow-${at}`));
  const first = await post('stuck', { commit });
  assert.deepEqual(statuses(first), Array(6).fill(202));
  // Two have found no place.
  const seconds = first.body.answers.map(({ retry_after }: { retry_after: number }) => retry_after);
  assert.deepEqual(seconds, [2, 2, 2, 2, 1, 1]);
  writeFileSync(GO, '');
  await commitUntil('stuck', commit, Array(6).fill(200));
});

test('a store that can’t be reached leaves sessions without chunks, whose reason is in the log once', async () => {
  const known = problems().length;
  store.fault = ({ purpose }) => (purpose === 'head' ? { status: 403 } : undefined);
  const opened = await post('away', {
    open: [fileOf('a', randomChunks(1, 2)), fileOf('b', []), fileOf('c', randomChunks(3)), fileOf('..', [])],
  });
  assert.deepEqual(statuses(opened), [201, 201, 201, 400]);
  const [a, b] = opened.body.answers.map(({ body }: Answer) => body);
  assert.deepEqual([a.chunks, b.chunks], [undefined, {}]);
  const [line = '', ...more] = (await until(() => problems().length > known && problems())).slice(known);
  assert.deepEqual([JSON.parse(line).part, more], ['store', []]);
  store.fault = () => undefined;
  const commit = await prepare('away', 'd');
  store.fault = () => ({ status: 403 });
  const committed = await post('away', { commit: [...commit, { ...commit[0], receipts: ['x'] }] });
  assert.deepEqual(statuses(committed), [503, 400]);
  assert.equal(committed.body.answers[0].retry_after, 5);
});

const chunksOf = ({ body }: Answer): boolean[] =>
  body.answers.map((answer: Answer) => answer.body.chunks !== undefined);

test('a chunk that the store can’t be asked for costs its own file its chunks, and no other one', async () => {
  const chunks = Array.from({ length: 20 }, () => randomChunks(9, 8));
  const bad = hashOf(chunks[7]?.[1] ?? new Uint8Array());
  store.fault = ({ purpose, key }) => (purpose === 'head' && key.endsWith(bad) ? { status: 403 } : undefined);
  const opened = await post('part', { open: chunks.map((each, at) => fileOf(`${at}`, each)) });
  assert.deepEqual(
    chunksOf(opened),
    chunks.map((_, at) => at !== 7),
  );
});

test('a store that does not respond costs an opening about a second, and the chunks of what it holds', async () => {
  const [slow, ...quick] = Array.from({ length: 12 }, () => randomChunks(9));
  const held = hashOf(slow?.[0] ?? new Uint8Array());
  store.fault = ({ purpose, key }) => (purpose === 'head' && key.endsWith(held) ? 'hang' : undefined);
  const beginMs = performance.now();
  const all = [slow ?? [], ...quick].map((each, at) => fileOf(`${at}`, each));
  const opened = await post('hang', { open: all });
  assert.ok(performance.now() - beginMs < 5000, 'the store has ten seconds for a single request');
  assert.deepEqual(chunksOf(opened), [false, ...Array(11).fill(true)]);
  assert.match(problems().at(-1) ?? '', /TimeoutError/);
});

test('an opening asks for the right to presign, and at most four hooks at once', async () => {
  const [chunk = new Uint8Array()] = randomChunks(9);
  const opened = await post('presign', {
    open: [fileOf('a', [chunk], 'no-chunks'), fileOf('b', [], 'no-chunks'), fileOf('c', [chunk])],
  });
  assert.deepEqual(statuses(opened), [201, 201, 201]);
  assert.deepEqual(chunksOf(opened), [false, true, true]);
  const many = Array.from({ length: 20 }, (_, at) => fileOf('a', [], `many-${at}`));
  assert.equal((await post('presign', { open: many })).status, 200);
  const lines = example.output().match(/"most":\d+/g) ?? [];
  assert.equal(lines.at(-1), '"most":4');
});

test('the line of a batch in the log has the number of files and of answers, and no names', async () => {
  await post('logged', { open: [fileOf('secret-name', []), fileOf('..', []), fileOf('b', [])] });
  const lines = example.output().trim().split('\n');
  const last = lines.filter((line) => line.includes('"operation":"batch"')).at(-1) ?? '{}';
  const { files, answers, status } = JSON.parse(last);
  assert.deepEqual([files, answers, status], [3, { '2xx': 2, '4xx': 1 }, 200]);
  assert.doesNotMatch(example.output(), /secret-name/);
});

test('a chunk of the wrong size, or a missing size, is a session without chunks, and no problem for others', async () => {
  const [chunk = new Uint8Array()] = randomChunks(9);
  const right = fileOf('a', [chunk]);
  const { body } = await post('sizes', {
    open: [{ ...right, sizes: [10] }, { ...right, sizes: undefined }, right, { ...right, hashes: undefined }],
  });
  const chunks = body.answers.map((answer: Answer) => answer.body.chunks && Object.keys(answer.body.chunks));
  assert.deepEqual(chunks, [undefined, undefined, [hashOf(chunk)], undefined]);
});

test('the space of a user counts the files before, in the order of the batch', async () => {
  const large = { ...fileOf('a', []), file_size: 400 };
  const opened = await post('space', {
    open: [large, large, large, { ...large, file_size: 501 }, fileOf('b', [])],
  });
  assert.deepEqual(statuses(opened), [201, 201, 507, 413, 201]);
});

test('rights are asked for once for each folder; a 403 or an error is of its files, and a 401 of all', async () => {
  const files = ['forbidden', 'broken', 'a', 'b', 'b', 'a'].map((folder) => fileOf('a', [], folder));
  const opened = await post('rights', { open: files });
  assert.deepEqual(statuses(opened), [403, 503, 201, 201, 201, 201]);
  const { status, headers } = await post('rights', { open: [fileOf('a', []), fileOf('a', [], 'ended')] });
  assert.deepEqual([status, headers.get('www-authenticate')], [401, 'Bearer']);
  assert.equal((await post('', { open: files })).status, 401);
});

test('a session of another user is unknown in a batch', async () => {
  const [own, foreign] = [await prepare('own', 'a'), await prepare('foreign', 'b')];
  assert.deepEqual(statuses(await post('own', { commit: [...foreign, ...own] })), [404, 200]);
  assert.deepEqual(statuses(await post('foreign', { commit: foreign })), [200]);
});

test('a batch counts as the requests that it replaces: 3,000 in a minute', async () => {
  const open = Array(FILE_COUNT).fill(fileOf('a', [], 'forbidden'));
  const withChunks = open.map((file, at) => (at < 36 ? { ...file, hashes: ['x'] } : file));
  // 100 each.
  const count = 30;
  for (let sent = 0; sent < count; sent += 1)
    assert.equal((await post('rate', { open: withChunks })).status, 200, `${sent}`);
  const refused = await post('rate', { open: [fileOf('a', [])] });
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.equal((await post('calm', { open: [fileOf('a', [])] })).status, 200);
});

test('a commit that found no place does not count, because its repetition does', async () => {
  const open = Array(FILE_COUNT).fill({ ...fileOf('a', [], 'forbidden'), hashes: ['x'] });
  // 128 each. 184 are left, less than three commits of 64 files.
  for (let sent = 0; sent < 21; sent += 1)
    assert.equal((await post('left', { open })).status, 200, `${sent}`);
  const commit = await prepare('left', ...Array.from({ length: FILE_COUNT }, (_, at) => `slow-${at}`));
  for (let sent = 0; sent < 3; sent += 1)
    assert.deepEqual(statuses(await post('left', { commit })), Array(FILE_COUNT).fill(202));
});

test('a batch that commits counts as up to four requests that run at once', async () => {
  const four = await prepare('busy', 'a', 'b', 'c', 'd');
  const file = { parent_id: 'held', file_name: 'a', file_size: 1 };
  const held = Array.from({ length: 5 }, () => post('busy', file, '/files/uploadsession'));
  const refused = await until(async () => {
    const answer = await post('busy', { commit: four });
    return answer.status === 429 && answer;
  });
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.deepEqual(statuses(await post('busy', { commit: four.slice(2) })), [200, 200]);
  assert.equal((await post('busy', { open: Array(FILE_COUNT).fill(fileOf('a', [])) })).status, 200);
  writeFileSync(GO, '');
  for (const { status } of await Promise.all(held)) assert.equal(status, 201);
  await commitUntil('busy', four, Array(4).fill(200));
});
