// A journey, because it needs a real window.
// The service requires a second factor in the middle of an upload: running PUTs complete, and the upload continues after the user
// has signed in again.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import type { Page } from 'playwright';
import { builtBundle, SHARED_BUNDLES } from '../support/built.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { assertStored, filesOf, hasStored, pick, puts, QUICK } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const CHUNK_BYTES = 65_536;
const CHUNK_COUNT = 40;
const SETTINGS = `chunk-size="${CHUNK_BYTES}" concurrency="2" batch-size="4" ${QUICK}`;
const STEP_UP = 'Bearer error="insufficient_user_authentication", acr_values="urn:mfa", max_age="60"';

const world = await createWorld({ loginScript: builtBundle(SHARED_BUNDLES.login) });
afterEach(async () => {
  world.service.faults.clear();
  world.service.faults.clearLog();
  await world.context.clearCookies();
});

/** Signs in with a second factor in the form on `page`. */
async function prove(page: Page): Promise<void> {
  await page.getByLabel('Email address').fill('mia@example.com');
  await page.getByLabel('Password', { exact: true }).fill(world.service.seed.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Recovery code' }).click();
  const [code] = await world.service.people.recoveryCodes('mia');
  await page.getByLabel('Code', { exact: true }).fill(code ?? '');
  await page.getByRole('button', { name: 'Confirm' }).click();
}

const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in', exact: true });

/** Ways to sign in: settings of the widget, how the test sees that sign-in is required, and how the user signs in. */
const WAYS = {
  'in the form of the element': {
    attributes: 'auth="local"',
    isAsked: (page: Page) => page.getByLabel('Email address').waitFor(),
    answer: prove,
  },
  'in a window': {
    attributes: 'auth="popup" silent="off"',
    isAsked: (page: Page) => signInButton(page).waitFor(),
    answer: async (page: Page) => {
      const [window] = await Promise.all([page.waitForEvent('popup'), signInButton(page).click()]);
      await prove(window);
    },
  },
} as const;

for (const [where, { attributes, isAsked, answer }] of Object.entries(WAYS)) {
  test(`a second factor that is required in the middle, and given ${where}, loses no byte`, async () => {
    const { service } = world;
    const path = join(world.folder, `${where}.bin`);
    const sha256 = writeRandom(path, CHUNK_COUNT * CHUNK_BYTES);
    const page = await world.open(`${attributes} ${SETTINGS}`);
    await pick(page, path);
    await isAsked(page);
    service.faults.add({
      operation: 'chunks',
      skip: 3,
      status: 401,
      body: {},
      headers: { 'www-authenticate': STEP_UP },
    });
    service.faults.add({ operation: 'put', delayMs: 50, times: Number.POSITIVE_INFINITY });
    await answer(page);
    const [, required] = await untilEvent(page, 'auth-required', 2);
    assert.equal(required?.detail.reason, 'rejected');
    await isAsked(page);
    const [file] = await filesOf(page);
    assert.deepEqual([file?.phase, file?.pauseReason], ['paused', 'signed-out']);
    // Deletes the cookie of the service, which would allow sign-in without a second factor.
    await world.context.clearCookies();

    // Chunks that have a ticket are still sent. No more tickets are requested.
    const asked = world.entries('chunks');
    const presigned = asked.flatMap(({ presigned = [] }) => presigned);
    await hasStored(page, presigned.length * CHUNK_BYTES);
    assert.ok(
      presigned.length >= 3 && presigned.length < CHUNK_COUNT,
      `three batches of ${presigned.length} chunks`,
    );
    assert.equal(world.entries('chunks').length, asked.length, 'the queue holds');
    assert.equal((await filesOf(page))[0]?.phase, 'paused');

    service.faults.clear();
    await answer(page);
    const [completed] = await untilEvent(page, 'upload-completed');
    await assertStored(world, completed?.detail.commit.file_id, sha256);
    assert.equal(puts(world).length, CHUNK_COUNT);
    assert.equal(world.entries('put').length, CHUNK_COUNT, 'no PUT was broken off');
    assert.equal(world.entries('session').length, 1);
    assert.deepEqual(await eventsOf(page, 'upload-failed'), []);
    await page.close();
  });
}

test('a page with its own tokens is asked for another one, and the upload continues with it', async () => {
  const { service } = world;
  const path = join(world.folder, 'own token.bin');
  const sha256 = writeRandom(path, CHUNK_COUNT * CHUNK_BYTES);
  const page = await world.openWithToken(SETTINGS);
  const { token } = await service.createToken('alice', 3_600_000);
  await page.evaluate((token) => {
    const scope = globalThis as unknown as { reasons: string[]; prove: () => void };
    scope.reasons = [];
    const proved = new Promise<void>((resolve) => {
      scope.prove = resolve;
    });
    const element = document.querySelector('secure-uploader');
    const first = element?.getToken;
    Object.assign(element as HTMLElement, {
      getToken: async (reason: string, signal: AbortSignal) => {
        scope.reasons.push(reason);
        if (reason === 'first') return first?.('first', signal);
        await proved;
        return token;
      },
    });
  }, token);
  service.faults.add({ operation: 'put', delayMs: 50, times: Number.POSITIVE_INFINITY });
  const headers = { 'www-authenticate': STEP_UP };
  service.faults.add({ operation: 'chunks', status: 401, body: {}, skip: 3, headers });
  await pick(page, path);
  await page.waitForFunction(
    () => (globalThis as unknown as { reasons: string[] }).reasons.includes('rejected'),
    null,
    { polling: 50 },
  );
  const asked = world.entries('chunks');
  const presigned = asked.flatMap(({ presigned = [] }) => presigned);
  await hasStored(page, presigned.length * CHUNK_BYTES);
  assert.equal(world.entries('chunks').length, asked.length, 'the queue holds');
  await page.evaluate(() => (globalThis as unknown as { prove: () => void }).prove());
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
  assert.equal(puts(world).length, CHUNK_COUNT);
  assert.deepEqual(await page.evaluate(() => (globalThis as unknown as { reasons: string[] }).reasons), [
    'first',
    'rejected',
  ]);
  await page.close();
});
