// Creates the environment of a journey: the reference service with its storage, web servers for pages, and a browser.
import { join } from 'node:path';
import { after } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Frame, Page } from 'playwright';
import type { LogEntry, Operation } from '../../../demo/server/faults.ts';
import { type Service, type ServiceOptions, startService } from '../../../demo/server/server.ts';
import { builtBundle, SHARED_BUNDLES } from '../../support/built.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Engine, startEngine } from './auth-browsers.ts';
import { killBrowser, newContext, startBrowser } from './browser.ts';
import { type Pages, startPages } from './pages.ts';
import { setTokenSource } from './tokens.ts';

/** `WORLD=memory` and `WORLD=PostgreSQL` replace the reference service with the example for S3, with sessions there, and Ceph. */
const stack = process.env.WORLD ? await import('../../stack/support/s3-world.ts') : undefined;
const start = stack?.startS3Service ?? startService;

/**
 * In `cross-site`, pages are on 127.0.0.1 and the service is on localhost. The cookies of the service are then third-party cookies.
 */
export type Site = 'same-site' | 'cross-site';

/** Browser and site of a sign-in journey. */
export interface Place {
  readonly engine: Engine;
  readonly site: Site;
}

export interface World {
  /** Folder for files of the test. */
  readonly folder: string;
  /** Site of the pages and the service, at a place. */
  readonly site: Site | undefined;
  readonly service: Service;
  /** Server of the pages with the widget. */
  readonly pages: Pages;
  /** Server of the page without a widget, which has the script auth-page.ts. Its page `/outer` has that page in a frame. */
  readonly bare: Pages;
  /** URL of `/outer` on another site. */
  readonly outer: string;
  /** Profile of the browser. */
  readonly context: BrowserContext;
  /** Creates another profile in the same browser. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Returns the HTML of the widget with these additional attributes. */
  elementWith(attributes?: string): string;
  /** Opens a page at `path` that has this HTML, which contains the widget. `script` runs before all other scripts of the page. */
  show(path: string, html: string, script?: string): Promise<Page>;
  /** Opens a page that contains the widget with these additional attributes. */
  open(attributes?: string, at?: { path?: string; script?: string }): Promise<Page>;
  /** Opens a page like `open`. Its `getToken` returns a new token of `user` for each call; `tokenCallsOf` counts the calls. */
  openWithToken(attributes?: string, user?: string): Promise<Page>;
  /** Opens the page without a widget, which has a button that signs in. Opens a sign-in session there if there are `settings`. */
  openBare(
    settings?: object,
    at?: { context?: BrowserContext; host?: string; script?: string },
  ): Promise<Page>;
  /** Returns the requests of `operation` since the log was emptied, without preflights. */
  entries(operation: Operation): LogEntry[];
  count(operation: Operation): number;
  /** Kills the browser and starts it again with the same profile. */
  killAndRestartBrowser(): Promise<void>;
  stopService(): Promise<void>;
  /** Starts the stopped service again, with the same URLs and data. */
  startServiceAgain(): Promise<void>;
  /** Empties the service's log, removes all faults, and creates a new profile. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

// Browsers of this process, shared by all worlds with a place.
const browsers: Partial<Record<Engine, Promise<Browser>>> = {};
const worlds = new Set<World>();
// Not when a world is created: a hook that a `before` hook registers runs at the end of that hook.
after(async () => {
  for (const world of worlds) await world.close();
  for (const browser of Object.values(browsers)) await (await browser).close();
});

/**
 * Creates a world that ends with the test file. `options` may depend on the origin of the pages, which the caller does not know
 * before. At a `place`, it has an empty profile in a shared browser; without a place, it has a Chromium with a profile on disk.
 */
export async function createWorld(
  options: Partial<ServiceOptions> | ((pages: Pages) => Partial<ServiceOptions>) = {},
  place?: Place,
): Promise<World> {
  const folder = temporaryFolder();
  const profile = join(folder, 'profile');
  const pages = await startPages();
  const bare = await startBare();
  const elsewhere = bare.origin.replace('127.0.0.1', 'localhost');
  const setUp = {
    ...{ dataDir: join(folder, 'data'), appOrigins: [pages.origin, bare.origin, elsewhere] },
    ...{ test: true, fsync: false },
    ...(place && {
      host: place.site === 'cross-site' ? 'localhost' : '127.0.0.1',
      cookie: place.site,
      loginScript: builtBundle(SHARED_BUNDLES.login),
    }),
    ...(typeof options === 'function' ? options(pages) : options),
  };
  let service = await start(setUp);
  pages.allow(service.baseUrl, service.storageUrl);
  bare.allow(service.baseUrl);
  if (stack) pages.setScript('/profile.js', stack.PROFILE_SCRIPT);
  const openContext = async (): Promise<BrowserContext> => {
    if (!place) return startBrowser(profile);
    browsers[place.engine] ??= startEngine(place.engine);
    return newContext((await browsers[place.engine]) as Browser);
  };
  let context = await openContext();
  const elementWith = (attributes = ''): string => {
    const settings = `base-url="${service.baseUrl}" parent-id="folder-a" commit-path="/files/uploadsession/commit"`;
    const element = `<secure-uploader ${attributes} ${settings} multiple></secure-uploader>`;
    return stack ? `${element}<script src="/profile.js"></script>` : element;
  };
  const load = async (url: string, script = '', profile = context): Promise<Page> => {
    const page = await profile.newPage();
    if (script) await page.addInitScript(script);
    await page.goto(url);
    return page;
  };
  const show: World['show'] = async (path, html, script) => {
    const page = await load(pages.add(path, html), script);
    await isReady(page);
    return page;
  };
  const open: World['open'] = (attributes, { path = '/index.html', script } = {}) =>
    show(path, elementWith(attributes), script);
  const entries: World['entries'] = (operation) =>
    service.log.filter((entry) => entry.operation === operation && entry.method !== 'OPTIONS');
  const world: World = {
    ...{ folder, pages, bare, elementWith, show, open, entries },
    site: place?.site,
    outer: `${elsewhere}/outer`,
    get service() {
      return service;
    },
    get context() {
      return context;
    },
    newContext: (more) => newContext(context.browser() as Browser, more),
    async openWithToken(attributes, user = 'alice') {
      const page = await open(attributes);
      await setTokenSource(page, async () => (await service.createToken(user, 3_600_000)).token);
      return page;
    },
    async openBare(settings, { context, host, script = '' } = {}) {
      const url = host === 'localhost' ? elsewhere : bare.origin;
      const page = await load(url, script + REPORT, context);
      await page.waitForFunction(() => 'tools' in globalThis, null, { polling: 100 });
      const input = { baseUrl: service.baseUrl, ...settings };
      if (settings) await page.evaluate((input) => void tools.open(input), input);
      return page;
    },
    count: (operation) => entries(operation).length,
    async killAndRestartBrowser() {
      await killBrowser(profile, context);
      context = await openContext();
    },
    stopService: () => service.close(),
    async startServiceAgain() {
      const { servicePort, storagePort } = service;
      service = await start({ ...setUp, servicePort, storagePort });
    },
    async reset() {
      service.faults.clear();
      service.faults.clearLog();
      bare.violations.length = 0;
      for (const path of Object.keys(bare.headers)) delete bare.headers[path];
      await context.close();
      context = await openContext();
    },
    async close() {
      worlds.delete(world);
      await context.close();
      await service.close();
      await Promise.all([pages.close(), bare.close()]);
    },
  };
  worlds.add(world);
  return world;
}

/** Script that reports CSP violations of a page without a widget. */
const REPORT = `
addEventListener('securitypolicyviolation', (event) => fetch('/violation', {
  method: 'POST', body: event.violatedDirective + ' ' + event.blockedURI,
}));`;

export const CALLBACK_PATH = '/secure-uploader-callback.html';

/** Serves the page without a widget. It needs less of the policy than the widget. */
async function startBare(): Promise<Pages> {
  const bare = await startPages();
  bare.setScript('/page.js', builtBundle(SHARED_BUNDLES.authPage));
  for (const path of ['/', CALLBACK_PATH])
    bare.changePolicy(path, (policy) =>
      policy
        .replace("worker-src 'self' blob:", 'img-src data:')
        .replace('secure-uploader lit-html', 'lit-html'),
    );
  bare.add(
    '/',
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign-in</title><link rel="icon" href="data:,">
      <script type="module" src="/page.js"></script><button>Sign in here</button></html>`,
  );
  bare.changePolicy('/outer', () => undefined);
  bare.add(
    '/outer',
    `<!doctype html><title>Outer</title><iframe src="${bare.origin}" width="600" height="500"></iframe>`,
  );
  return bare;
}

/** Resolves when the page or frame has loaded the script of the widget, and the engine of each element with settings. */
export async function isReady(page: Page | Frame): Promise<void> {
  // Polls with a timer, because a page that is not painted has no animation frames.
  await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined, null, {
    polling: 100,
  });
  // A call of an unknown file does nothing, and waits for the engine. It rejects if the settings are invalid.
  await page.evaluate(async () => {
    for (const element of document.querySelectorAll('secure-uploader'))
      if (element.baseUrl) await element.move('unknown').catch(() => undefined);
  });
}

/** Global variable of pages with the script auth-page.ts. */
declare const tools: typeof import('./auth-page.ts').tools;
