// A journey, because it needs a service that stops.
// Errors of single files: the user sees a sentence, the page gets an event with a code, other files continue, and retry works
// later.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import type { Page } from 'playwright';
import type { Fault } from '../../demo/server/server.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import { sumOf, writeRandom } from './support/files.ts';
import { setTokenSource } from './support/tokens.ts';
import { createWorld } from './support/world.ts';

const QUICK = `data-engine-options='{"policy":{"attempts":3,"baseMs":40,"capMs":80}}'`;
let badSha256: string;

const world = await createWorld({ fsync: true });
const good = join(world.folder, 'good.bin');
const bad = join(world.folder, 'bad.bin');
writeRandom(good, 300_000);
beforeEach(() => {
  world.service.faults.clear();
  // Every test needs different bytes, because chunks that the service already has are not sent.
  badSha256 = writeRandom(bad, 400_000);
});

const pick = (page: Page, paths: string[]): Promise<void> =>
  page.setInputFiles('secure-uploader >> input[type=file]', paths);

/**
 * Asserts that `bad.bin` fails with `code` and `sentence` while `good.bin` is uploaded. Asserts that the Retry button of `bad.bin`
 * completes the upload after the faults are removed.
 */
async function failsAndRecovers(faults: Fault[], code: string, sentence: RegExp): Promise<void> {
  for (const fault of faults) world.service.faults.add(fault);
  const page = await world.openWithToken(QUICK);
  await pick(page, [bad, good]);
  const [failed] = await untilEvent(page, 'upload-failed');
  assert.equal(failed?.detail.name, 'bad.bin');
  assert.equal(failed?.detail.code, code);
  const [completed] = await untilEvent(page, 'upload-completed');
  assert.equal(completed?.detail.name, 'good.bin');
  await page.locator('secure-uploader').getByText(sentence).first().waitFor();
  world.service.faults.clear();
  await page.getByRole('button', { name: /retry.*bad\.bin/i }).click();
  const [, again] = await untilEvent(page, 'upload-completed', 2);
  const stored = await sumOf(world.service.readFile(again?.detail.commit.file_id));
  assert.deepEqual(stored, { sha256: badSha256, sizeBytes: 400_000 });
  await page.close();
}

const FOR_EVER = { times: Number.POSITIVE_INFINITY };
const ABOUT_BAD = { match: { fileName: 'bad.bin' }, ...FOR_EVER };

test('a file that gets 503 from the service fails alone, and retry completes it', () =>
  failsAndRecovers([{ operation: 'session', status: 503, ...ABOUT_BAD }], 'rate-limited', /busy/i));

for (const operation of ['session', 'put', 'commit'] as const)
  test(`a service without space (507 to ${operation}) fails that file alone, and retry completes it`, () =>
    failsAndRecovers([{ operation, status: 507, ...ABOUT_BAD }], 'service-full', /no space left/i));

test('invalid JSON when a session is opened fails that file alone, and retry completes it', () =>
  failsAndRecovers(
    [{ operation: 'session', status: 200, body: '<html>', ...ABOUT_BAD }],
    'bad-response',
    /unexpected data/i,
  ));

test('a response without the requested chunk fails that file alone, and retry completes it', () =>
  failsAndRecovers(
    [{ operation: 'chunks', omitEntry: true, ...ABOUT_BAD }],
    'bad-response',
    /unexpected data/i,
  ));

test('a connection that is cut at every commit fails that file alone, and retry completes it', () =>
  failsAndRecovers([{ operation: 'commit', cut: 'before-body', ...ABOUT_BAD }], 'network', /connection/i));

