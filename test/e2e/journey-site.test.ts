// A journey, because it needs the built site and a service that stops.
// The built site: a visitor breaks an upload in every way that the panel offers, and it is completed. Its pages need a service only
// for uploads, and JavaScript only for what is not text.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { buildSite } from '../../scripts/build-site.mjs';
import { startDemo } from '../../scripts/demo.mjs';
import { DOCUMENTS, PAGES, pageOf } from '../../scripts/site.mjs';
import type { FileSnapshot, SecureUploader } from '../../src/index.ts';
import { serve } from '../package/serve.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { newContext } from './support/browser.ts';

const scratch = temporaryFolder();
const built = join(scratch, 'site');
let demo: Awaited<ReturnType<typeof startDemo>>;
let browser: Browser;
before(async () => {
  await buildSite(built);
  demo = await startDemo({ dataDir: join(scratch, 'data'), hostname: 'localhost', built });
  browser = await chromium.launch({ executablePath: findChromium() ?? '', args: chromiumArgs });
});
after(async () => {
  await browser?.close();
  await demo?.stop();
});

/** Opens a page of the site. `faults` gets the errors of its scripts and what its policy has blocked. */
async function open(
  t: TestContext,
  url: string,
  options: object = {},
): Promise<{ page: Page; faults: string[] }> {
  const context = await newContext(browser, options);
  t.after(() => context.close());
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
      faults.push(message.text());
  });
  await page.goto(url);
  return { page, faults };
}

/** Resolves with the newest file of the list when `isWanted` is true for it, and `isReady`. */
function fileWith(
  page: Page,
  isWanted: (file: FileSnapshot) => boolean,
  isReady: () => boolean | Promise<boolean> = () => true,
): Promise<FileSnapshot> {
  let file: FileSnapshot | undefined;
  return until(
    async () => {
      file = await page.evaluate(() =>
        document.querySelector<SecureUploader>('secure-uploader')?.snapshot.files.at(-1),
      );
      return file && isWanted(file) && (await isReady()) && file;
    },
    () => JSON.stringify(file),
  );
}

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

