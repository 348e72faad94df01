// A journey, because it needs the disk and the memory of the browser.
// No data of a user is left after a sign-out, for all ways to sign in and all failures of the network.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import type { Fault, Operation } from '../../demo/server/faults.ts';
import { until } from '../support/until.ts';
import type { Engine } from './support/auth-browsers.ts';
import { assertUnseen, type Traces, traceOf } from './support/auth-leaks.ts';
import { memoryOf, remainsOf, secretsOf } from './support/auth-remains.ts';
import { fillIn, isSignedIn, pick, signInByWindow, signInThere, times, turns } from './support/auth-steps.ts';
import { inWorlds, world } from './support/auth-world.ts';

const CHUNK = 32_768;
/** Text in the names and contents of all files. */
const PRIVATE = 'salary-of-alice';
/** Time limit for the calls that a sign-out makes: the default, and one that no call exceeds on a busy machine. */
const HANGING_MS = 5_000;
const LONG_MS = 120_000;
const ATTRIBUTES =
  `chunk-size="${CHUNK}" concurrency="2" keep-files owner="alice" cancel-path="/files/uploadsession" ` +
  'logout-path="/auth/logout"';

interface Mode {
  readonly attributes: string;
  /** Signs in, or prepares sign-in, before the files are picked. */
  readonly before?: (page: Page) => Promise<void>;
  /** Signs in while the picked files wait for a token. */
  readonly whenAsked?: (page: Page) => Promise<void>;
  /** True if the widget never has a token. */
  readonly isAnonymous?: true;
}

/**
 * Gives the widget a token of the user alice through the property `how`, or as the response to `auth-required`. The token comes
 * from the page's own server.
 */
const giveToken = async (page: Page, how: 'getToken' | 'token' | 'auth-required'): Promise<void> => {
  await page.route('**/my-token', async (route) => {
    const body = JSON.stringify(await world.service.createToken('alice'));
    await route.fulfill({ contentType: 'application/json', body });
  });
  await page.evaluate(async (how) => {
    const element = document.querySelector('secure-uploader');
    const get = async (): Promise<{ token: string }> =>
      (await fetch('/my-token', { method: 'POST' })).json() as Promise<{ token: string }>;
    if (how === 'getToken') Object.assign(element ?? {}, { getToken: get });
    else if (how === 'token') Object.assign(element ?? {}, { token: await get() });
    else element?.addEventListener(how, ({ detail }) => detail.respondWith(get()));
  }, how);
};

/** Adds a token of the user alice to the requests of the widget, as a proxy with its own sign-in would do. */
const addTokenToRequests = async (page: Page): Promise<void> => {
  const { baseUrl } = world.service;
  const { token } = await world.service.createToken('alice');
  await page.route(
    ({ href }) => href.startsWith(`${baseUrl}/files/`),
    async (route, request) =>
      route.continue({ headers: { ...(await request.allHeaders()), authorization: `Bearer ${token}` } }),
  );
};

const MODES: Readonly<Record<string, Mode>> = {
  'getToken of the page': { attributes: 'auth="token"', before: (page) => giveToken(page, 'getToken') },
  'a response to auth-required': {
    attributes: 'auth="token"',
    before: (page) => giveToken(page, 'auth-required'),
  },
  'a proxy before the service': { attributes: 'auth="none"', before: addTokenToRequests, isAnonymous: true },
  'the property token': { attributes: 'auth="token"', before: (page) => giveToken(page, 'token') },
  // A page that offers a token, too. The widget must not keep a token that it does not use.
  'a window': {
    attributes: 'auth="popup"',
    before: (page) => giveToken(page, 'auth-required'),
    whenAsked: (page) => signInByWindow(page, world),
  },
  'leaving the page': {
    attributes: 'auth="redirect" silent="off"',
    before: (page) => signInThere(page, world),
  },
  'the form': {
    attributes: 'auth="local"',
    whenAsked: (page) => fillIn(page, world),
  },
  'an existing session': {
    attributes: 'auth="auto"',
    before: async () => {
      const other = await world.open('auth="popup" silent="off"');
      await pick(other, world);
      await signInByWindow(other, world);
      await isSignedIn(other);
    },
  },
};

interface Journey {
  readonly page: Page;
  readonly traces: Traces;
  readonly secrets: ReadonlySet<string>;
}

