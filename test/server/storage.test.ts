// The storage: accepted and refused requests. Incomplete data is never visible.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { blake3 } from 'hash-wasm';
import { until } from '../support/until.ts';
import { actAs, begin, hashOf, type Person, page, put, type Rig, randomChunks, startRig } from './support.ts';

let rig: Rig;
let alice: Person;
before(async () => {
  rig = await startRig();
  alice = await actAs(rig.service, 'alice');
});
after(() => rig.end());

const stored = async (): Promise<string[]> =>
  readdir(join(rig.dataDir, 'users', 'user-alice', 'chunks')).catch(() => []);

async function one(...sizes: number[]): Promise<{ url: URL; chunk: Uint8Array; hash: string }> {
  const { urls, chunks, hashes } = await begin(alice, randomChunks(...sizes));
  const [url = '', chunk = new Uint8Array(), hash = ''] = [urls[0], chunks[0], hashes[0]];
  return { url: new URL(url), chunk, hash };
}

test('a presigned URL is on another origin and has its expiry', async () => {
  const { url } = await one(10);
  assert.equal(url.origin, rig.service.storageUrl);
  assert.notEqual(url.origin, rig.service.baseUrl);
  const leftS = Number(url.searchParams.get('Expires')) - Date.now() / 1000;
  assert.ok(leftS > 200 && leftS <= 300);
});

test('a chunk put on its URL is stored, and putting it again is no error', async () => {
  const { url, chunk, hash } = await one(100_000);
  const answers = [await put(url.href, chunk), await put(url.href, chunk)];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  assert.ok((await stored()).includes(hash));
});

test('the same chunk put many times at once is stored once and completely', async () => {
  const { url, chunk, hash } = await one(2_000_000, 10_000_000);
  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => put(url.href, chunk)));
  assert.ok(answers.every(({ status }) => status === 200));
  const lies = await readFile(join(rig.dataDir, 'users', 'user-alice', 'chunks', hash));
  assert.equal(hashOf(lies), hash);
  assert.deepEqual(await readdir(join(rig.dataDir, 'incoming')), []);
});

test('bytes of another hash are refused and leave nothing', async () => {
  const { url, chunk, hash } = await one(5000);
  const wrong = Uint8Array.from(chunk);
  wrong[0] = (wrong[0] ?? 0) ^ 1;
  const answer = await put(url.href, wrong);
  assert.equal(answer.status, 400);
  assert.equal(typeof ((await answer.json()) as { debuginfo: unknown }).debuginfo, 'string');
  assert.ok(!(await stored()).includes(hash));
  assert.equal((await put(url.href, chunk)).status, 200);
});

test('a URL that was changed in any part is refused', async () => {
  const { url, chunk, hash } = await one(10);
  const changes: ((url: URL) => void)[] = [
    (u) => u.searchParams.set('Expires', String(Number(u.searchParams.get('Expires')) + 1)),
    (u) => u.searchParams.set('max-length', '999999'),
    (u) => u.searchParams.set('session', 'other'),
    (u) => u.searchParams.set('signature', 'x'),
    (u) => u.searchParams.delete('signature'),
    (u) => u.searchParams.delete('Expires'),
    (u) => setPath(u, u.pathname.replace(hash, '0'.repeat(64))),
    (u) => setPath(u, u.pathname.replace('user-alice', 'user-vic')),
    (u) => setPath(u, `${u.pathname}/more`),
    (u) => setPath(u, '/'),
  ];
  for (const change of changes) {
    const changed = new URL(url);
    change(changed);
    assert.equal((await put(changed.href, chunk)).status, 403, changed.href);
  }
  const path = url.pathname + url.search;
  const literal = [
    path.replace('max-length=10', 'max-length=1e1'),
    path.replace('max-length=10', 'max-length=0xa'),
    path.replace('max-length=10', 'max-length=%31%30'),
    path.replace(/Expires=(\d+)\.000/, 'Expires=$1'),
    `${path}&max-length=10`,
    path.replace('?', '?more=1&'),
    path.replace('/chunks/', '/./chunks/'),
    `http://storage.invalid${path}`,
  ];
  const send = (target: string): Promise<number> =>
    raw({ path: target, method: 'PUT', headers: { 'content-length': 10 } }, (r) => r.end(chunk));
  for (const target of literal.filter((target) => target !== path))
    assert.equal(await send(target), 403, target);
  assert.equal(await send(path), 200);
});

