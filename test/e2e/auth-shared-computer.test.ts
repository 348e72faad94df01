// A journey, because it needs several tabs, and a browser that is offline.
// Two users share a computer: the first user signs out while offline, and then the second user uses the same pages.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright';
import { until } from '../support/until.ts';
import { assertUnseen, traceOf } from './support/auth-leaks.ts';
import { memoryOf, remainsOf, secretsOf } from './support/auth-remains.ts';
import { fillIn, turns } from './support/auth-steps.ts';
import { inWorlds, world } from './support/auth-world.ts';
import { untilEvent } from './support/browser.ts';

const CHUNK = 32_768;
/** Text in the names and contents of all files of the first user. */
const PRIVATE = 'salary-of-alice';

/** Opens a tab with two uploaders for two folders. */
async function openTab(owner: string): Promise<Page> {
  const page = await world.open(
    `auth="popup" owner="${owner}" chunk-size="${CHUNK}" concurrency="2" keep-files ` +
      'cancel-path="/files/uploadsession" logout-path="/auth/logout"',
  );
  await page.evaluate(() => {
    const other = document.querySelector('secure-uploader')?.cloneNode() as HTMLElement;
    other.setAttribute('parent-id', 'folder-b');
    document.body.append(other);
  });
  return page;
}

const uploader = (page: Page, index: number): Locator => page.locator('secure-uploader').nth(index);

/** Adds a file of four chunks to the uploader at `index`. */
async function pick(page: Page, index: number, name: string): Promise<void> {
  const path = join(world.folder, name);
  writeFileSync(path, `${name} `.repeat(Math.ceil((3 * CHUNK) / name.length)));
  await uploader(page, index).locator('input[type=file]').first().setInputFiles(path);
}

/** Clicks the sign-in button of the uploader at `index`, and signs in as `email` in the window. */
async function signIn(page: Page, index: number, email: string): Promise<void> {
  const button = uploader(page, index).locator('[data-action="sign-in"]');
  const [window] = await Promise.all([page.waitForEvent('popup'), button.click()]);
  await fillIn(window, world, email);
}

const isSaved = async (page: Page, count: number): Promise<boolean> => {
  const { databases } = await remainsOf(page);
  return databases.filter((text) => text.includes('"sessionHeader"')).length === count;
};

/** Returns the HTML and the snapshots of all uploaders in a tab. */
const shownBy = (page: Page): Promise<string> =>
  page.evaluate(() =>
    JSON.stringify(
      [...document.querySelectorAll('secure-uploader')].map(({ outerHTML, shadowRoot, snapshot }) => [
        outerHTML,
        shadowRoot?.innerHTML,
        snapshot,
      ]),
    ),
  );

