// The element in a form of a page: the form waits for the upload, submits its values, and has them again after the user goes back.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright';
import { engines, startEngine } from './support/auth-browsers.ts';
import { TIMEOUT_MS, until } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createWorld, type World } from './support/world.ts';

const FILE_BYTES = 100_000;

for (const engine of engines)
  describe(`A form in ${engine}`, () => {
    let world: World;
    let browser: Browser;
    before(async () => {
      world = await createWorld({ fsync: false });
      browser = await startEngine(engine);
    });
    after(async () => {
      await browser?.close();
      await world?.close();
    });

    async function openForm(): Promise<Page> {
      const { token } = await world.service.createToken('alice', 3_600_000);
      const element = world.elementWith(`id="documents" name="documents" required data-token="${token}"`);
      world.pages.add('/sent.html', '<h1>Sent</h1>');
      world.pages.changePolicy('/form.html', (policy) =>
        policy.replace("form-action 'none'", "form-action 'self'"),
      );
      const url = world.pages.add(
        '/form.html',
        `<form action="/sent.html"><label for="documents">Your documents</label>${element}<button>Send</button></form>`,
      );
      const page = await browser.newPage();
      page.setDefaultTimeout(TIMEOUT_MS);
      await page.addInitScript('globalThis.__name = (fn) => fn;');
      await page.goto(url);
      await isReady(page);
      return page;
    }

    const isReady = (page: Page): Promise<unknown> =>
      page.waitForFunction(() => customElements.get('secure-uploader') !== undefined, null, {
        polling: 100,
      });

    const valuesOf = (page: Page): Promise<string[]> =>
      page.evaluate(() =>
        [...new FormData(document.querySelector('form') as HTMLFormElement).values()].map(String),
      );

    test('waits for a file, submits it, and has it again after back', async () => {
      const page = await openForm();
      await page.getByRole('button', { name: 'Send' }).click();
      assert.equal(new URL(page.url()).pathname, '/form.html', 'the form is not submitted without a file');
      const message = await page.evaluate(
        () => (document.querySelector('secure-uploader') as unknown as ElementInternals).validationMessage,
      );
      assert.equal(message, 'Upload a file.');
      await page.getByRole('group', { name: 'Your documents' }).waitFor();

      const path = join(world.folder, `${engine}.bin`);
      const sha256 = writeRandom(path, FILE_BYTES);
      await page.setInputFiles('secure-uploader >> input[type=file]', path);
      await until(page, 'upload-completed');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.waitForURL(/sent\.html/);
      const sent = new URL(page.url()).searchParams.getAll('documents');
      assert.equal(sent.length, 1);
      const { sessionId, ...value } = JSON.parse(sent[0] ?? '');
      assert.deepEqual(value, { name: `${engine}.bin`, sizeBytes: FILE_BYTES, hashes: [sha256] });
      assert.equal(typeof sessionId, 'string');

      // With Firefox, `goBack()` never resolves if the page comes from the back/forward cache.
      await page.evaluate(() => void setTimeout(() => history.back()));
      await page.waitForFunction(() => location.pathname === '/form.html', null, { polling: 100 });
      await isReady(page);
      assert.deepEqual(await valuesOf(page), sent);
      // Firefox keeps the page itself, with its list.
      if (engine === 'chromium') {
        await page.getByText('1 file uploaded').waitFor();
        await page.getByRole('button', { name: 'Remove from list' }).click();
        await page.waitForFunction(
          () => new FormData(document.querySelector('form') as HTMLFormElement).has('documents') === false,
          null,
          { polling: 100 },
        );
      }
      assert.deepEqual(world.pages.violations, []);
      await page.close();
    });
  });
