// A journey, because it needs the header of a strict content policy, and the built workers.
// Photos on their whole way: chosen, made smaller or without location, shown as thumbnails, and stored, under a strict policy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import exifr from 'exifr';
import type { Page } from 'playwright';
import { fixture, secretsIn } from '../photos/support.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import { createWorld } from './support/world.ts';

const COUNT = 30;
const world = await createWorld();

/** Adds copies of a photo with a location, each with its own comment at the end of the picture's header. */
async function addPhotos(page: Page, count: number): Promise<void> {
  const bytes = [...fixture('little-endian.jpg')];
  await page.evaluate(
    async ({ count, bytes }) => {
      const comment = (at: number) => [0xff, 0xfe, 0, 4, at >> 8, at & 255];
      const photoOf = (at: number) =>
        new File(
          [new Uint8Array([...bytes.slice(0, 2), ...comment(at), ...bytes.slice(2)])],
          `IMG_${at}.jpg`,
          {
            type: 'image/jpeg',
          },
        );
      const files = Array.from({ length: count }, (_, at) => photoOf(at));
      await document.querySelector('secure-uploader')?.addFiles(files);
    },
    { count, bytes },
  );
}

/** Resolves with what is stored for each upload of a page. */
async function storedOf(page: Page): Promise<Uint8Array<ArrayBuffer>[]> {
  const [finished] = await untilEvent(page, 'uploads-finished');
  assert.equal(finished?.detail.failedCount, 0);
  const completed = await eventsOf(page, 'upload-completed');
  return Promise.all(
    completed.map(async ({ detail }) => {
      const parts: Buffer[] = [];
      for await (const part of world.service.readFile(detail.commit.file_id)) parts.push(Buffer.from(part));
      return new Uint8Array(Buffer.concat(parts));
    }),
  );
}

test(`${COUNT} photos are stored without their location, and have thumbnails`, async () => {
  const page = await world.openWithToken('strip-location thumbnails');
  await addPhotos(page, COUNT);
  const stored = await storedOf(page);
  assert.equal(stored.length, COUNT);
  const before = await exifr.gps(fixture('little-endian.jpg'));
  assert.ok(before.latitude > 48);
  for (const bytes of stored) {
    assert.equal(secretsIn(bytes), 0);
    assert.equal(await exifr.gps(bytes).catch(() => undefined), undefined);
    assert.ok((await exifr.parse(bytes)).Make, 'the camera is still there');
  }
  await page.locator('secure-uploader .row canvas').first().waitFor();
  const names = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  assert.ok(names.some((name) => /\/photo\.worker-[^/]+\.js$/.test(name)));
  assert.deepEqual(world.pages.violations, []);
  await page.close();
});

test('photos become smaller copies, and a film is refused', async () => {
  const page = await world.openWithToken('image-max-edge="64" strip-location');
  await addPhotos(page, 1);
  const [small] = await storedOf(page);
  assert.ok(small && small.length < fixture('little-endian.jpg').length);
  assert.equal(secretsIn(small), 0);
  await page.evaluate(() =>
    document.querySelector('secure-uploader')?.addFiles(new File(['\0\0\0\x18ftypqt  48.8584'], 'film.mov')),
  );
  const [failed] = await untilEvent(page, 'upload-failed');
  assert.equal(failed?.detail.code, 'location-not-removed');
  // The live region has the same sentence.
  const shown = page.locator('secure-uploader [part~=error]');
  assert.match(await shown.innerText(), /^The location can't be removed from this file\./);
  await page.close();
});

test('a photo whose code cannot be loaded is not sent, the console says why, and Retry loads the code again', async () => {
  await world.context.route(/\/photos-[^/]+\.js/, (route) => route.abort());
  const page = await world.openWithToken('strip-location');
  const warnings: string[] = [];
  page.on('console', (message) => warnings.push(message.text()));
  await addPhotos(page, 1);
  const [failed] = await untilEvent(page, 'upload-failed');
  assert.equal(failed?.detail.code, 'transform-failed');
  assert.ok(
    warnings.some((text) => /photos-\S+\.js\S* could not be loaded/.test(text)),
    warnings.join(),
  );
  assert.deepEqual(await eventsOf(page, 'upload-started'), []);
  await world.context.unrouteAll();
  await page.evaluate(() => document.querySelector('secure-uploader')?.retry());
  await untilEvent(page, 'upload-completed');
  await page.close();
});
