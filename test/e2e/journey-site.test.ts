// The built site: a visitor breaks an upload in every way that the panel offers, and it is completed. Its pages need a service only
// for uploads, and JavaScript only for what is not text.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { buildSite } from '../../scripts/build-site.mjs';
import { startDemo } from '../../scripts/demo.mjs';
import { DOCUMENTS, PAGES, pageOf } from '../../scripts/site.mjs';
import type { FileSnapshot, SecureUploader } from '../../src/index.ts';
import { serve } from '../package/serve.ts';
import { TIMEOUT_MS } from './support/browser.ts';

const scratch = mkdtempSync(join(tmpdir(), 'secure-uploader-site-'));
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
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
});

/** Opens a page of the site. `faults` gets the errors of its scripts and what its policy has blocked. */
async function open(
  t: TestContext,
  url: string,
  options: object = {},
): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext(options);
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
      faults.push(message.text());
  });
  await page.goto(url);
  return { page, faults };
}

/** Resolves with the newest file of the list when `isWanted` is true for it. */
async function fileWith(page: Page, isWanted: (file: FileSnapshot) => boolean): Promise<FileSnapshot> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    const file = await page.evaluate(() =>
      document.querySelector<SecureUploader>('secure-uploader')?.snapshot.files.at(-1),
    );
    if (file && isWanted(file)) return file;
    assert.ok(Date.now() < deadline, JSON.stringify(file));
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
  }
}

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

describe('The site', () => {
  test('lets a visitor break an upload in every way, and completes it', async (t) => {
    const { page, faults } = await open(t, demo.url);
    await press(page, 'Upload a sample of 84 MB');
    /** Waits until further chunks are stored, so that the last step is known to be over. */
    const continues = async (): Promise<void> => {
      const { storedBytes } = await fileWith(page, () => true);
      await fileWith(page, (file) => file.storedBytes > storedBytes);
    };
    await continues();
    await press(page, 'Cut connections');
    await continues();
    await press(page, 'Answer 429');
    await page.getByText('The next requests get 429').waitFor();
    await continues();
    await press(page, 'Expire the token');
    await page.getByText('16 minutes have passed').waitFor();
    await continues();
    await press(page, 'Go offline');
    await fileWith(page, ({ pauseReason }) => pauseReason === 'offline');
    await press(page, 'Go offline');
    await continues();
    await Promise.all([page.waitForEvent('load'), press(page, 'Reload the page')]);
    await continues();
    await press(page, 'Full speed');
    await press(page, 'Kill the service');
    await page.getByText('The service and its storage are down').waitFor();
    const { name } = await fileWith(page, ({ phase }) => phase === 'done');
    const files = await demo.service.listFiles('folder-a');
    assert.deepEqual(
      files.map((file) => [file.name, file.sizeBytes]),
      [[name, 80 * 1024 * 1024]],
    );
    await page.getByRole('button', { name: 'Download' }).waitFor();
    assert.deepEqual(faults, []);
  });

  test('lets its visitors sign in at the service, with the account that it names', async (t) => {
    const { page, faults } = await open(t, demo.url);
    await page.getByLabel('Sign in at the service').check();
    await press(page, 'Full speed');
    await press(page, 'Upload a sample of 84 MB');
    const popup = page.waitForEvent('popup');
    await page.locator('secure-uploader').getByRole('button', { name: 'Sign in' }).click();
    const window = await popup;
    const [, email = '', password = ''] =
      /as (\S+), password “(.+)”/.exec(
        (await page.getByText('In the window, sign in').textContent()) ?? '',
      ) ?? [];
    await window.getByLabel('Email').fill(email);
    await window.getByLabel('Password', { exact: true }).fill(password);
    await window.getByRole('button', { name: 'Sign in' }).click();
    await fileWith(page, ({ phase }) => phase === 'done');
    assert.deepEqual(faults, []);
  });

  test('does not stop the service for other sites', async () => {
    const stop = { method: 'POST', body: '{"isOn":false}' };
    const address = `${demo.url}demo-config.json`;
    for (const site of ['cross-site', 'same-site', 'none']) {
      const { status } = await fetch(address, { ...stop, headers: { 'sec-fetch-site': site } });
      assert.equal(status, 403, site);
    }
    assert.equal((await fetch(`${demo.service.baseUrl}/.well-known/jwks.json`)).status, 200);
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
        await fixture.evaluate((each) => getComputedStyle(each).getPropertyValue('--secure-uploader-accent')),
      );
    }
    await page.getByLabel('Language').selectOption('de');
    await button.getByText('Dateien auswählen').waitFor();
    assert.deepEqual(faults, []);
  });

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

  test('says without JavaScript and without a service what does not work', async (t) => {
    const bare = await serve(built);
    t.after(() => bare.stop());
    const { page } = await open(t, bare.origin, { javaScriptEnabled: false });
    // `getByText` needs JavaScript, too.
    assert.ok(await page.locator('noscript p').isVisible());
    const { page: other } = await open(t, bare.origin);
    await other.getByText('This copy of the site has no service').waitFor();
    assert.equal(await other.locator('#panel').isVisible(), false);
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
