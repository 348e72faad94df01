// The environment of a journey: the reference service with its storage, a page with the widget on a third origin, and a browser
// with a profile. Every journey has its own, and leaves nothing.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright';
import { type Service, type ServiceOptions, startService } from '../../../demo/server/server.ts';
import { killBrowser, startBrowser } from './browser.ts';
import { type Pages, startPages } from './pages.ts';
import { setTokenSource } from './tokens.ts';

export interface World {
  readonly folder: string;
  readonly service: Service;
  readonly pages: Pages;
  readonly browser: BrowserContext;
  /** The widget with these additional attributes, as HTML. */
  elementWith(attributes: string): string;
  /** Opens a page whose body has the widget with these additional attributes. */
  open(attributes?: string, path?: string): Promise<Page>;
  /** As `open`, with a page whose `getToken` returns a new token of that user for each call (`tokenCallsOf` counts them). */
  openWithToken(attributes?: string, user?: string): Promise<Page>;
  /** Kills the browser and starts it again with the same profile. */
  killAndRestartBrowser(): Promise<void>;
  /** Ends the service and starts it again on the same URLs and data. */
  stopService(): Promise<void>;
  startServiceAgain(): Promise<void>;
  close(): Promise<void>;
}

export async function createWorld(options: Partial<ServiceOptions> = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'secure-uploader-journey-'));
  const profile = join(folder, 'profile');
  const pages = await startPages();
  const setUp = { dataDir: join(folder, 'data'), appOrigins: [pages.origin], test: true, ...options };
  let service = await startService(setUp);
  pages.allow(service.baseUrl, service.storageUrl);
  let browser = await startBrowser(profile);
  const elementWith = (attributes: string): string => {
    const settings = `base-url="${service.baseUrl}" parent-id="folder-a" commit-path="/files/uploadsession/commit"`;
    return `<secure-uploader ${attributes} ${settings} multiple></secure-uploader>`;
  };
  const open = async (attributes = '', path = '/index.html'): Promise<Page> => {
    const url = pages.add(path, elementWith(attributes));
    const page = await browser.newPage();
    // The compiler adds calls of this helper to functions that a test passes to a page.
    await page.addInitScript('globalThis.__name = (fn) => fn;');
    await page.goto(url);
    // By a timer: some pages here are not painted, and waiting for a frame would never end.
    await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined, null, {
      polling: 100,
    });
    return page;
  };
  return {
    folder,
    pages,
    get service() {
      return service;
    },
    get browser() {
      return browser;
    },
    elementWith,
    open,
    async openWithToken(attributes, user = 'alice') {
      const page = await open(attributes);
      await setTokenSource(page, async () => (await service.createToken(user, 3_600_000)).token);
      return page;
    },
    async killAndRestartBrowser() {
      await killBrowser(profile, browser);
      browser = await startBrowser(profile);
    },
    stopService: () => service.close(),
    async startServiceAgain() {
      const { servicePort, storagePort } = service;
      service = await startService({ ...setUp, servicePort, storagePort });
    },
    async close() {
      await browser.close();
      await service.close();
      await pages.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
