// A journey, because a page can't change the preferences of its browser.
// Firefox with `privacy.resistFingerprinting` gives back noise instead of what a canvas has. Then, photos are sent as they are.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import jpeg from 'jpeg-js';
import { stripLocation } from '../../src/photos/strip-location.ts';
import { startSink } from '../bench/sink.mjs';
import { exifOf, exifSegment } from '../photos/layouts.ts';
import { join } from '../photos/parts.ts';
import { startEngine } from './support/auth-browsers.ts';
import { newContext, untilEvent } from './support/browser.ts';
import { type Pages, startPages } from './support/pages.ts';

const [WIDTH, HEIGHT] = [400, 300];

/** Returns a photo that has more bytes than a smaller copy of it with noise. */
function photo(): Uint8Array<ArrayBuffer> {
  const data = new Uint8Array(4 * WIDTH * HEIGHT);
  let value = 1;
  for (let at = 0; at < data.length; at++) {
    value = (value * 48_271) % 0x7fffffff;
    data[at] = value;
  }
  const encoded = jpeg.encode({ data, width: WIDTH, height: HEIGHT }, 95).data;
  const exif = exifSegment(exifOf({ make: 'Acme', model: 'One' }));
  return join(encoded.subarray(0, 2), exif, encoded.subarray(2));
}

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

interface Sent {
  /** True if a canvas has the color that was put into it. */
  readonly isCanvasTrue: boolean;
  readonly bytes: number;
}

/** Uploads the photo with Firefox. */
async function upload(bytes: Uint8Array, attributes: string, isResisting: boolean): Promise<Sent> {
  const browser = await startEngine('firefox', {
    firefoxUserPrefs: { 'privacy.resistFingerprinting': isResisting },
  });
  try {
    await sink.reset();
    const page = await (await newContext(browser)).newPage();
    const settings = `base-url="${sink.service}" parent-id="any" auth="none" commit-path="/files/uploadsession/commit"`;
    await page.goto(
      pages.add('/photo.html', `<secure-uploader ${settings} ${attributes}></secure-uploader>`),
    );
    await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined, null, {
      polling: 100,
    });
    const isCanvasTrue = await page.evaluate(async (values) => {
      const context = new OffscreenCanvas(9, 9).getContext('2d') as OffscreenCanvasRenderingContext2D;
      context.fillStyle = '#c03020';
      context.fillRect(0, 0, 9, 9);
      const { data } = context.getImageData(0, 0, 9, 9);
      const file = new File([new Uint8Array(values)], 'photo.jpg', { type: 'image/jpeg' });
      await document.querySelector('secure-uploader')?.addFiles(file);
      return data.every((value, at) => value === [0xc0, 0x30, 0x20, 0xff][at % 4]);
    }, Array.from(bytes));
    const [finished] = await untilEvent(page, 'uploads-finished');
    assert.equal(finished?.detail.doneCount, 1);
    return { isCanvasTrue, bytes: (await sink.counts()).perOrigin.storage.bytes };
  } finally {
    await browser.close();
  }
}

test('Firefox that resists fingerprinting sends the original instead of a smaller copy', async () => {
  const original = photo();
  const cleaned = await stripLocation(new File([original], 'photo.jpg'));
  assert.ok(cleaned instanceof Blob && cleaned.size < original.length);
  const edge = 'image-max-edge="100"';
  assert.deepEqual(await upload(original, edge, true), { isCanvasTrue: false, bytes: original.length });
  assert.deepEqual(await upload(original, `${edge} strip-location`, true), {
    isCanvasTrue: false,
    bytes: cleaned.size,
  });
});

test('Firefox that does not resist fingerprinting sends a smaller copy', async () => {
  const original = photo();
  const { isCanvasTrue, bytes } = await upload(original, 'image-max-edge="100"', false);
  assert.ok(isCanvasTrue && bytes > 0 && bytes < original.length / 4, `${bytes} bytes`);
});
