// A browser, pages with the uploader, the example on Hono, and Ceph RGW.
import { join } from 'node:path';
import type { Page } from 'playwright';
import { startBrowser } from '../../e2e/support/browser.ts';
import { type Pages, startPages } from '../../e2e/support/pages.ts';
import {
  createBucket,
  type RunningExample,
  SETTINGS,
  startExample,
  TOKEN,
} from '../../support/service-s3.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type RunningDatabase, startDatabase } from './database.ts';
import { type RunningStore, startStore } from './store.ts';

const PROFILE = { sendSizes: true, minChunkSize: 5 * 2 ** 20 };

export interface Journeys {
  readonly store: RunningStore;
  /** Unless sessions are in memory. */
  readonly database: RunningDatabase | undefined;
  readonly example: RunningExample;
  readonly pages: Pages;
  /** For files to upload. */
  readonly folder: string;
  /** Settings of the example. */
  readonly settings: Readonly<Record<string, string>>;
  /** Opens a page with the uploader, with these additional fields of its profile and attributes. */
  openPage(profile?: object, attributes?: string): Promise<Page>;
  /** Sets the properties of the uploader, which a reload has removed. */
  prepare(page: Page, profile?: object): Promise<void>;
  /** Resolves with the SHA-256 of a completed file. */
  hashOfFile(fileId: string): Promise<string>;
  stop(): Promise<void>;
}

/** Collects the paths of all chunks that the store accepts from a page. */
export function storedBy(page: Page): string[] {
  const stored: string[] = [];
  page.on('response', (response) => {
    if (response.request().method() === 'PUT' && response.ok()) stored.push(new URL(response.url()).pathname);
  });
  return stored;
}

/** Creates the bucket, and starts everything. */
export async function startJourneys(sessions: 'memory' | 'PostgreSQL'): Promise<Journeys> {
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const store = await startStore();
    ends.push(store.stop);
    const pages = await startPages();
    ends.push(pages.close);
    const settings: Record<string, string> = { ...SETTINGS, ...store.settings, PAGE_ORIGIN: pages.origin };
    let database: RunningDatabase | undefined;
    if (sessions === 'PostgreSQL') {
      database = await startDatabase();
      ends.push(database.stop);
      settings.DATABASE_URL = database.url;
    }
    await createBucket(settings);
    const example = await startExample('hono', settings);
    ends.push(example.stop);
    pages.allow(example.baseUrl, store.settings.S3_ENDPOINT ?? '');
    const folder = temporaryFolder();
    const context = await startBrowser(join(folder, 'profile'));
    ends.push(() => context.close());

    const prepare = (page: Page, profile = {}): Promise<void> =>
      page.evaluate(
        ({ token, profile }) => {
          const getToken = (): string => token;
          Object.assign(document.querySelector('secure-uploader') as HTMLElement, { profile, getToken });
        },
        { token: TOKEN, profile: { ...PROFILE, ...profile } },
      );
    return {
      ...{ store, database, example, pages, folder, settings, prepare, stop },
      async openPage(profile, attributes = '') {
        const element = `<secure-uploader base-url="${example.baseUrl}" parent-id="folder-a" auth="token"
          commit-path="/files/uploadsession/commit" cancel-path="/files/uploadsession" ${attributes} multiple></secure-uploader>`;
        const page = await context.newPage();
        await page.goto(pages.add('/index.html', element));
        await prepare(page, profile);
        return page;
      },
      hashOfFile: async (fileId) => store.hashOf(await store.keyOfFile('demo-user', fileId)),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
