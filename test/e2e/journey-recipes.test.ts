// The recipe for the title and the notification, as the documentation has it, in a page.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import ts from 'typescript';
import { all, read } from '../support/documents.ts';
import { until } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { pick } from './support/transfer.ts';
import { createWorld, type World } from './support/world.ts';

const MIB = 2 ** 20;
/** Replaces notifications, which a browser without a window does not show, and lets a test hide the page. */
const RECORD = `{
  globalThis.notes = [];
  globalThis.Notification = class {
    static permission = 'default';
    static requestPermission() { this.permission = 'granted'; }
    constructor(title, { body }) { notes.push(title + ': ' + body); }
  };
  globalThis.isHidden = false;
  Object.defineProperty(document, 'hidden', { get: () => isHidden });
}`;

let world: World;
before(async () => {
  world = await createWorld({ fsync: false });
  await world.browser.addInitScript(RECORD);
});
after(() => world.close());

test('the title shows the progress, and a notification the end to a user who is elsewhere and wants it', async () => {
  const [recipe = ''] = all(read('docs/resume.md'), /^```ts\n([\s\S]*?)^```/gm).filter((code) =>
    code.includes('document.title'),
  );
  // The page has loaded the element already.
  const code = ts.transpile(recipe.replace(/^import .*$/m, ''), { target: ts.ScriptTarget.ES2022 });
  world.pages.setScript('/recipe.js', code);
  const { token } = await world.service.createToken('alice', 3_600_000);
  const element = world.elementWith(`chunk-size="1MiB" data-token="${token}"`);
  const url = world.pages.add(
    '/recipe.html',
    `${element}<button id="notify">Notify me</button><script type="module" src="/recipe.js"></script>`,
  );
  const page = await world.browser.newPage();
  await page.addInitScript('globalThis.__name = (fn) => fn;');
  await page.goto(url);
  const title = await page.title();
  assert.notEqual(title, '');

  /** Uploads a file, and checks the title meanwhile and afterwards. */
  const upload = async (count: number): Promise<void> => {
    const gate = createGate();
    world.service.faults.add({ operation: 'put', skip: 1, times: 3, waitFor: gate.opened });
    const path = join(world.folder, `${count}.bin`);
    writeRandom(path, 4 * MIB);
    await pick(page, path);
    await page.waitForFunction(() => /^[1-9]\d?% /.test(document.title), null, { polling: 50 });
    assert.match(await page.title(), new RegExp(`^\\d+% ${title}$`));
    gate.open();
    await until(page, 'uploads-finished', count);
    assert.equal(await page.title(), title);
  };
  await page.evaluate('isHidden = true');
  await upload(1);
  await page.getByRole('button', { name: 'Notify me' }).click();
  await upload(2);
  await page.evaluate('isHidden = false');
  await upload(3);
  assert.deepEqual(await page.evaluate('notes'), ['Uploads finished: 2 uploaded, 0 failed']);
});