test('no URL leads out of the folder of chunks', async () => {
  for (const path of ['/chunks/../../keys.json', '/chunks/user-alice/..%2f..%2fkeys.json', '/chunks/%00/x']) {
    const { url, chunk } = await one(10);
    const status = await raw({ path: path + url.search, method: 'PUT' }, (r) => r.end(chunk));
    assert.equal(status, 403);
  }
});

test('an expired URL is refused', async () => {
  const { url, chunk } = await one(10);
  rig.service.clock.shift(301_000);
  assert.equal((await put(url.href, chunk)).status, 403);
  rig.service.clock.shift(-301_000);
  assert.equal((await put(url.href, chunk)).status, 200);
});

test('more bytes than the file has are refused, and bytes without a content length', async () => {
  const { url, chunk, hash } = await one(1000);
  assert.equal((await put(url.href, new Uint8Array(300_000))).status, 413);
  const untold = await raw({ path: url.pathname + url.search, method: 'PUT' }, (r) => {
    r.flushHeaders();
    r.end(chunk);
  });
  assert.equal(untold, 411);
  assert.ok(!(await stored()).includes(hash));
  assert.deepEqual(await readdir(join(rig.dataDir, 'incoming')), []);
});

test('a chunk that breaks off half-way is never visible and leaves nothing', async () => {
  const { url, chunk, hash } = await one(1_000_000);
  await assert.rejects(
    raw({ path: url.pathname + url.search, method: 'PUT', headers: { 'content-length': 1_000_000 } }, (r) => {
      r.write(chunk.subarray(0, 500_000), () => r.destroy());
    }),
  );
  await until(async () => (await readdir(join(rig.dataDir, 'incoming'))).length === 0);
  assert.ok(!(await stored()).includes(hash));
  assert.equal((await put(url.href, chunk)).status, 200);
});

test('storage allows listed pages without credentials, and no others', async () => {
  const { url, chunk } = await one(10);
  const preflight = (origin: string): Promise<Response> =>
    fetch(url, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'PUT' } });
  const ours = await preflight(page);
  assert.equal(ours.status, 204);
  assert.equal(ours.headers.get('access-control-allow-origin'), page);
  assert.equal(ours.headers.get('access-control-allow-methods'), 'PUT');
  assert.ok(ours.headers.get('access-control-max-age'));
  assert.equal(ours.headers.get('access-control-allow-credentials'), null);
  const theirs = await preflight('http://evil.test');
  assert.equal(theirs.headers.get('access-control-allow-origin'), null);
  const answer = await put(url.href, chunk);
  assert.equal(answer.headers.get('access-control-allow-origin'), page);
  assert.equal(answer.headers.get('access-control-expose-headers'), null);
  assert.equal(answer.headers.get('vary'), 'Origin');
});

test('storage accepts nothing but PUT', async () => {
  const { url } = await one(10);
  for (const method of ['GET', 'POST', 'DELETE', 'HEAD']) {
    const { status } = await fetch(url, { method });
    assert.ok(status === 405, method);
  }
});

test('a service of BLAKE3 verifies by BLAKE3', async () => {
  const other = await startRig({ hash: 'blake3' });
  const person = await actAs(other.service, 'alice');
  const [chunk = new Uint8Array()] = randomChunks(200_000);
  const { body: opened } = await person.open({ size: chunk.byteLength });
  const hash = await blake3(chunk);
  const { body } = await person.presign(opened.passport, [hash, hashOf(chunk)]);
  assert.equal((await put(body.chunks[hash].upload_url, chunk)).status, 200);
  assert.equal((await put(body.chunks[hashOf(chunk)].upload_url, chunk)).status, 400);
  const committed = await person.commit(opened.passport, [hash], [body.chunks[hash].receipt]);
  assert.equal(committed.status, 200);
  await other.end();
});

function setPath(url: URL, path: string): void {
  url.pathname = path;
}

/** Sends a request whose input `fetch` would normalize. Returns the status. */
function raw(
  options: { path: string; method: string; headers?: Record<string, number> },
  send: (request: ClientRequest) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: rig.service.storagePort, ...options }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    asked.on('error', reject);
    asked.on('close', () => reject(new Error('closed')));
    send(asked);
  });
}
