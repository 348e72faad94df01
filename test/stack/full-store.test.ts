// The example service for S3 while the store has no space left: what the user reads, and that Retry continues with what is stored.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright';
import { untilEvent } from '../e2e/support/browser.ts';
import { writeRandom } from '../e2e/support/files.ts';
import { pick } from '../e2e/support/transfer.ts';
import { type Journeys, startJourneys, storedBy } from './support/journeys.ts';

const MIB = 2 ** 20;
/** The usual number of attempts, with short delays. One PUT at a time, because those at the same time can exceed a quota of RGW. */
const ATTRIBUTES = `concurrency="1" data-engine-options='{"policy":{"baseMs":40,"capMs":80}}'`;
/** Has several chunks of the same size, and a smaller one. */
const FILE_BYTES = 45 * MIB + 17;

describe('The example for S3, with a full store', () => {
  let journeys: Journeys;
  before(async () => {
    journeys = await startJourneys('PostgreSQL');
  });
  after(() => journeys.stop());

  /** Collects the statuses of the requests with this method whose URL ends so. */
  function statusesOf(page: Page, method: string, end: RegExp): number[] {
    const statuses: number[] = [];
    page.on('response', (response) => {
      const isWanted = response.request().method() === method && end.test(new URL(response.url()).pathname);
      if (isWanted) statuses.push(response.status());
    });
    return statuses;
  }

  /** Uploads a file while the bucket takes `freeBytes`. Asserts that this fails with a sentence about space. */
  async function failWithoutSpace(page: Page, name: string, freeBytes: number): Promise<string> {
    const path = join(journeys.folder, name);
    const hash = writeRandom(path, FILE_BYTES);
    await journeys.store.setQuota(freeBytes);
    await pick(page, path);
    const [failed] = await untilEvent(page, 'upload-failed');
    assert.equal(failed?.detail.code, 'service-full');
    await page
      .locator('secure-uploader')
      .getByText(/no space left/i)
      .first()
      .waitFor();
    return hash;
  }

  /** Asserts that Retry completes the upload when there is space. */
  async function completeWithSpace(page: Page, hash: string): Promise<void> {
    await journeys.store.setQuota(undefined);
    await page
      .getByRole('button', { name: /^retry/i })
      .first()
      .click();
    const [completed] = await untilEvent(page, 'upload-completed');
    assert.equal(await journeys.hashOfFile(completed?.detail.commit.file_id), hash);
  }

  test('an upload that can’t be assembled fails with a sentence about space, and Retry sends no chunk again', async () => {
    const page = await journeys.openPage({}, ATTRIBUTES);
    const stored = storedBy(page);
    const commits = statusesOf(page, 'POST', /\/commit$/);
    // Less than a chunk more than all chunks: the service copies several at the same time, and no copy may fit.
    const hash = await failWithoutSpace(page, 'assembled.bin', FILE_BYTES + 4 * MIB);
    assert.equal(commits.filter((status) => status === 507).length, 8, `${commits}`);
    const storedCount = stored.length;
    await completeWithSpace(page, hash);
    assert.ok(storedCount > 3);
    assert.equal(stored.length, storedCount);
    assert.equal(new Set(stored).size, stored.length);
    await page.close();
  });

  test('chunks for which there is no space fail with a sentence about space, and Retry sends only those', async () => {
    const page = await journeys.openPage({ putStatuses: { 403: 'full' } }, ATTRIBUTES);
    const stored = storedBy(page);
    const puts = statusesOf(page, 'PUT', /^/);
    const hash = await failWithoutSpace(page, 'sent.bin', 20 * MIB);
    assert.ok(puts.filter((status) => status === 403).length >= 8, `${puts}`);
    const before = [...stored];
    await completeWithSpace(page, hash);
    assert.ok(before.length > 0 && before.length < stored.length, `${before.length} of ${stored.length}`);
    assert.equal(new Set(stored).size, stored.length);
    await page.close();
  });
});
