// A journey, because it needs the memory of the browser's processes.
// Memory of the page's process does not grow by more than 400 MB, whatever is in a photo.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { startSink } from '../bench/sink.mjs';
import { bombsOf, jpegOfSize } from '../photos/bombs.ts';
import { compressedZeros, LARGE_PICTURES, MANY_PARTS } from '../photos/large.ts';
import { fixture } from '../photos/support.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import { type Pages, startPages } from './support/pages.ts';
import { pick } from './support/transfer.ts';

/** Limit of the memory that a photo uses in addition to the idle page. */
const MOST_BYTES = 400e6;

const folder = temporaryFolder();
let pages: Pages;
let sink: Awaited<ReturnType<typeof startSink>>;
before(async () => {
  pages = await startPages();
  sink = await startSink({ line: {} });
  pages.allow(sink.service, sink.storage);
});
after(async () => {
  await sink.stop();
  await pages.close();
});

/** Returns the ids of all processes for pages. */
async function pageProcesses(browser: Browser): Promise<number[]> {
  const processes = await browser.newBrowserCDPSession();
  const { processInfo } = await processes.send('SystemInfo.getProcessInfo');
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}

/** `VmRSS` is the memory of a process, and `VmHWM` the most that it has been. */
type Value = 'VmRSS' | 'VmHWM';

/** Returns the sum of a value of processes, in bytes. */
const sumOf = (pids: readonly number[], value: Value): number =>
  pids.reduce((sum, pid) => sum + bytesOf(pid, value), 0);

function bytesOf(pid: number, value: Value): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(new RegExp(`^${value}:\\s+([0-9]+) kB`, 'm').exec(status)?.[1]);
}

const USES = {
  thumbnails: 'manual thumbnails',
  'image-max-edge': 'image-max-edge="400"',
  'strip-location': 'strip-location',
};
type Use = keyof typeof USES;

/** Resolves when the last file has its thumbnail, or all files are uploaded or have failed. */
const untilDone = (page: Page, use: Use): Promise<unknown> =>
  use === 'thumbnails'
    ? page.waitForFunction(
        () => {
          const rows = document.querySelector('secure-uploader')?.shadowRoot?.querySelectorAll('.row') ?? [];
          return [...rows].some((row) => row.textContent?.includes('last') && row.querySelector('canvas'));
        },
        null,
        { polling: 100, timeout: 180_000 },
      )
    : untilEvent(page, 'uploads-finished');

async function openPage(browser: Browser, attributes: string): Promise<Page> {
  const settings = `base-url="${sink.service}" parent-id="any" auth="none" multiple commit-path="/files/uploadsession/commit"`;
  const page = await browser.newPage();
  await page.goto(pages.add('/memory.html', `<secure-uploader ${settings} ${attributes}></secure-uploader>`));
  await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined, null, {
    polling: 100,
  });
  return page;
}

interface Outcome {
  /** The code of the error, if the photo was refused. */
  readonly code: string | undefined;
  readonly hasThumbnail: boolean;
  /** Bytes that were sent of both files. */
  readonly sentBytes: number;
}

/**
 * Adds a photo to the widget, and a small one behind it. Fails if the memory grows too much before both are done. Each photo has a
 * browser of its own: the most memory of a process includes that for earlier pages.
 */
async function watch(
  use: Use,
  name: string,
  bytes: Uint8Array,
  say: (text: string) => void,
): Promise<Outcome> {
  const [path, last] = [join(folder, name), join(folder, 'last.jpg')];
  writeFileSync(path, bytes);
  writeFileSync(last, jpegOfSize(16, 16));
  await sink.reset();
  const executablePath = findChromium();
  const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: chromiumArgs });
  try {
    const page = await openPage(browser, USES[use]);
    const pids = await pageProcesses(browser);
    const idleBytes = sumOf(pids, 'VmRSS');
    await pick(page, path, last);
    await untilDone(page, use);
    const growth = sumOf(pids, 'VmHWM') - idleBytes;
    const text = `${Math.round(growth / 1e6)} MB for a file of ${(bytes.length / 1e6).toFixed(1)} MB`;
    say(text);
    assert.ok(idleBytes > 0 && growth <= MOST_BYTES, text);
    const [failed] = await eventsOf(page, 'upload-failed');
    const thumbnails = await page.evaluate(
      () => document.querySelector('secure-uploader')?.shadowRoot?.querySelectorAll('canvas').length,
    );
    const { bytes: sentBytes } = await sink.counts();
    return { code: failed?.detail.code, hasThumbnail: thumbnails === 2, sentBytes };
  } finally {
    await browser.close();
    rmSync(path);
  }
}

const bombs = bombsOf({
  edge: 22_000,
  avif: fixture('photo.avif'),
  heic: fixture('photo.heic'),
  data: compressedZeros,
});
for (const [name, bytes] of Object.entries(bombs)) {
  for (const use of ['thumbnails', 'image-max-edge'] as const)
    test(`${name} is not decoded for ${use}`, async (t) => {
      const { hasThumbnail } = await watch(use, name, bytes, (text) => t.diagnostic(text));
      assert.equal(hasThumbnail, false);
    });
}

for (const [name, create] of Object.entries(LARGE_PICTURES)) {
  test(`${name}, which is as large as allowed, is decoded, made smaller and cleaned with little memory`, async (t) => {
    const bytes = create();
    const of = (use: Use) => watch(use, name, bytes, (text) => t.diagnostic(`${use}: ${text}`));
    assert.equal((await of('thumbnails')).hasThumbnail, true);
    const smaller = await of('image-max-edge');
    assert.ok(smaller.code === undefined && smaller.sentBytes < bytes.length);
    assert.equal((await of('strip-location')).code, undefined);
  });
}

for (const [name, create] of Object.entries(MANY_PARTS)) {
  test(`${name} of many parts is refused with little memory`, async (t) => {
    const bytes = create();
    const of = (use: Use) => watch(use, name, bytes, (text) => t.diagnostic(`${use}: ${text}`));
    assert.equal((await of('thumbnails')).hasThumbnail, false);
    assert.equal((await of('image-max-edge')).code, undefined);
    assert.equal((await of('strip-location')).code, 'location-not-removed');
  });
}
