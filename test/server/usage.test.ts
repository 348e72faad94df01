// Limits on what one user can store on disk.
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ServiceOptions } from '../../demo/server/server.ts';
import { until } from '../support/until.ts';
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
  startRig,
  upload,
} from './support.ts';

async function start(
  t: TestContext,
  options: Partial<ServiceOptions> = {},
): Promise<{ rig: Rig; alice: Person }> {
  const rig = await startRig(options);
  t.after(() => rig.end());
  return { rig, alice: await actAs(rig.service, 'alice') };
}

async function storedBytes({ dataDir }: Rig): Promise<number> {
  const folder = join(dataDir, 'users', 'user-alice', 'chunks');
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

const cancel = (rig: Rig, { token }: Person, passport: string): Promise<Answer> =>
  ask(rig.service, 'DELETE', '/files/uploadsession', {
    headers: { authorization: `Bearer ${token}`, 'x-service-uploadsession': passport },
  });

test('a session stores at most twice the bytes of its file, whatever is presigned', async (t) => {
  const { rig, alice } = await start(t);
  const before = await storedBytes(rig);
  const { body } = await alice.open({ size: 1000 });
  const chunks = randomChunks(...Array<number>(20).fill(1000));
  const statuses = await Promise.all(
    chunks.map(async (chunk) => {
      const url = await presign(alice, body.passport, chunk);
      return (await put(url, chunk)).status;
    }),
  );
  assert.equal(statuses.filter((status) => status === 200).length, 2);
  assert.ok(statuses.every((status) => [200, 413, 503].includes(status)));
  const [another = new Uint8Array()] = randomChunks(1000);
  assert.equal((await put(await presign(alice, body.passport, another), another)).status, 413);
  assert.equal((await storedBytes(rig)) - before, 2000);
});

async function presign(person: Person, passport: string, chunk: Uint8Array): Promise<string> {
  const hash = hashOf(chunk);
  const { body } = await person.presign(passport, [hash]);
  return body.chunks[hash].upload_url;
}

test('a chunk that is sent again and again counts once', async (t) => {
  const { alice } = await start(t);
  const { body } = await alice.open({ size: 1000 });
  const [chunk = new Uint8Array()] = randomChunks(1000);
  const url = await presign(alice, body.passport, chunk);
  for (let count = 0; count < 6; count += 1) assert.equal((await put(url, chunk)).status, 200);
});

/** Starts a PUT whose bytes never arrive. Resolves when the service waits for them. */
async function hold({ dataDir }: Rig, url: string, bytes: number): Promise<ClientRequest> {
  const incoming = join(dataDir, 'incoming');
  const before = (await readdir(incoming)).length;
  const held = request(url, { method: 'PUT', headers: { 'content-length': bytes } });
  held.on('error', () => undefined);
  held.flushHeaders();
  await until(async () => (await readdir(incoming)).length > before);
  return held;
}

async function release({ dataDir }: Rig, ...held: ClientRequest[]): Promise<void> {
  for (const each of held) each.destroy();
  await until(async () => (await readdir(join(dataDir, 'incoming'))).length === 0);
}

test('bytes that have not arrived yet count against their session', async (t) => {
  const { rig, alice } = await start(t);
  const { body } = await alice.open({ size: 1000 });
  const chunks = randomChunks(1000, 1000, 1000);
  const urls = await Promise.all(chunks.map((chunk) => presign(alice, body.passport, chunk)));
  const held = [await hold(rig, urls[0] ?? '', 1000), await hold(rig, urls[1] ?? '', 1000)];
  const refused = await put(urls[2] ?? '', chunks[2] ?? new Uint8Array());
  assert.equal(refused.status, 503);
  assert.ok(refused.headers.get('retry-after'));
  await release(rig, ...held);
  assert.equal((await put(urls[2] ?? '', chunks[2] ?? new Uint8Array())).status, 200);
});

test('bytes of a canceled upload that have not arrived yet count against the user’s limit', async (t) => {
  const { rig, alice } = await start(t, { maxUserBytes: 10_500 });
  const { passport, urls } = await begin(alice, randomChunks(5000));
  const held = await hold(rig, urls[0] ?? '', 5000);
  assert.equal((await cancel(rig, alice, passport)).status, 204);
  assert.equal((await alice.open({ size: 8000 })).status, 413);
  await release(rig, held);
  assert.equal((await alice.open({ size: 8000 })).status, 201);
});

test('a user sends at most 128 chunks at once, over all sessions', async (t) => {
  const { rig, alice } = await start(t);
  const held: ClientRequest[] = [];
  for (let session = 0; session < 64; session += 1) {
    const { urls } = await begin(alice, randomChunks(10));
    held.push(await hold(rig, urls[0] ?? '', 10), await hold(rig, urls[0] ?? '', 10));
  }
  const { urls, chunks } = await begin(alice, randomChunks(10));
  assert.equal((await put(urls[0] ?? '', chunks[0] ?? new Uint8Array())).status, 503);
  const other = await begin(await actAs(rig.service, 'vic'), randomChunks(10));
  assert.equal((await put(other.urls[0] ?? '', other.chunks[0] ?? new Uint8Array())).status, 200);
  await release(rig, ...held);
  assert.equal((await put(urls[0] ?? '', chunks[0] ?? new Uint8Array())).status, 200);
});

test('a presigned URL ends with its session', async (t) => {
  const { rig, alice } = await start(t);
  const { passport, urls, chunks } = await begin(alice, randomChunks(100));
  assert.equal((await cancel(rig, alice, passport)).status, 204);
  assert.equal((await put(urls[0] ?? '', chunks[0] ?? new Uint8Array())).status, 403);
});

test('files, open uploads and remains of canceled ones count against the user’s limit, after a restart too', async (t) => {
  const { rig, alice } = await start(t, { maxUserBytes: 10_500 });
  assert.equal((await upload(alice, randomChunks(4000))).status, 200);
  const held = await alice.open({ size: 3000 });
  assert.equal(held.status, 201);
  const left = await begin(alice, randomChunks(2000));
  await put(left.urls[0] ?? '', left.chunks[0] ?? new Uint8Array());
  await cancel(rig, alice, left.passport);
  assert.equal(
    (await alice.open({ size: 1500 })).status,
    413,
    'the chunk of the canceled upload is still there',
  );
  assert.equal((await alice.open({ size: 1000 })).status, 201);
  const vic = await actAs(rig.service, 'vic');
  assert.equal((await vic.open({ size: 10_000 })).status, 201, 'others have a limit of their own');
  await rig.restart();
  const again = await actAs(rig.service, 'alice');
  assert.equal((await again.open({ size: 2500 })).status, 413);
  assert.equal((await again.open({ size: 500 })).status, 201);
  await cancel(rig, again, held.body.passport);
  assert.equal((await again.open({ size: 2500 })).status, 201);
});

test('uploads that have expired free their space', async (t) => {
  const { rig, alice } = await start(t, { maxOpenSessions: 2 });
  for (const status of [201, 201, 429]) assert.equal((await alice.open({ size: 1 })).status, status);
  rig.service.clock.shift(7 * 24 * 3600_000);
  assert.equal((await (await actAs(rig.service, 'alice')).open({ size: 1 })).status, 201);
});

test('an upload that is canceled counts as open for an hour', async (t) => {
  const { rig, alice } = await start(t, { maxOpenSessions: 2 });
  for (let count = 0; count < 2; count += 1) {
    const { body } = await alice.open({ size: 1 });
    assert.equal((await cancel(rig, alice, body.passport)).status, 204);
  }
  assert.equal((await alice.open({ size: 1 })).status, 429);
  rig.service.clock.shift(3600_001);
  assert.equal((await (await actAs(rig.service, 'alice')).open({ size: 1 })).status, 201);
});

test('files and open uploads count against the user’s limit of files, after a restart too', async (t) => {
  // The demo file is Alice's, too.
  const { rig, alice } = await start(t, { maxUserFiles: 4 });
  for (let count = 0; count < 2; count += 1)
    assert.equal((await upload(alice, randomChunks(10))).status, 200);
  const { status, body } = await alice.open({ size: 1 });
  assert.equal(status, 201);
  assert.equal((await alice.open({ size: 1 })).status, 413);
  await cancel(rig, alice, body.passport);
  await rig.restart();
  const again = await actAs(rig.service, 'alice');
  assert.equal((await again.open({ size: 1 })).status, 201);
  assert.equal((await again.open({ size: 1 })).status, 413);
});