/** Signs in and uploads two files. Resolves in the middle of both uploads, when all kinds of data are saved on disk. */
async function upload(mode: Mode, lastCallsMs: number): Promise<Journey> {
  const { attributes, before, whenAsked, isAnonymous = false } = mode;
  const traces = traceOf(world.context);
  const secrets = secretsOf(world.context);
  const page = await world.open(`${attributes} ${ATTRIBUTES} ${times({ lastCallsMs })}`);
  await before?.(page);
  const paths = [1, 2].map((number) => join(world.folder, `${PRIVATE}-${number}.txt`));
  // The files need different contents for each run, because chunks that the service already has are not sent.
  for (const path of paths) {
    const text = `${PRIVATE} ${Math.random()} `;
    writeFileSync(path, text.repeat(Math.ceil((3 * CHUNK) / text.length)));
  }
  world.service.faults.add({ operation: 'put', skip: 2, times: 99, stall: true });
  await page.setInputFiles('secure-uploader >> input[type=file]', paths);
  await whenAsked?.(page);
  if (!isAnonymous) await isSignedIn(page);
  const isSaved = async (): Promise<boolean> => {
    const { databases } = await remainsOf(page);
    const count = (pattern: RegExp): number => databases.filter((text) => pattern.test(text)).length;
    const isChunk = /^\[\[\d+,"[0-9a-f]{64}"/;
    const isContent = new RegExp(`^"${PRIVATE} `);
    return count(/"sessionHeader"/) === 2 && count(isChunk) > 0 && count(isContent) === 2;
  };
  await until(isSaved);
  assert.ok(secrets.size > (isAnonymous ? 1 : 2), 'the scan has tokens and session headers');
  return { page, traces, secrets };
}

/** Asserts that no data of the user is stored or shown, and that no secret is in an event or on the console. */
async function assertNothingLeft({ page, traces, secrets }: Journey): Promise<void> {
  await page.locator('secure-uploader >> [part~="file"]').first().waitFor({ state: 'detached' });
  const { localStorage, ...others } = await remainsOf(page);
  assert.deepEqual(others, { databases: [], caches: [], files: [], sessionStorage: [] });
  for (const [name] of localStorage)
    assert.equal(name, `secure-uploader:signed-out:${world.service.baseUrl} secure-uploader`);
  const [state, shown, reported] = await page.evaluate(() => {
    const element = document.querySelector('secure-uploader');
    const { events } = globalThis as unknown as { events: unknown[] };
    const texts = [element?.shadowRoot?.innerHTML, element?.outerHTML, element?.snapshot, location.href];
    return [
      element?.snapshot.auth.state,
      JSON.stringify([texts, history.state]),
      JSON.stringify(events),
    ] as const;
  });
  assert.equal(state, 'signed-out');
  assertUnseen([shown], { 'the name of a file': [PRIVATE] });
  assertUnseen([shown, reported, ...traces.lines], { secret: [...secrets] });
}

/** Asserts that the memory of the page's scripts contains no secret and no file name. */
async function assertNothingInMemory({ page, secrets }: Journey): Promise<void> {
  // Empties the list of events, which contains file names.
  await page.evaluate(() => {
    (globalThis as unknown as { events: unknown[] }).events.length = 0;
  });
  const forbidden = [...secrets, PRIVATE];
  const isLeft = (text: string): boolean => forbidden.some((each) => text.includes(each));
  let strings = await memoryOf(page);
  // The browser may hold the data of an aborted request until it has processed the abort.
  for (let round = 0; round < 20 && strings.some(isLeft); round += 1) {
    await turns(page, 5);
    strings = await memoryOf(page);
  }
  assertUnseen(strings, { secret: [...secrets], 'the name of a file': [PRIVATE] });
}

/** Returns true for the calls of a sign-out. Other requests come from uploads that are still running when the sign-out starts. */
const isOfSignOut = (operation: Operation): boolean => operation === 'cancel' || operation === 'logout';

/** Ways in which a call can fail, each with the fault that causes the failure. */
const FAILURES: Readonly<Record<string, Partial<Fault>>> = {
  refused: { cut: 'before-body' },
  hanging: { waitFor: new Promise(() => undefined) },
  'answered with 503': { status: 503 },
};

/** The request that fails during a sign-out. The first `skip` requests of the same operation succeed. */
interface Failure {
  readonly operation: Operation;
  readonly skip: number;
  readonly how: string;
}

/**
 * Signs in, uploads, signs out, and asserts that no data is left. Resolves with the operations that the service received, without
 * PUTs.
 */
async function signOut(engine: Engine, mode: Mode, failure?: Failure | 'offline'): Promise<Operation[]> {
  await world.reset();
  const isHanging = failure !== undefined && failure !== 'offline' && failure.how === 'hanging';
  const journey = await upload(mode, isHanging ? HANGING_MS : LONG_MS);
  const { page } = journey;
  const { faults, log } = world.service;
  faults.clearLog();
  if (failure === 'offline') await world.context.setOffline(true);
  else if (failure) {
    const { how, ...call } = failure;
    faults.add({ ...FAILURES[how], ...call });
  }
  const over = page.evaluate(() => document.querySelector('secure-uploader')?.signOut());
  if (failure && failure !== 'offline') {
    const isThere = (): boolean =>
      log.filter(({ operation }) => operation === failure.operation).length > failure.skip;
    await until(isThere);
    // The data must be deleted before the failing call has a response.
    await assertNothingLeft(journey);
  }
  await over;
  await assertNothingLeft(journey);
  if (engine === 'chromium') await assertNothingInMemory(journey);
  return log.map(({ operation }) => operation).filter((operation) => operation !== 'put');
}

inWorlds({ sites: ['same-site'], only: 'chromium' }, ({ engine }) => {
  for (const [at, [name, mode]] of Object.entries(MODES).entries())
    test(`given a user who signed in by ${name} and uploads, when signing out, then no data of that user is left, whichever call fails`, async () => {
      const calls = (await signOut(engine, mode)).filter(isOfSignOut);
      assert.deepEqual(calls, ['cancel', 'cancel', 'logout']);
      const kinds = Object.keys(FAILURES);
      for (const [index, operation] of calls.entries()) {
        const skip = calls.slice(0, index).filter((other) => other === operation).length;
        // Selects a different failure for each call and way to sign in, so that each call fails in each way in one of the tests.
        const how = kinds[(at + index) % kinds.length] ?? '';
        await signOut(engine, mode, { operation, skip, how });
      }
      await signOut(engine, mode, 'offline');
    });
});
