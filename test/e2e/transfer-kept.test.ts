// A journey, because it needs several visits of a page.
// With `keep-files`, the browser saves small files: on the next visit, their uploads resume automatically or stay paused. A saved
// file is deleted when it is no longer needed.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import type { SecureUploaderEventMap } from '../../src/ui/event-map.ts';
import { untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { assertStored, filesOf, pick } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const world = await createWorld();

/** Resolves with true if the page has saved `fileCount` files, of which the user paused `pausedCount`. */
const keepsFiles = async ([fileCount, pausedCount]: readonly [number, number]): Promise<boolean> => {
  const settled = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = reject;
    });
  const valuesOf = async (name: string): Promise<unknown[]> => {
    const db = await settled(indexedDB.open(name));
    const values = await settled<unknown[]>(db.transaction('entries').objectStore('entries').getAll());
    db.close();
    return values;
  };
  const records = (await valuesOf('secure-uploader-uploads')) as { isPaused?: true }[];
  const bytes = (await valuesOf('secure-uploader-chunks')).filter((value) => value instanceof ArrayBuffer);
  const counts = [bytes.length, records.length, records.filter(({ isPaused }) => isPaused).length];
  return counts.join() === [fileCount, fileCount, pausedCount].join();
};
const keeps = (page: Page, fileCount: number, pausedCount: number): Promise<unknown> =>
  page.waitForFunction(keepsFiles, [fileCount, pausedCount] as const, { polling: 100 });

/** Supplies a token with an init script, because the page of the next visit needs a token as soon as it is loaded. */
async function supplyToken(): Promise<void> {
  const { token } = await world.service.createToken('alice', 3_600_000);
  await world.context.addInitScript((token) => {
    document.addEventListener('auth-required', (event) =>
      (event as SecureUploaderEventMap['auth-required']).detail.respondWith(token),
    );
  }, token);
}

test('small files resume automatically on the next visit, and one that was paused stays paused', async () => {
  const { service } = world;
  await supplyToken();
  const sums = new Map<string, string>();
  for (const name of ['a.bin', 'b.bin', 'c.bin'])
    sums.set(name, writeRandom(join(world.folder, name), 10_000));
  const gate = createGate();
  service.faults.add({ operation: 'put', times: Number.POSITIVE_INFINITY, waitFor: gate.opened });
  const first = await world.open('keep-files');
  await pick(first, ...[...sums.keys()].map((name) => join(world.folder, name)));
  await untilEvent(first, 'upload-started', 3);
  await first.getByRole('button', { name: 'Pause: a.bin' }).click();
  await keeps(first, 3, 1);
  await first.close();
  gate.open();
  service.faults.clear();
  service.faults.clearLog();

  const next = await world.open('keep-files');
  await untilEvent(next, 'upload-completed', 2);
  await next.getByRole('grid').getByText('Paused').waitFor();
  const paused = (await filesOf(next)).filter(({ phase }) => phase === 'paused');
  assert.deepEqual(
    paused.map(({ name, pauseReason }) => [name, pauseReason]),
    [['a.bin', 'user']],
  );
  assert.deepEqual(
    world.entries('put').filter(({ fileName }) => fileName === 'a.bin'),
    [],
    'nothing of it was sent',
  );
  await next.getByRole('button', { name: 'Resume: a.bin' }).click();
  for (const { detail } of await untilEvent(next, 'upload-completed', 3))
    await assertStored(world, detail.commit.file_id, sums.get(detail.name) ?? '');
  await keeps(next, 0, 0);
  await next.close();
});

test('a canceled upload does not resume, although the page was closed while the user could undo it', async () => {
  const { service } = world;
  await supplyToken();
  const gate = createGate();
  service.faults.add({ operation: 'put', times: Number.POSITIVE_INFINITY, waitFor: gate.opened });
  const names = ['canceled.bin', 'kept.bin'];
  for (const name of names) writeRandom(join(world.folder, name), 10_000);
  const first = await world.open('keep-files');
  await pick(first, ...names.map((name) => join(world.folder, name)));
  await untilEvent(first, 'upload-started', 2);
  await first.getByRole('button', { name: 'Pause: kept.bin' }).click();
  await first.getByRole('button', { name: 'Cancel: canceled.bin' }).click();
  await first.getByRole('button', { name: 'Undo', exact: true }).waitFor();
  await keeps(first, 2, 1);
  await first.close();
  gate.open();
  service.faults.clear();
  service.faults.clearLog();

  const next = await world.open('keep-files');
  await next.getByRole('button', { name: 'Resume: kept.bin' }).waitFor();
  assert.deepEqual(
    (await filesOf(next)).map(({ name }) => name),
    ['kept.bin'],
  );
  assert.deepEqual(world.entries('put'), []);
  // The closed page may have held its lock for a moment. The visit after it deletes the record.
  await next.reload();
  await keeps(next, 1, 1);
  await next.close();
});