inWorlds({ sites: ['same-site'] }, ({ engine }) => {
  test('given three tabs in which one user uploads, when that user signs out without a network and another one signs in, then nothing of the first is visible, sent or readable from storage', async () => {
    const traces = traceOf(world.context);
    const secrets = secretsOf(world.context);
    const { log, faults } = world.service;
    const tabs = [await openTab('alice'), await openTab('alice'), await openTab('alice')] as const;
    const [first, second, third] = tabs;
    await pick(first, 0, `${PRIVATE}-0.txt`);
    await signIn(first, 0, 'alice@example.com');
    await untilEvent(first, 'upload-completed');
    faults.add({ operation: 'put', skip: 3, times: 99, stall: true });
    await pick(first, 0, `${PRIVATE}-1.txt`);
    await pick(second, 1, `${PRIVATE}-2.txt`);
    await pick(third, 0, `${PRIVATE}-3.txt`);
    await until(() => isSaved(first, 3));
    const ofAlice = [...secrets];
    const bearersOfAlice = log.map(({ bearerNumber = 0 }) => bearerNumber);
    assert.ok(ofAlice.length > 3, 'the scan has tokens and session headers');

    await world.context.setOffline(true);
    await first.evaluate(() => document.querySelectorAll('secure-uploader')[1]?.signOut());
    // The other tabs are notified of the sign-out later, and delete their own data then.
    const isLeft = async (): Promise<boolean> => {
      const shown = await Promise.all(tabs.map(shownBy));
      return shown.join().includes(PRIVATE) || (await remainsOf(first)).databases.length > 0;
    };
    for (let left = 500; left > 0 && (await isLeft()); left--) await turns(first, 2);
    assert.equal(await isLeft(), false, 'nothing of the first person is shown or stored');

    // The next user continues in the first tab with a new `owner`, opens a new tab instead of the second, and ignores the third.
    await world.context.setOffline(false);
    faults.clear();
    faults.clearLog();
    await first.evaluate(() => {
      for (const each of document.querySelectorAll('secure-uploader')) each.setAttribute('owner', 'vic');
    });
    await second.close();
    const loaded = await openTab('vic');
    for (const [index, page] of [first, loaded].entries()) {
      await pick(page, 0, `holiday-${index}.txt`);
      await uploader(page, 0).locator('[part~="sign-in"][data-state="prompt"]').waitFor();
    }
    assert.equal(world.count('authorize') + world.count('token'), 0, 'no user is signed in silently');
    await signIn(first, 0, 'vic@example.com');
    await untilEvent(first, 'upload-completed', 2);

    const ofVic = log.filter(({ hasBearer }) => hasBearer);
    assert.ok(
      ofVic.length > 0 && ofVic.every(({ bearerNumber = 0 }) => !bearersOfAlice.includes(bearerNumber)),
    );
    const names = log.flatMap(({ fileName }) => fileName ?? []);
    assert.deepEqual([...new Set(names)], ['holiday-0.txt']);
    assert.equal(world.count('cancel'), 0, 'what could not be said at the sign-out is not said later');
    for (const page of [first, loaded, third]) {
      assertUnseen([await shownBy(page)], { 'the name of a file': [PRIVATE], secret: ofAlice });
      const { databases, ...others } = await remainsOf(page);
      const stored = [...databases, JSON.stringify(others)];
      assertUnseen(stored, { 'the name of a file': [PRIVATE], secret: ofAlice, owner: ['alice'] });
    }
    assertUnseen(traces.lines, { 'the name of a file': [PRIVATE], secret: ofAlice });
    if (engine === 'chromium') assertUnseen(await memoryOf(third), { secret: ofAlice });
  });

  test('given another user’s session at the service and ownerField, then no file goes to that user', async () => {
    const other = await openTab('user-vic');
    await pick(other, 0, 'of-vic.txt');
    await signIn(other, 0, 'vic@example.com');
    await untilEvent(other, 'upload-completed');
    await other.close();
    const bearersOfVic = new Set(world.service.log.map(({ bearerNumber }) => bearerNumber));
    world.service.faults.clearLog();

    // Alice has signed in to the page, and Vic's session cookie at the service is still valid.
    const page = await openTab('user-alice');
    await page.evaluate(() => {
      for (const each of document.querySelectorAll('secure-uploader'))
        each.authOptions = { ownerField: 'id' };
    });
    await pick(page, 0, `${PRIVATE}.txt`);
    const [failed] = await untilEvent(page, 'auth-failed');
    assert.equal(failed?.detail.code, 'access-denied');
    assert.deepEqual(world.entries('session'), [], 'no upload was opened');

    // The window asks for credentials although the service has a session, and names the user.
    const requested = page.waitForEvent('popup').then((window) => window.waitForURL(/prompt=login/));
    await signIn(page, 0, 'alice@example.com');
    await requested;
    await untilEvent(page, 'upload-completed');
    const numbers = new Set(world.service.log.map(({ bearerNumber }) => bearerNumber).filter(Boolean));
    assert.equal(numbers.size, 1, 'one token was used');
    assert.ok(!bearersOfVic.has([...numbers][0]), 'and it is not the one of Vic');
  });
});
