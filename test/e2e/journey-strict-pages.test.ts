// A journey, because it needs the headers of a strict content policy, and a frame of another site.
// Pages with the strict content policy of the documentation: two elements, two copies of the script, an element in nested shadow
// roots, and one in a frame of another site with only the documented permissions.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Frame, Page } from 'playwright';
import { builtWidget } from '../support/built.ts';
import { type SeenEvent, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { type Pages, startPages } from './support/pages.ts';
import { assertStored } from './support/transfer.ts';
import { createWorld, type World } from './support/world.ts';

const FILE_BYTES = 3_000_000;

describe('A strict page', () => {
  let world: World;
  let outside: Pages;
  let token: string;
  before(async () => {
    world = await createWorld();
    // The name of the host makes it another site than that of the pages.
    outside = await startPages('localhost');
    token = (await world.service.createToken('alice', 3_600_000)).token;
  });
  after(async () => {
    await outside?.close();
  });
  afterEach(() => {
    assert.deepEqual([...world.pages.violations, ...outside.violations], []);
  });

  /** Opens a page. Returns the page, and its errors and warnings. */
  async function open(url: string): Promise<{ page: Page; errors: string[]; warnings: string[] }> {
    const page = await world.context.newPage();
    const errors: string[] = [];
    const warnings: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (message.text().startsWith('secure-uploader:')) warnings.push(message.text());
    });
    await page.goto(url);
    return { page, errors, warnings };
  }

  const element = (attributes = ''): string =>
    world.elementWith(
      `owner="alice" upload-origins="${world.service.storageUrl}" chunk-size="256KiB" data-token="${token}" ${attributes}`,
    );

  /** Picks a new file in the element that `selector` finds. Returns the hash of the file. */
  async function pick(page: Page | Frame, selector: string, name: string): Promise<string> {
    const path = join(world.folder, name);
    const sha256 = writeRandom(path, FILE_BYTES);
    await page.locator(`${selector} >> input[type=file]`).first().setInputFiles(path);
    return sha256;
  }

  const idOf = (events: readonly SeenEvent[], name: string): string =>
    events.find(({ detail }) => detail.name === name)?.detail.commit.file_id;

  test('uploads with two elements at once, each with its own list', async () => {
    const two = `${element('id="one"')}${element('id="two"')}`;
    const { page, errors, warnings } = await open(world.pages.add('/two.html', two));
    const hashes = [await pick(page, '#one', 'one.bin'), await pick(page, '#two', 'two.bin')];
    const completed = await untilEvent(page, 'upload-completed', 2);
    await assertStored(world, idOf(completed, 'one.bin'), hashes[0] ?? '');
    await assertStored(world, idOf(completed, 'two.bin'), hashes[1] ?? '');
    const names = await page.evaluate(() =>
      [...document.querySelectorAll('secure-uploader')].map(({ snapshot }) =>
        snapshot.files.map(({ name }) => name),
      ),
    );
    assert.deepEqual(names, [['one.bin'], ['two.bin']]);
    assert.deepEqual([errors, warnings], [[], []]);
  });

  test('warns about a second copy of the script, which changes nothing', async () => {
    const script = readFileSync(join(builtWidget(), 'secure-uploader.min.js'), 'utf8');
    world.pages.setScript('/second.js', script);
    const url = world.pages.add('/copies.html', element());
    world.pages.changePolicy('/copies.html', (policy) => `${policy} 'allow-duplicates'`);
    const { page, errors, warnings } = await open(url);
    await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined);
    await page.evaluate("import('/second.js')");
    assert.equal(warnings.length, 1, warnings.join());
    assert.match(warnings[0] ?? '', /already defined by another copy/);
    const sha256 = await pick(page, 'secure-uploader', 'copies.bin');
    await assertStored(world, idOf(await untilEvent(page, 'upload-completed'), 'copies.bin'), sha256);
    assert.deepEqual(errors, []);
  });

  test('uploads with an element in nested shadow roots', async () => {
    const { page, errors, warnings } = await open(world.pages.add('/nested.html', `<div></div>${element()}`));
    await page.evaluate(() => {
      const outer = (document.querySelector('div') as HTMLElement).attachShadow({ mode: 'open' });
      const inner = outer.appendChild(document.createElement('div')).attachShadow({ mode: 'open' });
      inner.append(document.querySelector('secure-uploader') as HTMLElement);
    });
    const sha256 = await pick(page, 'secure-uploader', 'nested.bin');
    await assertStored(world, idOf(await untilEvent(page, 'upload-completed'), 'nested.bin'), sha256);
    assert.deepEqual([errors, warnings], [[], []]);
  });

  test('uploads in a frame of another site with the documented permissions', async () => {
    outside.allow(world.pages.origin);
    const inner = world.pages.add('/framed.html', element());
    const frame = `<iframe title="Uploads" src="${inner}" sandbox="allow-scripts allow-same-origin"></iframe>`;
    const { page, errors, warnings } = await open(outside.add('/outside.html', frame));
    const framed = page.frames().find((each) => each.url() === inner) ?? assert.fail('no frame');
    const sha256 = await pick(framed, 'secure-uploader', 'framed.bin');
    const completed = await untilEvent(framed, 'upload-completed');
    await assertStored(world, idOf(completed, 'framed.bin'), sha256);
    assert.deepEqual([errors, warnings], [[], []]);
  });
});
