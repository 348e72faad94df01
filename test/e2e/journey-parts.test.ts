// A journey, because it needs the built files of dist/cdn, their hashes, and the headers of strict content policies.
// The parts of dist/cdn: a file that is chosen before the engine arrives, parts that are missing or are other files, and policies.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import type { Page, Route } from 'playwright';
import { builtWidget } from '../support/built.ts';
import { inWorlds, world } from './support/auth-world.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { assertStored, pick } from './support/transfer.ts';

const ENGINE = /\/uploads-[^/]+\.js/;
const FIRST_FILE = 'secure-uploader.min.js';

/** Returns the value of `integrity` for a built file. */
const hashOf = (name: string): string =>
  `sha384-${createHash('sha384')
    .update(readFileSync(join(builtWidget(), name)))
    .digest('base64')}`;

let token = '';

/** Opens the page. `handle` gets each request for the engine. Returns the page, its console, and the URLs of its scripts. */
async function open(handle: (route: Route) => Promise<void>, path = '/index.html', html = '') {
  await world.context.route(ENGINE, handle);
  const page = await world.context.newPage();
  const messages: string[] = [];
  const scripts: string[] = [];
  page.on('console', (message) => messages.push(message.text()));
  page.on('request', (request) => {
    if (/\.js(\?|$)/.test(request.url())) scripts.push(new URL(request.url()).pathname);
  });
  // In Firefox, the event `load` waits for the engine.
  await page.goto(world.pages.add(path, html || world.elementWith(`data-token="${token}"`)), {
    waitUntil: 'commit',
  });
  await page.locator('secure-uploader >> [data-action=browse]').waitFor();
  return { page, messages, scripts };
}

/** Chooses a new file. Returns its hash. */
async function choose(page: Page, name: string): Promise<string> {
  const path = join(world.folder, name);
  const sha256 = writeRandom(path, 300_000);
  await pick(page, path);
  return sha256;
}

async function assertUploaded(page: Page, sha256: string): Promise<void> {
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
  assert.deepEqual(world.pages.violations.splice(0), []);
}

const shown = (page: Page, text: string | RegExp): Promise<void> =>
  page.locator('secure-uploader').getByText(text).first().waitFor();

