// A journey, because it needs a browser that is killed, and a real window.
// Complete uploads: after sign-in by window, with a token of the page, and with a browser that is killed in the middle.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { isFullSize } from '../../scripts/scope.mjs';
import { eventsOf, untilEvent } from './support/browser.ts';
import { sumOf, writeRandom } from './support/files.ts';
import { tokenCallsOf } from './support/tokens.ts';
import { createWorld } from './support/world.ts';

const MIB = 2 ** 20;
const SIZE_BYTES = isFullSize ? 300e6 : 60e6;
const world = await createWorld({ fsync: true });

async function download(fileId: string): Promise<{ sha256: string; sizeBytes: number }> {
  const { token } = await world.service.createToken('alice');
  const answer = await fetch(`${world.service.baseUrl}/files/${fileId}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(answer.status, 200);
  return sumOf(answer.body as unknown as AsyncIterable<Uint8Array>);
}

test('a user drops a file, signs in in the window, and the service has it byte for byte', async () => {
  const path = join(world.folder, 'whole way.bin');
  const sha256 = writeRandom(path, SIZE_BYTES);
  const page = await world.open();
  await page.setInputFiles('secure-uploader >> input[type=file]', path);
  const [window] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Sign in' }).click(),
  ]);
  await window.getByLabel(/e-?mail/i).fill('alice@example.com');
  await window.getByLabel(/password/i).fill(world.service.seed.password);
  await window.getByRole('button', { name: /sign in/i }).click();
  const [completed] = await untilEvent(page, 'upload-completed');
  assert.equal(window.isClosed(), true, 'the window closed itself');
  assert.equal(completed?.detail.sentBytes, SIZE_BYTES);
  assert.deepEqual(await download(completed?.detail.commit.file_id), { sha256, sizeBytes: SIZE_BYTES });
  assert.equal(world.service.log.filter((entry) => entry.operation === 'token').length, 1);
  for (const entry of world.service.log.filter((entry) => entry.operation === 'put')) {
    assert.equal(entry.hasBearer, false, 'no bearer goes to the storage');
    assert.equal(entry.hasCookie, false, 'no cookie goes to the storage');
    assert.equal(entry.headers.includes('x-service-uploadsession'), false);
  }
  assert.deepEqual(world.pages.violations, [], 'the strict content policy was kept');
  await page.close();
});

test('the browser is killed in the middle, and the same file picked again resumes where it stopped', async () => {
  const path = join(world.folder, 'killed.bin');
  const sha256 = writeRandom(path, 200 * MIB);
  world.service.faults.clearLog();
  // Lets the first 12 PUTs complete. All later PUTs never get a response.
  const part = { skip: 12, times: Number.POSITIVE_INFINITY };
  world.service.faults.add({ operation: 'put', ...part, waitFor: new Promise(() => {}) });
  const first = await world.openWithToken();
  await first.setInputFiles('secure-uploader >> input[type=file]', path);
  await first.waitForFunction(
    (part) =>
      (
        document.querySelector('secure-uploader') as unknown as {
          snapshot: { totals: { storedBytes: number } };
        }
      ).snapshot.totals.storedBytes > part,
    80 * MIB,
    { timeout: 180_000, polling: 100 },
  );
  await world.killAndRestartBrowser();
  world.service.faults.clear();
  const before = world.service.log.filter((entry) => entry.operation === 'put' && entry.answered);
  const answered = new Set(before.map((entry) => entry.hash));
  assert.ok(before.length >= 8, `some chunks were answered before the kill: ${before.length}`);
  world.service.faults.clearLog();

  const second = await world.openWithToken();
  await second.setInputFiles('secure-uploader >> input[type=file]', path);
  const [completed] = await untilEvent(second, 'upload-completed');
  const sentAgain = world.service.log.filter(
    (entry) => entry.operation === 'put' && answered.has(entry.hash),
  );
  assert.deepEqual(sentAgain, [], 'no chunk whose PUT had been answered was sent again');
  const [started] = await eventsOf(second, 'upload-started');
  assert.ok(started?.detail.resumedBytes > 0, 'it resumed from the saved record');
  assert.ok(completed?.detail.sentBytes < 130 * MIB);
  assert.deepEqual(await download(completed?.detail.commit.file_id), { sha256, sizeBytes: 200 * MIB });
  await second.close();
});

test('given getToken, when three files are added together, then no sign-in is ever shown, it was called once, and both operations carry the bearer', async () => {
  world.service.faults.clearLog();
  const page = await world.openWithToken();
  const seen = page.evaluate(() => {
    const root = document.querySelector('secure-uploader')?.shadowRoot as ShadowRoot;
    const scope = globalThis as unknown as { sawSignIn: boolean };
    scope.sawSignIn = false;
    new MutationObserver(() => {
      scope.sawSignIn ||= root.querySelector('[part~="sign-in"]') !== null;
    }).observe(root, { childList: true, subtree: true, attributes: true });
  });
  await seen;
  const paths = [1, 2, 3].map((number) => join(world.folder, `token-${number}.bin`));
  for (const path of paths) writeRandom(path, 3 * MIB);
  await page.setInputFiles('secure-uploader >> input[type=file]', paths);
  await untilEvent(page, 'upload-completed', 3);
  assert.equal(await tokenCallsOf(page), 1);
  assert.equal(await page.evaluate(() => (globalThis as unknown as { sawSignIn: boolean }).sawSignIn), false);
  assert.deepEqual(await eventsOf(page, 'auth-required'), []);
  const files = world.service.log.filter(
    (entry) => ['session', 'chunks'].includes(entry.operation) && entry.method === 'POST',
  );
  assert.ok(files.length >= 6);
  assert.ok(
    files.every((entry) => entry.hasBearer),
    'the bearer goes to both operations',
  );
  await page.close();
});
