// Each kind of event does to the servers of a world what README.md says. visit.test.ts has the kinds that concern the browser.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { after, describe, test } from 'node:test';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { KINDS } from './kinds.mjs';
import { createTrace } from './trace.mjs';
import { createWorld } from './world.mjs';
import { chooseWorlds, worlds } from './worlds.mjs';

const ORIGIN = 'http://127.0.0.1:9';
const LIFETIMES = { tokenLifetimeMs: 60_000, urlLifetimeMs: 60_000 };
const SHAPE = { bytesPerSecond: 100e6, latencyMs: 0, ...LIFETIMES };

async function worldWith(more: object = {}) {
  const world = await createWorld({ ...SHAPE, ...more, pageOrigin: ORIGIN, folder: temporaryFolder() });
  after(() => world.close());
  return world;
}

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  agent?: Agent;
}

function start(url: string, { method = 'POST', headers = {}, agent }: Sent = {}): ClientRequest {
  const sending = request(url, { method, headers: { origin: ORIGIN, ...headers }, agent: agent ?? false });
  sending.on('error', () => undefined);
  return sending;
}

async function responseTo(sending: ClientRequest) {
  const [response] = (await Promise.race([
    once(sending, 'response'),
    once(sending, 'close').then(() => Promise.reject(new Error('no response'))),
  ])) as [IncomingMessage];
  let text = '';
  for await (const piece of response) text += piece;
  const isReadable = response.headers['access-control-allow-origin'] !== undefined;
  return { status: response.statusCode, headers: response.headers, text, isReadable };
}

function send(url: string, sent: Sent = {}) {
  const sending = start(url, sent);
  sending.end(sent.body);
  return responseTo(sending);
}

const tokenOf = async ({ service }: { service: string }): Promise<string> =>
  JSON.parse((await send(`${service}/token`)).text).token;

async function signed(world: { service: string }, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${await tokenOf(world)}` };
  return JSON.parse((await send(`${world.service}/sign`, { headers, body: JSON.stringify({ path }) })).text)
    .url;
}

async function createTus({ storage }: { storage: string }, sizeBytes: number): Promise<string> {
  const { headers } = await send(`${storage}/tus`, { headers: { 'upload-length': String(sizeBytes) } });
  return headers.location as string;
}

const offsetOf = async (url: string): Promise<number> =>
  Number((await send(url, { method: 'HEAD' })).headers['upload-offset']);

const patch = (url: string, body: Uint8Array, offset = 0) =>
  send(url, { method: 'PATCH', headers: { 'upload-offset': String(offset) }, body });

/** Starts a PATCH that has sent half of its bytes. */
function startHalf(url: string, bytes: Uint8Array): ClientRequest {
  const headers = { 'upload-offset': '0', 'content-length': String(bytes.length) };
  const sending = start(url, { method: 'PATCH', headers });
  sending.write(bytes.subarray(0, bytes.length / 2));
  return sending;
}

const sumOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const openSession = async ({ service }: { service: string }) => {
  const headers = {
    authorization: `Bearer ${await tokenOf({ service })}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ parent_id: 'folder-a', file_name: 'a.bin', file_size: 5 });
  const { status, text } = await send(`${service}/files/uploadsession`, { headers, body });
  assert.equal(status, 201, text);
  const passport = JSON.parse(text).passport as string;
  return { ...headers, 'x-service-uploadsession': passport };
};

// biome-ignore lint/suspicious/noExplicitAny: the world is JavaScript.
type World = any;
const begin = (kind: keyof typeof KINDS, world: World, choice = 0): void =>
  KINDS[kind].begin(world, { choice });
const end = (kind: keyof typeof KINDS, world: World): void => (KINDS[kind] as World).end(world, {});

