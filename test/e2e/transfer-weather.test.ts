// A journey, because it needs pages that are frozen, hidden or left.
// Events in the middle of an upload, such as a page that is left, a new network, a sleeping machine, and workers that die. Every
// upload continues automatically and completes.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { TIMEOUT_MS, until } from '../support/until.ts';
import { newContext, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { openLonePage } from './support/lone-page.ts';
import { assertStored, filesOf, hasStored, openElsewhere, pick, puts } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const CHUNK_BYTES = 65_536;
const CHUNK_COUNT = 40;
/** Engine options with deadlines that are longer than any test. */
const LONG_DEADLINES = `data-engine-options='{"times":{"stallMs":1000000,"callTimeoutMs":1000000}}'`;
const SETTINGS = `chunk-size="${CHUNK_BYTES}" concurrency="2" batch-size="4" ${LONG_DEADLINES}`;
const FOR_EVER = Number.POSITIVE_INFINITY;

let count = 0;
const world = await createWorld();
afterEach(() => {
  world.service.faults.clear();
  world.service.faults.clearLog();
});

function createFile(): { path: string; sha256: string } {
  count += 1;
  const path = join(world.folder, `${count}.bin`);
  return { path, sha256: writeRandom(path, CHUNK_COUNT * CHUNK_BYTES) };
}

/** Asserts that the upload completes with the right bytes, and that no chunk was sent twice by complete PUTs. */
async function endsStored(page: Page, sha256: string): Promise<void> {
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
  puts(world);
}

/**
 * Opens a page, and uploads half of a file. Resolves when all running PUTs are stalled. `reasons` lists why tokens were requested.
 */
async function stuckHalfWay(): Promise<{ page: Page; sha256: string; reasons: string[] }> {
  const { path, sha256 } = createFile();
  const page = await world.open(SETTINGS);
  const reasons: string[] = [];
  await page.exposeFunction('freshToken', async (reason: string) => {
    reasons.push(reason);
    return (await world.service.createToken('alice', 3_600_000)).token;
  });
  await page.evaluate(() => {
    const { freshToken } = globalThis as unknown as { freshToken: (reason: string) => Promise<string> };
    Object.assign(document.querySelector('secure-uploader') as HTMLElement, { getToken: freshToken });
  });
  const { faults } = world.service;
  faults.add({ operation: 'put', skip: CHUNK_COUNT / 2, stall: true, times: FOR_EVER });
  await pick(page, path);
  await hasStored(page, (CHUNK_COUNT / 2) * CHUNK_BYTES);
  await areStuck();
  faults.clear();
  return { page, sha256, reasons };
}

/** Resolves when half of the chunks have a response, and the PUTs in both upload slots have no response. */
async function areStuck(): Promise<void> {
  const isStuck = (): boolean => {
    const under = world.entries('put').map(({ answered, broken }) => !answered && !broken);
    return under.length >= CHUNK_COUNT / 2 + 2 && under.filter(Boolean).length >= 2;
  };
  await until(isStuck);
}

/** Starts a browser with the back/forward cache, which Playwright disables by default. */
function launch(): Promise<Browser> {
  const executablePath = findChromium();
  return chromium.launch({
    ...(executablePath && { executablePath }),
    args: chromiumArgs,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
}

test('a page restored from the back/forward cache continues automatically', async (t) => {
  const browser = await launch();
  t.after(() => browser.close());
  const context: BrowserContext = await newContext(browser);
  const { path, sha256 } = createFile();
  await (await world.open(SETTINGS)).close();
  const away = world.pages.add('/away.html', '<p>Another page</p>');
  world.service.faults.add({ operation: 'put', delayMs: 60, times: FOR_EVER });
  const page = await openElsewhere(world, context);
  await pick(page, path);
  await hasStored(page, 4 * CHUNK_BYTES);
  await page.goto(away);
  await page.goBack({ waitUntil: 'commit' });
  assert.equal((await filesOf(page)).length, 1, 'the browser kept the page');
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
  // Up to two chunks may be stored twice: both PUTs that were running when the user left the page may have been stored too.
  assert.ok(world.entries('put').filter(({ stored }) => stored).length <= CHUNK_COUNT + 2);
});

test('a frozen page continues automatically as soon as it resumes', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const { faults } = world.service;
  const browser = await launch();
  t.after(() => browser.close());
  await (await world.open(SETTINGS)).close();
  const page = await openLonePage(browser, `${world.pages.origin}/index.html`);
  // Repeats the command, because the tab may still show its empty first page.
  await until(() => page.evaluate(`customElements.whenDefined('secure-uploader').then(() => true)`));
  const { token } = await world.service.createToken('alice', 3_600_000);
  await page.evaluate(`{
    const element = document.querySelector('secure-uploader');
    element.getToken = async () => '${token}';
    for (const name of ['freeze', 'resume']) document.addEventListener(name, () => console.log(name));
    element.addEventListener('upload-completed', ({ detail }) => console.log('stored', detail.commit.file_id));
  }`);
  const { path, sha256 } = createFile();
  faults.add({ operation: 'put', skip: CHUNK_COUNT / 2, stall: true, times: FOR_EVER });
  const input = `document.querySelector('secure-uploader').shadowRoot.querySelector('input[type=file]')`;
  const { result } = await page.send('Runtime.evaluate', { expression: input });
  await page.send('DOM.setFileInputFiles', { files: [path], objectId: result.objectId });
  await areStuck();
  await page.send('Page.setWebLifecycleState', { state: 'frozen' });
  await page.says('freeze');
  faults.clear();
  await page.send('Page.setWebLifecycleState', { state: 'active' });
  await page.says('resume');
  await assertStored(world, await page.says('stored'), sha256);
  puts(world);
});

test('when the machine joins another network, running requests are repeated immediately', async () => {
  const { page, sha256 } = await stuckHalfWay();
  // Sets the type of the network, which only browsers on phones report.
  await page.evaluate(() => {
    const { connection } = navigator as unknown as { connection: EventTarget };
    Object.defineProperty(connection, 'type', { value: 'cellular' });
    connection.dispatchEvent(new Event('change'));
  });
  await endsStored(page, sha256);
  await page.close();
});

test("when only the browser's speed estimate changes, nothing is sent again", async () => {
  const { path, sha256 } = createFile();
  world.service.faults.add({ operation: 'put', delayMs: 100, times: FOR_EVER });
  const page = await world.openWithToken(SETTINGS);
  await page.evaluate(() => {
    const scope = globalThis as unknown as { opinions: number };
    scope.opinions = 0;
    const { connection } = navigator as unknown as { connection: EventTarget };
    connection.addEventListener('change', () => {
      scope.opinions += 1;
    });
  });
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await pick(page, path);
  for (const [at, latency] of [300, 0, 300, 0].entries()) {
    await hasStored(page, (at + 1) * 2 * CHUNK_BYTES);
    const line = { offline: false, latency, downloadThroughput: -1, uploadThroughput: -1 };
    await session.send('Network.emulateNetworkConditions', line);
  }
  await endsStored(page, sha256);
  assert.equal(world.entries('put').length, CHUNK_COUNT, 'no PUT was broken off');
  const opinions = await page.evaluate(() => (globalThis as unknown as { opinions: number }).opinions);
  assert.ok(opinions > 0, 'the browser reported it');
  await page.close();
});

test('a machine that slept for two hours continues automatically, with new tickets and a new token', async () => {
  const { page, sha256, reasons } = await stuckHalfWay();
  const twoHours = 2 * 3_600_000;
  world.service.clock.shift(twoHours);
  await page.evaluate((twoHours) => {
    const { now } = Date;
    Date.now = () => now() + twoHours;
  }, twoHours);
  await endsStored(page, sha256);
  assert.equal(reasons.length, 2, `asked for a token: ${reasons}`);
  await page.close();
});

const DEATHS: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'are ended without an event': (page) =>
    page.evaluate(() => {
      for (const worker of (globalThis as unknown as { workers: Worker[] }).workers) worker.terminate();
    }),
  die: (page) =>
    Promise.all(
      page.workers().map((worker) =>
        worker.evaluate(() => {
          setTimeout(() => {
            throw new Error('out of memory');
          });
        }),
      ),
    ),
  hang: (page) =>
    Promise.all(
      page.workers().map((worker) =>
        worker.evaluate(() => {
          setTimeout(() => {
            for (;;);
          });
        }),
      ),
    ),
};

for (const [what, strike] of Object.entries(DEATHS)) {
  test(`when hash workers ${what} in the middle, others replace them`, async () => {
    const { path, sha256 } = createFile();
    await world.context.addInitScript(watchWorkers);
    const struck = createGate();
    world.service.faults.add({ operation: 'put', skip: 6, times: FOR_EVER, waitFor: struck.opened });
    const page = await world.openWithToken(SETTINGS);
    await pick(page, path);
    await hasStored(page, 4 * CHUNK_BYTES);
    const workerCount = (): Promise<number> =>
      page.evaluate(() => (globalThis as unknown as { workers: Worker[] }).workers.length);
    const before = await workerCount();
    assert.ok(before > 0);
    await strike(page);
    struck.open();
    await endsStored(page, sha256);
    assert.ok((await workerCount()) > before, 'new workers were started');
    await page.close();
  });
}

/** Adds all workers of the page to `workers`. Shortens each timer of 60 seconds, such as that of a hung worker, to 3. */
function watchWorkers(): void {
  const scope = globalThis as unknown as { workers: Worker[]; setTimeout: typeof setTimeout };
  const { setTimeout: start, Worker: Usual } = globalThis;
  scope.workers = [];
  scope.setTimeout = ((run: TimerHandler, ms = 0, ...given: unknown[]) =>
    start(run, ms === 60_000 ? 3000 : ms, ...given)) as typeof setTimeout;
  globalThis.Worker = class extends Usual {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given);
      scope.workers.push(this);
    }
  };
}
