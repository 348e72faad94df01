// Creates the environment of a sign-in journey: the reference service with its sign-in page, pages with and without the widget, and
// a browser. The test chooses the browser, and whether pages and service are on the same site.
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
import { isFullSize } from '../../../scripts/scope.mjs';
import { builtBundle, SHARED_BUNDLES } from '../../support/built.ts';
import { type Engine, engines, startEngine } from './auth-browsers.ts';
import { newContext } from './browser.ts';
import { type Pages, recordViolation, startPages } from './pages.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const CALLBACK = 'secure-uploader-callback';
export const CALLBACK_PATH = `/${CALLBACK}.html`;

/**
 * In `cross-site`, pages are on 127.0.0.1 and the service is on localhost. The cookies of the service are then third-party cookies.
 */
export type Site = 'same-site' | 'cross-site';
export const BOTH: readonly Site[] = ['same-site', 'cross-site'];
/** Sites for tests that do not depend on the site: both at full size, otherwise only `cross-site`, which is more difficult. */
export const BOTH_AT_FULL_SIZE: readonly Site[] = isFullSize ? BOTH : ['cross-site'];

export interface AuthWorld {
  readonly engine: Engine;
  readonly site: Site;
  readonly service: Service;
  /** Folder for files of the test. */
  readonly folder: string;
  /** Origin of the page without a widget, which has the script auth-page.ts. */
  readonly origin: string;
  /** URL of a page of another site that contains the page without a widget in a frame. */
  readonly outer: string;
  /** Server of the pages with the widget. */
  readonly pages: Pages;
  readonly browser: Browser;
  readonly context: BrowserContext;
  /** CSP violations of the page without a widget. */
  readonly violations: string[];
  /** Additional response headers of the page without a widget (path `/`) and of its callback page, by path. */
  readonly headers: Record<string, Readonly<Record<string, string>>>;
  /**
   * Opens the page without a widget, which has a button that signs in. Opens a sign-in session there if there are `settings`.
   * `script` runs before all other scripts of the page.
   */
  open(settings?: object, at?: { context?: BrowserContext; host?: string; script?: string }): Promise<Page>;
  /** Returns the HTML of the widget with these additional attributes. */
  element(attributes?: string): string;
  /** Opens a page that contains the widget with these additional attributes. */
  openWidget(attributes?: string, script?: string): Promise<Page>;
  /** Empties the service's log, removes all faults, and creates a new browser context. */
  reset(): Promise<void>;
  /** Returns the requests of `operation` to the service, without preflights. */
  entries(operation: string): LogEntry[];
  count(operation: string): number;
  close(): Promise<void>;
}

/** Browser and site for which tests are declared. */
export interface Place {
  readonly engine: Engine;
  readonly site: Site;
}

// Browsers of this process, shared by all environments.
const browsers: Partial<Record<Engine, Promise<Browser>>> = {};
after(async () => {
  for (const browser of Object.values(browsers)) await (await browser).close();
});

export let world: AuthWorld;

/**
 * Declares the same tests for Chromium on each of `sites` and, if the run includes Firefox, for Firefox on the last one. Each
 * browser and site has a separate environment, which is reset before each test.
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
      recordViolation(request, response, violations);
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
  const element = (attributes = ''): string => {
    const usual = `base-url="${baseUrl}" parent-id="folder-a" commit-path="/files/uploadsession/commit"`;
    return `<secure-uploader ${attributes} ${usual} multiple></secure-uploader>`;
  };
  let context = await newContext(browser);
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
      await page.addInitScript(`${script}
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
      await page.addInitScript(script);
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
      context = await newContext(browser);
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

/** Returns the URL of the page that a sign-in window of the journeys opens, optionally with an identity provider. */
export function authorizeUrl({ baseUrl }: Pick<Service, 'baseUrl'>, idp?: string): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'secure-uploader',
    redirect_uri: `${world.pages.origin}${CALLBACK_PATH}`,
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    state: 'some-state',
    ...(idp !== undefined && { idp_id: idp }),
  });
  return `${baseUrl}/authorize?${query}`;
}

/** Resolves when the page or frame has loaded the script of the widget. */
export async function isReady(page: Page | Frame): Promise<void> {
  await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined, null, {
    polling: 100,
  });
}

/** Global variable of pages with the script auth-page.ts. */
declare const tools: typeof import('./auth-page.ts').tools;