describe('the line', () => {
  test('cut: resets running requests, and carries the next one; the tus server keeps what arrived', async () => {
    const world = await worldWith();
    const bytes = randomBytes(200_000);
    const url = await createTus(world, bytes.length);
    const half = startHalf(url, bytes);
    const response = responseTo(half);
    await until(() => world.line.sentBytes > bytes.length / 2);
    begin('cut', world);
    await assert.rejects(response);
    const offset = await offsetOf(url);
    assert.equal((await patch(url, bytes.subarray(offset), offset)).status, 204);
    assert.equal(await world.isStored(sumOf(bytes)), true);
  });

  test('outage: resets every connection until it ends', async () => {
    const world = await worldWith();
    begin('outage', world);
    await assert.rejects(send(`${world.service}/token`));
    await assert.rejects(send(`${world.storage}/tus`));
    end('outage', world);
    assert.equal((await send(`${world.service}/token`)).status, 200);
  });

  test('stall: nothing gets a response, and everything does at its end', async () => {
    const world = await worldWith();
    let isAnswered = false;
    begin('stall', world);
    const waiting = send(`${world.service}/token`).finally(() => {
      isAnswered = true;
    });
    const other = await worldWith();
    for (let count = 0; count < 20; count += 1) await send(`${other.service}/token`);
    assert.equal(isAnswered, false);
    end('stall', world);
    assert.equal((await waiting).status, 200);
  });

  test('stall-dead: connections of before never move again, and new ones do at its end', async () => {
    const world = await worldWith();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const url = `${world.service}/token`;
    assert.equal((await send(url, { agent })).status, 200);
    begin('stall-dead', world);
    end('stall-dead', world);
    const dead = start(url, { agent });
    dead.end();
    const response = responseTo(dead);
    for (let count = 0; count < 20; count += 1) assert.equal((await send(url)).status, 200);
    assert.equal(dead.reusedSocket, true);
    dead.destroy();
    await assert.rejects(response);
    agent.destroy();
  });

  test('slow: carries no more than 50 kB a second until it ends', async () => {
    const world = await worldWith();
    const rates: number[] = [];
    const visit = { setRate: (rate: number) => rates.push(rate) };
    const url = await createTus(world, 100_000);
    begin('slow', { ...world, visit });
    const startedMs = performance.now();
    assert.equal((await patch(url, randomBytes(100_000))).status, 204);
    assert.ok(performance.now() - startedMs > 1500);
    end('slow', { ...world, visit });
    assert.deepEqual(rates, [50_000, SHAPE.bytesPerSecond]);
  });

  test('portal-tls: every request gets something that is no response of HTTP', async () => {
    const world = await worldWith();
    begin('portal-tls', world);
    await assert.rejects(send(`${world.service}/token`));
    // Also a request that is still being sent, and whose response the browser would read only then.
    const sending = connect(Number(new URL(world.storage).port), '127.0.0.1');
    sending.on('error', () => undefined);
    sending.write(randomBytes(20_000_000));
    await new Promise((resolve) => sending.once('close', resolve));
    end('portal-tls', world);
    assert.equal((await send(`${world.service}/token`)).status, 200);
  });
});

describe('the gate', () => {
  const preflight = { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } };

  for (const [kind, statuses, isReadable] of [
    ['5xx', [500, 502, 503], true],
    ['5xx-unreadable', [500, 502, 503], false],
    ['429', [429], true],
    ['429-unreadable', [429], false],
    ['portal-page', [200], false],
    ['portal-redirect', [302, 307], false],
  ] as const)
    test(`${kind}: responds in place of service and storage, ${isReadable ? 'with' : 'without'} CORS headers`, async () => {
      const world = await worldWith();
      for (const [nth, status] of statuses.entries()) {
        begin(kind, world, nth / statuses.length);
        for (const url of [
          `${world.service}/token`,
          `${world.service}/files/uploadsession`,
          `${world.storage}/tus`,
        ]) {
          const response = await send(url);
          assert.equal(response.status, status);
          assert.equal(response.isReadable, isReadable);
          if (status === 429) assert.equal(response.headers['retry-after'], '2');
          if (kind === 'portal-redirect') assert.equal(response.headers.location, 'http://portal.invalid/');
        }
        assert.equal((await send(`${world.storage}/tus`, preflight)).isReadable, isReadable);
      }
      end(kind, world);
      assert.equal((await send(`${world.service}/token`)).status, 200);
    });

  test('full: takes no bytes of files, and everything else', async () => {
    const world = await worldWith();
    const url = await createTus(world, 10);
    begin('full', world);
    const refused = await patch(url, randomBytes(10));
    assert.equal(refused.status, 507);
    assert.equal(refused.isReadable, true);
    assert.equal(
      (await send(await signed(world, '/s3/a?partNumber=1&uploadId=1'), { method: 'PUT' })).status,
      507,
    );
    assert.equal((await send(`${world.storage}/chunks/a`, { method: 'PUT' })).status, 507);
    assert.equal(await offsetOf(url), 0);
    end('full', world);
    assert.equal((await patch(url, randomBytes(10))).status, 204);
  });

  test('lost-session: forgets sessions and unfinished uploads, and takes new ones', async () => {
    const world = await worldWith();
    const headers = await openSession(world);
    const ask = () => send(`${world.service}/files/uploadsession/chunks`, { headers, body: '{"hashes":[]}' });
    assert.notEqual((await ask()).status, 410);
    const tus = await createTus(world, 10);
    const created = await send(await signed(world, '/s3/a?uploads='));
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(created.text)?.[1];
    begin('lost-session', world);
    const lost = await ask();
    assert.deepEqual([lost.status, lost.isReadable], [410, true]);
    assert.equal((await send(tus, { method: 'HEAD' })).status, 404);
    assert.equal(
      (await send(await signed(world, `/s3/a?uploadId=${uploadId}`), { method: 'GET' })).status,
      404,
    );
    await openSession(world);
  });

  test('proxy: passes on nothing before it has the whole body', async () => {
    const bytes = randomBytes(200_000);
    const offsetAtHalf = async (world: World): Promise<number> => {
      const url = await createTus(world, bytes.length);
      const sentBytes = world.line.sentBytes;
      const half = startHalf(url, bytes);
      await until(() => world.line.sentBytes > sentBytes + bytes.length / 2);
      const offset = await offsetOf(url);
      half.destroy();
      return offset;
    };
    const proxied = await worldWith({ proxy: { bytesPerSecond: 100e6, cutAfterMs: 60_000 } });
    assert.equal(await offsetAtHalf(proxied), 0);
    const direct = await worldWith();
    await until(async () => (await offsetAtHalf(direct)) > 0);
    assert.equal((await patch(await createTus(proxied, bytes.length), bytes)).status, 204);
    assert.equal(await proxied.isStored(sumOf(bytes)), true);
  });

  test('proxy: cuts a request that takes too long', async () => {
    const world = await worldWith({ proxy: { bytesPerSecond: 1000, cutAfterMs: 100 } });
    const url = await createTus(world, 100_000);
    await assert.rejects(patch(url, randomBytes(100_000)));
  });
});

