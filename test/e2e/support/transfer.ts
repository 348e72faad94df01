// Helpers of the transfer tests: add files, read the rows of a page, read the request log of the service.
import assert from 'node:assert/strict';
import type { BrowserContext, Page } from 'playwright';
import type { LogEntry } from '../../../demo/server/faults.ts';
import type { FileSnapshot } from '../../../src/core/types.ts';
import { sumOf } from './files.ts';
import type { World } from './world.ts';

/** Engine options with few attempts and short delays. */
export const QUICK = `data-engine-options='{"policy":{"attempts":4,"baseMs":10,"capMs":40}}'`;

export const pick = (page: Page, ...paths: string[]): Promise<void> =>
  page.setInputFiles('secure-uploader >> input[type=file]', paths);

/** Returns the snapshots of all files in the widget. */
export const filesOf = (page: Page): Promise<FileSnapshot[]> =>
  page.evaluate(() => [...(document.querySelector('secure-uploader')?.snapshot.files ?? [])]);

/**
 * Resolves when the widget reports at least `bytes` stored bytes. Files of earlier tests, which the user would have to choose
 * again, do not count.
 */
export const hasStored = (page: Page, bytes: number): Promise<unknown> =>
  page.waitForFunction(
    (bytes) => {
      const files = document.querySelector('secure-uploader')?.snapshot.files ?? [];
      const chosen = files.filter(
        ({ pauseReason }) => pauseReason !== 'needs-file' && pauseReason !== 'resuming',
      );
      return chosen.reduce((sum, { storedBytes }) => sum + storedBytes, 0) >= bytes;
    },
    bytes,
    { polling: 20, timeout: 60_000 },
  );

/** Opens a page in `context`, a separate browser profile, with a token of the user alice. `path` may also be a complete URL. */
export async function openElsewhere(
  world: World,
  context: BrowserContext,
  path = '/index.html',
): Promise<Page> {
  const { token } = await world.service.createToken('alice', 3_600_000);
  const page = await context.newPage();
  await page.goto(new URL(path, world.pages.origin).href);
  await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined, null, {
    polling: 100,
  });
  await page.evaluate((token) => {
    Object.assign(document.querySelector('secure-uploader') as HTMLElement, { getToken: async () => token });
  }, token);
  return page;
}

/** Returns the PUTs that stored a chunk and got a response. Asserts that each chunk has only one such PUT. */
export function puts(world: World): LogEntry[] {
  const answered = world.entries('put').filter((entry) => entry.answered && entry.stored);
  const hashes = answered.map(({ hash }) => hash);
  assert.equal(new Set(hashes).size, hashes.length, 'a chunk was sent twice');
  return answered;
}

export const bytesOf = (entries: readonly LogEntry[]): number =>
  entries.reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0);

/** Asserts that the committed file has the hash `sha256`. */
export async function assertStored({ service }: World, fileId: string, sha256: string): Promise<void> {
  assert.equal((await sumOf(service.readFile(fileId))).sha256, sha256);
}
