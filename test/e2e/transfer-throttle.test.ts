// The attribute `throttle`: all files together go no faster than it says, and when it is taken away they go as fast as they can.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { bytesOf, hasStored, liesThere, pick, puts, QUICK, requestsOf } from './support/transfer.ts';
import { createWorld, type World } from './support/world.ts';

const CHUNK_BYTES = 65_536;
const CHUNK_COUNT = 8;
const BYTES_PER_SECOND = 250_000;
const SETTINGS = `chunk-size="${CHUNK_BYTES}" ${QUICK}`;

let world: World;
before(async () => {
  world = await createWorld({ fsync: false });
});
after(() => world.close());

/** Files of random bytes, by path, each with its sum. */
function createFiles(about: string): Map<string, string> {
  const paths = [1, 2].map((number) => join(world.folder, `${about} ${number}.bin`));
  return new Map(paths.map((path) => [path, writeRandom(path, CHUNK_COUNT * CHUNK_BYTES)]));
}

test('files together go no faster than the page allows', async (t) => {
  const files = createFiles('throttled');
  const page = await world.openWithToken(`throttle="250kB" ${SETTINGS}`);
  await pick(page, ...files.keys());
  const completed = await until(page, 'upload-completed', 2);
  for (const { detail } of completed) {
    const [, sha256] = [...files].find(([path]) => path.endsWith(detail.name)) ?? [];
    await liesThere(world, detail.commit.file_id, sha256 ?? '');
  }
  // No PUT begins before the first ticket was asked for; what the last one carries has its time afterwards.
  const startedAt = Math.min(...requestsOf(world, 'chunks').map(({ at }) => at));
  const sent = puts(world).toSorted((one, other) => one.at - other.at);
  const lastAt = sent.at(-1)?.at ?? 0;
  const ratio = bytesOf(sent.slice(0, -1)) / ((lastAt - startedAt) / 1000) / BYTES_PER_SECOND;
  t.diagnostic(`${ratio.toFixed(2)} of what is allowed`);
  assert.ok(sent.length === 2 * CHUNK_COUNT && ratio <= 1.05, `${ratio} of what is allowed was used`);
  await page.close();
});

test('a limit that is taken away in the middle holds nothing up any more', async () => {
  const files = createFiles('freed');
  const page = await world.openWithToken(`throttle="${CHUNK_BYTES}" ${SETTINGS}`);
  await pick(page, ...files.keys());
  await hasStored(page, CHUNK_BYTES);
  await page.evaluate(() => document.querySelector('secure-uploader')?.removeAttribute('throttle'));
  const completed = await until(page, 'upload-completed', 2, 60_000);
  assert.equal(completed.length, 2);
  await page.close();
});
