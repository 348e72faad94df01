// What the page around sign-in may be: under a strict content policy, in a frame, with a wrong clock, in five tabs, by keyboard alone.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { Page } from 'playwright';
import type { LogEntry } from '../../demo/server/faults.ts';
import { eventsOf, until } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;
let file: string;
before(async () => {
  world = await createWorld({ fsync: false });
  file = join(world.folder, 'small.bin');
  writeRandom(file, 100_000);
});
after(() => world.close());
beforeEach(async () => {
  world.service.faults.clear();
  world.service.faults.clearLog();
  await world.browser.clearCookies();
});

const entries = (operation: string): LogEntry[] =>
  world.service.log.filter((entry) => entry.operation === operation && entry.method !== 'OPTIONS');
const pick = (page: Page): Promise<void> => page.setInputFiles('secure-uploader >> input[type=file]', file);

async function fillIn(window: Page): Promise<void> {
  await window.getByLabel(/e-?mail/i).fill('alice@example.com');
  await window.getByLabel(/password/i).fill(world.service.seed.password);
  await window.getByRole('button', { name: /^sign in/i }).click();
}

async function signInByWindow(page: Page): Promise<void> {
  const button = page.locator('[data-action="sign-in"]');
  const [window] = await Promise.all([page.waitForEvent('popup'), button.click()]);
  await fillIn(window);
}

const MODES: Record<string, () => Promise<Page>> = {
  token: async () => {
    const page = await world.openWithToken();
    await pick(page);
    return page;
  },
  popup: async () => {
    const page = await world.open('auth="popup" silent="off"');
    await pick(page);
    await signInByWindow(page);
    return page;
  },
  'auto, silently': async () => {
    const first = await world.open();
    await pick(first);
    await signInByWindow(first);
    await until(first, 'upload-completed');
    await first.close();
    const page = await world.open();
    await pick(page);
    return page;
  },
  redirect: async () => {
    const page = await world.open('auth="redirect" silent="off"');
    await page.evaluate(() =>
      (document.querySelector('secure-uploader') as HTMLElement & { signIn(): void }).signIn(),
    );
    await page.getByLabel(/e-?mail/i).waitFor();
    await fillIn(page);
    await page.waitForURL(/index\.html$/);
    await until(page, 'signed-in');
    await pick(page);
    return page;
  },
  local: async () => {
    const page = await world.open('auth="local"');
    await pick(page);
    await fillIn(page);
    return page;
  },
};

for (const [mode, begin] of Object.entries(MODES)) {
  test(`check 38: given a strict content policy with trusted types, then mode ${mode} works with zero violation reports`, async () => {
    const before = world.pages.violations.length;
    const page = await begin();
    await until(page, 'upload-completed');
    // A report of one that would have come by now is on its way before this.
    await page.evaluate(() => fetch('/violation', { method: 'POST', body: 'the last one' }));
    assert.deepEqual(world.pages.violations.slice(before), ['the last one']);
    await page.close();
  });
}

test('check 39: given a page that frames the interactive pages of the service, then they refuse to be shown', async () => {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'secure-uploader',
    redirect_uri: `${world.pages.origin}/secure-uploader-callback.html`,
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    state: 'some-state',
  });
  const url = `${world.service.baseUrl}/authorize?${query}`;
  const alone = await world.browser.newPage();
  await alone.goto(url);
  await alone.getByLabel(/e-?mail/i).waitFor();
  await alone.close();
  const page = await world.browser.newPage();
  const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
  await page.goto(
    world.pages.add('/framing.html', `<iframe src="${url.replaceAll('&', '&amp;')}"></iframe>`),
  );
  await refused;
  assert.equal(
    await page
      .frameLocator('iframe')
      .getByLabel(/e-?mail/i)
      .count(),
    0,
  );
  await page.close();
});

for (const hours of [2, -2]) {
  test(`check 32: given a device clock that is ${hours} h off, then the upload completes, with at most two exchanges`, async () => {
    const page = await world.open('auth="popup" silent="off"');
    const shift = `{ const now = Date.now; Date.now = () => now() + ${hours * 3_600_000}; }`;
    await page.addInitScript(shift);
    await page.reload();
    await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined);
    await pick(page);
    await signInByWindow(page);
    await until(page, 'upload-completed');
    assert.ok(entries('token').length <= 2, `${entries('token').length} exchanges`);
    await page.close();
  });
}