test('a storage that refuses every byte is reported, and retry works once it accepts them', async () => {
  world.service.faults.add({ operation: 'put', status: 403, ...FOR_EVER });
  const page = await world.openWithToken(QUICK);
  await pick(page, [bad]);
  const [failed] = await untilEvent(page, 'upload-failed');
  assert.equal(failed?.detail.code, 'upload-refused');
  assert.equal(failed?.detail.status, 403);
  await page
    .locator('secure-uploader')
    .getByText(/server rejected the upload/i)
    .first()
    .waitFor();
  world.service.faults.clear();
  await page.getByRole('button', { name: /retry/i }).first().click();
  const [completed] = await untilEvent(page, 'upload-completed');
  assert.equal((await sumOf(world.service.readFile(completed?.detail.commit.file_id))).sha256, badSha256);
  await page.close();
});

test('a page that takes 403 of the storage for a full one still replaces an expired URL', async () => {
  world.service.faults.add({ operation: 'chunks', expireTickets: true });
  world.service.faults.clearLog();
  const page = await world.openWithToken(QUICK);
  await page.evaluate(() => {
    const profile = { putStatuses: { 403: 'full' } };
    Object.assign(document.querySelector('secure-uploader') as HTMLElement, { profile });
  });
  await pick(page, [bad]);
  const [completed] = await untilEvent(page, 'upload-completed');
  assert.equal((await sumOf(world.service.readFile(completed?.detail.commit.file_id))).sha256, badSha256);
  const puts = world.service.log.filter(({ operation, method }) => operation === 'put' && method === 'PUT');
  assert.deepEqual(
    puts.map(({ status }) => status),
    [403, 200],
  );
  await page.close();
});

test('a service that is down is reported, and retry works once it is back', async () => {
  // The token must be created before the service stops.
  const { token } = await world.service.createToken('alice', 3_600_000);
  const page = await world.open(QUICK);
  await setTokenSource(page, () => Promise.resolve(token));
  await world.stopService();
  await pick(page, [bad]);
  const [failed] = await untilEvent(page, 'upload-failed');
  assert.equal(failed?.detail.code, 'network');
  await page
    .locator('secure-uploader')
    .getByText(/couldn't reach the server/i)
    .first()
    .waitFor();
  await world.startServiceAgain();
  await page.getByRole('button', { name: /retry/i }).first().click();
  const [completed] = await untilEvent(page, 'upload-completed');
  assert.equal((await sumOf(world.service.readFile(completed?.detail.commit.file_id))).sha256, badSha256);
  await page.close();
});

test('a folder without write permission is reported for each file, and nothing was retried', async () => {
  world.service.faults.clearLog();
  const page = await world.openWithToken(`${QUICK} parent-id="folder-b"`, 'vic');
  await pick(page, [bad, good]);
  const failed = await untilEvent(page, 'upload-failed', 2);
  assert.deepEqual(new Set(failed.map(({ detail }) => detail.code)), new Set(['forbidden']));
  await page
    .locator('secure-uploader')
    .getByText(/don't have permission to upload here/i)
    .first()
    .waitFor();
  const asked = world.service.log.filter((entry) => entry.operation === 'session' && entry.method === 'POST');
  assert.equal(asked.length, 2);
  await page.close();
});

test('a file that is too large for the page or the service is rejected, and the other one is uploaded', async () => {
  const page = await world.openWithToken(`${QUICK} max-file-size="350kB"`);
  await pick(page, [bad, good]);
  const [rejected] = await untilEvent(page, 'file-rejected');
  assert.equal(rejected?.detail.code, 'file-too-large');
  assert.equal((await untilEvent(page, 'upload-completed'))[0]?.detail.name, 'good.bin');
  await page
    .locator('secure-uploader')
    .getByText(/too large/i)
    .first()
    .waitFor();
  await page.close();

  const large = join(world.folder, 'large.bin');
  writeRandom(large, 1_100_000);
  const small = await world.openWithToken(`${QUICK} parent-id="folder-small"`);
  await pick(small, [large, good]);
  assert.equal((await untilEvent(small, 'upload-failed'))[0]?.detail.code, 'file-too-large');
  assert.equal((await untilEvent(small, 'upload-completed'))[0]?.detail.name, 'good.bin');
  assert.equal((await eventsOf(small, 'upload-failed')).length, 1);
  await small.close();
});
