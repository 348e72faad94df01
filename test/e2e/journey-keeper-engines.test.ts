// A journey, because it needs links and reloads, in the engines of real browsers.
// An upload at 20 MB/s continues over ten links and ten reloads in each engine, and the file is complete.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import type { LogEntry } from '../../demo/server/faults.ts';
import { isFullSize } from '../../scripts/scope.mjs';
import type { FileSnapshot } from '../../src/core/types.ts';
import { until } from '../support/until.ts';
import type { SeenEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate, type Gate } from './support/gate.ts';
import { startTab, type Tab, tabEngines } from './support/tabs.ts';
import { assertStored, bytesOf } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const MIB = 2 ** 20;
/** `FILE_MIB=1024` tests a file of 1 GiB. */
const FILE_BYTES = Number(process.env.FILE_MIB ?? (isFullSize ? 256 : 64)) * MIB;
const CHUNK_BYTES = FILE_BYTES / 256;
const CHANGE_COUNT = 20;
const SLOT_COUNT = 4;
/** Number of chunks that one page can send. Without this limit, the upload would end too early on a busy machine. */
const CHUNKS_PER_PAGE = Math.floor(FILE_BYTES / CHUNK_BYTES / (CHANGE_COUNT + 2));
/** Number of chunks after which a page is left, while the next chunks are sent at full speed. */
const LEFT_AFTER = Math.floor(CHUNKS_PER_PAGE / 3);
/** Limit for what the browser stores for the page, in bytes: the record, not the file. */
const DISK_BYTES = 4 * MIB;

const world = await createWorld();
afterEach(() => {
  world.service.faults.clear();
  world.service.faults.clearLog();
});

/** Polls the widget's file until `isReached` returns true for it. Fails if the upload ends before. */
async function untilFile(tab: Tab, isReached: (file: FileSnapshot) => boolean): Promise<void> {
  await until(async () => {
    const file = await tab.evaluate<FileSnapshot | null>(
      "document.querySelector('secure-uploader')?.snapshot?.files[0] ?? null",
    );
    if (file !== null && isReached(file)) return true;
    const hasEnded = file?.phase === 'failed' || file?.phase === 'done';
    assert.ok(!hasEnded && file?.pauseReason !== 'needs-file', JSON.stringify(file));
    return false;
  });
}

/** Holds all PUTs after those that one page may send. */
function limitPage(): Gate {
  const gate = createGate();
  world.service.faults.clear();
  world.service.faults.add({
    operation: 'put',
    skip: CHUNKS_PER_PAGE,
    times: Number.POSITIVE_INFINITY,
    waitFor: gate.opened,
  });
  return gate;
}

const puts = (): LogEntry[] => world.entries('put');
const storedCount = (): number => puts().filter(({ stored }) => stored).length;

/** Returns the bytes that the page stores on disk, as the browser reports them. */
async function diskBytesOf(tab: Tab): Promise<number> {
  const script = 'void navigator.storage.estimate().then(({ usage }) => { globalThis.diskBytes = usage; })';
  await tab.evaluate(script);
  await until(() => tab.evaluate<boolean>("'diskBytes' in globalThis"));
  return tab.evaluate<number>('diskBytes');
}

for (const engine of tabEngines) {
  test(`in ${engine}, an upload continues over ten links and ten reloads without a click`, async (t) => {
    const { token } = await world.service.createToken('alice', 3_600_000);
    const attributes = `keeper-url="/file-keeper.js" chunk-size="${CHUNK_BYTES}" concurrency="${SLOT_COUNT}" throttle="20MB" data-token="${token}"`;
    const urls = ['/one.html', '/two.html'].map((path) =>
      world.pages.add(path, world.elementWith(attributes)),
    );
    const path = join(world.folder, `${engine}.bin`);
    const sha256 = writeRandom(path, FILE_BYTES);
    const tab = await startTab(engine);
    const resumedAfterMs: number[] = [];
    const foundAfterMs: number[] = [];
    /** Number of PUTs when each page was left. */
    const leftAt: number[] = [];
    let diskBytes = 0;
    try {
      await tab.goto(urls[0] ?? '');
      await until(() => tab.evaluate<boolean>('customElements.get("secure-uploader") !== undefined'));
      let gate = limitPage();
      await tab.choose(path);
      for (let count = 1; count <= CHANGE_COUNT; count += 1) {
        const storedBefore = storedCount();
        await until(() => storedCount() >= storedBefore + LEFT_AFTER);
        if (count % 2 === 0) await tab.reload();
        else await tab.goto(urls[((count + 1) / 2) % 2] ?? '');
        leftAt.push(puts().length);
        await untilFile(tab, ({ phase }) => phase !== 'paused');
        gate.open();
        gate = limitPage();
        const events = await tab.evaluate<SeenEvent[]>('events');
        const [added = Number.NaN, resumed = Number.NaN] = ['file-added', 'upload-resumed'].map(
          (name) => events.find((event) => event.name === name)?.atMs,
        );
        foundAfterMs.push(Math.round(resumed - added));
        resumedAfterMs.push(Math.round(resumed - (await tab.evaluate<number>('startedAtMs'))));
      }
      // WebKitGTK does not report what a page stores.
      if (engine !== 'webkit') diskBytes = await diskBytesOf(tab);
      gate.open();
      world.service.faults.clear();
      await untilFile(tab, ({ phase }) => phase === 'done');
      const [file] = await tab.evaluate<SeenEvent[]>(
        "events.filter(({ name }) => name === 'upload-completed')",
      );
      await assertStored(world, file?.detail.commit.file_id, sha256);
    } finally {
      await tab.end();
    }
    // Includes PUTs that were cut off, with the length of their whole body.
    const sent = puts();
    const lastAt = new Map(sent.map(({ hash }, at) => [hash, at]));
    const sentAgain = leftAt.map((end, page) =>
      bytesOf(sent.slice(leftAt[page - 1] ?? 0, end).filter(({ hash }) => (lastAt.get(hash) ?? 0) >= end)),
    );
    const totalBytes = bytesOf(sent) - FILE_BYTES;
    t.diagnostic(`files found after ${foundAfterMs.join(', ')} ms`);
    t.diagnostic(`resumed ${resumedAfterMs.join(', ')} ms after the engine's start`);
    t.diagnostic(`sent again: ${totalBytes} bytes, at most ${Math.max(...sentAgain)} for one change`);
    t.diagnostic(`stored by the browser: ${diskBytes} bytes`);
    assert.ok(Math.max(...sentAgain) <= SLOT_COUNT * CHUNK_BYTES, `sent again: ${sentAgain} bytes`);
    assert.ok(totalBytes <= CHANGE_COUNT * SLOT_COUNT * CHUNK_BYTES, `${totalBytes} bytes were sent again`);
    assert.ok(diskBytes <= DISK_BYTES, `${diskBytes} bytes on disk`);
  });
}
