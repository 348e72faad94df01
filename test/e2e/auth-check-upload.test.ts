// A journey, because it needs the cookies that a browser sends to the service and the storage.
// To which requests of an upload the widget adds the bearer token, and what happens if the service refuses the token.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { Page } from 'playwright';
import type { LogEntry, Operation } from '../../demo/server/faults.ts';
import { BOTH_AT_FULL_SIZE, inWorlds, world } from './support/auth-world.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';

const QUICK = JSON.stringify({
  policy: { attempts: 2, baseMs: 30, capMs: 90 },
  times: { auth: { renewalGapMs: 1, renewalLimit: 1000 } },
});
const SETTINGS = `chunk-size="32768" data-engine-options='${QUICK}'`;
const FOR_EVER = Number.POSITIVE_INFINITY;

let elsewhere: Server;
let elsewhereUrl: string;
const strays: string[] = [];
before(async () => {
  elsewhere = createServer((request, response) => {
    strays.push(`${request.method} ${request.url}`);
    response
      .writeHead(200, { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' })
      .end();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  elsewhereUrl = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
});
after(
  () =>
    new Promise<void>((resolve) => {
      elsewhere.closeAllConnections();
      elsewhere.close(() => resolve());
    }),
);
beforeEach(() => {
  strays.length = 0;
});

/** Returns the requests of `operation`, for one file or for all files. */
const entries = (operation: Operation, fileName?: string): LogEntry[] =>
  world.entries(operation).filter((entry) => fileName === undefined || entry.fileName === fileName);

/** Creates a file of `chunkCount` chunks of random bytes. */
function makeFile(chunkCount = 2): { path: string; fileName: string } {
  const fileName = `${randomUUID()}.bin`;
  const path = join(world.folder, fileName);
  writeRandom(path, 32_768 * chunkCount);
  return { path, fileName };
}

/** Opens a page whose `getToken` returns a different token of the user alice for each call. */
async function openWithTokens(attributes = ''): Promise<Page> {
  const tokens: string[] = [];
  for (let count = 0; count < 8; count++) tokens.push((await world.service.createToken('alice')).token);
  const page = await world.open(`${SETTINGS} ${attributes}`);
  await page.evaluate((tokens) => {
    const scope = globalThis as unknown as { reasons: string[] };
    scope.reasons = [];
    Object.assign(document.querySelector('secure-uploader') as HTMLElement, {
      getToken: async (reason: string) => {
        scope.reasons.push(reason);
        return tokens[scope.reasons.length - 1];
      },
    });
  }, tokens);
  return page;
}

const pick = (page: Page, ...paths: string[]): Promise<void> =>
  page.setInputFiles('secure-uploader >> input[type=file]', paths);
const reasonsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => (globalThis as unknown as { reasons: string[] }).reasons);
const failuresOf = async (page: Page): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await eventsOf(page, 'upload-failed')).map(({ detail }) => [
      detail.file?.name ?? detail.name,
      detail.error?.code ?? detail.code,
    ]),
  );

inWorlds({ sites: BOTH_AT_FULL_SIZE }, () => {
  // Allows these origins in the content policy, so that only the widget itself can prevent requests to them.
  before(() => world.pages.allow(elsewhereUrl, 'http://storage.example'));

  test('given getToken, when three files are added together, then no sign-in is shown, it was called once, and both operations carry the bearer', async () => {
    const page = await openWithTokens();
    const files = [makeFile(), makeFile(), makeFile()];
    await pick(page, ...files.map(({ path }) => path));
    await untilEvent(page, 'upload-completed', 3);
    assert.deepEqual(await reasonsOf(page), ['first']);
    assert.deepEqual(await eventsOf(page, 'auth-required'), []);
    assert.equal(await page.locator('[part~="sign-in"]').count(), 0);
    const calls = [...entries('session'), ...entries('chunks')];
    assert.ok(calls.length >= 6);
    assert.deepEqual(
      calls.filter(({ hasBearer }) => !hasBearer),
      [],
    );
    assert.equal(entries('authorize').length + entries('login').length + entries('token').length, 0);
  });

  test('given presign responds with 401 for a token after a newer one was obtained, then it is retried with the newer one, without another renewal', async () => {
    const [slow, quick] = [makeFile(), makeFile()];
    const page = await openWithTokens();
    const refusal = { operation: 'chunks', status: 401, body: {} } as const;
    const [older, newer] = [createGate(), createGate()];
    world.service.faults.add({ ...refusal, match: { fileName: slow.fileName }, waitFor: newer.opened });
    world.service.faults.add({ ...refusal, match: { fileName: quick.fileName }, waitFor: older.opened });
    world.service.faults.choose(() => {
      // The request for the slow file has the older token.
      if (entries('chunks', slow.fileName).length > 0) older.open();
      // The second request for the quick file has the newer token.
      if (entries('chunks', quick.fileName).length > 1) newer.open();
      return undefined;
    });
    await pick(page, slow.path, quick.path);
    await untilEvent(page, 'upload-completed', 2);
    const [late] = entries('chunks', slow.fileName);
    const [, retried] = entries('chunks', quick.fileName);
    assert.ok(
      (late?.answeredAt ?? 0) >= (retried?.at ?? FOR_EVER),
      'the refusal came after the newer token was used',
    );
    assert.deepEqual(await reasonsOf(page), ['first', 'rejected']);
  });

  test('given a second 401 with a fresh token on presign, then one new session is opened; 401 there is token-rejected', async () => {
    const file = makeFile();
    const page = await openWithTokens();
    const match = { fileName: file.fileName };
    world.service.faults.add({ operation: 'chunks', status: 401, body: {}, match, times: 2 });
    await pick(page, file.path);
    await untilEvent(page, 'upload-completed');
    assert.equal(entries('session', file.fileName).length, 2, 'one new session');
    assert.deepEqual(await reasonsOf(page), ['first', 'rejected']);

    const refused = makeFile();
    const other = { match: { fileName: refused.fileName }, status: 401, body: {}, times: FOR_EVER };
    world.service.faults.add({ operation: 'chunks', ...other });
    world.service.faults.add({ operation: 'session', ...other, skip: 1 });
    await pick(page, refused.path);
    await untilEvent(page, 'upload-failed');
    assert.deepEqual(await failuresOf(page), { [refused.fileName]: 'token-rejected' });
    assert.ok(entries('session', refused.fileName).length <= 3, 'no loop');
  });

  test('given 403, then no renewal, that file fails with forbidden, and others continue', async () => {
    const [barred, free] = [makeFile(), makeFile()];
    const page = await openWithTokens();
    world.service.faults.add({
      operation: 'chunks',
      status: 403,
      body: { debuginfo: 'not yours' },
      match: { fileName: barred.fileName },
      times: FOR_EVER,
    });
    await pick(page, barred.path, free.path);
    await Promise.all([untilEvent(page, 'upload-failed'), untilEvent(page, 'upload-completed')]);
    assert.deepEqual(await failuresOf(page), { [barred.fileName]: 'forbidden' });
    assert.deepEqual(await reasonsOf(page), ['first']);
  });

  test('given presigned URLs on another origin, then those requests carry no bearer and no cookie, and no more Referer than the origin', async () => {
    const page = await openWithTokens();
    // Sets a cookie for the host of the storage. The uploads must not send this cookie.
    await world.context.addCookies([
      { name: 'planted', value: 'x', url: world.service.storageUrl, sameSite: 'Lax' },
    ]);
    await pick(page, makeFile(4).path);
    await untilEvent(page, 'upload-completed');
    const puts = entries('put');
    assert.ok(puts.length >= 4);
    for (const { hasBearer, hasCookie, headers, referer = '' } of puts) {
      assert.deepEqual([hasBearer, hasCookie], [false, false]);
      assert.equal(headers.includes('x-service-uploadsession'), false);
      assert.ok(['', `${world.pages.origin}/`].includes(referer), referer);
    }
  });

  for (const url of ['http://storage.example/put', 'javascript:alert(1)']) {
    test(`given a presign response with the URL ${url}, then it is rejected`, async () => {
      const file = makeFile(1);
      const hash = createHash('sha256').update(readFileSync(file.path)).digest('hex');
      const page = await openWithTokens();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      world.service.faults.add({
        operation: 'chunks',
        status: 200,
        body: { chunks: { [hash]: { upload_url: url, receipt: 'made-up' } } },
        times: FOR_EVER,
      });
      await pick(page, file.path);
      const [failed] = await untilEvent(page, 'upload-failed');
      assert.equal(failed?.detail.code, 'bad-response');
      assert.deepEqual(
        asked.filter((address) => address.startsWith(url)),
        [],
      );
      assert.equal(entries('put').length, 0);
      await page.close();
    });
  }

  test('given a path of another host or outside the base URL, then a privileged request throws and sends nothing', async () => {
    const { baseUrl } = world.service;
    for (const path of [`${elsewhereUrl}/files`, `${baseUrl}.evil/files`, `${baseUrl}/files/uploadsession`]) {
      // This `base-url` overrides the one that `world.openWidget` adds: if an attribute occurs twice, HTML uses the first.
      const page = await openWithTokens(`base-url="${baseUrl}/api" session-path="${path}"`);
      const asked: string[] = [];
      page.on('request', (request) => {
        // Workers start from the code of the page, with a URL of its own origin.
        if (new URL(request.url()).origin !== world.pages.origin) asked.push(request.url());
      });
      await pick(page, makeFile(1).path);
      const [failed] = await untilEvent(page, 'upload-failed');
      assert.equal(failed?.detail.code, 'bad-config', path);
      assert.deepEqual(asked, [], path);
      await page.close();
    }
    assert.deepEqual(strays, []);
  });

  test('given a redirect response, then it is an error and not followed', async () => {
    const page = await openWithTokens();
    world.service.faults.add({ operation: 'session', redirect: `${elsewhereUrl}/files`, times: FOR_EVER });
    await pick(page, makeFile(1).path);
    const [failed] = await untilEvent(page, 'upload-failed');
    assert.equal(failed?.detail.code, 'bad-response');
    assert.deepEqual(strays, []);
  });
});
