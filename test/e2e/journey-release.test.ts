// A journey, because it needs the built files, and a site that replaces them while a page is open.
// A release between the load of a page and its first file: the files of the old version are gone. The upload works all the same,
// with each setting that needs a part of its own, for `dist/cdn` and for the output of Vite.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import exifr from 'exifr';
import type { Page } from 'playwright';
import { build } from 'vite';
import { fixture, secretsIn } from '../photos/support.ts';
import { builtPackage } from '../support/built.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { fillIn, isSignedIn } from './support/auth-steps.ts';
import { inWorlds, world } from './support/auth-world.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import { sumOf, writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { untilActive, watchKeeper } from './support/keeper.ts';
import { assertStored, hasStored, pick } from './support/transfer.ts';

const PHOTO = fixture('little-endian.jpg');
/** All scripts but those that the site hosts itself, under names that stay. */
const PARTS = /^\/(?!(driver|file-keeper|secure-uploader-callback)\.js).*\.js$/;

/** Records what the tests read, and gives the element the properties of its data attributes. */
const DRIVER = `
globalThis.events = [];
globalThis.spans = [];
for (const name of ['upload-completed', 'upload-failed', 'upload-paused', 'signed-in'])
  document.addEventListener(name, ({ detail }) => events.push({ name, detail: JSON.parse(JSON.stringify(detail)) }));
document.addEventListener('securitypolicyviolation', (event) =>
  fetch('/violation', { method: 'POST', body: event.violatedDirective + ' ' + event.blockedURI }));
const element = document.querySelector('secure-uploader');
const { token, profile, spans: hasSpans, entry } = element.dataset;
if (token) element.getToken = () => token;
if (profile) element.profile = JSON.parse(profile);
if (hasSpans) element.engineOptions = { onSpan: ({ kind }) => spans.push(kind) };
await import(entry);
`;

interface Case {
  readonly attributes: string;
  /** Names of the parts that the page loads for it before it has a file: of `dist/cdn`, and of Vite's output if they are others. */
  readonly parts: readonly string[];
  readonly appParts?: readonly string[];
  /** Signs in, after the file was added. */
  readonly signIn?: (page: Page) => Promise<void>;
  /** Checks that the setting has an effect. `stored` are the bytes at the service. */
  readonly check?: (page: Page, stored: Uint8Array<ArrayBuffer>) => Promise<void> | void;
}

const CASES: Readonly<Record<string, Case>> = {
  'image-max-edge': {
    attributes: 'image-max-edge="64"',
    parts: ['photos', 'photo.worker'],
    appParts: ['photos', 'photo-tasks'],
    check: (_page, stored) => assert.ok(stored.length < PHOTO.length / 2),
  },
  'strip-location': {
    attributes: 'strip-location',
    parts: ['photos', 'photo.worker'],
    appParts: ['photos', 'photo-tasks'],
    async check(_page, stored) {
      assert.equal(secretsIn(stored), 0);
      assert.ok((await exifr.parse(stored)).Make, 'the camera is still there');
    },
  },
  thumbnails: {
    attributes: 'thumbnails',
    parts: ['thumbnails', 'photo.worker'],
    appParts: ['thumbnails', 'photo-tasks'],
    check: (page) => page.locator('secure-uploader .row canvas').first().waitFor(),
  },
  sendFileHash: {
    attributes: `data-profile='{"sendFileHash":true}'`,
    parts: ['hash-wasm.worker'],
    async check(page) {
      const [completed] = await untilEvent(page, 'upload-completed');
      const { sha256 } = await sumOf(world.service.readFile(completed?.detail.commit.file_id));
      assert.equal(completed?.detail.fileHash, sha256);
    },
  },
  onSpan: {
    attributes: 'data-spans="true"',
    parts: ['trace'],
    async check(page) {
      const read = () => (globalThis as unknown as { spans: string[] }).spans;
      // The service may have the chunk from another test.
      assert.ok((await page.evaluate(read)).includes('commit'));
    },
  },
  'auth="popup"': {
    attributes: 'auth="popup" data-token=""',
    parts: ['authorize'],
    async signIn(page) {
      const [window] = await Promise.all([
        page.waitForEvent('popup'),
        page.locator('[data-action="sign-in"]').first().click(),
      ]);
      await fillIn(window, world);
      await isSignedIn(page);
    },
  },
  'the form': {
    attributes: 'auth="local" data-token=""',
    parts: ['secure-uploader-login'],
    signIn: (page) => fillIn(page, world),
  },
};

/** Resolves with the scripts of an app that Vite has built with the package, by path. */
async function buildApp(): Promise<Map<string, string>> {
  const folder = temporaryFolder();
  const dist = join(builtPackage().folder, 'dist');
  writeFileSync(join(folder, 'index.html'), '<script type="module" src="./main.js"></script>');
  writeFileSync(join(folder, 'main.js'), `import '${dist}/define.js'; import '${dist}/locales.js';`);
  await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    build: {
      rolldownOptions: { output: { entryFileNames: 'assets/entry.js' } },
      outDir: 'out',
      target: 'es2022',
    },
  });
  const assets = join(folder, 'out/assets');
  return new Map(
    readdirSync(assets).map((name) => [`/assets/${name}`, readFileSync(join(assets, name), 'utf8')]),
  );
}

