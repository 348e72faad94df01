// The example service for S3 with a real store (Ceph RGW): uploads from a browser, and the checks of conform.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { untilEvent } from '../e2e/support/browser.ts';
import { writeRandom } from '../e2e/support/files.ts';
import { hasStored, pick } from '../e2e/support/transfer.ts';
import { failuresOf, runConform } from '../support/conform.ts';
import { startExample, TOKEN, VARIANTS } from '../support/service-s3.ts';
import { until } from '../support/until.ts';
import { type Journeys, startJourneys, storedBy } from './support/journeys.ts';

const MIB = 2 ** 20;

for (const sessions of ['memory', 'PostgreSQL'] as const)
  describe(`The example for S3, with Ceph RGW and sessions in ${sessions}`, () => {
    let journeys: Journeys;
    before(async () => {
      journeys = await startJourneys(sessions);
    });
    after(() => journeys.stop());

    test('uploads files of no, one and several chunks from a browser, and stores their bytes', async () => {
      const { folder, hashOfFile, openPage } = journeys;
      const page = await openPage();
      const sizes = { 'empty.bin': 0, 'one.bin': 3 * MIB, 'several.bin': 45 * MIB + 17 };
      const hashes = new Map<string, string>();
      for (const [name, sizeBytes] of Object.entries(sizes))
        hashes.set(name, writeRandom(join(folder, name), sizeBytes));
      await pick(page, ...[...hashes.keys()].map((name) => join(folder, name)));
      for (const { detail } of await untilEvent(page, 'upload-completed', hashes.size))
        assert.equal(await hashOfFile(detail.commit.file_id), hashes.get(detail.name), detail.name);
      await page.close();
    });

    test('continues an upload after the store was away', async () => {
      const { folder, hashOfFile, openPage, store } = journeys;
      const page = await openPage();
      const hash = writeRandom(join(folder, 'outage.bin'), 200 * MIB);
      await pick(page, join(folder, 'outage.bin'));
      await hasStored(page, 20 * MIB);
      await store.interrupt();
      await page.waitForFunction(
        () => document.querySelector('secure-uploader')?.snapshot.files.some(({ retryAtMs }) => retryAtMs),
        null,
        { polling: 100 },
      );
      await store.resume();
      const [completed] = await untilEvent(page, 'upload-completed');
      assert.equal(await hashOfFile(completed?.detail.commit.file_id), hash);
      await page.close();
    });

    test('continues after a reload, and sends no stored chunk again', async () => {
      const { folder, hashOfFile, openPage, prepare } = journeys;
      const page = await openPage();
      const stored = storedBy(page);
      const path = join(folder, 'reload.bin');
      const hash = writeRandom(path, 120 * MIB);
      await pick(page, path);
      await hasStored(page, 30 * MIB);
      await page.reload();
      await prepare(page);
      await pick(page, path);
      const [completed] = await untilEvent(page, 'upload-completed');
      assert.equal(await hashOfFile(completed?.detail.commit.file_id), hash);
      assert.ok(stored.length > 3);
      assert.equal(new Set(stored).size, stored.length);
      await page.close();
    });

    if (sessions === 'PostgreSQL')
      test('sends nothing again if the response to the commit was lost, and the page is opened days later', async () => {
        const { database, folder, hashOfFile, openPage, store } = journeys;
        const page = await openPage();
        let committed: string | undefined;
        await page.route('**/commit', async (route) => {
          committed = JSON.parse(await (await route.fetch()).text()).file_id;
          await page.close();
        });
        const path = join(folder, 'late.bin');
        const hash = writeRandom(path, 20 * MIB);
        const chunks = (await store.list('chunks/')).size;
        await pick(page, path);
        await page.waitForEvent('close');
        assert.ok((await store.list('chunks/')).size > chunks);
        const later = `set expires_at = expires_at - interval '5 d', due_at = due_at - interval '5 d'`;
        await database?.query(`update upload_sessions ${later}`);
        await until(async () => (await store.list('chunks/')).size === 0);
        // Without the file: a page that repeats the commit at once would take a file that is picked then for another upload.
        const nextPage = await openPage();
        const stored = storedBy(nextPage);
        const [completed] = await untilEvent(nextPage, 'upload-completed');
        assert.equal(completed?.detail.commit.file_id, committed);
        assert.equal(await hashOfFile(completed?.detail.commit.file_id), hash);
        assert.deepEqual(stored, []);
        await nextPage.close();
      });

    for (const variant of Object.keys(VARIANTS) as (keyof typeof VARIANTS)[])
      test(`passes the checks of conform on ${variant}, which finds its settings`, async () => {
        const { pages, settings } = journeys;
        const example = await startExample(variant, settings);
        try {
          const report = await runConform({
            ...{ 'base-url': example.baseUrl, 'parent-id': 'folder-a', token: TOKEN, origin: pages.origin },
            ...{ 'commit-path': '/files/uploadsession/commit', 'cancel-path': '/files/uploadsession' },
          });
          assert.deepEqual(failuresOf(report), []);
          assert.ok(report.passed > 125, `${report.passed} passed`);
          assert.equal(report.profile, '{\n  sendSizes: true,\n  minChunkSize: 5242880,\n}');
        } finally {
          await example.stop();
        }
      });
  });
