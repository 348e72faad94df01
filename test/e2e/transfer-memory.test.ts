// A journey, because it needs the memory of the browser’s processes.
// Memory of the page's process does not grow with the size of the file. The server discards the uploaded bytes. `MEMORY_MIB=2048`
// sets the size of the large file, and `MEMORY_SECONDS=120` sets the time for which the 20 GiB file is measured.
import assert from 'node:assert/strict';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { startSink } from '../bench/sink.mjs';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { untilEvent } from './support/browser.ts';
import { type Pages, startPages } from './support/pages.ts';
import { pick } from './support/transfer.ts';

const MIB = 2 ** 20;
const LARGE_BYTES = Number(process.env.MEMORY_MIB ?? 384) * MIB;
const ENDLESS_BYTES = 20 * 1024 * MIB;
/** Number of bytes of the endless file that are uploaded if `MEMORY_SECONDS` is not set. */
const WATCHED_BYTES = 384 * MIB;
const SECONDS = Number(process.env.MEMORY_SECONDS ?? 0);
/** Limit of the memory that an upload uses in addition to the idle page. */
const MOST_BYTES = 200e6;
/** Limit of the memory that the second half of an upload uses in addition to the first half. */
const MOST_GROWTH_BYTES = 120e6;

const folder = temporaryFolder();
let pages: Pages;
let sink: Awaited<ReturnType<typeof startSink>>;
let browser: Browser;
let processes: CDPSession;
before(async () => {
  pages = await startPages();
  sink = await startSink({ line: {} });
  pages.allow(sink.service, sink.storage);
  const executablePath = findChromium();
  browser = await chromium.launch({ ...(executablePath && { executablePath }), args: chromiumArgs });
  processes = await browser.newBrowserCDPSession();
});
after(async () => {
  await browser.close();
  await sink.stop();
  await pages.close();
});

/** Creates a sparse file with a few different bytes in each MiB, so that all chunks differ. Returns the path. */
function writeSparse(name: string, sizeBytes: number): string {
  const path = join(folder, name);
  const file = openSync(path, 'w');
  ftruncateSync(file, sizeBytes);
  for (let at = 0; at < sizeBytes; at += MIB) writeSync(file, `${name} ${at}`, at);
  closeSync(file);
  return path;
}

/** Returns the ids of all processes for pages, which may include a spare process without a page. */
async function pageProcesses(): Promise<number[]> {
  const { processInfo } = await processes.send('SystemInfo.getProcessInfo');
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}

const residentBytes = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + residentBytesOf(pid), 0);

function residentBytesOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return 1024 * Number(/^VmRSS:\s+([0-9]+) kB/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function openPage(): Promise<Page> {
  const settings = `base-url="${sink.service}" parent-id="any" auth="none" commit-path="/files/uploadsession/commit"`;
  const page = await browser.newPage();
  await page.goto(pages.add('/memory.html', `<secure-uploader ${settings}></secure-uploader>`));
  await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined, null, {
    polling: 100,
  });
  return page;
}

interface Peaks {
  readonly first: number;
  readonly second: number;
}

/**
 * Adds a file to the widget, and measures memory until `isOver` resolves with true. Returns the peaks of both halves of that time,
 * each minus the memory of the idle page.
 */
async function watch(page: Page, path: string, isOver: () => Promise<boolean>): Promise<Peaks> {
  const pids = await pageProcesses();
  const idleBytes = residentBytes(pids);
  assert.ok(idleBytes > 0);
  await pick(page, path);
  const samples: number[] = [];
  while (!(await isOver())) samples.push(residentBytes(pids));
  const half = Math.ceil(samples.length / 2);
  const peak = (part: number[]): number =>
    part.reduce((most, bytes) => Math.max(most, bytes), idleBytes) - idleBytes;
  return { first: peak(samples.slice(0, half)), second: peak(samples.slice(half)) };
}

function stayFlat({ first, second }: Peaks, say: (text: string) => void): void {
  const text = `${Math.round(first / 1e6)} MB above idle in the first half, ${Math.round(second / 1e6)} MB in the second`;
  say(text);
  assert.ok(Math.max(first, second) <= MOST_BYTES, text);
  assert.ok(second - first <= MOST_GROWTH_BYTES, text);
}

test(`the whole upload of a file of ${LARGE_BYTES / MIB} MiB uses little memory, and no more at its end`, async (t) => {
  const path = writeSparse('large.bin', LARGE_BYTES);
  const page = await openPage();
  const isDone = (): Promise<boolean> =>
    page.evaluate(() => document.querySelector('secure-uploader')?.snapshot.totals.openCount === 0);
  const peaks = await watch(page, path, async () => (await sink.counts()).bytes > 0 && (await isDone()));
  const [finished] = await untilEvent(page, 'uploads-finished');
  assert.equal(finished?.detail.doneCount, 1);
  assert.equal((await sink.counts()).perOrigin.storage.bytes, LARGE_BYTES);
  stayFlat(peaks, (text) => t.diagnostic(text));
  await page.close();
});

test('the start of a file of 20 GiB uses little memory, and no more as it continues', async (t) => {
  const path = writeSparse('endless.bin', ENDLESS_BYTES);
  await sink.reset();
  const page = await openPage();
  const endMs = Date.now() + SECONDS * 1000;
  const peaks = await watch(page, path, async () => {
    const { bytes } = await sink.counts();
    return bytes >= WATCHED_BYTES && (Date.now() >= endMs || bytes >= ENDLESS_BYTES);
  });
  const { bytes } = await sink.counts();
  t.diagnostic(`${Math.round(bytes / MIB)} MiB had been sent`);
  stayFlat(peaks, (text) => t.diagnostic(text));
  await page.close();
});
