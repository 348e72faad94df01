// A journey, because it needs the browser’s own file chooser and real keys.
// The picker with the browser's own file chooser and keys: one at a time, and a folder arrives the same way as in a drop.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { drop, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { filesOf } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const world = await createWorld();

/** Writes a folder with these files. Returns its path. */
function folderWith(name: string, paths: readonly string[]): string {
  const folder = join(world.folder, name);
  for (const path of paths) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, path);
  }
  return folder;
}

const pathsOf = async (page: Page): Promise<string[]> =>
  (await filesOf(page)).map(({ relativePath }) => relativePath).sort();

/** Waits until this number of files is in the list and rendered: the first file replaces the buttons of the drop zone. */
const untilCount = (page: Page, count: number): Promise<unknown> =>
  page.waitForFunction(
    (count) =>
      document.querySelector('secure-uploader')?.shadowRoot?.querySelectorAll('.row:not([part~=folder])')
        .length === count,
    count,
  );

test('while the picker is open, neither keys nor a click open another one, and after its error it opens again', async () => {
  const page = await world.open('manual');
  let chooserCount = 0;
  page.on('filechooser', () => {
    chooserCount += 1;
  });
  await page.evaluate(() => {
    let isOpen = false;
    const seen = { opened: 0, refused: 0, fail: (): void => undefined };
    Object.assign(globalThis, {
      seen,
      showOpenFilePicker: () =>
        new Promise((_, reject) => {
          if (isOpen) {
            seen.refused += 1;
            reject(new DOMException('File picker already active.', 'NotAllowedError'));
            return;
          }
          isOpen = true;
          seen.opened += 1;
          seen.fail = () => {
            isOpen = false;
            reject(new DOMException('The file could not be read.', 'NotReadableError'));
          };
        }),
    });
  });
  const seen = (): Promise<{ opened: number; refused: number }> =>
    page.evaluate(() => {
      const { opened, refused } = (globalThis as unknown as { seen: { opened: number; refused: number } })
        .seen;
      return { opened, refused };
    });
  await page.focus('secure-uploader >> [data-action=browse]');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Space');
  await page.click('secure-uploader >> [part~=drop-zone]', { position: { x: 8, y: 8 } });
  assert.deepEqual(await seen(), { opened: 1, refused: 2 });
  await page.evaluate(() => (globalThis as unknown as { seen: { fail(): void } }).seen.fail());
  await page.focus('secure-uploader >> [data-action=browse]');
  await page.keyboard.press('Enter');
  assert.deepEqual(await seen(), { opened: 2, refused: 2 });
  assert.equal(chooserCount, 0);
  assert.deepEqual(await filesOf(page), []);
  await page.close();
});

test('a folder that is chosen by key arrives with its paths and without files of the system, also the second time', async () => {
  const folder = folderWith('Trip', [
    'a.txt',
    'day 1/b.txt',
    '.DS_Store',
    'day 1/Thumbs.db',
    '__MACOSX/._a.txt',
  ]);
  const page = await world.open('manual directory max-files="4"');
  // Playwright keeps intercepting file choosers while there is a listener: no key is pressed before it does.
  page.on('filechooser', () => undefined);
  for (const count of [2, 4]) {
    await page.focus('secure-uploader >> [data-action=folder]');
    const chooser = page.waitForEvent('filechooser');
    await page.keyboard.press('Enter');
    await (await chooser).setFiles(folder);
    await untilCount(page, count);
  }
  assert.deepEqual(new Set(await pathsOf(page)), new Set(['Trip/a.txt', 'Trip/day 1/b.txt']));
  assert.equal(await page.getByText('Reading files').count(), 0);
  assert.equal(
    await page.evaluate(() => document.querySelector('secure-uploader')?.snapshot.rejections.length),
    0,
  );
  await page.close();
});

test('after a visit that ended, a folder that is chosen on its row continues the unfinished file, and sends no other again', async () => {
  const folder = folderWith('Trip 2', ['done.bin']);
  writeRandom(join(folder, 'half.bin'), 400 * 1024);
  const settings = 'directory chunk-size="64KiB" concurrency="1"';
  const first = await world.openWithToken(settings);
  const gate = createGate();
  world.service.faults.add({
    operation: 'put',
    skip: 3,
    times: Number.POSITIVE_INFINITY,
    waitFor: gate.opened,
  });
  const choose = async (page: Page, button: string): Promise<void> => {
    const chooser = page.waitForEvent('filechooser');
    await page.click(`secure-uploader >> ${button}`);
    await (await chooser).setFiles(folder);
  };
  await choose(first, '[data-action=folder]');
  await untilEvent(first, 'upload-completed');
  // Two chunks are stored, and saved.
  await first.waitForFunction(() => {
    const files = document.querySelector('secure-uploader')?.snapshot.files ?? [];
    return files.find(({ name }) => name === 'half.bin')?.storedBytes === 2 * 65_536;
  });
  await first.close();
  gate.open();
  world.service.faults.clear();
  world.service.faults.clearLog();
  const next = await world.openWithToken(settings);
  await next.getByText('Choose 1 file again').waitFor();
  await choose(next, '[part~=folder] [data-action=choose]');
  const [finished] = await untilEvent(next, 'uploads-finished');
  assert.equal(finished?.detail.doneCount, 1);
  assert.deepEqual(await pathsOf(next), ['Trip 2/half.bin']);
  const opened = world.service.faults.log.filter(({ operation }) => operation === 'session');
  assert.deepEqual(opened, []);
  const names = (await world.service.listFiles('folder-a')).map(({ name }) => name);
  assert.deepEqual(names.filter((name) => /done|half/.test(name)).sort(), ['done.bin', 'half.bin']);
  await next.close();
});

test('a macOS package arrives with the same paths by a drop and by the folder button', async () => {
  const talk = folderWith('Talk.key', ['Index.zip', 'Data/photo.jpg', 'Metadata/.DS_Store', 'preview.jpg']);
  const dropped = await world.open('manual directory');
  await drop(dropped, [talk]);
  await untilCount(dropped, 3);
  const chosen = await world.open('manual directory');
  const chooser = chosen.waitForEvent('filechooser');
  await chosen.click('secure-uploader >> [data-action=folder]');
  await (await chooser).setFiles(talk);
  await untilCount(chosen, 3);
  const expected = ['Talk.key/Data/photo.jpg', 'Talk.key/Index.zip', 'Talk.key/preview.jpg'];
  assert.deepEqual(await pathsOf(dropped), expected);
  assert.deepEqual(await pathsOf(chosen), expected);
  await dropped.close();
  await chosen.close();
});
