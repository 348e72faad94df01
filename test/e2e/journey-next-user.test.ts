// A journey, because it needs the history of the browser, the back/forward cache, and frozen tabs.
// The next user of a browser goes back, forward, reloads, or continues in a tab of the user before, who has signed out in another
// tab, or whose page now names another owner. Nothing of the user before is there, and nothing of the next user is lost.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { writeRandom } from './support/files.ts';
import { FILES, startTab, type Tab, tabEngines, untilTrue } from './support/tabs.ts';
import { createWorld, type World } from './support/world.ts';

const VALUES = "[...new FormData(document.forms[0]).getAll('documents')]";
const SHOWN = "document.querySelector('secure-uploader').shadowRoot.textContent";
const IS_READY =
  "document.querySelector('secure-uploader')?.shadowRoot !== null && document.forms.length === 1";
const NAME = 'divorce-papers.bin';
/** What a page remembers if it comes back from the cache. */
const NOTE = "void addEventListener('pageshow', ({ persisted }) => { globalThis.isBack = persisted; })";

for (const engine of tabEngines)
  describe(`The next user in ${engine}`, () => {
    let world: World;
    before(async () => {
      world = await createWorld();
      world.pages.add('/plain.html', '<p>A page without an uploader</p>');
    });

    let number = 0;

    /** Writes the page of `owner` at `path`, as the server does for the user of its session. */
    async function page(path: string, owner: string, more = ''): Promise<string> {
      const { token } = await world.service.createToken('alice', 3_600_000);
      const settings = `name="documents" owner="${owner}" data-token="${token}" ${more}`;
      return world.pages.add(path, `<form>${world.elementWith(settings)}<button>Send</button></form>`);
    }

    /** Opens a page of Alice, who uploads a file for the form. Resolves with the path of the page. */
    async function uploadAsAlice(tab: Tab, isCached = true): Promise<string> {
      number += 1;
      const path = `/form-${number}.html`;
      if (!isCached) world.pages.headers[path] = { 'cache-control': 'no-store' };
      const url = await page(path, 'alice');
      await tab.goto(url);
      await untilTrue(tab, IS_READY);
      const file = join(world.folder, NAME);
      writeRandom(file, 50_000);
      await tab.choose(file);
      await untilTrue(tab, `${VALUES}.length === 1`);
      await tab.evaluate(NOTE);
      return path;
    }

    /** In another tab, Alice signs out, and Bob begins an upload, which stays unfinished. */
    async function changeUser(tab: Tab): Promise<Tab> {
      const other = await tab.newTab();
      await other.goto(await page('/next.html', 'alice'));
      await untilTrue(other, IS_READY);
      await other.evaluate("void document.querySelector('secure-uploader').signOut()");
      await untilTrue(other, "/^[1-9]/.test(localStorage.getItem('secure-uploader:period'))");
      await other.goto(await page('/next.html', 'bob', 'chunk-size="16KiB"'));
      await untilTrue(other, IS_READY);
      world.service.faults.add({ operation: 'put', skip: 1, times: 99, stall: true });
      const file = join(world.folder, 'of-bob.bin');
      writeRandom(file, 90_000);
      await other.choose(file);
      await untilTrue(other, `${FILES}[0]?.storedBytes > 0`);
      await other.reload();
      await untilTrue(other, `${FILES}[0]?.name === 'of-bob.bin'`);
      return other;
    }

    /** Nothing of Alice is there. Bob's upload may be listed. */
    async function expectNothing(tab: Tab, path: string): Promise<void> {
      await untilTrue(tab, `location.pathname === '${path}' && ${IS_READY}`);
      await untilTrue(tab, `${FILES}.every(({ name }) => name === 'of-bob.bin') && ${VALUES}.length === 0`);
      const shown = await tab.evaluate<string>(SHOWN);
      assert.ok(!shown.includes(NAME) && !shown.includes('file uploaded'), shown);
    }

    /** Bob's upload is still there. */
    async function expectOfBob(other: Tab): Promise<void> {
      await other.reload();
      await untilTrue(other, `${FILES}[0]?.name === 'of-bob.bin' && ${FILES}[0].storedBytes > 0`);
    }

    async function inTab(run: (tab: Tab) => Promise<void>): Promise<void> {
      const tab = await startTab(engine);
      try {
        await run(tab);
      } finally {
        world.service.faults.clear();
        await tab.end();
      }
    }

    test('goes back to a page that was in the cache while the user signed out, and another one in', () =>
      inTab(async (tab) => {
        const path = await uploadAsAlice(tab);
        await tab.goto(`${world.pages.origin}/plain.html`);
        const other = await changeUser(tab);
        // The message of the sign-out has ended the cached page.
        await tab.back();
        await expectNothing(tab, path);
        await expectOfBob(other);
      }));

    test('goes back to a page in the cache, which has got no message of the sign-out', () =>
      inTab(async (tab) => {
        const path = await uploadAsAlice(tab);
        await tab.goto(`${world.pages.origin}/plain.html`);
        await tab.evaluate("localStorage.setItem('secure-uploader:period', '1-of-another-page')");
        await tab.back();
        await expectNothing(tab, path);
        assert.equal(await tab.evaluate('globalThis.isBack'), true, 'the page was in the cache');
      }));

    test('goes back to a page in the cache, which still has everything if no user has signed out', () =>
      inTab(async (tab) => {
        const path = await uploadAsAlice(tab);
        await tab.goto(`${world.pages.origin}/plain.html`);
        await tab.back();
        await untilTrue(tab, `location.pathname === '${path}' && globalThis.isBack`);
        await untilTrue(tab, `${FILES}.length === 1 && ${VALUES}.length === 1`);
      }));

    test('goes back to a page in the cache, which then names the owner of now', () =>
      inTab(async (tab) => {
        const path = await uploadAsAlice(tab);
        const rename = "document.querySelector('secure-uploader').owner = 'bob'";
        await tab.evaluate(`void addEventListener('pageshow', () => { ${rename}; })`);
        await tab.goto(`${world.pages.origin}/plain.html`);
        await tab.back();
        await expectNothing(tab, path);
      }));

    for (const [how, leave] of [
      ['after a sign-out', changeUser],
      ['after a sign-in to the page by another user', async () => undefined],
    ] as const)
      for (const move of ['back', 'reload'] as const)
        test(`${move === 'back' ? 'goes back to' : 'reloads'} a page that is loaded again, ${how}`, () =>
          inTab(async (tab) => {
            const path = await uploadAsAlice(tab, false);
            await tab.evaluate("void addEventListener('unload', () => undefined)");
            if (move === 'back') await tab.goto(`${world.pages.origin}/plain.html`);
            const other = await leave(tab);
            await page(path, 'bob');
            await tab[move]();
            await untilTrue(tab, `location.pathname === '${path}' && globalThis.isBack === undefined`);
            await untilTrue(tab, "document.querySelector('secure-uploader')?.owner === 'bob'");
            // By then, the saved uploads have been read.
            if (other) await untilTrue(tab, `${FILES}.some(({ name }) => name === 'of-bob.bin')`);
            await expectNothing(tab, path);
            if (other) await expectOfBob(other);
          }));

    test('goes forward to a page in the cache, after the user has signed out on the page before it', () =>
      inTab(async (tab) => {
        await tab.goto(await page('/before.html', 'alice'));
        await untilTrue(tab, IS_READY);
        const path = await uploadAsAlice(tab);
        await tab.back();
        await untilTrue(tab, `location.pathname === '/before.html' && ${IS_READY}`);
        await tab.evaluate("void document.querySelector('secure-uploader').signOut()");
        await untilTrue(tab, "/^[1-9]/.test(localStorage.getItem('secure-uploader:period'))");
        await tab.forward();
        await expectNothing(tab, path);
      }));

    if (engine === 'chromium')
      test('continues in a tab that was frozen while the user signed out, and another one in', () =>
        inTab(async (tab) => {
          const path = await uploadAsAlice(tab);
          await tab.freeze(true);
          const other = await changeUser(tab);
          await tab.freeze(false);
          await expectNothing(tab, path);
          await expectOfBob(other);
        }));
  });
