// The world of a sign-in journey: the reference service, a page with nothing but sign-in on it, and a browser. Page and
// service are on one site or on two, as the test wants.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright';
import { build } from 'vite';
import { type Service, type ServiceOptions, startService } from '../../../demo/server/server.ts';
import { chromiumArgs, findChromium } from '../../../scripts/browser.mjs';
import { PATIENCE_MS } from './browser.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const CALLBACK = 'secure-uploader-callback';

export interface AuthWorld {
  readonly service: Service;
  readonly origin: string;
  /** A page of another site that has the page in a frame. */
  readonly outer: string;
  readonly browser: Browser;
  readonly context: BrowserContext;
  /** Reports of the content policy. */
  readonly violations: string[];
  /** Headers that the page is served with beside the usual ones. */
  readonly pageHeaders: Record<string, string>;
  /** A new page with a session of these settings and a button that signs in; `script` runs before all others. */
  open(settings?: object, at?: { context?: BrowserContext; host?: string; script?: string }): Promise<Page>;
  /** Empty the service's log and faults; begin with a new profile. */
  reset(): Promise<void>;
  count(operation: string): number;
  close(): Promise<void>;
}

async function bundle(input: string): Promise<string> {
  const result = await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      minify: false,
      modulePreload: false,
      rollupOptions: {
        input: join(root, input),
        preserveEntrySignatures: 'strict',
        output: { format: 'es', codeSplitting: false },
      },
    },
  });
  const [output] = [result].flat();
  if (!output || !('output' in output)) throw new Error('nothing was built');
  return output.output[0].code;
}

/** `cross-site`: the page on 127.0.0.1, the service on localhost, so that cookies are another site's. */
export async function createAuthWorld(
  site: 'same-site' | 'cross-site',
  options: Partial<ServiceOptions> = {},
): Promise<AuthWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'secure-uploader-auth-'));
  const scripts: Record<string, string> = {
    '/page.js': await bundle('test/e2e/support/auth-page.ts'),
    [`/${CALLBACK}.js`]: await bundle('src/auth/callback.ts'),
  };
  const violations: string[] = [];
  const pageHeaders: Record<string, string> = {};
  let policy = '';
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/violation') {
      request.setEncoding('utf8').on('data', (text: string) => violations.push(text));
      request.on('end', () => response.end());
      return;
    }
    if (pathname === '/outer') {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(
        `<!doctype html><title>Outer</title><iframe src="${origin}" width="600" height="500"></iframe>`,
      );
      return;
    }
    const script = scripts[pathname];
    const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign-in</title><link rel="icon" href="data:,">
      <script type="module" src="/page.js"></script><button>Sign in here</button></html>`;
    const isCallback = pathname === `/${CALLBACK}.html`;
    const html = isCallback ? readFileSync(join(root, `src/auth/${CALLBACK}.html`), 'utf8') : page;
    if (script === undefined && !isCallback && pathname !== '/') {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      'content-type': script === undefined ? 'text/html' : 'text/javascript',
      'cache-control': 'no-store',
      ...(script === undefined && { 'content-security-policy': policy }),
      ...(script === undefined && !isCallback && pageHeaders),
    });
    response.end(script ?? html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const service = await startService({
    dataDir: join(folder, 'data'),
    appOrigins: [origin, `http://localhost:${port}`],
    test: true,
    fsync: false,
    host: site === 'cross-site' ? 'localhost' : '127.0.0.1',
    cookie: site,
    ...options,
  });
  policy = [
    "default-src 'none'",
    "script-src 'self'",
    `connect-src 'self' ${service.baseUrl}`,
    `frame-src 'self' ${service.baseUrl}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types lit-html',
  ].join('; ');
  const executablePath = findChromium();
  const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: chromiumArgs });
  const newContext = async (): Promise<BrowserContext> => {
    const context = await browser.newContext();
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  let context = await newContext();
  return {
    service,
    origin,
    outer: `http://localhost:${port}/outer`,
    browser,
    violations,
    pageHeaders,
    get context() {
      return context;
    },
    async open(settings, { context: own = context, host = '127.0.0.1', script = '' } = {}) {
      const page = await own.newPage();
      await page.addInitScript(script);
      await page.addInitScript(`globalThis.__name = (fn) => fn;
        addEventListener('securitypolicyviolation', (event) => fetch('/violation', {
          method: 'POST', body: event.violatedDirective + ' ' + event.blockedURI,
        }));`);
      await page.goto(`http://${host}:${port}`);
      await page.waitForFunction(() => 'tools' in globalThis, undefined, { polling: 50 });
      if (settings)
        await page.evaluate((input) => void tools.open(input), { baseUrl: service.baseUrl, ...settings });
      return page;
    },
    async reset() {
      service.faults.clear();
      service.faults.clearLog();
      violations.length = 0;
      for (const name of Object.keys(pageHeaders)) delete pageHeaders[name];
      await context.close();
      context = await newContext();
    },
    count: (operation) =>
      service.log.filter((entry) => entry.operation === operation && entry.method !== 'OPTIONS').length,
    async close() {
      await browser.close();
      await service.close();
      await new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      });
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Fills the form that the service shows in its window. */
export async function fillIn(window: Page, email: string, password: string): Promise<void> {
  await window.getByLabel(/e-?mail/i).fill(email);
  await window
    .getByLabel(/password/i, { exact: false })
    .first()
    .fill(password);
  await window.getByRole('button', { name: /^sign in/i }).click();
}

/** Resolves with the detail of the first event of that name. */
export async function until(page: Page, name: string): Promise<Record<string, unknown>> {
  const handle = await page.waitForFunction(
    (name) => tools.events.find((event) => event.name === name)?.detail,
    name,
    { polling: 50 },
  );
  return (await handle.jsonValue()) as Record<string, unknown>;
}

/** In a page only. */
declare const tools: typeof import('./auth-page.ts').tools;
