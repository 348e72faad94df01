// Faults and the request log of the reference service. Faults apply only to the requests that they name.
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Fault, LogEntry } from '../../demo/server/server.ts';
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
  startRig,
  upload,
} from './support.ts';

const rig: Rig = await startRig();
let alice: Person;
beforeEach(async () => {
  rig.service.faults.clear();
  rig.service.faults.shape({});
  alice = await actAs(rig.service, 'alice');
});
after(() => rig.end());

const add = (fault: Fault): (() => void) => rig.service.faults.add(fault);
const last = (operation: LogEntry['operation']): LogEntry | undefined =>
  rig.service.log.findLast((entry) => entry.operation === operation);

test('a status, headers and body replace the operation, this many times', async () => {
  add({ operation: 'session', status: 503, headers: { 'retry-after': '7' }, times: 2 });
  for (let count = 0; count < 2; count += 1) {
    const { status, headers, body } = await alice.open({ size: 1 });
    assert.equal(status, 503);
    assert.equal(headers.get('retry-after'), '7');
    assert.equal(headers.get('access-control-allow-origin'), page);
    assert.equal(typeof body.debuginfo, 'string');
  }
  assert.equal((await alice.open({ size: 1 })).status, 201);
});

test('a fault can let some requests pass, name a file, and be removed', async () => {
  add({ operation: 'session', status: 500, skip: 1 });
  assert.equal((await alice.open({ size: 1 })).status, 201);
  assert.equal((await alice.open({ size: 1 })).status, 500);
  const remove = add({ operation: '*', status: 500, times: Infinity, match: { fileName: 'bad' } });
  assert.equal((await alice.open({ name: 'good', size: 1 })).status, 201);
  assert.equal((await alice.open({ name: 'bad', size: 1 })).status, 500);
  remove();
  const { urls, chunks } = await begin(alice, randomChunks(9), { name: 'bad' });
  add({ operation: 'put', status: 500, match: { fileName: 'bad' } });
  assert.equal((await put(urls[0] ?? '', chunks[0] ?? new Uint8Array())).status, 500);
});

test('invalid responses can be HTML or JSON', async () => {
  add({ operation: 'session', body: '<html>' });
  const html = await alice.open({ size: 1 });
  assert.equal(html.status, 200);
  assert.match(html.headers.get('content-type') ?? '', /html/);
  add({ operation: 'session', body: { session_id: 5 } });
  assert.equal((await alice.open({ size: 1 })).body.session_id, 5);
});

test('a cut before the body handles nothing; one after it loses only the response', async () => {
  const files = (await rig.service.listFiles()).length;
  const { passport, hashes, receipts, urls, chunks } = await begin(alice, randomChunks(10));
  const [url = '', chunk = new Uint8Array()] = [urls[0], chunks[0]];
  add({ operation: 'put', cut: 'before-body' });
  await assert.rejects(put(url, chunk));
  assert.equal(last('put')?.stored, undefined);
  add({ operation: 'put', cut: 'after-body' });
  await assert.rejects(put(url, chunk));
  assert.equal(last('put')?.stored, true);
  assert.equal(last('put')?.answered, false);
  add({ operation: 'commit', cut: 'before-body' });
  await assert.rejects(alice.commit(passport, hashes, receipts));
  assert.equal((await rig.service.listFiles()).length, files);
  add({ operation: 'commit', cut: 'after-body' });
  await assert.rejects(alice.commit(passport, hashes, receipts));
  assert.equal((await rig.service.listFiles()).length, files + 1);
  assert.equal((await alice.commit(passport, hashes, receipts)).status, 200);
});

test('a cut in the middle breaks the bytes of a PUT, and the response of any other operation', async () => {
  const { urls, chunks } = await begin(alice, randomChunks(500_000));
  add({ operation: 'put', cut: 'mid-body' });
  await assert.rejects(put(urls[0] ?? '', chunks[0] ?? new Uint8Array()));
  assert.equal(last('put')?.stored, undefined);
  add({ operation: 'session', cut: 'mid-body' });
  await assert.rejects(alice.open({ size: 1 }));
  const { body } = await upload(alice, randomChunks(400_000));
  add({ operation: 'download', cut: 'mid-body' });
  await assert.rejects(alice.get(`/files/${body.file_id}`));
  const whole = await alice.get(`/files/${body.file_id}`);
  assert.equal(whole.headers.get('content-length'), '400000');
});

test('a stall stops half-way: for a while, or until the caller disconnects', async () => {
  const { urls, chunks } = await begin(alice, randomChunks(500_000, 500_000));
  add({ operation: 'put', stallMs: 30 });
  assert.equal((await put(urls[0] ?? '', chunks[0] ?? new Uint8Array())).status, 200);
  add({ operation: 'put', stall: true });
  rig.service.faults.clearLog();
  const caller = new AbortController();
  const stalled = fetch(urls[1] ?? '', {
    method: 'PUT',
    body: chunks[1] as Uint8Array<ArrayBuffer>,
    signal: caller.signal,
  });
  const left = assert.rejects(stalled, { name: 'AbortError' });
  await until(() => last('put'));
  caller.abort();
  await left;
  assert.equal(last('put')?.stored, undefined);
});

