// A journey, because it needs real drags, the real clipboard and real keys.
// The widget beside other things on a page, with real drags, pastes, clicks and keys: it takes only what is meant for it.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { copyPicture, namesOf, openBeside, paste } from './support/beside.ts';
import { drop } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { filesOf } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const world = await createWorld();
await world.context.grantPermissions(['clipboard-read', 'clipboard-write']);

const openWith = (beside: string, inside?: string): Promise<Page> => openBeside(world, beside, { inside });

test('a drop on an editor or another zone reaches it, and a stray drop opens nothing', async () => {
  const path = join(world.folder, 'dropped.bin');
  writeRandom(path, 1000);
  const page = await openWith(`<textarea id="area"></textarea><p id="editor" contenteditable>editor</p>
    <input id="input" type="file"><p id="zone">a zone</p><p id="nothing">nothing</p>`);
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { seen });
    for (const id of ['area', 'editor'])
      document.getElementById(id)?.addEventListener('drop', (event) => {
        event.preventDefault();
        seen.push(id);
      });
    for (const type of ['dragover', 'drop'])
      addEventListener(type, (event) => {
        if ((event.target as Element).id !== 'zone') return;
        event.preventDefault();
        if (type === 'drop') seen.push('zone');
      });
    const stray: Record<string, boolean> = {};
    Object.assign(globalThis, { stray });
    // The browser opens a file unless `dragover` is prevented. Read after the listeners of the widget.
    const onDrag = (event: Event): void =>
      void setTimeout(() => {
        stray[(event.target as Element).id] = event.defaultPrevented;
      });
    addEventListener('dragover', onDrag, { capture: true });
  });
  for (const id of ['area', 'editor', 'zone', 'input', 'nothing'])
    await drop(page, [path], page.locator(`#${id}`));
  assert.deepEqual(await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen), [
    'area',
    'editor',
    'zone',
  ]);
  assert.match(await page.locator('#input').inputValue(), /dropped\.bin$/);
  assert.deepEqual(await namesOf(page), []);
  const stray = await page.evaluate(() => (globalThis as unknown as { stray: unknown }).stray);
  assert.deepEqual(stray, { area: false, editor: false, zone: true, input: false, nothing: true });
  await drop(page, [path]);
  await page.waitForFunction(() => document.querySelector('secure-uploader')?.snapshot.files.length === 1);
  await page.close();
});

test('a picture is pasted if nothing else could want it', async () => {
  const page = await openWith(`<button id="button">A button</button><textarea id="area"></textarea>
    <div id="cell" role="gridcell" tabindex="0">cell</div><dialog><button>In a dialog</button></dialog><details open><summary>Files</summary>`);
  await copyPicture(page);
  assert.equal(await paste(page), 1, 'nothing has the focus');
  await page.focus('#button');
  assert.equal(await paste(page), 1, 'a button has the focus');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'button', 'it keeps the focus');
  for (const id of ['area', 'cell']) {
    await page.focus(`#${id}`);
    assert.equal(await paste(page), 0, id);
  }
  await page.focus('secure-uploader >> button');
  assert.equal(await paste(page), 1, 'the widget has the focus');
  const states = ['modal', 'inert', 'hidden', 'invisible', 'details'] as const;
  const change = (state: (typeof states)[number], isOn: boolean): Promise<void> =>
    page.evaluate(
      ([state, isOn]) => {
        const widget = document.querySelector('secure-uploader') as HTMLElement;
        const dialog = document.querySelector('dialog');
        (document.activeElement as HTMLElement | null)?.blur();
        if (state === 'modal' && isOn) dialog?.showModal();
        else if (state === 'modal') dialog?.close();
        else if (state === 'invisible') widget.style.visibility = isOn ? 'hidden' : '';
        else if (state === 'details') (widget.parentElement as HTMLDetailsElement).open = !isOn;
        else widget.toggleAttribute(state, isOn);
      },
      [state, isOn] as const,
    );
  for (const state of states) {
    await change(state, true);
    assert.equal(await paste(page), 0, state);
    await change(state, false);
    assert.equal(await paste(page), 1, `no longer ${state}`);
  }
  await copyPicture(page, 'A1\tB1');
  assert.equal(await paste(page), 0, 'a picture of cells');
  await copyPicture(page, 'image.png');
  assert.equal(await paste(page), 1, 'a file with its name');
  await page.close();
});