inWorlds({ sites: ['same-site'] }, () => {
  beforeEach(async () => {
    ({ token } = await world.service.createToken('alice', 3_600_000));
  });

  test('a file that is chosen before the engine arrives is shown as being read, and then uploaded', async () => {
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const { page, scripts } = await open(async (route) => {
      await arrived;
      await route.continue();
    });
    const sha256 = await choose(page, 'early.bin');
    await shown(page, 'Reading files… 1 file found');
    assert.deepEqual(await eventsOf(page, 'file-added'), []);
    arrive();
    await assertUploaded(page, sha256);
    // Each file is requested once: what the element needs at first, the engine with what it shares, and what warns developers on
    // localhost.
    assert.deepEqual(scripts.map((path) => path.replace(/-[\w-]{8}\.js/, '.js')).sort(), [
      '/check-page.js',
      '/recorder.js',
      `/${FIRST_FILE}`,
      '/settings.js',
      '/uploads.js',
      '/warn-of-settings.js',
    ]);
    await page.close();
  });

  test('parts that the page has preloaded with their hashes are not requested again', async () => {
    const folder = builtWidget();
    const links = readdirSync(folder)
      .filter((name) => /^(uploads|settings)-.*\.js$/.test(name))
      .map(
        (name) =>
          `<link rel="modulepreload" href="/${name}" integrity="${hashOf(name)}" crossorigin="anonymous">`,
      );
    assert.equal(links.length, 2);
    const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title><link rel="icon" href="data:,">
    ${links.join('')}<script type="module" src="/recorder.js"></script>
    <body>${world.elementWith(`data-token="${token}"`)}</body></html>`;
    const { page, scripts } = await open((route) => route.continue(), '/preloaded.html', html);
    await assertUploaded(page, await choose(page, 'preloaded.bin'));
    assert.equal(scripts.filter((path) => ENGINE.test(path)).length, 1);
    await page.close();
  });

  test('a part that is missing for a moment is requested again with another URL, without a message', async () => {
    let count = 0;
    const { page, scripts } = await open((route) => {
      count += 1;
      return count === 1 ? route.fulfill({ status: 404 }) : route.continue();
    });
    await assertUploaded(page, await choose(page, 'again.bin'));
    assert.equal(scripts.filter((path) => ENGINE.test(path)).length, 2);
    await page.close();
  });

  test('a part that is missing for longer: the files wait until "Try again" finds it', async () => {
    let isAway = true;
    const { page } = await open((route) => (isAway ? route.fulfill({ status: 404 }) : route.continue()));
    const sha256 = await choose(page, 'later.bin');
    await shown(page, 'Check your connection and try again.');
    await shown(page, 'Reading files… 1 file found');
    isAway = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await assertUploaded(page, sha256);
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
    await page.close();
  });

  test('a part with other bytes does not run, and the page and the console say so', async () => {
    const { page, messages } = await open(async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: `globalThis.isSpoiled = true;${await response.text()}` });
    });
    await choose(page, 'refused.bin');
    await shown(page, 'Check your connection and try again.');
    assert.equal(await page.evaluate('globalThis.isSpoiled'), undefined);
    assert.deepEqual(await eventsOf(page, 'file-added'), []);
    assert.ok(
      messages.some((text) => text.startsWith('<secure-uploader>: The code of the engine')),
      messages.join('\n'),
    );
    await page.close();
  });

  for (const [what, scripts] of [
    ['a nonce', "'nonce-r4nd0m'"],
    ["a nonce and 'strict-dynamic'", "'nonce-r4nd0m' 'strict-dynamic'"],
  ] as const)
    test(`the parts load under a policy with ${what}, trusted types, and one hash in the page`, async () => {
      const path = '/nonce.html';
      world.pages.changePolicy(path, (policy) =>
        policy.replace("script-src 'self'", `script-src ${scripts}`),
      );
      const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title><link rel="icon" href="data:,">
      <script nonce="r4nd0m" type="module" src="/${FIRST_FILE}" integrity="${hashOf(FIRST_FILE)}" crossorigin="anonymous"></script>
      <body>${world.elementWith(`data-token="${token}"`)}
      <script nonce="r4nd0m" type="module">
        const element = document.querySelector('secure-uploader');
        element.getToken = () => element.dataset.token;
        globalThis.events = [];
        for (const name of ['upload-completed', 'upload-failed'])
          element.addEventListener(name, ({ detail }) => events.push({ name, detail: JSON.parse(JSON.stringify(detail)) }));
        document.addEventListener('securitypolicyviolation', (event) =>
          fetch('/violation', { method: 'POST', body: event.violatedDirective + ' ' + event.blockedURI }));
      </script></body></html>`;
      const { page } = await open((route) => route.continue(), path, html);
      await assertUploaded(page, await choose(page, 'nonce.bin'));
      await page.close();
    });

  test("with worker-src 'self', the worker runs from its file, and the console says once that its content is not checked", async () => {
    const path = '/self.html';
    world.pages.changePolicy(path, (policy) => policy.replace(' blob:', ''));
    const { page, messages } = await open((route) => route.continue(), path);
    const sha256 = await choose(page, 'self.bin');
    const [completed] = await untilEvent(page, 'upload-completed');
    await assertStored(world, completed?.detail.commit.file_id, sha256);
    assert.ok(page.workers().every((worker) => worker.url().endsWith('/hash.worker.js')));
    assert.ok(page.workers().length > 0);
    assert.deepEqual(
      messages
        .filter((text) => text.startsWith('secure-uploader:') && !text.includes('Not set:'))
        .map((text) => /\/hash\.worker\.js runs/.test(text)),
      [true],
    );
    const reported = world.pages.violations.splice(0);
    assert.ok(
      reported.length > 0 && reported.every((text) => text.startsWith('worker-src blob')),
      reported.join(),
    );
    await page.close();
  });
});
