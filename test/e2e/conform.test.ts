// A journey, because it needs a service of its own, and the built package.
// The settings that `secure-uploader conform` prints for a service that differs from the reference service, in a browser.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runConform } from '../support/conform.ts';
import { OTHER_TOKEN, startOtherService } from '../support/other-service.ts';
import { untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { pick } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

test('the printed attributes and profile make the uploader work with another service', async (t) => {
  const { pages, folder, context } = await createWorld();
  const service = await startOtherService(pages.origin);
  t.after(() => service.close());
  const { html, profile } = await runConform({
    ...{ 'base-url': service.baseUrl, 'parent-id': 'inbox', origin: pages.origin, token: OTHER_TOKEN },
    ...{ 'session-path': '/uploads', 'chunks-path': '/uploads/chunks', 'commit-path': '/uploads/done' },
    ...{ 'auth-header': 'x-api-key', 'auth-scheme': '', field: 'category=letter' },
  });

  pages.allow(new URL(service.baseUrl).origin);
  const page = await context.newPage();
  await page.goto(pages.add('/index.html', html));
  const settings = `{ multiple: true, profile: (${profile}), getToken: () => '${OTHER_TOKEN}' }`;
  await page.evaluate(`void Object.assign(document.querySelector('secure-uploader'), ${settings})`);
  const sizes = { 'small.bin': 1000, 'large.bin': 25 * 2 ** 20 };
  for (const [name, sizeBytes] of Object.entries(sizes)) writeRandom(join(folder, name), sizeBytes);
  await pick(page, ...Object.keys(sizes).map((name) => join(folder, name)));
  await untilEvent(page, 'upload-completed', 2);
  for (const name of Object.keys(sizes))
    assert.ok(service.files.get(name)?.equals(await readFile(join(folder, name))), name);
});