test('things in slots act themselves, and the surface around them opens the picker', async () => {
  const page = await openWith(
    '',
    `<span slot="hint"><a href="#terms" id="link">Terms</a> <label id="label">Label</label> <input type="checkbox" id="check">
      <select id="select"></select> <textarea id="area"></textarea> <my-button id="custom">Custom</my-button>
      <span role="button" id="role">Role</span></span><span slot="hint" role="img" id="picture">Picture</span><span slot="hint" id="plain">Plain words to select</span>`,
  );
  await page.evaluate(() => {
    let count = 0;
    Object.assign(globalThis, {
      showOpenFilePicker: async () => {
        count += 1;
        return [];
      },
      countOf: () => count,
    });
  });
  const opened = (): Promise<number> =>
    page.evaluate(() => (globalThis as unknown as { countOf(): number }).countOf());
  for (const id of ['link', 'label', 'check', 'select', 'area', 'custom', 'role']) await page.click(`#${id}`);
  await page.keyboard.press('Escape');
  await page.focus('#link');
  await page.keyboard.press('Enter');
  await page.focus('#check');
  await page.keyboard.press('Space');
  assert.equal(await opened(), 0);
  const box = await page.locator('#plain').boundingBox();
  assert.ok(box);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + 2, y);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, y, { steps: 4 });
  await page.mouse.up();
  assert.notEqual(await page.evaluate(() => String(getSelection())), '');
  assert.equal(await opened(), 0, 'after text was selected');
  await page.mouse.click(box.x + box.width - 3, y);
  assert.equal(await opened(), 1, 'on plain text');
  await page.click('secure-uploader >> [part~=drop-zone]', { position: { x: 8, y: 8 } });
  assert.equal(await opened(), 2, 'on the surface');
  await page.click('#picture');
  assert.equal(await opened(), 3, 'on a picture');
  await page.close();
});

test('keys that the list handles do not reach the page', async () => {
  const page = await world.openWithToken('manual');
  const paths = ['a.txt', 'b.txt'].map((name) => join(world.folder, name));
  for (const path of paths) writeFileSync(path, path);
  await page.setInputFiles('secure-uploader >> input[type=file]', paths);
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { seen });
    document.addEventListener('keydown', ({ key }) => seen.push(key));
  });
  await page.focus('secure-uploader >> .row');
  for (const key of ['ArrowDown', 'ArrowUp', 'ArrowRight', 'Home', 'End', 'x', 'Delete', 'Escape'])
    await page.keyboard.press(key);
  assert.deepEqual(await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen), ['x']);
  await page.close();
});

/** Opens the page of the README, with the service of this test. `prepare` is called before the page is loaded. */
async function openReadme(prepare?: (page: Page) => Promise<unknown>): Promise<Page> {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const sample = /```html\n(<!doctype html>[\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const { baseUrl, storageUrl } = world.service;
  const html = sample
    .replaceAll('http://localhost:8787', baseUrl)
    .replaceAll('http://localhost:8788', storageUrl);
  assert.ok(html.includes(baseUrl) && html.includes(storageUrl));
  world.pages.setScript('/readme.html', html);
  world.pages.changePolicy('/readme.html', () => "default-src * 'unsafe-inline'");
  const page = await world.context.newPage();
  await prepare?.(page);
  await page.goto(`${world.pages.origin}/readme.html`);
  return page;
}

test('the page of the README uploads with the reference service in test mode', async () => {
  const page = await openReadme();
  const said = page.waitForEvent('console', (message) => message.type() === 'log');
  const path = join(world.folder, 'first.pdf');
  writeRandom(path, 100_000);
  await page.setInputFiles('secure-uploader >> #files', path);
  const [commit, receipts] = await Promise.all((await said).args().map((value) => value.jsonValue()));
  assert.equal((receipts as unknown[]).length, 1);
  assert.ok(commit);
  assert.deepEqual(
    (await filesOf(page)).map(({ name, phase }) => [name, phase]),
    [['first.pdf', 'done']],
  );
  await page.close();
});

test('the page of the README uploads without a click after an outage of its server', async () => {
  let requestCount = 0;
  const page = await openReadme((page) =>
    page.route('**/_test/token', async (route) => {
      requestCount += 1;
      if (requestCount > 1) await route.continue();
      else
        await route.fulfill({
          status: 502,
          headers: { 'access-control-allow-origin': '*' },
          body: 'Bad gateway',
        });
    }),
  );
  const said = page.waitForEvent('console', (message) => message.type() === 'log');
  const path = join(world.folder, 'outage.pdf');
  writeRandom(path, 100_000);
  await page.setInputFiles('secure-uploader >> #files', path);
  await said;
  assert.deepEqual(
    (await filesOf(page)).map(({ name, phase }) => [name, phase]),
    [['outage.pdf', 'done']],
  );
  assert.equal(requestCount, 2);
  await page.close();
});