test("a request waits for the fault's condition, at any operation", async () => {
  const { urls, chunks } = await begin(alice, randomChunks(10));
  let isReleased = false;
  let release = (): void => {};
  const waitFor = new Promise<void>((resolve) => {
    release = resolve;
  });
  add({ operation: '*', waitFor, times: 2 });
  const answers = [put(urls[0] ?? '', chunks[0] ?? new Uint8Array()), alice.open({ size: 1 })].map(
    async (answer) => {
      await answer;
      return isReleased;
    },
  );
  await ask(rig.service, 'OPTIONS', '/files/uploadsession');
  isReleased = true;
  release();
  assert.deepEqual(await Promise.all(answers), [true, true]);
});

test('tickets can be expired, of another chunk, or missing', async () => {
  const { passport } = await begin(alice, []);
  const chunks = randomChunks(10, 10);
  const hashes = chunks.map(hashOf);
  const [hash = '', second = ''] = hashes;
  const { body: opened } = await alice.open({ size: 20 });
  assert.ok(passport);
  add({ operation: 'chunks', expireTickets: true });
  const expired = (await alice.presign(opened.passport, hashes)).body.chunks;
  assert.equal(expired[hash].expires_at, undefined);
  assert.equal(new URL(expired[hash].upload_url).searchParams.get('Expires'), null);
  assert.equal((await put(expired[hash].upload_url, chunks[0] ?? new Uint8Array())).status, 403);
  add({ operation: 'chunks', wrongTicket: true });
  const wrong = (await alice.presign(opened.passport, hashes)).body.chunks;
  assert.equal((await put(wrong[hash].upload_url, chunks[0] ?? new Uint8Array())).status, 400);
  add({ operation: 'chunks', omitEntry: true });
  const fewer = (await alice.presign(opened.passport, hashes)).body.chunks;
  assert.deepEqual(Object.keys(fewer), [second]);
});

test('storage can report a chunk as stored that it did not store', async () => {
  const { passport, hashes, receipts, urls, chunks } = await begin(alice, randomChunks(10));
  add({ operation: 'put', storeNothing: true });
  assert.equal((await put(urls[0] ?? '', chunks[0] ?? new Uint8Array())).status, 200);
  assert.equal((await alice.commit(passport, hashes, receipts)).status, 409);
});

test('a response can redirect, or lack CORS headers', async () => {
  const { urls, chunks } = await begin(alice, randomChunks(10));
  const [url = '', chunk = new Uint8Array()] = [urls[0], chunks[0]];
  add({ operation: 'put', status: 403, withoutCors: true });
  const bare = await put(url, chunk);
  assert.equal(bare.status, 403);
  assert.equal(bare.headers.get('access-control-allow-origin'), null);
  add({ operation: 'session', withoutCors: true });
  assert.equal((await alice.open({ size: 1 })).headers.get('access-control-allow-origin'), null);
  add({ operation: 'session', redirect: 'http://evil.test/' });
  const { status, headers } = await alice.open({ size: 1 });
  assert.equal(status, 307);
  assert.equal(headers.get('location'), 'http://evil.test/');
});

test('latency delays every request, preflights too, and bandwidth every connection', async () => {
  const { urls, chunks } = await begin(alice, randomChunks(200_000, 200_000));
  const time = async (work: () => Promise<unknown>): Promise<number> => {
    const from = performance.now();
    await work();
    return performance.now() - from;
  };
  rig.service.faults.shape({ latencyMs: 40 });
  assert.ok((await time(() => ask(rig.service, 'OPTIONS', '/files/uploadsession'))) >= 39);
  assert.ok((await time(() => fetch(urls[0] ?? '', { method: 'OPTIONS' }))) >= 39);
  rig.service.faults.shape({ bytesPerSecond: 2_000_000 });
  assert.ok((await time(() => put(urls[0] ?? '', chunks[0] ?? new Uint8Array()))) >= 60);
  rig.service.faults.shape({ totalBytesPerSecond: 4_000_000 });
  const both = (): Promise<unknown> =>
    Promise.all([1, 2].map(() => put(urls[0] ?? '', chunks[0] ?? new Uint8Array())));
  assert.ok((await time(both)) >= 60);
});

