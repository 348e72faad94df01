// A journey, because it needs a connection that the browser throttles.
// Speed and time left in a real browser, on a connection that Chromium throttles.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeRandom } from './support/files.ts';
import { pick } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const MB = 1_000_000;
const SIZE_BYTES = 40 * MB;
const BYTES_PER_SECOND = MB;

const world = await createWorld();

interface Look {
  readonly atMs: number;
  readonly share: number;
  readonly remainingMs: number | undefined;
}

test('on a throttled connection, the time left is close to the truth, and does not change back and forth', async (t) => {
  const path = join(world.folder, 'recording.mp4');
  writeRandom(path, SIZE_BYTES);
  const page = await world.openWithToken();
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 30,
    downloadThroughput: -1,
    uploadThroughput: BYTES_PER_SECOND,
  });
  await pick(page, path);
  const looks = await page.evaluate(async () => {
    const element = document.querySelector('secure-uploader');
    const seen: Look[] = [];
    for (;;) {
      await new Promise(requestAnimationFrame);
      const [file] = element?.snapshot.files ?? [];
      if (!file || !element) continue;
      const { sentBytes, sizeBytes, remainingMs, phase } = file;
      seen.push({ atMs: performance.now(), share: sentBytes / sizeBytes, remainingMs });
      if (phase === 'done' || phase === 'failed') return seen;
    }
  });
  const endMs = looks.at(-1)?.atMs ?? 0;
  const ratios = looks
    .filter(({ atMs, share }) => share >= 0.2 && endMs - atMs > 10_000)
    .map(({ atMs, remainingMs = Number.NaN }) => remainingMs / (endMs - atMs));
  t.diagnostic(`${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} of the truth`);
  assert.ok(ratios.length > 10 && ratios.every((ratio) => ratio > 0.7 && ratio < 1.3));
  let raisedMs = Number.NEGATIVE_INFINITY;
  for (const [at, { atMs, remainingMs = 0 }] of looks.entries()) {
    const before = looks[at - 1]?.remainingMs;
    if (before === undefined || remainingMs === 0) continue;
    if (remainingMs > before) raisedMs = atMs;
    else if (remainingMs < before)
      assert.ok(atMs - raisedMs > 4900, `decrease at ${atMs}, increase at ${raisedMs}`);
  }
  await page.close();
});
