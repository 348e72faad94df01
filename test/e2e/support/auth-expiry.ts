// Starts an upload whose token expires while the service holds its first PUTs.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { until } from '../../support/until.ts';
import { setLifetimes, signInByWindow } from './auth-steps.ts';
import { untilEvent } from './browser.ts';
import { sumOf, writeRandom } from './files.ts';
import { createGate } from './gate.ts';
import type { World } from './world.ts';

const CHUNK_BYTES = 32_768;
/** Number of chunks of the file. */
export const CHUNK_COUNT = 48;
const QUICK = JSON.stringify({
  times: { auth: { renewalGapMs: 1, checkMs: 200, closedGraceMs: 300, assumedLifetimeMs: 1_000 } },
});
/** Attributes of the widget: up to eight PUTs at once, and a separate ticket request for each chunk. */
export const SETTINGS = `chunk-size="${CHUNK_BYTES}" concurrency="8" batch-size="1" data-engine-options='${QUICK}'`;
/** Lifetime of the first token. Must be longer than `assumedLifetimeMs`, because the widget ignores earlier expiry times. */
const LIFETIME_MS = 3_000;
/** Number of PUTs whose responses the service delays: all that a browser sends at once to one host with HTTP/1.1. */
export const HELD_COUNT = 6;

/** Returns the time at which the first token expires, in ms since 1970. */
export const endMs = (world: World): number => (world.entries('token')[0]?.at ?? 0) + LIFETIME_MS;

/** Signs in with a short-lived token, and holds the first PUTs until the token has expired. Returns the hash of the file. */
export async function begin(page: Page, world: World): Promise<string> {
  const path = join(world.folder, `${randomUUID()}.bin`);
  const sha256 = writeRandom(path, CHUNK_BYTES * CHUNK_COUNT);
  await setLifetimes(world.service, { tokenLifetimeMs: LIFETIME_MS });
  const over = createGate();
  world.service.faults.add({ operation: 'put', waitFor: over.opened, times: HELD_COUNT });
  await page.setInputFiles('secure-uploader >> input[type=file]', path);
  await signInByWindow(page, world);
  await untilEvent(page, 'signed-in');
  await setLifetimes(world.service, { tokenLifetimeMs: 900_000 });
  await until(() => world.count('put') >= HELD_COUNT && Date.now() >= endMs(world));
  over.open();
  return sha256;
}

/** Asserts that each chunk was sent by exactly one PUT, and that the stored file has the hash `sha256`. */
export async function assertStoredOnce(page: Page, world: World, sha256: string): Promise<void> {
  const [completed] = await untilEvent(page, 'upload-completed');
  assert.equal((await sumOf(world.service.readFile(completed?.detail.commit.file_id))).sha256, sha256);
  assert.equal(completed?.detail.sentBytes, CHUNK_BYTES * CHUNK_COUNT);
  const hashes = world.entries('put').map(({ hash }) => hash);
  assert.equal(hashes.length, CHUNK_COUNT);
  assert.equal(new Set(hashes).size, CHUNK_COUNT);
}