test('tokens and signed URLs expire', async () => {
  const world = await worldWith({ urlLifetimeMs: -1, tokenLifetimeMs: 60_000 });
  assert.equal((await send(await signed(world, '/s3/a?uploads='))).status, 403);
  const later = await worldWith({ tokenLifetimeMs: 1 });
  const authorization = `Bearer ${await tokenOf(later)}`;
  await until(async () => {
    const sent = { headers: { authorization }, body: '{"path":"/s3/a"}' };
    return (await send(`${later.service}/sign`, sent)).status === 401;
  });
});

test('a file counts as stored only with exactly its bytes', async () => {
  const world = await worldWith();
  const bytes = randomBytes(1000);
  const sha256 = sumOf(bytes);
  await patch(await createTus(world, 1000), randomBytes(1000));
  assert.equal(await world.isStored(sha256), false);
  const url = await createTus(world, 1000);
  await patch(url, bytes.subarray(0, 600));
  assert.equal(await world.isStored(sha256), false);
  await patch(url, bytes.subarray(600), 600);
  assert.equal(await world.isStored(sha256), true);
});

describe('a trace', () => {
  const all = chooseWorlds(Object.keys(worlds));

  test('is the same for the same world and seed, and another for others', () => {
    for (const world of all) {
      assert.deepEqual(createTrace(world, 7), createTrace(world, 7));
      assert.notDeepEqual(createTrace(world, 7), createTrace(world, 8));
    }
  });

  test('has events of known kinds, one after the other, until the last one', () => {
    for (const world of all)
      for (let seed = 1; seed <= 50; seed += 1) {
        let freeMs = world.firstEventMs;
        for (const { kind, atMs, lengthMs } of createTrace(world, seed)) {
          assert.ok(kind in KINDS && kind in world.events, kind);
          assert.ok(atMs >= freeMs && atMs <= world.lastEventMs);
          assert.ok(lengthMs >= 0 && lengthMs <= (world.events as World)[kind].length.mostMs);
          freeMs = atMs + lengthMs;
        }
      }
  });

  test('has kinds and lengths with a source, or with our reason', () => {
    for (const { name, events, because } of all.filter((world) => world.name !== 'classic'))
      for (const reason of [
        ...Object.values(events as World).map((each: World) => each.because),
        ...Object.values(because),
      ])
        assert.match(String(reason), /chosen by us, because .|https:/, name);
  });

  test('has every kind of its world in some journeys', () => {
    for (const world of all) {
      const seeds = Array.from({ length: 200 }, (_, seed) => seed);
      const kinds = new Set(seeds.flatMap((seed) => createTrace(world, seed).map(({ kind }) => kind)));
      assert.deepEqual([...kinds].sort(), Object.keys(world.events).sort(), world.name);
    }
  });
});
