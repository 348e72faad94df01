// A journey, because it needs the built package with its traces.
// Recipes as the documentation has them, in a page: the title and the notification, and a trace with OpenTelemetry.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import type { Page, Route } from 'playwright';
import ts from 'typescript';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import { all, read } from '../support/documents.ts';
import { untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { pick } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const MIB = 2 ** 20;
/** Replaces notifications, which a browser without a window does not show, and lets a test hide the page. */
const RECORD = `{
  globalThis.notes = [];
  globalThis.Notification = class {
    static permission = 'default';
    static requestPermission() { this.permission = 'granted'; }
    constructor(title, { body }) { notes.push(title + ': ' + body); }
  };
  globalThis.isHidden = false;
  Object.defineProperty(document, 'hidden', { get: () => isHidden });
}`;

const EXPORTER = `
import { trace as api } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
const exporter = new InMemorySpanExporter();
api.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
globalThis.finishedSpans = () => exporter.getFinishedSpans().map((span) => ({
  name: span.name,
  id: span.spanContext().spanId,
  traceId: span.spanContext().traceId,
  parentId: span.parentSpanContext?.spanId,
  attributes: span.attributes,
  startMs: span.startTime[0] * 1e3 + span.startTime[1] / 1e6,
  endMs: span.endTime[0] * 1e3 + span.endTime[1] / 1e6,
}));
`;
interface FinishedSpan {
  readonly name: string;
  readonly id: string;
  readonly traceId: string;
  readonly parentId?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly startMs: number;
  readonly endMs: number;
}

const world = await createWorld();
await world.context.addInitScript(RECORD);

test('the title shows the progress, and a notification the end to a user who is elsewhere and wants it', async () => {
  const [recipe = ''] = all(read('docs/resume.md'), /^```ts\n([\s\S]*?)^```/gm).filter((code) =>
    code.includes('document.title'),
  );
  // The page has loaded the element already.
  const code = ts.transpile(recipe.replace(/^import .*$/m, ''), { target: ts.ScriptTarget.ES2022 });
  world.pages.setScript('/recipe.js', code);
  const { token } = await world.service.createToken('alice', 3_600_000);
  const element = world.elementWith(`chunk-size="1MiB" data-token="${token}"`);
  const url = world.pages.add(
    '/recipe.html',
    `${element}<button id="notify">Notify me</button><script type="module" src="/recipe.js"></script>`,
  );
  const page = await world.context.newPage();
  await page.goto(url);
  const title = await page.title();
  assert.notEqual(title, '');

  /** Uploads a file, and checks the title meanwhile and afterwards. */
  const upload = async (count: number): Promise<void> => {
    const gate = createGate();
    world.service.faults.add({ operation: 'put', skip: 1, times: 3, waitFor: gate.opened });
    const path = join(world.folder, `${count}.bin`);
    writeRandom(path, 4 * MIB);
    await pick(page, path);
    await page.waitForFunction(() => /^[1-9]\d?% /.test(document.title), null, { polling: 50 });
    assert.match(await page.title(), new RegExp(`^\\d+% ${title}$`));
    gate.open();
    await untilEvent(page, 'uploads-finished', count);
    assert.equal(await page.title(), title);
  };
  await page.evaluate('isHidden = true');
  await upload(1);
  await page.getByRole('button', { name: 'Notify me' }).click();
  await upload(2);
  await page.evaluate('isHidden = false');
  await upload(3);
  assert.deepEqual(await page.evaluate('notes'), ['Uploads finished: 2 uploaded, 0 failed']);
});

test('OpenTelemetry gets one trace of an upload, from the pick to the commit', async () => {
  const [recipe = ''] = all(read('docs/tracing.md'), /^```ts\n([\s\S]*?)^```/gm);
  const { token } = await world.service.createToken('alice', 3_600_000);
  const contents = `${EXPORTER}${recipe}`
    .replace("import 'secure-uploader/define';", "await import('/secure-uploader.min.js');")
    .replace('https://files.example.com', world.service.baseUrl)
    .replace(/^element\.baseUrl/m, `element.getToken = () => '${token}';\n$&`)
    .replace(
      /^element\.parentId/m,
      `Object.assign(element, { commitPath: '/files/uploadsession/commit', chunkSize: '1MiB' });\n$&`,
    );
  const { outputFiles } = await build({
    stdin: { contents, loader: 'ts', resolveDir: process.cwd() },
    ...{
      bundle: true,
      format: 'esm',
      target: 'es2022',
      write: false,
      external: ['/secure-uploader.min.js'],
    },
  });
  world.pages.setScript('/tracing-recipe.js', outputFiles[0]?.text ?? assert.fail());
  const url = world.pages.add(
    '/tracing.html',
    '<main></main><script type="module" src="/tracing-recipe.js"></script>',
  );
  const page = await world.context.newPage();
  await page.goto(url);
  world.service.faults.add({ operation: 'put', status: 503, times: 1 });
  const path = join(world.folder, 'traced-secret.bin');
  writeRandom(path, 3 * MIB);
  await page.locator('secure-uploader').waitFor();
  await pick(page, path);
  await untilEvent(page, 'upload-completed');
  const spans = (await page.evaluate('finishedSpans()')) as FinishedSpan[];
  const [upload] = spans.filter(({ name }) => name === 'upload');
  assert.ok(upload);
  assert.equal(upload.attributes.outcome, 'upload-completed');
  const steps = spans.filter(({ parentId }) => parentId === upload.id);
  const count = (name: string, outcome = 'ok'): number =>
    steps.filter((step) => step.name === name && step.attributes.outcome === outcome).length;
  assert.deepEqual(
    [count('session'), count('hash') >= 3, count('presign') >= 1, count('put'), count('commit')],
    [1, true, true, 3, 1],
  );
  assert.equal(steps.filter((step) => step.name === 'put').length, 4);
  assert.equal(Math.max(...steps.map(({ attributes }) => Number(attributes.attempt))), 2);
  for (const step of steps) {
    assert.equal(step.traceId, upload.traceId);
    // The clocks of OpenTelemetry have whole milliseconds.
    assert.ok(
      step.startMs >= upload.startMs - 2 && step.endMs <= upload.endMs + 2,
      JSON.stringify([upload, step]),
    );
  }
  assert.deepEqual(
    spans.filter(({ name }) => name === 'sign-in').map(({ attributes }) => attributes.outcome),
    ['ok'],
  );
  const text = JSON.stringify(spans);
  for (const secret of [token, 'traced-secret', world.service.storageUrl, 'folder-a'])
    assert.ok(!text.includes(secret), secret);
  assert.deepEqual(world.pages.violations, []);
});

/** Opens a page whose element has `onSpan`. `handle` gets each request for the code for spans. */
async function openTraced(handle: (route: Route) => Promise<void>): Promise<Page> {
  const page = await world.openWithToken();
  await page.route(/\/trace-[^/]+\.js/, handle);
  await page.evaluate(() => {
    const first = document.querySelector('secure-uploader') as SecureUploader;
    const second = document.createElement('secure-uploader');
    const { baseUrl, parentId, commitPath, getToken } = first;
    const engineOptions = { onSpan: () => undefined };
    Object.assign(second, { baseUrl, parentId, commitPath, getToken, engineOptions });
    first.replaceWith(second);
  });
  return page;
}

const pickSmall = async (page: Page): Promise<void> => {
  const path = join(world.folder, 'untraced.bin');
  writeRandom(path, 1000);
  await pick(page, path);
};

test('without the code for spans, files are uploaded without spans, and `diagnose()` loads it later', async () => {
  let isAway = true;
  const page = await openTraced((route) => (isAway ? route.abort() : route.continue()));
  await pickSmall(page);
  await untilEvent(page, 'upload-completed');
  const diagnose = (): Promise<string> =>
    page.evaluate(() =>
      (document.querySelector('secure-uploader') as SecureUploader).diagnose().then(
        ({ version }) => version,
        (error: Error) => error.message,
      ),
    );
  assert.match(await diagnose(), /trace-\S+\.js\S* could not be loaded/);
  isAway = false;
  assert.match(await diagnose(), /^\d+\.\d+/);
});

test('an upload can be paused while the code for spans is being loaded, and continues without it', async () => {
  const page = await openTraced(() => new Promise(() => undefined));
  await pickSmall(page);
  await untilEvent(page, 'file-added');
  await page.evaluate(() => document.querySelector('secure-uploader')?.pause());
  await page.evaluate(() => document.querySelector('secure-uploader')?.resume());
  await untilEvent(page, 'upload-completed');
});