let app: Map<string, string> | undefined;
const BUILDS = { 'dist/cdn': '/secure-uploader.min.js', "Vite's output": '/assets/entry.js' };

/** Opens the page, and resolves when it has loaded all `parts`. */
async function open(entry: string, attributes: string, parts: readonly string[]): Promise<Page> {
  const { pages, service } = world;
  pages.withdraw();
  pages.setScript('/driver.js', DRIVER);
  if (entry !== BUILDS['dist/cdn']) {
    app ??= await buildApp();
    for (const [path, text] of app) pages.setScript(path, text);
  }
  pages.changePolicy('/release.html', (policy) =>
    policy.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'"),
  );
  const { token } = await service.createToken('alice', 3_600_000);
  const element = world.elementWith(
    `data-entry="${entry}" ${attributes} ${attributes.includes('data-token') ? '' : `data-token="${token}"`}`,
  );
  const page = await world.context.newPage();
  const loaded: string[] = [];
  page.on('response', (response) => loaded.push(new URL(response.url()).pathname));
  await page.goto(
    pages.add(
      '/release.html',
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title><link rel="icon" href="data:,">
        <body>${element}<script type="module" src="/driver.js"></script></body></html>`,
    ),
  );
  await page.locator('secure-uploader >> [data-action=browse]').waitFor();
  for (const name of ['uploads', ...parts])
    await until(
      () => loaded.find((path) => new RegExp(`/${name}-[\\w-]{8}\\.js$`).test(path)),
      () => `${name} is not among ${loaded.join(' ')}`,
    );
  return page;
}

/** Adds a photo. */
const addPhoto = (page: Page): Promise<void> =>
  page.setInputFiles('secure-uploader >> input[type=file]', {
    name: 'photo.jpg',
    mimeType: 'image/jpeg',
    buffer: Buffer.from(PHOTO),
  });

/** Resolves with the stored bytes of the first upload. */
async function storedOf(page: Page): Promise<Uint8Array<ArrayBuffer>> {
  const [completed] = await untilEvent(page, 'upload-completed');
  assert.deepEqual(await eventsOf(page, 'upload-failed'), []);
  const parts: Buffer[] = [];
  for await (const part of world.service.readFile(completed?.detail.commit.file_id))
    parts.push(Buffer.from(part));
  return new Uint8Array(Buffer.concat(parts));
}

function declare(cases: Readonly<Record<string, Case>>): void {
  for (const [build, entry] of Object.entries(BUILDS))
    for (const [name, { attributes, parts, appParts, signIn, check }] of Object.entries(cases))
      test(`${name} works after a release, with ${build}`, async () => {
        const isApp = entry !== BUILDS['dist/cdn'];
        const page = await open(entry, attributes, (isApp && appParts) || parts);
        world.pages.withdraw(PARTS);
        await addPhoto(page);
        await signIn?.(page);
        await check?.(page, await storedOf(page));
        assert.deepEqual(world.pages.violations.splice(0), []);
        await page.close();
      });
}

inWorlds({ sites: ['same-site'] }, () => {
  declare(CASES);

  test("another language works after a release, with Vite's output", async () => {
    const page = await open(BUILDS["Vite's output"], 'lang="de"', ['de']);
    world.pages.withdraw(PARTS);
    await addPhoto(page);
    await storedOf(page);
    await page.locator('secure-uploader').getByText('1 Datei hochgeladen').first().waitFor();
    await page.close();
  });

  for (const [build, entry] of Object.entries(BUILDS))
    test(`keeper-url keeps a file that was chosen after a release, with ${build}`, async () => {
      await watchKeeper(world.context);
      const page = await open(entry, 'keeper-url="/file-keeper.js" chunk-size="1MiB"', ['keeper-client']);
      world.pages.withdraw(PARTS);
      world.service.faults.add({
        operation: 'put',
        skip: 2,
        times: Number.POSITIVE_INFINITY,
        waitFor: createGate().opened,
      });
      const path = join(world.folder, 'film.bin');
      const sha256 = writeRandom(path, 6 * 2 ** 20);
      await pick(page, path);
      await hasStored(page, 2 ** 20);
      await untilActive(page);
      world.service.faults.clear();
      world.pages.withdraw();
      await page.reload();
      const [completed] = await untilEvent(page, 'upload-completed');
      await assertStored(world, completed?.detail.commit.file_id, sha256);
      await page.close();
    });
});

describe('with BLAKE3', () =>
  inWorlds({ sites: ['same-site'], hash: 'blake3' }, () =>
    declare({ 'hash="blake3"': { attributes: 'hash="blake3"', parts: ['hash-wasm.worker'] } }),
  ));
