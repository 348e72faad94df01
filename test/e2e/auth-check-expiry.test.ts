// The token runs out while bytes are under way: with a silent channel nobody notices, without one a single sign-in goes on.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { Page } from 'playwright';
import type { LogEntry } from '../../demo/server/faults.ts';
import { setLifetimes } from './support/auth-steps.ts';
import { eventsOf, until } from './support/browser.ts';
import { sumOf, writeRandom } from './support/files.ts';
import { createWorld, type World } from './support/world.ts';

const CHUNK_BYTES = 32_768;
const CHUNK_COUNT = 48;
/** The shortest that a page believes is five seconds. */
const LIFETIME_MS = 6_000;
const QUICK = JSON.stringify({ times: { auth: { brakeMs: 1, checkMs: 200, closedGraceMs: 300 } } });
const SETTINGS = `chunk-size="${CHUNK_BYTES}" concurrency="8" batch-size="1" data-engine-options='${QUICK}'`;

let world: World;
before(async () => {
  world = await createWorld({ fsync: false });
});
after(() => world.close());
beforeEach(async () => {
  world.service.faults.clear();
  world.service.faults.clearLog();
  await world.browser.clearCookies();
});

const entries = (operation: string): LogEntry[] =>
  world.service.log.filter((entry) => entry.operation === operation && entry.method !== 'OPTIONS');
const signInButton = (page: Page) => page.locator('[data-action="sign-in"]');

async function signIn(page: Page): Promise<void> {
  const [window] = await Promise.all([page.waitForEvent('popup'), signInButton(page).click()]);
  const email = window.getByLabel(/e-?mail/i);
  await email.fill('alice@example.com');
  await window.getByLabel(/password/i).fill(world.service.seed.password);
  await window.getByRole('button', { name: /sign in/i }).click();
}

/**
 * Signs in with a token that lives shortly, and holds the first PUTs until it has run out: the browser has six connections to the
 * storage, so that two of the eight wait behind them.
 */
async function begin(page: Page): Promise<string> {
  const path = join(world.folder, `${randomUUID()}.bin`);
  const sha256 = writeRandom(path, CHUNK_BYTES * CHUNK_COUNT);
  await setLifetimes(world.service, { tokenLifetimeMs: LIFETIME_MS });
  world.service.faults.add({ operation: 'put', delayMs: LIFETIME_MS + 500, times: 6 });
  await page.setInputFiles('secure-uploader >> input[type=file]', path);
  await signIn(page);
  await until(page, 'signed-in');
  await setLifetimes(world.service, { tokenLifetimeMs: 900_000 });
  return sha256;
}

/** Every chunk was stored by one PUT, and the file is what it was. */
async function assertStoredOnce(page: Page, sha256: string): Promise<void> {
  const [completed] = await until(page, 'upload-completed');
  assert.equal((await sumOf(world.service.readFile(completed?.detail.commit.file_id))).sha256, sha256);
  assert.equal(completed?.detail.sentBytes, CHUNK_BYTES * CHUNK_COUNT);
  const hashes = entries('put').map(({ hash }) => hash);
  assert.equal(hashes.length, CHUNK_COUNT);
  assert.equal(new Set(hashes).size, CHUNK_COUNT);
}

test('check 30: given a token that expires mid-upload and a silent channel, then all bytes arrive once, the user sees nothing, and eight workers cost one renewal', async () => {
  const page = await world.open(SETTINGS);
  const sha256 = await begin(page);
  const seenBefore = (await eventsOf(page)).length;
  await assertStoredOnce(page, sha256);
  const [first, second] = entries('token');
  assert.equal(entries('token').length, 2, 'one sign-in, one renewal');
  const later = entries('chunks').filter(({ at }) => at > (first?.at ?? 0) + LIFETIME_MS);
  assert.ok(later.length > 8, `tickets were asked for after the first token ran out: ${later.length}`);
  assert.ok(second && second.at > (first?.at ?? 0));
  const names = (await eventsOf(page)).slice(seenBefore).map(({ name }) => name);
  for (const name of ['auth-required', 'auth-failed', 'upload-paused', 'upload-failed', 'signed-out'])
    assert.equal(names.includes(name), false, name);
  assert.equal(await page.locator('[part~="sign-in"]').count(), 0);
  assert.equal(await page.locator('iframe').count(), 0);
  await page.close();
});

test('check 31: given the same without a silent channel, then running PUTs finish, the queue pauses, one sign-in resumes it, and no stored chunk is sent again', async () => {
  const page = await world.open(`${SETTINGS} silent="off"`);
  const sha256 = await begin(page);
  await page.locator('[part~="sign-in"][data-state="prompt"]').waitFor();
  // What was on its way when the token ran out comes to its end, with nobody signed in.
  await until(page, 'upload-paused');
  while (entries('put').length < 8 || entries('put').some(({ answered }) => !answered))
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  const endMs = (entries('token')[0]?.at ?? 0) + LIFETIME_MS;
  const finished = entries('put').filter(({ stored, answeredAt = 0 }) => stored && answeredAt > endMs);
  assert.ok(finished.length >= 8, 'they ended after the token did');
  assert.ok(entries('put').length < CHUNK_COUNT, 'the queue stands still');
  assert.equal(entries('put').filter(({ stored }) => stored).length, entries('put').length);
  assert.equal(entries('token').length, 1);
  const [window] = await Promise.all([page.waitForEvent('popup'), signInButton(page).click()]);
  if (!window.isClosed()) await window.waitForEvent('close');
  await assertStoredOnce(page, sha256);
  assert.equal(entries('token').length, 2, 'one sign-in');
  assert.equal(entries('session').length, 1, 'the upload went on in its session');
  await page.close();
});
