// A journey, because it needs a real disk, a real drag and the real clipboard.
// Real drags of what is on real disks, and real pictures from the clipboard: what is left out, and which types are accepted.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { drop } from './support/browser.ts';
import { createWorld } from './support/world.ts';

const world = await createWorld();
await world.context.grantPermissions(['clipboard-read', 'clipboard-write']);

/** Writes files below the folder of the test. Returns their paths. */
const write = (...names: readonly string[]): string[] =>
  names.map((name) => {
    const path = join(world.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, name);
    return path;
  });

interface Outcome {
  readonly added: string[];
  readonly rejected: string[][];
}

/** Resolves with the outcome when `count` files have been added or rejected. */
async function outcome(page: Page, count: number): Promise<Outcome> {
  await page.waitForFunction((count) => {
    const { files = [], rejections = [] } = document.querySelector('secure-uploader')?.snapshot ?? {};
    return files.length + rejections.length >= count;
  }, count);
  return page.evaluate(() => {
    const { files = [], rejections = [] } = document.querySelector('secure-uploader')?.snapshot ?? {};
    return {
      added: files.map(({ relativePath }) => relativePath).sort(),
      rejected: rejections.map(({ relativePath, code }) => [relativePath, code]),
    };
  });
}

test('a stick that macOS and Windows have used gives only the files of its user', async () => {
  const own = ['report.pdf', 'Photos/cat.jpg', 'Photos/Icon.png'];
  const ofSystem = [
    ...['Icon\r', '.localized', 'DESKTOP.INI', 'Photos/Icon\r', 'Photos/THUMBS.DB', '.Trashes/501/old.pdf'],
    ...['.Spotlight-V100/Store-V2/store.db', '.fseventsd/fseventsd-uuid', '.TemporaryItems/folders.501/x'],
    ...['System Volume Information/IndexerVolumeGuid', '$RECYCLE.BIN/S-1-5/desktop.ini'],
  ];
  write(...[...own, ...ofSystem].map((name) => `STICK/${name}`));
  const inStick = (names: readonly string[]): string[] => names.map((name) => `STICK/${name}`).sort();
  const page = await world.open('manual max-files="3"');
  await drop(page, [join(world.folder, 'STICK')]);
  assert.deepEqual(await outcome(page, 3), { added: inStick(own), rejected: [] });
  const all = await world.open('manual include-hidden');
  await drop(all, [join(world.folder, 'STICK')]);
  const count = own.length + ofSystem.length;
  assert.deepEqual(await outcome(all, count), { added: inStick([...own, ...ofSystem]), rejected: [] });
  await page.close();
  await all.close();
});

test('a folder gives all its files, also those whose names its browser finds unsafe', async () => {
  const names = [
    'aux.h',
    'Shop.url',
    'Report.lnk',
    'a.local',
    'trailing.',
    ' leading',
    'end ',
    'x~',
    'what?.txt',
    'a|b:c',
  ];
  write(...[...names, 'deep/nul.txt'].map((name) => `Odd/${name}`));
  const page = await world.openWithToken(`manual`);
  await drop(page, [join(world.folder, 'Odd')]);
  const { added, rejected } = await outcome(page, names.length + 1);
  assert.deepEqual(added, [...names, 'deep/nul.txt'].map((name) => `Odd/${name}`).sort());
  assert.deepEqual(rejected, []);
  await page.close();
});

test('files of the disk are accepted by what they are, whatever type this system reports', async () => {
  const taken = ['IMG_1.DNG', 'IMG_2.heic', 'IMG_3.jfif', 'clip.m4v', 'clip.mts', 'feed.xml', 'scan.TIF'];
  const refused = ['photo.heic.exe', 'notes.txt', 'heic'];
  const page = await world.open('manual accept="IMAGE/*, video/*;capture=camcorder, text/xml"');
  await drop(page, write(...taken, ...refused));
  assert.deepEqual(await outcome(page, taken.length + refused.length), {
    added: [...taken].sort(),
    rejected: refused.map((name) => [name, 'file-type-refused']),
  });
  await page.close();
});

test('a picture of the clipboard is judged under the name that it gets', async () => {
  for (const [accept, isTaken] of [
    ['.png', true],
    ['image/jpeg,.jpg', false],
  ] as const) {
    const page = await world.open(`manual accept="${accept}"`);
    await page.evaluate(async () => {
      const canvas = new OffscreenCanvas(2, 2);
      canvas.getContext('2d')?.fillRect(0, 0, 2, 2);
      const png = await canvas.convertToBlob({ type: 'image/png' });
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
    });
    await page.keyboard.press('Control+V');
    const { added, rejected } = await outcome(page, 1);
    const names = isTaken ? added : rejected.map(([name]) => name);
    assert.deepEqual([added.length, rejected.length], isTaken ? [1, 0] : [0, 1]);
    assert.match(names[0] ?? '', /^image \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.png$/);
    await page.close();
  }
});
