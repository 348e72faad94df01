// A journey, because it needs real connections with HTTP/2.
// Over HTTP/2, one connection to the storage carries many chunks at once, so that more than six chunks are sent in parallel.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { chromium } from 'playwright';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { startSink } from '../bench/sink.mjs';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { newContext, untilEvent } from './support/browser.ts';
import { startPages } from './support/pages.ts';
import { pick } from './support/transfer.ts';

const CHUNK_COUNT = 120;

/** Uploads a file of many small chunks. Returns the maximum number of parallel PUTs of the page. */
async function mostAtOnce(t: TestContext, http2: boolean): Promise<number> {
  const executablePath = findChromium();
  const sink = await startSink({ line: { http2, latencyMs: 20 } });
  t.after(() => sink.stop());
  const pages = await startPages();
  t.after(() => pages.close());
  const browser = await chromium.launch({
    ...(executablePath && { executablePath }),
    args: [...chromiumArgs, '--ignore-certificate-errors'],
  });
  t.after(() => browser.close());
  const folder = temporaryFolder();
  const path = join(folder, 'many-chunks.bin');
  writeFileSync(path, randomBytes(CHUNK_COUNT * 65_536));

  pages.allow(sink.service, sink.storage);
  const settings = `base-url="${sink.service}" parent-id="folder-a" auth="none" chunk-size="65536"`;
  const url = pages.add('/index.html', `<secure-uploader ${settings}></secure-uploader>`);
  const page = await (await newContext(browser)).newPage();
  await page.addInitScript(countPuts);
  await page.goto(url);
  await pick(page, path);
  await untilEvent(page, 'upload-completed');
  return page.evaluate(() => (globalThis as unknown as { mostPuts: number }).mostPuts);
}

function countPuts(): void {
  const scope = globalThis as unknown as { mostPuts: number };
  const { send } = XMLHttpRequest.prototype;
  let count = 0;
  scope.mostPuts = 0;
  XMLHttpRequest.prototype.send = function (...body) {
    count += 1;
    scope.mostPuts = Math.max(scope.mostPuts, count);
    // The browser dispatches `readystatechange` before `load`, whose listener may send the next PUT.
    this.addEventListener('readystatechange', () => {
      if (this.readyState === XMLHttpRequest.DONE) count -= 1;
    });
    send.apply(this, body);
  };
}

test('over HTTP/2 more than six chunks are sent in parallel, twelve at most, and over HTTP/1.1 six at most', async (t) => {
  const most = await mostAtOnce(t, true);
  assert.ok(most > 6 && most <= 12, `${most} over HTTP/2`);
  assert.ok((await mostAtOnce(t, false)) <= 6);
});
