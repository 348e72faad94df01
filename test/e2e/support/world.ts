// Creates the environment of a journey: the reference service with its storage, a web server for pages, and a browser with a
// profile.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright';
import { type Service, type ServiceOptions, startService } from '../../../demo/server/server.ts';
import { killBrowser, startBrowser } from './browser.ts';
import { type Pages, startPages } from './pages.ts';
import { setTokenSource } from './tokens.ts';

/** `WORLD=memory` and `WORLD=PostgreSQL` replace the reference service with the example for S3, with sessions there, and Ceph. */
const stack = process.env.WORLD ? await import('../../stack/support/s3-world.ts') : undefined;
const start = stack?.startS3Service ?? startService;

export interface World {
  readonly folder: string;
  readonly service: Service;
  readonly pages: Pages;
  readonly browser: BrowserContext;
  /** Returns the HTML of the widget with these additional attributes. */
  elementWith(attributes: string): string;
  /** Opens a page at `path` that contains the widget with these additional attributes. */
  open(attributes?: string, path?: string): Promise<Page>;
  /** Opens a page like `open`. Its `getToken` returns a new token of `user` for each call; `tokenCallsOf` counts the calls. */
  openWithToken(attributes?: string, user?: string): Promise<Page>;
  /** Kills the browser and starts it again with the same profile. */
  killAndRestartBrowser(): Promise<void>;
  stopService(): Promise<void>;
  /** Starts the stopped service again, with the same URLs and data. */
  startServiceAgain(): Promise<void>;
  close(): Promise<void>;
}

/** `options` may depend on the origin of the pages, which the caller does not know before. */
export async function createWorld(
  options: Partial<ServiceOptions> | ((pages: Pages) => Partial<ServiceOptions>) = {},
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'secure-uploader-journey-'));
  const profile = join(folder, 'profile');
  const pages = await startPages();
  const setUp = {
    ...{ dataDir: join(folder, 'data'), appOrigins: [pages.origin], test: true },
    ...(typeof options === 'function' ? options(pages) : options),
  };
  let service = await start(setUp);
  pages.allow(service.baseUrl, service.storageUrl);
  if (stack) pages.setScript('/profile.js', stack.PROFILE_SCRIPT);
  let browser = await startBrowser(profile);
  const elementWith = (attributes: string): string => {
    const settings = `base-url="${service.baseUrl}" parent-id="folder-a" commit-path="/files/uploadsession/commit"`;
    const element = `<secure-uploader ${attributes} ${settings} multiple></secure-uploader>`;
    return stack ? `${element}<script src="/profile.js"></script>` : element;
  };
  const open = async (attributes = '', path = '/index.html'): Promise<Page> => {
    const url = pages.add(path, elementWith(attributes));
    const page = await browser.newPage();
    await page.goto(url);
    // Polls with a timer, because a page that is not painted has no animation frames.
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
      service = await start({ ...setUp, servicePort, storagePort });
    },
    async close() {
      await browser.close();
      await service.close();
      await pages.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
