// A journey, because it needs the back/forward cache.
// The file keeper and the back/forward cache: a page that comes back has its queued files, unless another page has got them. Also
// a page that is left before its keeper is active.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { builtWidget } from '../support/built.ts';
import { writeRandom } from './support/files.ts';
import { FILES, startTab, type Tab, type TabEngine, tabEngines, untilTrue } from './support/tabs.ts';
import { createWorld } from './support/world.ts';

const world = await createWorld();
world.pages.add('/plain.html', '<p>A page without an uploader</p>');
const script = readFileSync(join(builtWidget(), 'file-keeper.js'), 'utf8');
const short = script.replace('5e4', '200');
assert.notEqual(short, script);
world.pages.setScript('/short.js', short);
const installing = "addEventListener('install', (event) => event.waitUntil(new Promise(() => undefined)));";
world.pages.setScript('/installing.js', installing + script);

/** Opens a page whose user has chosen two files that wait for `start()`, and waits until it can hand them over. */
async function openWithQueue(
  tab: Tab,
  engine: TabEngine,
  keeperUrl: string,
  path: string,
  state = 'activated',
): Promise<string> {
  const { token } = await world.service.createToken('alice', 3_600_000);
  const settings = `keeper-url="${keeperUrl}" data-token="${token}" owner="${path} ${engine}" manual`;
  const url = world.pages.add(path, world.elementWith(settings));
  await tab.goto(url);
  await untilTrue(tab, "customElements.get('secure-uploader') !== undefined");
  const paths = ['one.bin', 'two.bin'].map((name) => join(world.folder, name));
  for (const file of paths) writeRandom(file, 50_000);
  await tab.choose(...paths);
  await untilTrue(tab, `${FILES}.length === 2`);
  const found = `await navigator.serviceWorker.getRegistration('${keeperUrl}')`;
  await untilTrue(tab, `[(${found})?.active?.state, (${found})?.installing?.state].includes('${state}')`);
  await tab.evaluate(
    "void addEventListener('pageshow', ({ persisted }) => { globalThis.isBack = persisted; })",
  );
  return url;
}

const startAll = (tab: Tab): Promise<unknown> =>
  tab.evaluate("void document.querySelector('secure-uploader').start()");

const untilDone = (tab: Tab): Promise<true> =>
  untilTrue(tab, `${FILES}.filter(({ phase }) => phase === 'done').length === 2`);

for (const engine of tabEngines) {
  test(`in ${engine}, a page that comes back after the keeper has dropped its files still has them`, async () => {
    const tab = await startTab(engine);
    try {
      await openWithQueue(tab, engine, '/short.js', '/late.html');
      await tab.goto(`${world.pages.origin}/plain.html`);
      await untilTrue(tab, '(await navigator.serviceWorker.getRegistrations()).length === 0');
      await tab.back();
      await untilTrue(tab, 'globalThis.isBack');
      await startAll(tab);
      await untilDone(tab);
    } finally {
      await tab.end();
    }
  });

  test(`in ${engine}, a page that comes back does not have the files that another page got and uploaded`, async () => {
    const tab = await startTab(engine);
    try {
      const url = await openWithQueue(tab, engine, '/file-keeper.js', '/taken.html');
      await tab.goto(`${world.pages.origin}/plain.html`);
      const other = await tab.newTab();
      await other.goto(url);
      await untilTrue(other, `${FILES}.length === 2`);
      await startAll(other);
      await untilDone(other);
      await tab.back();
      await untilTrue(tab, `location.pathname === '/taken.html' && ${FILES}.length === 0`);
    } finally {
      await tab.end();
    }
  });

  test(`in ${engine}, each uploader of a page that comes back still has its own files`, async () => {
    const tab = await startTab(engine);
    try {
      const settings = `keeper-url="/file-keeper.js" owner="two ${engine}" manual`;
      const url = world.pages.add('/two.html', world.elementWith(settings) + world.elementWith(settings));
      await tab.goto(url);
      await untilTrue(tab, "customElements.get('secure-uploader') !== undefined");
      await tab.evaluate(`void document.querySelectorAll('secure-uploader').forEach((uploader, index) =>
        uploader.addFiles(new File(['content'], index + '.txt')))`);
      await untilTrue(
        tab,
        `(await navigator.serviceWorker.getRegistration('/file-keeper.js'))?.active?.state === 'activated'`,
      );
      // Delivers the keeper's reply without files first, and counts the replies.
      await tab.evaluate(`void (() => {
        const { MessageChannel } = globalThis;
        const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage');
        const delayed = [];
        let hasEmpty = false;
        globalThis.replyCount = 0;
        const deliver = (handler, event) => { handler(event); replyCount += 1; };
        const onReply = (handler, event) => {
          if (!Array.isArray(event.data)) return handler(event);
          if (event.data.length > 0 && !hasEmpty) return delayed.push([handler, event]);
          hasEmpty = true;
          for (const reply of [[handler, event], ...delayed.splice(0)]) deliver(...reply);
        };
        globalThis.MessageChannel = class extends MessageChannel {
          constructor() {
            super();
            Object.defineProperty(this.port1, 'onmessage', {
              set(handler) { set.call(this, (event) => onReply(handler, event)); },
            });
          }
        };
      })()`);
      await tab.goto(`${world.pages.origin}/plain.html`);
      await tab.back();
      await untilTrue(tab, 'globalThis.replyCount === 2');
      const lists = `[...document.querySelectorAll('secure-uploader')]
        .map(({ snapshot }) => snapshot.files.map(({ name }) => name))`;
      assert.deepEqual(await tab.evaluate(lists), [['0.txt'], ['1.txt']]);
    } finally {
      await tab.end();
    }
  });

  test(`in ${engine}, a page that is left while its keeper is installed hands over its files`, async () => {
    const tab = await startTab(engine);
    try {
      const url = await openWithQueue(tab, engine, '/installing.js', '/first.html', 'installing');
      await tab.goto(`${url}?again`);
      await untilTrue(tab, `location.search === '?again' && ${FILES}.length === 2`);
      await startAll(tab);
      await untilDone(tab);
    } finally {
      await tab.end();
    }
  });
}
