// Each kind of event does to a real browser what README.md says.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { KINDS } from './kinds.mjs';
import { Line } from './line.mjs';
import { Visit } from './visit.mjs';

/** A page that says what happens to it. `count` grows with a timer, which is never late on a machine that is awake. */
const PAGE = `<!doctype html><input type="file"><script>
  window.journey = { state: 'idle', log: [], start: (place) => Object.assign(journey, place) };
  localStorage.setItem('loads', Number(localStorage.getItem('loads')) + 1);
  const note = (name) => journey.log.push(name);
  for (const name of ['online', 'offline']) addEventListener(name, () => note(name));
  let count = 0, longestGapMs = 0, lastMs = performance.now();
  setInterval(() => {
    count += 1;
    longestGapMs = Math.max(longestGapMs, performance.now() - lastMs);
    lastMs = performance.now();
  }, 10);
</script>`;

const server = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html');
  response.end(PAGE);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
after(() => {
  server.close();
  server.closeAllConnections();
});

// biome-ignore lint/suspicious/noExplicitAny: the harness is JavaScript.
type Any = any;

async function start(t: TestContext) {
  const line = new Line({ bytesPerSecond: 1e6, latencyMs: 0 });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const profile = join(temporaryFolder(), 'profile');
  const visit: Any = new Visit({ profile, url, place: {}, bytesPerSecond: 1e6 });
  await visit.start();
  t.after(async () => {
    line.close();
    await visit.close();
  });
  const world = { visit, line, bytesPerSecond: 1e6 };
  return {
    visit,
    begin: (kind: keyof typeof KINDS): Any => KINDS[kind].begin(world, { choice: 0 }),
    end: (kind: keyof typeof KINDS): Any => (KINDS[kind] as Any).end(world, {}),
    read: (expression: string): Promise<Any> => visit.read(expression),
  };
}

test('offline: the page gets the events, and knows that it is offline', async (t) => {
  const { begin, end, read } = await start(t);
  await begin('offline');
  await until(async () => (await read('navigator.onLine')) === false);
  assert.equal(await read('fetch("/").then(() => "loaded", () => "failed")'), 'failed');
  await end('offline');
  await until(async () => (await read('navigator.onLine')) === true);
  assert.deepEqual(await read('journey.log'), ['offline', 'online']);
  assert.equal(await read('fetch("/").then(() => "loaded", () => "failed")'), 'loaded');
});

test('sleep: no timer of the page runs until it ends', async (t) => {
  const { visit, begin, end, read } = await start(t);
  await until(async () => (await read('count')) > 2);
  await begin('sleep');
  assert.equal(await visit.state(), '');
  await pause(1000);
  await end('sleep');
  await until(async () => (await read('longestGapMs')) >= 900);
  assert.equal(await visit.state(), 'idle');
});

test('slow: the browser sends no faster than the line', async (t) => {
  const { begin, end, read } = await start(t);
  await begin('slow');
  const ms = await read(
    '(async () => { const ms = performance.now(); await fetch("/", { method: "POST", body: new Uint8Array(100_000) }); return performance.now() - ms; })()',
  );
  assert.ok(ms > 1000, String(ms));
  await end('slow');
});

test('reload: the same tab gets the page again, which starts as one that returns', async (t) => {
  const { visit, begin, read } = await start(t);
  assert.equal(await read('journey.isReturn'), false);
  await begin('reload');
  assert.equal(await read('journey.isReturn'), true);
  assert.equal(await read('localStorage.getItem("loads")'), '2');
  assert.equal(visit.loadCount, 2);
});

test('crash: the process of the page ends, and the page is opened again', async (t) => {
  const { begin, read } = await start(t);
  await begin('crash');
  assert.equal(await read('journey.isReturn'), true);
  assert.equal(await read('localStorage.getItem("loads")'), '2');
});

test('restart: the browser is killed, and starts again with its profile', async (t) => {
  const { visit, begin, read } = await start(t);
  await begin('restart');
  assert.equal(await read('journey.isReturn'), true);
  // The disk may not have the last writes.
  assert.equal(visit.loadCount, 2);
});

test('tabs: the page is opened a second time beside the first, and closed again', async (t) => {
  const { visit, begin, end, read } = await start(t);
  await begin('tabs');
  assert.equal(await read('localStorage.getItem("loads")'), '2');
  assert.equal(await read('journey.isReturn'), false);
  await end('tabs');
  assert.equal(visit.loadCount, 1);
});
