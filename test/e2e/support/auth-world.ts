// The environment of a sign-in journey: the reference service with its own sign-in page, a page with nothing but sign-in on it,
// pages with the widget, and a browser. Pages and service are on one site or on two, in one browser or another, as the test sets.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Frame, Page } from 'playwright';
import type { LogEntry } from '../../../demo/server/faults.ts';
import { type Service, type ServiceOptions, startService } from '../../../demo/server/server.ts';
import { isFullRun } from '../../../scripts/scope.mjs';
import { builtBundle, SHARED_BUNDLES } from '../../support/built.ts';
import { type Engine, engines, startEngine } from './auth-browsers.ts';
import { TIMEOUT_MS } from './browser.ts';
import { type Pages, startPages } from './pages.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const CALLBACK = 'secure-uploader-callback';
export const CALLBACK_PATH = `/${CALLBACK}.html`;

/** `cross-site`: the pages on 127.0.0.1, the service on localhost, so that cookies are another site's. */
export type Site = 'same-site' | 'cross-site';
export const BOTH: readonly Site[] = ['same-site', 'cross-site'];
/** For tests that do not depend on the site: the more difficult one, with third-party cookies, and both in CI. */
export const BOTH_IN_CI: readonly Site[] = isFullRun ? BOTH : ['cross-site'];

export interface AuthWorld {
  readonly engine: Engine;
  readonly site: Site;
  readonly service: Service;
  /** Folder for files of the test. */
  readonly folder: string;
  /** Of the page with nothing but sign-in. */
  readonly origin: string;
  /** A page of another site that has that page in a frame. */
  readonly outer: string;
  /** Serves the pages with the widget. */
  readonly pages: Pages;
  readonly browser: Browser;
  readonly context: BrowserContext;
  /** CSP reports of the page with nothing but sign-in. */
  readonly violations: string[];
  /** Additional headers of that page, `/`, and of its callback page, by path. */
  readonly headers: Record<string, Readonly<Record<string, string>>>;
  /** A new page with a session of these settings and a button that signs in; `script` runs before all others. */
  open(settings?: object, at?: { context?: BrowserContext; host?: string; script?: string }): Promise<Page>;
  /** The widget in HTML, with these additional attributes. */
  element(attributes?: string): string;
  /** A new page with it. */
  openWidget(attributes?: string, script?: string): Promise<Page>;
  /** Empties the service's log and faults, and starts with a new profile. */
  reset(): Promise<void>;
  /** Requests to the service, without preflights. */
  entries(operation: string): LogEntry[];
  count(operation: string): number;
  close(): Promise<void>;
}

/** The environment that tests are declared for. */
export interface Place {
  readonly engine: Engine;
  readonly site: Site;
}

// One for all environments of a process.
const browsers: Partial<Record<Engine, Promise<Browser>>> = {};
after(async () => {
  for (const browser of Object.values(browsers)) await (await browser).close();
});

/** The one of the current test. */
export let world: AuthWorld;

/**
 * Declares the same tests for Chromium on every site and, if the run has it, for Firefox on the last of them: each in a separate
 * environment, new before each test.
 */
export function inWorlds(
  { sites, only, ...options }: Partial<ServiceOptions> & { sites: readonly Site[]; only?: Engine },
  declare: (place: Place) => void,
): void {
  for (const engine of engines.filter((engine) => !only || engine === only)) {
    describe(engine, () => {
      for (const site of engine === 'chromium' ? sites : sites.slice(-1)) {
        describe(site, () => {
          before(async () => {
            browsers[engine] ??= startEngine(engine);
            world = await createAuthWorld({ engine, site }, await browsers[engine], options);
          });
          after(() => world.close());
          beforeEach(() => world.reset());
          declare({ engine, site });
        });
      }
    });
  }
}

/** The compiler adds calls of this helper to functions that a test passes to a page. */
const NAMES = 'globalThis.__name = (fn) => fn;';