// Uploads wait for the line and for outages. Meanwhile, the pages that do not need the service are tested.
describe('The site', { concurrency: 2 }, () => {
  describe('with its service', { concurrency: 1 }, () => {
    test('lets a visitor break an upload in every way, and completes it', async (t) => {
      const { page, faults } = await open(t, demo.url);
      const failed: string[] = [];
      const statuses: number[] = [];
      /** Tokens so far, and those before the newest response to a request for URLs. */
      let [tokenCount, usedCount] = [0, 0];
      page.on('requestfailed', (request) => failed.push(request.method()));
      page.on('response', (response) => {
        statuses.push(response.status());
        if (response.url().endsWith('/auth/token')) tokenCount += 1;
        if (response.url().endsWith('/chunks') && response.ok()) usedCount = tokenCount;
      });
      const storedBytes = async (): Promise<number> => (await fileWith(page, () => true)).storedBytes;
      /** Presses a button, waits until `hasEffect` is true, and then until the page says that the upload continues. */
      const breaks = async (name: string, hasEffect: () => boolean | Promise<boolean>): Promise<void> => {
        const before = await storedBytes();
        await press(page, name);
        await fileWith(page, () => true, hasEffect);
        await fileWith(page, (file) => file.storedBytes > before);
        await page.getByText(/The upload continues at \d+ %/).waitFor();
        assert.ok((await fileWith(page, () => true)).phase !== 'done', `too late for more than ${name}`);
        failed.length = statuses.length = 0;
      };
      /** Ends an outage. After eight seconds it ends alone, so on a slow machine the button may be gone. */
      const ends = async (name: string): Promise<void> => {
        const button = page.getByRole('button', { name, exact: true });
        const before = await storedBytes();
        if (await button.isVisible()) await button.click({ timeout: 10_000 }).catch(() => undefined);
        await button.waitFor({ state: 'hidden' });
        await fileWith(page, (file) => file.storedBytes > before);
      };
      await press(page, 'Go offline');
      await page.getByText('Upload something first.').waitFor();
      await press(page, 'Upload a sample of 84 MB');
      await fileWith(page, (file) => file.storedBytes > 0);
      await breaks('Cut connections', () => failed.includes('PUT'));
      await breaks('Too many requests', () => statuses.includes(429));
      const [count, timeMs] = [tokenCount, demo.service.clock.now()];
      await breaks('Expire the sign-in', () => usedCount > count);
      assert.ok(demo.service.clock.now() > timeMs + 900_000);
      await press(page, 'Go offline');
      await fileWith(page, ({ pauseReason }) => pauseReason === 'offline');
      await press(page, 'Cut connections');
      await page.getByText(/nothing more to break|All connections were cut/).waitFor();
      await ends('Go online');
      assert.ok(demo.service.clock.now() > timeMs + 900_000, 'the time has jumped back');
      await Promise.all([page.waitForEvent('load'), press(page, 'Reload the page')]);
      await page.getByText(/The upload continues at \d+ %/).waitFor();
      await press(page, 'Kill the service');
      await page.getByText('The service and its storage are down').waitFor();
      await fileWith(page, ({ lastError }) => lastError?.code === 'network');
      await ends('Start the service');
      await press(page, 'Full speed');
      const { name } = await fileWith(page, ({ phase }) => phase === 'done');
      const files = await demo.service.listFiles('folder-a');
      assert.deepEqual(
        files.map((file) => [file.name, file.sizeBytes]),
        [[name, 80 * 1024 * 1024]],
      );
      const download = page.getByRole('button', { name: `Download ${name}` });
      await download.waitFor();
      await page.reload();
      await download.waitFor();
      assert.deepEqual(faults, []);
    });

    test('starts the service again if its page is left while it is stopped', async (t) => {
      // The first page starts the service when it is opened.
      const { page } = await open(t, `${demo.url}recipes.html`);
      const isUp = (): Promise<boolean> =>
        fetch(`${demo.service.baseUrl}/.well-known/jwks.json`).then(
          ({ ok }) => ok,
          () => false,
        );
      const status = await page.evaluate(
        async () => (await fetch('demo-config.json', { method: 'POST', body: '{"downMs":3000}' })).status,
      );
      assert.equal(status, 204);
      assert.equal(await isUp(), false);
      await page.close();
      await until(isUp);
    });

    test('lets its visitors sign in at the service, with the account that it names', async (t) => {
      const { page, faults } = await open(t, demo.url);
      await page.getByLabel('Sign in at the service').check();
      const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('some text') };
      await page.setInputFiles('secure-uploader >> input[type=file]', file);
      const popup = page.waitForEvent('popup');
      await page.locator('secure-uploader').getByRole('button', { name: 'Sign in' }).click();
      const window = await popup;
      const [, email = '', password = ''] =
        /as (\S+), password “(.+)”/.exec((await page.getByText('In the window that').textContent()) ?? '') ??
        [];
      await window.getByLabel('Email').fill(email);
      await window.getByLabel('Password', { exact: true }).fill(password);
      await window.getByRole('button', { name: 'Sign in' }).click();
      await fileWith(page, ({ phase }) => phase === 'done');
      assert.deepEqual(faults, []);
    });

    test('does not stop the service for other sites, not even if they frame it', async () => {
      const address = `${demo.url}demo-config.json`;
      const ask = async (headers: Record<string, string>, body: string, method = 'POST'): Promise<number> =>
        (await fetch(address, { method, body, headers })).status;
      const own = { 'sec-fetch-site': 'same-origin' };
      for (const site of ['cross-site', 'same-site', 'none', ''])
        assert.equal(await ask({ 'sec-fetch-site': site }, '{"downMs":1000}'), 403, site);
      assert.equal(await ask(own, '{"downMs":1000}', 'PUT'), 403);
      for (const body of ['', 'null', '{}', '{"downMs":-1}', '{"downMs":1e9}', '{"downMs":"x"}'])
        assert.equal(await ask(own, body), 400, body);
      assert.equal((await fetch(`${demo.service.baseUrl}/.well-known/jwks.json`)).status, 200);
      const page = await fetch(demo.url);
      assert.equal(page.headers.get('content-security-policy'), "frame-ancestors 'self'");
    });
  });

  describe('in its other pages', { concurrency: 1 }, () => {
    test('has code to copy that follows the settings', async (t) => {
      const { page, faults } = await open(t, `${demo.url}playground.html`, {
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      await page.getByLabel('File types').fill('image/*,.pdf');
      await press(page, 'React');
      await press(page, 'Copy');
      await page.getByText('Copied').waitFor();
      const code = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(code, /accept="image\/\*,\.pdf"/);
      assert.match(code, /getToken=\{getToken\}/);
      await page.getByLabel('The page has a token').uncheck();
      assert.doesNotMatch((await page.locator('#code pre').textContent()) ?? '', /getToken/);
      assert.deepEqual(faults, []);
    });

    test('shows every state in each theme and language', async (t) => {
      const { page, faults } = await open(t, `${demo.url}states.html`);
      const fixture = page.locator('widget-fixture').first();
      const button = fixture.getByRole('button').first();
      const colors: string[] = [];
      for (const theme of ['default', 'compact-neutral', 'high-contrast', 'material']) {
        await page.getByLabel('Theme').selectOption({ label: theme });
        await page.waitForFunction((seen) => {
          const place = document.querySelector('widget-fixture') as Element;
          return !seen.includes(getComputedStyle(place).getPropertyValue('--secure-uploader-accent'));
        }, colors);
        colors.push(
          await fixture.evaluate((each) =>
            getComputedStyle(each).getPropertyValue('--secure-uploader-accent'),
          ),
        );
      }
      await page.getByLabel('Language').selectOption('de');
      await button.getByText('Dateien auswählen').waitFor();
      assert.deepEqual(faults, []);
    });

    test('shows on its first page how many uploads ended on bad lines, for each client', async (t) => {
      const { page } = await open(t, demo.url);
      const lines = page.getByRole('region', { name: 'On bad lines' }).getByRole('row');
      assert.match((await lines.nth(0).textContent()) ?? '', /^ClientJourneysWithout a click/);
      assert.match((await lines.nth(1).textContent()) ?? '', /^secure-uploader\d+\d+ \(\d+–\d+ %\)/);
      assert.ok((await lines.count()) > 4);
    });

    test('says without JavaScript and without a service what does not work', async (t) => {
      const bare = await serve(scratch); // in a folder, as on some static hosts
      t.after(() => bare.stop());
      const address = `${bare.origin}/site/`;
      const { page } = await open(t, address, { javaScriptEnabled: false });
      // `getByText` needs JavaScript, too.
      assert.ok(await page.locator('noscript p').isVisible());
      const { page: other, faults } = await open(t, address);
      await other.getByText('This copy of the site has no service').waitFor();
      for (const hidden of ['secure-uploader', '#break-title', '#sample'])
        assert.equal(await other.locator(hidden).isVisible(), false, hidden);
      await other.getByText('https://files.example.com').first().waitFor();
      for (const path of ['playground.html', 'token.html']) {
        await other.goto(address + path);
        await other.getByText('This copy of the site has no service').waitFor();
        assert.equal(await other.locator('secure-uploader, form[data-service]').isVisible(), false, path);
      }
      await other.goto(`${address}states.html`);
      await other.locator('widget-fixture').first().getByRole('button').first().waitFor();
      assert.deepEqual(faults, []);
    });

    test('has no link that leads nowhere', async (t) => {
      const bare = await serve(built);
      t.after(() => bare.stop());
      const pages = new Map<string, string>();
      for (const path of [...PAGES, ...DOCUMENTS.map(pageOf)])
        pages.set(path, await (await fetch(`${bare.origin}/${path}`)).text());
      const lost: string[] = [];
      for (const [path, text] of pages)
        for (const [, link = ''] of text.matchAll(/<(?:a|img|link|script)\b[^>]*? (?:href|src)="([^"]+)"/g)) {
          if (/^(https?|mailto|data):/.test(link)) continue;
          const { pathname, hash } = new URL(link, `${bare.origin}/${path}`);
          const target = pages.get(pathname.slice(1));
          const isThere = hash
            ? target?.includes(` id="${decodeURIComponent(hash.slice(1))}"`)
            : (target ?? (await fetch(bare.origin + pathname)).ok);
          if (!isThere) lost.push(`${path}: ${link}`);
        }
      assert.deepEqual(lost, []);
    });
  });
});
