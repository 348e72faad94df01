// The picker with the browser's own file chooser and keys: one at a time, and a folder arrives the same way as in a drop.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright';
import { drop } from './support/browser.ts';
import { filesOf } from './support/transfer.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;
before(async () => {
  world = await createWorld({ fsync: false });
});
after(() => world.close());

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
  assert.equal(await page.getByText('Reading folders').count(), 0);
  assert.equal(
    await page.evaluate(() => document.querySelector('secure-uploader')?.snapshot.rejections.length),
    0,
  );
  await page.close();
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