async function createAuthWorld(
  { engine, site }: Place,
  browser: Browser,
  options: Partial<ServiceOptions>,
): Promise<AuthWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'secure-uploader-auth-'));
  const files: Record<string, string> = {
    '/page.js': builtBundle(SHARED_BUNDLES.authPage),
    [`/${CALLBACK}.js`]: builtBundle(SHARED_BUNDLES.callback),
  };
  const pages = await startPages();
  const violations: string[] = [];
  const headers: AuthWorld['headers'] = {};
  let policy = '';
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/violation') {
      request.setEncoding('utf8').on('data', (text: string) => violations.push(text));
      request.on('end', () => response.end());
      return;
    }
    const script = files[pathname];
    const isCallback = pathname === CALLBACK_PATH;
    const page = isCallback ? readFileSync(join(root, `src/auth/${CALLBACK}.html`), 'utf8') : html[pathname];
    if (script === undefined && page === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      'content-type': script === undefined ? 'text/html' : 'text/javascript',
      'cache-control': 'no-store',
      ...((isCallback || pathname === '/') && { 'content-security-policy': policy }),
      ...headers[pathname],
    });
    response.end(script ?? page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const html: Record<string, string> = {
    '/': `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign-in</title><link rel="icon" href="data:,">
      <script type="module" src="/page.js"></script><button>Sign in here</button></html>`,
    '/outer': `<!doctype html><title>Outer</title><iframe src="${origin}" width="600" height="500"></iframe>`,
  };
  const service = await startService({
    dataDir: join(folder, 'data'),
    appOrigins: [origin, `http://localhost:${port}`, pages.origin],
    test: true,
    fsync: false,
    host: site === 'cross-site' ? 'localhost' : '127.0.0.1',
    cookie: site,
    loginScript: builtBundle(SHARED_BUNDLES.login),
    ...options,
  });
  const { baseUrl } = service;
  pages.allow(baseUrl, service.storageUrl);
  policy = [
    "default-src 'none'",
    "script-src 'self'",
    `connect-src 'self' ${baseUrl}`,
    `frame-src 'self' ${baseUrl}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types lit-html',
  ].join('; ');
  const newContext = async (): Promise<BrowserContext> => {
    const context = await browser.newContext();
    context.setDefaultTimeout(TIMEOUT_MS);
    return context;
  };
  const element = (attributes = ''): string => {
    const usual = `base-url="${baseUrl}" parent-id="folder-a" commit-path="/files/uploadsession/commit"`;
    return `<secure-uploader ${attributes} ${usual} multiple></secure-uploader>`;
  };
  let context = await newContext();
  const entries = (operation: string): LogEntry[] =>
    service.log.filter((entry) => entry.operation === operation && entry.method !== 'OPTIONS');
  return {
    engine,
    site,
    service,
    folder,
    origin,
    outer: `http://localhost:${port}/outer`,
    pages,
    browser,
    violations,
    headers,
    get context() {
      return context;
    },
    async open(settings, { context: own = context, host = '127.0.0.1', script = '' } = {}) {
      const page = await own.newPage();
      await page.addInitScript(`${NAMES} ${script}
        addEventListener('securitypolicyviolation', (event) => fetch('/violation', {
          method: 'POST', body: event.violatedDirective + ' ' + event.blockedURI,
        }));`);
      await page.goto(`http://${host}:${port}`);
      await page.waitForFunction(() => 'tools' in globalThis, null, { polling: 100 });
      if (settings) await page.evaluate((input) => void tools.open(input), { baseUrl, ...settings });
      return page;
    },
    element,
    async openWidget(attributes, script = '') {
      const url = pages.add('/index.html', element(attributes));
      const page = await context.newPage();
      await page.addInitScript(`${NAMES} ${script}`);
      await page.goto(url);
      await isReady(page);
      return page;
    },
    async reset() {
      service.faults.clear();
      service.faults.clearLog();
      violations.length = 0;
      for (const path of Object.keys(headers)) delete headers[path];
      await context.close();
      context = await newContext();
    },
    entries,
    count: (operation) => entries(operation).length,
    async close() {
      await context.close();
      await service.close();
      await pages.close();
      await new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      });
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Resolves when the widget of a page exists. */
export async function isReady(page: Page | Frame): Promise<void> {
  await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined, null, {
    polling: 100,
  });
}

/** In a page only. */
declare const tools: typeof import('./auth-page.ts').tools;
