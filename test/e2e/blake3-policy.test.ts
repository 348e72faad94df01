// A journey, because it needs the header of a worker’s policy.
// `hash="blake3"` runs WebAssembly in a worker. A worker from a Blob has the policy of the page. If that forbids Blobs or
// WebAssembly, the worker runs from its file, whose own policy must allow WebAssembly.
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
  world.pages.changePolicy('/index.html', (policy) => policy.replace(' blob:', ''));
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

for (const [policy, from] of [
  ["'self' 'wasm-unsafe-eval'", /^blob:/],
  ["'self'", /\/hash-wasm\.worker\.js$/],
] as const)
  test(`under a page with script-src ${policy}, the worker runs from ${from}`, async () => {
    world.pages.setPolicy('/hash-wasm.worker.js', undefined);
    world.pages.changePolicy('/index.html', (all) =>
      all.replace("script-src 'self'", `script-src ${policy}`),
    );
    const page = await world.openWithToken('hash="blake3"');
    await pick(page, join(world.folder, 'abc.txt'));
    await untilEvent(page, 'upload-completed');
    assert.match(page.workers()[0]?.url() ?? '', from);
    await page.close();
  });
