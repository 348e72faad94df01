// Windows that the browser really refuses, and windows that are severed and stay open.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { chromium, type Page } from 'playwright';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { AUTH_TIMES } from '../../src/auth/times.ts';
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

const times = (auth: object): string => `data-engine-options='${JSON.stringify({ times: { auth } })}'`;
const count = (operation: string): number =>
  world.service.log.filter((entry) => entry.operation === operation && entry.method !== 'OPTIONS').length;
const panel = (page: Page, state: string) => page.locator(`[part~="sign-in"][data-state="${state}"]`);
const signInButton = (page: Page) => page.locator('[data-action="sign-in"]');

async function openWindow(page: Page): Promise<Page> {
  const [window] = await Promise.all([page.waitForEvent('popup'), signInButton(page).click()]);
  await window.getByLabel(/e-?mail/i).waitFor();
  return window;
}

async function fillIn(window: Page): Promise<void> {
  await window.getByLabel(/e-?mail/i).fill('alice@example.com');
  const password = window.getByLabel(/password/i);
  if (await password.count()) await password.fill(world.service.seed.password);
  await window.getByRole('button').first().click();
}

test('check 11: given the browser blocks the window, when Sign in is clicked, then popup-blocked appears with a working "Open again", and nothing was sent', async () => {
  const { page: made, close } = await withPopupBlocker();
  try {
    await made.addInitScript('globalThis.__name = (fn) => fn;');
    await made.goto(world.pages.add('/blocked.html', element('silent="off"')));
    await made.setInputFiles('secure-uploader >> input[type=file]', file);
    await panel(made, 'prompt').waitFor();
    world.service.faults.clearLog();
    // A click that no person made, once what the person did last no longer counts: only then the browser blocks.
    const session = await made.context().newCDPSession(made);
    const run = async (expression: string): Promise<unknown> =>
      (await session.send('Runtime.evaluate', { expression, userGesture: false, awaitPromise: true })).result
        .value;
    await run(`new Promise((done) => {
      const look = () => navigator.userActivation.isActive ? requestAnimationFrame(look) : done();
      look();
    })`);
    await run(
      `document.querySelector('secure-uploader').shadowRoot.querySelector('[data-action="sign-in"]').click()`,
    );
    const failed = await until(made, 'auth-failed');
    assert.equal(failed[0]?.detail.code, 'popup-blocked');
    assert.equal(count('authorize') + count('token') + count('login'), 0);
    assert.equal(made.context().pages().length, 1, 'no window is open');
    await fillIn(await openWindow(made));
    await until(made, 'upload-completed');
  } finally {
    await close();
  }
});

const element = (attributes: string): string =>
  `<secure-uploader base-url="${world.service.baseUrl}" parent-id="folder-a" commit-path="/files/uploadsession/commit" ${attributes}></secure-uploader>`;

/** A browser as people have it: automation would switch the popup blocker off. */
async function withPopupBlocker(): Promise<{ page: Page; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'secure-uploader-blocker-'));
  const executablePath = findChromium();
  const browser = await chromium.launchPersistentContext(folder, {
    ...(executablePath && { executablePath }),
    args: chromiumArgs,
    ignoreDefaultArgs: ['--disable-popup-blocking'],
  });
  return {
    page: await browser.newPage().then(async (page) => {
      for (const other of browser.pages()) if (other !== page) await other.close();
      return page;
    }),
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function openWaiting(attributes: string): Promise<Page> {
  const page = await world.open(attributes);
  await page.setInputFiles('secure-uploader >> input[type=file]', file);
  await panel(page, 'prompt').waitFor();
  return page;
}

test('check 10: given a severed window that stays open long after it read as closed, then it can still finish', async () => {
  const page = await openWaiting(`idp-id="corp" ${times({ closedPollMs: 20, closedGraceMs: 50 })}`);
  const window = await openWindow(page);
  await panel(page, 'popup-lost').waitFor();
  await signInButton(page).getByText('Open again').waitFor();
  await page.locator('[data-action="cancel-sign-in"]').waitFor();
  assert.equal(window.isClosed(), false, 'it reads as closed, and is open');
  // However often the person begins anew there, nothing gives it up.
  for (let count = 0; count < 3; count++) {
    await window.reload();
    await window.getByLabel(/e-?mail/i).waitFor();
  }
  assert.equal(await panel(page, 'popup-lost').count(), 1);
  await fillIn(window);
  await until(page, 'upload-completed');
  assert.deepEqual(await eventsOf(page, 'auth-failed'), []);
  assert.equal(count('token'), 1);
  await page.close();
});

test('check 10: given a closed window that nobody opens again, then its deadline tells popup-closed once, and Sign in works again', async () => {
  await world.browser.clock.install();
  const page = await openWaiting(times({ closedPollMs: 20, closedGraceMs: 50 }));
  await (await openWindow(page)).close();
  await panel(page, 'popup-lost').waitFor();
  await page.clock.fastForward(AUTH_TIMES.popupMs);
  await panel(page, 'prompt').waitFor();
  const codes = (await eventsOf(page, 'auth-failed')).map(({ detail }) => detail.code);
  assert.deepEqual(codes, ['popup-closed']);
  const window = await openWindow(page);
  await fillIn(window);
  await until(page, 'upload-completed');
  await page.close();
});