test('the log has callers and operations, and no secret', async () => {
  rig.service.faults.clearLog();
  const started = await begin(alice, randomChunks(1234), { name: 'logged' });
  await put(started.urls[0] ?? '', started.chunks[0] ?? new Uint8Array());
  await alice.commit(started.passport, started.hashes, started.receipts);
  const [session, chunks, stored, commit] = rig.service.log;
  assert.deepEqual(
    rig.service.log.map(({ operation, status }) => [operation, status]),
    [
      ['session', 201],
      ['chunks', 200],
      ['put', 200],
      ['commit', 200],
    ],
  );
  assert.equal(session?.origin, page);
  assert.equal(session?.hasBearer, true);
  assert.equal(session?.hasCookie, false);
  assert.equal(session?.bearerNumber, commit?.bearerNumber);
  assert.deepEqual(session?.fields, ['parent_id', 'file_name', 'file_size']);
  assert.deepEqual(chunks?.hashes, started.hashes);
  assert.deepEqual(chunks?.presigned, started.hashes);
  assert.equal(stored?.server, 'storage');
  assert.equal(stored?.hash, started.hashes[0]);
  assert.equal(stored?.sizeBytes, 1234);
  assert.equal(stored?.answered, true);
  assert.equal(stored?.hasBearer, false);
  for (const entry of rig.service.log) {
    assert.equal(entry.sessionId, started.sessionId);
    assert.equal(entry.fileName, 'logged');
  }
  assert.equal(commit?.answered, true);
  assert.equal(stored?.bearerNumber, undefined);
  const text = JSON.stringify(rig.service.log);
  for (const secret of [alice.token, started.passport, 'signature', started.receipts[0] ?? '']) {
    assert.ok(!text.includes(secret));
  }
});

test('the log numbers the tokens, so that a new one can be distinguished from an old one', async () => {
  rig.service.faults.clearLog();
  const renewed = await actAs(rig.service, 'alice');
  for (const user of [alice, renewed, alice]) await user.open({ size: 1 });
  const [first, second, third] = rig.service.log.map(({ bearerNumber }) => bearerNumber);
  assert.equal(typeof first, 'number');
  assert.notEqual(second, first);
  assert.equal(third, first);
});

test('a page of a listed origin can do all this over HTTP', async () => {
  const control = (method: string, path: string, body?: unknown): ReturnType<typeof ask> =>
    ask(rig.service, method, `/_test/${path}`, body === undefined ? {} : { body });
  const failing = { operation: 'session', status: 500, times: -1 };
  assert.equal((await control('POST', 'faults', failing)).status, 204);
  assert.equal((await alice.open({ size: 1 })).status, 500);
  assert.equal((await control('DELETE', 'faults')).status, 204);
  assert.equal((await alice.open({ size: 1 })).status, 201);
  const { body: log, headers } = await control('GET', 'log');
  assert.equal(headers.get('access-control-allow-origin'), page);
  assert.equal(log.at(-1).operation, 'session');
  await control('DELETE', 'log');
  assert.deepEqual((await control('GET', 'log')).body, []);
  const { body } = await control('POST', 'token', { user: 'vic', lifetimeMs: 5000 });
  const list = await ask(rig.service, 'GET', '/files?parent_id=folder-b', {
    headers: { authorization: `Bearer ${body.token}` },
  });
  assert.equal(list.status, 403);
  assert.equal((await control('POST', 'faults', { operation: 5 })).status, 400);
  assert.equal((await control('POST', 'network', { latencyMs: 0 })).status, 204);
});

test('closing the service ends connections that hang', async () => {
  const other = await startRig();
  const person = await actAs(other.service, 'alice');
  other.service.faults.add({ operation: 'session', stall: true });
  const hanging = assert.rejects(person.open({ size: 1 }));
  await until(() => other.service.log.length > 0);
  await other.end();
  await hanging;
});

test('a commit can be answered 202: it is checked and creates no file', async () => {
  const chunks = randomChunks(9);
  const { passport, hashes, receipts, urls } = await begin(alice, chunks);
  const commit = (): ReturnType<Person['commit']> => alice.commit(passport, hashes, receipts);
  add({ operation: 'commit', pending: true, times: 2, headers: { 'retry-after': '3' } });
  assert.equal((await commit()).status, 409);
  await put(urls[0] ?? '', chunks[0] ?? new Uint8Array());
  const accepted = await commit();
  assert.equal(accepted.status, 202);
  assert.equal(accepted.headers.get('retry-after'), '3');
  assert.equal((await commit()).status, 200);
});

test('outside test mode, no fault can be set, and the modules of faults are not loaded', async () => {
  const production = await startRig({ test: false });
  assert.throws(() => production.service.faults, /only with `test: true`/);
  assert.equal((await ask(production.service, 'GET', '/_test/log')).status, 404);
  assert.equal((await ask(production.service, 'POST', '/_test/faults', { body: {} })).status, 404);
  assert.deepEqual(production.service.log, []);
  await production.end();

  const entry = fileURLToPath(new URL('../../demo/server/server.ts', import.meta.url));
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    external: ['./test-mode.ts'],
  });
  const loaded = Object.keys(metafile.inputs).map((path) => basename(path));
  assert.ok(loaded.includes('storage-server.ts'));
  const ofTests = ['faults.ts', 'network.ts', 'request-gate.ts', 'storage-gate.ts', 'test-routes.ts'];
  assert.deepEqual(
    loaded.filter((name) => ofTests.includes(name)),
    [],
  );
});
