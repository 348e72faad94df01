// A journey, because it needs the browser’s history, which restores a form.
// The element in a form of a page: the form waits for the upload, submits its values, and has them again after the user goes back.
// Also in a page whose parts htmx replaces.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright';
import { engines, startEngine } from './support/auth-browsers.ts';
import { newContext, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { pick, puts } from './support/transfer.ts';
import { createWorld, isReady, type World } from './support/world.ts';

const FILE_BYTES = 100_000;
const HTMX = readFileSync(createRequire(import.meta.url).resolve('htmx.org/dist/htmx.min.js'), 'utf8');
/** Without it, htmx adds styles, which the policy of the page forbids. */
const HTMX_CONFIG = `<meta name="htmx-config" content='{"includeIndicatorStyles":false}'>`;

for (const engine of engines)
  describe(`A form in ${engine}`, () => {
    let world: World;
    let browser: Browser;
    before(async () => {
      world = await createWorld();
      browser = await startEngine(engine);
    });
    after(async () => {
      await browser?.close();
    });

    async function openForm(attributes = '', ofForm = '', around = ''): Promise<Page> {
      const { token } = await world.service.createToken('alice', 3_600_000);
      const element = world.elementWith(
        `id="documents" name="documents" required data-token="${token}" ${attributes}`,
      );
      world.pages.add('/sent.html', `<h1>Sent</h1>${world.elementWith('')}`);
      world.pages.changePolicy('/form.html', (policy) =>
        policy
          .replace("form-action 'none'", "form-action 'self'")
          .replace(/; (require-)?trusted-types.*/, around && ''),
      );
      const url = world.pages.add(
        '/form.html',
        `${around}<form action="/sent.html" ${ofForm}><label for="documents">Your documents</label>${element}<button>Send</button></form>`,
      );
      const page = await (await newContext(browser)).newPage();
      await page.goto(url);
      await isReady(page);
      return page;
    }

    const valuesOf = (page: Page): Promise<string[]> =>
      page.evaluate(() =>
        [...new FormData(document.querySelector('form') as HTMLFormElement).values()].map(String),
      );

    /** Chooses a file whose bytes are stored only after the gate is opened. */
    async function begin(page: Page, name: string) {
      const gate = createGate();
      world.service.faults.add({ operation: 'put', waitFor: gate.opened });
      const path = join(world.folder, name);
      const sha256 = writeRandom(path, FILE_BYTES);
      await pick(page, path);
      await untilEvent(page, 'upload-started');
      return { gate, sha256 };
    }

    /**
     * Goes back to the form, or submits it again. With Firefox, `goBack()` and clicks never resolve if the page comes from the
     * back/forward cache.
     */
    async function moveTo(page: Page, path: '/form.html' | '/sent.html'): Promise<void> {
      await page.evaluate(
        (isBack) => void setTimeout(() => (isBack ? history.back() : document.forms[0]?.requestSubmit())),
        path === '/form.html',
      );
      await page.waitForFunction((expected) => location.pathname === expected, path, { polling: 100 });
      await isReady(page);
    }

    const send = (page: Page): Promise<void> => page.getByRole('button', { name: 'Send' }).click();

    const messageOf = (page: Page): Promise<string> =>
      page.evaluate(
        () => (document.querySelector('secure-uploader') as unknown as ElementInternals).validationMessage,
      );

    test('with submit-when-done, is sent when the upload is done, without a warning', async () => {
      const page = await openForm('submit-when-done');
      const dialogs: string[] = [];
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.type());
        void dialog.accept();
      });
      const { gate, sha256 } = await begin(page, `${engine}-later.bin`);
      await send(page);
      assert.equal(await messageOf(page), 'The form will be sent when all files are uploaded.');
      gate.open();
      await page.waitForURL(/sent\.html/);
      const [value] = new URL(page.url()).searchParams.getAll('documents');
      assert.deepEqual(JSON.parse(value ?? '').hashes, [sha256]);
      assert.deepEqual(dialogs, []);
      assert.deepEqual(world.pages.violations, []);
      await page.close();
    });

    test('sent by htmx, waits for the upload, which continues while htmx replaces the form', async () => {
      world.pages.setScript('/htmx.js', HTMX);
      const hx = 'hx-get="/answer.html" hx-target="#answer"';
      const page = await openForm(
        'submit-when-done hx-preserve="true"',
        `id="claim" ${hx}`,
        `${HTMX_CONFIG}<script src="/htmx.js"></script><p id="answer"></p>
        <button hx-get="/claim.html" hx-target="#claim" hx-swap="outerHTML">Replace</button>`,
      );
      world.pages.add('/answer.html', 'Thank you');
      world.pages.add(
        '/claim.html',
        `<form id="claim" ${hx}><secure-uploader id="documents" hx-preserve="true"></secure-uploader><button>Send again</button></form>`,
      );
      const { gate, sha256 } = await begin(page, `${engine}-htmx.bin`);
      await page.getByRole('button', { name: 'Replace' }).click();
      await page.getByRole('button', { name: 'Send again' }).click();
      const [request] = await Promise.all([
        page.waitForRequest(/answer\.html/),
        messageOf(page).then((message) => {
          assert.equal(message, 'The form will be sent when all files are uploaded.');
          gate.open();
        }),
      ]);
      await page.getByText('Thank you').waitFor();
      const [value] = new URL(request.url()).searchParams.getAll('documents');
      assert.deepEqual(JSON.parse(value ?? '').hashes, [sha256]);
      assert.deepEqual(puts(world).filter(({ hash }) => hash === sha256).length, 1, 'nothing is sent twice');
      await page.close();
    });

    test('waits for a file, submits it, and has it again after back, but not after a sign-out', async () => {
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
      await untilEvent(page, 'upload-completed');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.waitForURL(/sent\.html/);
      const sent = new URL(page.url()).searchParams.getAll('documents');
      assert.equal(sent.length, 1);
      const { sessionId, ...value } = JSON.parse(sent[0] ?? '');
      assert.deepEqual(value, { name: `${engine}.bin`, sizeBytes: FILE_BYTES, hashes: [sha256] });
      assert.equal(typeof sessionId, 'string');

      await moveTo(page, '/form.html');
      assert.deepEqual(await valuesOf(page), sent);
      // Firefox keeps the page itself, with its list.
      if (engine === 'chromium') await page.getByText('1 file uploaded').waitFor();
      await moveTo(page, '/sent.html');
      const search = await page.evaluate(() => location.search);
      assert.deepEqual(new URLSearchParams(search).getAll('documents'), sent, 'it is sent again');

      await page.evaluate(() => document.querySelector('secure-uploader')?.signOut());
      await moveTo(page, '/form.html');
      await page.waitForFunction(
        () => !(document.querySelector('secure-uploader') as unknown as ElementInternals).checkValidity(),
        null,
        { polling: 100 },
      );
      assert.deepEqual(await valuesOf(page), [], 'and is gone after the sign-out');
      if (engine === 'chromium') assert.equal(await page.getByText('1 file uploaded').count(), 0);
      assert.deepEqual(world.pages.violations, []);
      await page.close();
    });
  });
