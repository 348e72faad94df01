// A journey, because it needs real connections, and the times at which the storage gets their bytes.
// The attribute `throttle` limits the total rate of all files.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { assertStored, bytesOf, hasStored, pick, puts, QUICK } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const CHUNK_BYTES = 65_536;
const CHUNK_COUNT = 8;
const BYTES_PER_SECOND = 250_000;
/** Rate in bytes per second at which the files of a test take almost three hours. */
const CRAWLING = 100;
const SETTINGS = `chunk-size="${CHUNK_BYTES}" ${QUICK}`;

const world = await createWorld();

/** Creates two files of random bytes. Returns the hash of each file by path. */
function createFiles(about: string): Map<string, string> {
  const paths = [1, 2].map((number) => join(world.folder, `${about} ${number}.bin`));
  return new Map(paths.map((path) => [path, writeRandom(path, CHUNK_COUNT * CHUNK_BYTES)]));
}

/** Asserts that a completed file has the same bytes as the file of that name on the disk. */
async function isStored(
  files: ReadonlyMap<string, string>,
  { name, commit }: { readonly name: string; readonly commit: { readonly file_id: string } },
): Promise<void> {
  await assertStored(world, commit.file_id, files.get(join(world.folder, name)) ?? '');
}

test("files together do not exceed the page's bandwidth limit", async (t) => {
  const files = createFiles('throttled');
  const page = await world.openWithToken(`throttle="250kB" ${SETTINGS}`);
  await pick(page, ...files.keys());
  const completed = await untilEvent(page, 'upload-completed', 2);
  for (const { detail } of completed) await isStored(files, detail);
  // Measures from the first ticket request to the start of the last PUT. The bytes of the last PUT are sent later, so these bytes
  // do not count.
  const startedAt = Math.min(...world.entries('chunks').map(({ at }) => at));
  const sent = puts(world).toSorted((one, other) => one.at - other.at);
  const lastAt = sent.at(-1)?.at ?? 0;
  const ratio = bytesOf(sent.slice(0, -1)) / ((lastAt - startedAt) / 1000) / BYTES_PER_SECOND;
  t.diagnostic(`${ratio.toFixed(2)} of the limit`);
  assert.ok(sent.length === 2 * CHUNK_COUNT && ratio <= 1.05, `${ratio} of the limit was used`);
  await page.close();
});

for (const [what, rate] of [
  ['removed', undefined],
  ['raised', '1GB'],
] as const) {
  test(`a limit that is ${what} in the middle of an upload no longer slows it down`, async () => {
    world.service.faults.clearLog();
    const files = createFiles(what);
    const page = await world.openWithToken(`throttle="${CRAWLING}" ${SETTINGS}`);
    await pick(page, ...files.keys());
    await hasStored(page, CHUNK_BYTES);
    assert.equal(world.entries('put').length, 1, 'the first chunk uses up many minutes of the limit');
    await page.evaluate((rate) => {
      const element = document.querySelector('secure-uploader');
      if (element) element.throttle = rate;
    }, rate);
    const completed = await untilEvent(page, 'upload-completed', 2);
    for (const { detail } of completed) await isStored(files, detail);
    assert.equal(puts(world).length, 2 * CHUNK_COUNT);
    await page.close();
  });
}
