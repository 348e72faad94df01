// A journey, because it needs the header of a worker’s policy.
// `hash="blake3"` runs WebAssembly in a worker. The content policy of the worker's file must allow WebAssembly; the policy of the
// page does not matter.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { eventsOf, untilEvent } from './support/browser.ts';
import { pick } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

/** Published BLAKE3 hash of the text `abc`. */
const ABC = '6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85';

const world = await createWorld({ hash: 'blake3' });
writeFileSync(join(world.folder, 'abc.txt'), 'abc');

/** Opens a page that hashes with BLAKE3, and adds a file. The file of the worker is served with `workerPolicy`. */
async function pickUnder(workerPolicy: string | undefined): Promise<Page> {
  world.pages.setPolicy('/hash-wasm.worker.js', workerPolicy);
  const page = await world.openWithToken('hash="blake3"');
  await pick(page, join(world.folder, 'abc.txt'));
  return page;
}

for (const [what, policy] of [
  ['has no policy', undefined],
  ["has a policy with 'wasm-unsafe-eval'", "script-src 'self' 'wasm-unsafe-eval'"],
] as const) {
  test(`BLAKE3 works if the worker's file ${what}`, async () => {
    const page = await pickUnder(policy);
    const [completed] = await untilEvent(page, 'upload-completed');
    assert.deepEqual(
      completed?.detail.chunks.map(({ hash }: { hash: string }) => hash),
      [ABC],
    );
    assert.equal(page.workers().length > 0, true, 'a worker has hashed it');
    await page.close();
  });
}

test("BLAKE3 fails with hash-failed if the worker's policy lacks 'wasm-unsafe-eval', and sends nothing", async () => {
  world.service.faults.clearLog();
  const page = await pickUnder("script-src 'self'");
  const [failed] = await untilEvent(page, 'upload-failed');
  assert.equal(failed?.detail.code, 'hash-failed');
  assert.deepEqual(await eventsOf(page, 'upload-completed'), []);
  assert.equal(world.service.log.filter(({ operation }) => operation === 'put').length, 0);
  await page.close();
});