test('check 40: given keyboard only and the accessibility tree, then the way to a window and back is reached, named, and announced once', async () => {
  const page = await world.open('auth="popup" silent="off"');
  await page.evaluate(() => {
    const root = document.querySelector('secure-uploader')?.shadowRoot as ShadowRoot;
    const scope = globalThis as unknown as { said: string[] };
    scope.said = [];
    const lives = root.querySelectorAll('[aria-live], [role="status"], [role="alert"]');
    for (const live of lives)
      new MutationObserver(() => {
        const text = live.textContent?.trim() ?? '';
        if (text) scope.said.push(text);
      }).observe(live, { childList: true, characterData: true, subtree: true });
  });
  await pick(page);
  const panel = page.getByRole('group', { name: /sign in/i });
  await panel.waitFor();
  assert.match(await panel.ariaSnapshot(), /group "[^"]+"[\s\S]*button "Sign in"/);
  const focused = (): Promise<string | undefined> =>
    page.evaluate(
      () =>
        (document.querySelector('secure-uploader')?.shadowRoot?.activeElement as HTMLElement | null)?.dataset
          .action,
    );
  for (let count = 0; count < 20 && (await focused()) !== 'sign-in'; count++)
    await page.keyboard.press('Tab');
  assert.equal(await focused(), 'sign-in', 'Tab leads to it');
  const [window] = await Promise.all([page.waitForEvent('popup'), page.keyboard.press('Enter')]);
  await window.getByLabel(/e-?mail/i).waitFor();
  await page.getByRole('button', { name: 'Open again' }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).first().waitFor();
  await window.getByLabel(/e-?mail/i).focus();
  await window.keyboard.type('alice@example.com');
  await window.keyboard.press('Tab');
  await window.keyboard.type(world.service.seed.password);
  await window.keyboard.press('Enter');
  await until(page, 'upload-completed');
  assert.deepEqual(await eventsOf(page, 'auth-failed'), []);
  const said = await page.evaluate(() => (globalThis as unknown as { said: string[] }).said);
  const asked = said.filter((text) => /sign in/i.test(text));
  assert.equal(asked.length, 1, JSON.stringify(said));
  await page.close();
});

test('check 35: given a sign-in by window and an upload, then token, verifier, password and e-mail are in no attribute, storage, event, line or address, and the code in the callback address only', async () => {
  const page = await world.open('auth="popup"');
  const lines: string[] = [];
  page.on('console', (message) => lines.push(message.text()));
  const addresses: string[] = [];
  const callbacks: string[] = [];
  page.context().on('request', (request) => {
    const isCallback = request.url().includes('/secure-uploader-callback.html?');
    (isCallback ? callbacks : addresses).push(request.url());
  });
  const answers: Promise<unknown>[] = [];
  const sent: Record<string, string>[] = [];
  page.on('response', (response) => {
    if (!response.url().endsWith('/auth/token') || response.request().method() !== 'POST') return;
    sent.push(response.request().postDataJSON() as Record<string, string>);
    answers.push(response.json());
  });
  await pick(page);
  await signInByWindow(page);
  await until(page, 'upload-completed');
  const [{ token = '' } = {}] = (await Promise.all(answers)) as { token?: string }[];
  const [{ code = '', code_verifier = '' } = {}] = sent;
  const secrets = [token, code, code_verifier, world.service.seed.password, 'alice@example.com'];
  assert.ok(
    secrets.every((secret) => secret.length > 4),
    'the scan knows what to look for',
  );
  const seen = await page.evaluate(async () => {
    const element = document.querySelector('secure-uploader') as HTMLElement & { snapshot: unknown };
    const kept: unknown[] = [];
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
      for (const store of database.objectStoreNames)
        kept.push(
          await new Promise((resolve, reject) => {
            const request = database.transaction(store).objectStore(store).getAll();
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(request.error);
          }),
        );
      database.close();
    }
    return JSON.stringify([
      document.documentElement.outerHTML,
      element.shadowRoot?.innerHTML,
      element.snapshot,
      Object.entries(localStorage),
      Object.entries(sessionStorage),
      document.cookie,
      location.href,
      history.state,
      (globalThis as unknown as { events: unknown }).events,
      kept,
    ]);
  });
  for (const secret of secrets) {
    for (const text of [seen, ...lines, ...addresses])
      assert.equal(text.includes(secret), false, `a secret is seen: ${text.slice(0, 60)}`);
  }
  assert.equal(callbacks.filter((address) => address.includes(code)).length, 1);
  await page.close();
});
