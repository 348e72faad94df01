// A journey, because it needs two tabs, a real drag and the real clipboard.
// One name for several files, in a folder with unique names: pasted, dropped, and in two uploaders or tabs at the same moment.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { drop, untilEvent } from './support/browser.ts';
import { sumOfFile } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { assertStored, filesOf, QUICK } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const UNIQUE = `parent-id="folder-unique" ${QUICK}`;

const world = await createWorld();
await world.context.grantPermissions(['clipboard-read', 'clipboard-write']);

/** Writes a file with content of its own. Returns its path. */
function write(name: string): string {
  const path = join(world.folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${name} ${Math.random()}`);
  return path;
}

/** Asserts that these files are stored, each with its own bytes. Returns their names. */
async function stored(page: Page, paths: readonly string[]): Promise<string[]> {
  const completed = await untilEvent(page, 'upload-completed', paths.length);
  const sums = await Promise.all(paths.map(sumOfFile));
  assert.deepEqual(new Set(completed.map(({ detail }) => detail.chunks[0].hash)), new Set(sums));
  for (const { detail } of completed) await assertStored(world, detail.commit.file_id, detail.chunks[0].hash);
  return completed.map(({ detail }) => detail.name).sort();
}

const namesIn = async (start: string): Promise<string[]> =>
  (await world.service.listFiles('folder-unique'))
    .map(({ name }) => name)
    .filter((name) => name.startsWith(start));

test('a picture that is pasted twice by keys, without a pause, is stored under two names', async () => {
  const page = await world.openWithToken(UNIQUE);
  await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(2, 2);
    canvas.getContext('2d')?.fillRect(0, 0, 2, 2);
    const png = await canvas.convertToBlob({ type: 'image/png' });
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
  });
  await Promise.all([page.keyboard.press('Control+V'), page.keyboard.press('Control+V')]);
  await untilEvent(page, 'upload-completed', 2);
  assert.equal(new Set((await filesOf(page)).map(({ name }) => name)).size, 2);
  assert.equal(new Set(await namesIn('image ')).size, 2);
  await page.close();
});

test('files of one name in two folders of one drop are stored under two names', async () => {
  const paths = ['Both/2023/tax.pdf', 'Both/2024/tax.pdf'].map(write);
  const page = await world.openWithToken(`${UNIQUE} on-conflict="rename"`);
  await drop(page, [join(world.folder, 'Both')]);
  assert.deepEqual(await stored(page, paths), ['tax (2).pdf', 'tax.pdf']);
  await page.close();
});

test('files whose names differ in their spelling in Unicode only are stored under two names, and opened once each', async () => {
  const paths = ['Mixed/caf\u00e9.txt', 'Mixed/cafe\u0301.txt'].map(write);
  const page = await world.openWithToken(`${UNIQUE} on-conflict="rename"`);
  world.service.faults.clearLog();
  await drop(page, [join(world.folder, 'Mixed')]);
  const names = (await stored(page, paths)).map((name) => name.normalize());
  assert.deepEqual(names.sort(), ['caf\u00e9 (2).txt', 'caf\u00e9.txt']);
  assert.equal(world.entries('session').length, 2);
  await page.close();
});

test('files of one name in two uploaders of a page are stored under two names', async () => {
  const paths = ['left/plan.txt', 'right/plan.txt'].map(write);
  const page = await world.openWithToken(`${UNIQUE} on-conflict="rename" manual`);
  await page.evaluate(() => {
    const first = document.querySelector('secure-uploader');
    const second = first?.cloneNode(true) as NonNullable<typeof first>;
    Object.assign(second, { id: 'second', getToken: first?.getToken });
    first?.after(second);
  });
  await drop(page, paths.slice(0, 1), page.locator('secure-uploader').first());
  await drop(page, paths.slice(1), page.locator('#second'));
  await page.waitForFunction(() =>
    [...document.querySelectorAll('secure-uploader')].every(({ snapshot }) => snapshot.files.length === 1),
  );
  await page.evaluate(() => {
    for (const uploader of document.querySelectorAll('secure-uploader')) void uploader.start();
  });
  assert.deepEqual(await stored(page, paths), ['plan (2).txt', 'plan.txt']);
  await page.close();
});

test('a name that another tab takes before the commit fails the file, and a new one by keys sends no byte again', async () => {
  const [mine, other] = ['mine/deed.pdf', 'other/deed.pdf'].map(write) as [string, string];
  const page = await world.openWithToken(UNIQUE);
  const gate = createGate();
  world.service.faults.add({ operation: 'commit', waitFor: gate.opened });
  world.service.faults.clearLog();
  const isCommitting = page.waitForRequest((request) => request.url().endsWith('/commit'));
  await drop(page, [mine]);
  await isCommitting;
  const tab = await world.openWithToken(UNIQUE);
  await drop(tab, [other]);
  assert.deepEqual(await stored(tab, [other]), ['deed.pdf']);
  gate.open();
  const [failed] = await untilEvent(page, 'upload-failed');
  assert.equal(failed?.detail.code, 'name-taken');
  const putCount = world.entries('put').length;
  await page.bringToFront();
  await page.focus('secure-uploader >> .row');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  assert.deepEqual(await stored(page, [mine]), ['deed (2).pdf']);
  assert.equal(world.entries('put').length, putCount);
  await page.close();
  await tab.close();
});
