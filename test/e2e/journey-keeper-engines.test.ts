// An upload continues over ten links and ten reloads in each engine, and the file is complete.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { isFullRun } from '../../scripts/scope.mjs';
import type { FileSnapshot } from '../../src/core/types.ts';
import type { SeenEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { startTab, type Tab, tabEngines } from './support/tabs.ts';
import { assertStored, bytesOf, requestsOf } from './support/transfer.ts';
import { createWorld, type World } from './support/world.ts';

const MIB = 2 ** 20;
const FILE_BYTES = (isFullRun ? 256 : 64) * MIB;
const CHANGE_COUNT = 20;
const SLOT_COUNT = 4;
/** Limit for the time from the file's row in the list until the keeper has returned the file, in milliseconds (median). */
const FOUND_MS = { chromium: 100, firefox: 100, webkit: 200 };

let world: World;
before(async () => {
  world = await createWorld({ fsync: false });
});
after(() => world.close());
afterEach(() => world.service.faults.clearLog());

/** Calls `read` until it returns a value. */
async function poll<T>(read: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const value = await read();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Polls the widget's file until `isReached` returns true for it. */
async function untilFile(tab: Tab, isReached: (file: FileSnapshot) => boolean): Promise<void> {
  await poll(async () => {
    const file = await tab.evaluate<FileSnapshot | null>(
      "document.querySelector('secure-uploader')?.snapshot?.files[0] ?? null",
    );
    assert.ok(file?.phase !== 'failed' && file?.pauseReason !== 'needs-file', JSON.stringify(file));
    return file !== null && isReached(file);
  });
}

for (const engine of tabEngines) {
  test(`in ${engine}, an upload continues over ten links and ten reloads without a click`, async (t) => {
    const { token } = await world.service.createToken('alice', 3_600_000);
    const attributes = `keeper-url="/file-keeper.js" chunk-size="1MiB" concurrency="${SLOT_COUNT}" throttle="20MB" data-token="${token}"`;
    const urls = ['/one.html', '/two.html'].map((path) =>
      world.pages.add(path, world.elementWith(attributes)),
    );
    const path = join(world.folder, `${engine}.bin`);
    const sha256 = writeRandom(path, FILE_BYTES);
    const tab = await startTab(engine);
    const foundAfterMs: number[] = [];
    try {
      await tab.goto(urls[0] ?? '');
      await poll(() => tab.evaluate('customElements.get("secure-uploader") !== undefined'));
      await tab.choose(path);
      for (let count = 1; count <= CHANGE_COUNT; count += 1) {
        const storedBytes = (count * FILE_BYTES) / (CHANGE_COUNT + 2);
        await untilFile(tab, (file) => file.phase === 'uploading' && file.storedBytes >= storedBytes);
        if (count % 2 === 0) await tab.reload();
        else await tab.goto(urls[((count + 1) / 2) % 2] ?? '');
        await untilFile(tab, ({ phase }) => phase !== 'paused');
        const events = await tab.evaluate<SeenEvent[]>('events');
        const [added, resumed] = ['file-added', 'upload-resumed'].map(
          (name) => events.find((event) => event.name === name)?.atMs ?? Number.NaN,
        );
        foundAfterMs.push(Math.round((resumed ?? Number.NaN) - (added ?? Number.NaN)));
      }
      await untilFile(tab, ({ phase }) => phase === 'done');
      const [file] = await tab.evaluate<SeenEvent[]>(
        "events.filter(({ name }) => name === 'upload-completed')",
      );
      await assertStored(world, file?.detail.commit.file_id, sha256);
    } finally {
      await tab.end();
    }
    const sentBytes = bytesOf(requestsOf(world, 'put').filter(({ stored }) => stored));
    t.diagnostic(
      `files found after ${foundAfterMs.join(', ')} ms; ${sentBytes - FILE_BYTES} bytes sent twice`,
    );
    const medianMs = foundAfterMs.toSorted((a, b) => a - b)[CHANGE_COUNT / 2] ?? Number.NaN;
    assert.ok(medianMs <= FOUND_MS[engine], `files found after ${foundAfterMs.join(', ')} ms`);
    assert.ok(sentBytes - FILE_BYTES <= CHANGE_COUNT * SLOT_COUNT * MIB, `${sentBytes} bytes were sent`);
  });
}
