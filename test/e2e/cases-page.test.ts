// A journey, because it needs the real clipboard, mouse and full screen.
// The widget beside other things on a page, with a real clipboard, mouse, full screen and drags: what is not its own is left alone.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { copyPicture, namesOf, openBeside, paste } from './support/beside.ts';
import { drop } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createWorld } from './support/world.ts';

const world = await createWorld();
await world.context.grantPermissions(['clipboard-read', 'clipboard-write']);
const path = join(world.folder, 'dropped.bin');
writeRandom(path, 1000);

const openWith = (beside: string, attributes?: string): Promise<Page> =>
  openBeside(world, beside, { attributes });

test('a picture that was copied from a page, with the HTML of the picture, is pasted', async () => {
  const page = await openWith('');
  await copyPicture(
    page,
    '<meta charset="utf-8"><img src="https://other.test/cat.png" alt="Cat">',
    'text/html',
  );
  assert.equal(await paste(page), 1);
  await page.waitForFunction(() => document.querySelector('secure-uploader')?.snapshot.files.length === 1);
  await page.close();
});

test('a picture is left to a field in a shadow root, to a page that can be edited, and to what is in full screen', async () => {
  const page = await openWith(
    '<div id="closed"></div><div id="open"></div><div id="stage"><button id="full">Full screen</button></div>',
  );
  await copyPicture(page);
  for (const mode of ['closed', 'open'] as const) {
    await page.evaluate((mode) => {
      const root = (document.getElementById(mode) as HTMLElement).attachShadow({ mode });
      root.appendChild(document.createElement('textarea')).focus();
    }, mode);
    assert.equal(await paste(page), 0, mode);
  }
  await page.evaluate(() => {
    (document.activeElement as HTMLElement).blur();
    document.designMode = 'on';
  });
  await page.mouse.click(400, 600);
  assert.equal(await paste(page), 0, 'a page that can be edited');
  await page.evaluate(() => {
    document.designMode = 'off';
    (document.activeElement as HTMLElement).blur();
    document.getElementById('full')?.addEventListener('click', () => {
      void document.getElementById('stage')?.requestFullscreen();
    });
  });
  await page.click('#full');
  await page.waitForFunction(() => document.fullscreenElement !== null);
  assert.equal(await paste(page), 0, 'something in full screen');
  await page.evaluate(() => document.exitFullscreen());
  await page.waitForFunction(() => document.fullscreenElement === null);
  assert.equal(await paste(page), 1);
  await page.close();
});

test('what is dragged with the mouse in the page is no file, and a file is dropped after that', async () => {
  const page = await openWith(
    `<img id="picture" width="80" height="40" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='80' height='40'/%3E">
    <p id="card" draggable="true">Card</p><p id="column">Column</p>`,
    'manual layout="overlay"',
  );
  await page.evaluate(() => {
    const card = document.getElementById('card') as HTMLElement;
    card.addEventListener('dragstart', (event) => event.dataTransfer?.setData('text/plain', 'card'));
    const column = document.getElementById('column') as HTMLElement;
    for (const type of ['dragover', 'drop'])
      column.addEventListener(type, (event) => {
        event.preventDefault();
        event.stopPropagation();
        if (type === 'drop') card.remove();
      });
  });
  await page.dragAndDrop('#picture', 'secure-uploader');
  await page.dragAndDrop('#card', '#column');
  assert.equal(await page.locator('#card').count(), 0);
  await page.mouse.move(2, 2);
  await drop(page, [path]);
  await page.waitForFunction(() => document.querySelector('secure-uploader')?.snapshot.files.length);
  assert.deepEqual(await namesOf(page), ['dropped.bin']);
  await page.close();
});

test('a file that is dropped on a field that cannot take it does not leave the page', async () => {
  const page = await openWith(
    `<fieldset disabled><input id="off" type="file"></fieldset><input id="one" type="file"><input id="many" type="file" multiple>`,
  );
  const other = join(world.folder, 'other.bin');
  writeRandom(other, 1000);
  const opened: string[] = [];
  page.on('framenavigated', (frame) => opened.push(frame.url()));
  world.context.on('page', (another) => opened.push(another.url()));
  for (const id of ['off', 'one', 'many']) await drop(page, [path, other], page.locator(`#${id}`));
  const counts = await page.evaluate(() =>
    Array.from(document.querySelectorAll('input'), ({ files }) => files?.length),
  );
  assert.deepEqual(counts[2], 2);
  assert.deepEqual([opened, await namesOf(page)], [[], []]);
  await page.close();
});

test('only the main button of the mouse opens the picker', async () => {
  const page = await openWith('');
  await page.evaluate(() => {
    const seen: string[] = [];
    const showOpenFilePicker = async (): Promise<[]> => {
      seen.push('picker');
      return [];
    };
    Object.assign(globalThis, { seen, showOpenFilePicker });
    addEventListener('auxclick', ({ button }) => seen.push(`button ${button}`));
  });
  const surface = page.locator('secure-uploader >> .badge');
  for (const button of ['middle', 'right', 'left'] as const) await surface.click({ button });
  const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
  assert.deepEqual(seen, ['button 1', 'button 2', 'picker']);
  await page.close();
});
