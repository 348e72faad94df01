// A journey, because it needs files on a real disk.
// A file is changed or deleted on disk during its upload: no wrong bytes are stored, other files continue, and the user has to
// choose the file again.
import assert from 'node:assert/strict';
import { closeSync, openSync, rmSync, truncateSync, utimesSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { engines, startEngine } from './support/auth-browsers.ts';
import { drop, eventsOf, newContext, untilEvent } from './support/browser.ts';
import { sumOf, sumOfFile, writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { openElsewhere } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const CHUNK_BYTES = 65_536;
const FILE_BYTES = 40 * CHUNK_BYTES;
const SETTINGS = `chunk-size="${CHUNK_BYTES}" concurrency="2" no-resume data-engine-options='{"policy":{"attempts":3,"baseMs":10,"capMs":20}}'`;
const FOR_EVER = Number.POSITIVE_INFINITY;

const CHANGES = {
  changes: (path: string): void => {
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(1000, 7), 0, 1000, FILE_BYTES - 5000);
    closeSync(file);
  },
  shrinks: (path: string): void => truncateSync(path, FILE_BYTES / 2),
  'is deleted': (path: string): void => rmSync(path),
} as const;

const world = await createWorld();

const pick = (page: Page, paths: string[]): Promise<void> =>
  page.setInputFiles('secure-uploader >> input[type=file]', paths);

const call = (page: Page, method: 'pause' | 'resume', id: string): Promise<void> =>
  page.evaluate(
    ([method, id]) =>
      (document.querySelector('secure-uploader') as unknown as Record<string, (id: string) => Promise<void>>)[
        method
      ]?.(id),
    [method, id] as const,
  );

/** Resolves when three chunks of the file are stored. */
const hasStoredSome = (page: Page, id: string): Promise<unknown> =>
  page.waitForFunction(
    ([id, bytes]) =>
      (
        document.querySelector('secure-uploader') as unknown as {
          snapshot: { files: { id: string; storedBytes: number }[] };
        }
      ).snapshot.files.some((file) => file.id === id && file.storedBytes >= bytes),
    [id, 3 * CHUNK_BYTES] as const,
    { polling: 10 },
  );

/**
 * Moments of an upload at which a test changes the file. Each function waits for the moment, and returns a function that resumes.
 */
const MOMENTS = {
  'while it is hashed': async (page: Page) => {
    // The service holds the session request, so that nothing is sent and hashing stops after a few chunks.
    await untilEvent(page, 'upload-started');
    return async (): Promise<void> => undefined;
  },
  'while it is sent': async (page: Page, id: string) => {
    await hasStoredSome(page, id);
    return async (): Promise<void> => undefined;
  },
  'between pause and resume': async (page: Page, id: string) => {
    await hasStoredSome(page, id);
    await call(page, 'pause', id);
    return (): Promise<void> => call(page, 'resume', id);
  },
} as const;

for (const [what, isSame] of [
  ['only its time has', true],
  ['bytes of a sent part have', false],
] as const)
  test(`a dropped file ${isSame ? 'continues by itself' : 'is requested again'} if ${what} changed while it is sent`, async () => {
    const { service } = world;
    const name = `dropped ${isSame}.bin`;
    const path = join(world.folder, name);
    const sha256 = writeRandom(path, FILE_BYTES);
    const gate = createGate();
    const match = { fileName: name };
    service.faults.add({ operation: 'put', match, skip: 3, times: FOR_EVER, waitFor: gate.opened });
    const page = await world.openWithToken(SETTINGS.replace('no-resume ', ''));
    await drop(page, [path]);
    const [added] = await untilEvent(page, 'file-added');
    await hasStoredSome(page, added?.detail.id);
    if (!isSame) {
      const file = openSync(path, 'r+');
      for (let chunk = 0; chunk < 40; chunk++)
        writeSync(file, Buffer.alloc(10, 7), 0, 10, chunk * CHUNK_BYTES + 60_000);
      closeSync(file);
    }
    const later = new Date(Date.now() + 60_000);
    utimesSync(path, later, later);
    service.faults.clear();
    gate.open();
    if (isSame) {
      const [completed] = await untilEvent(page, 'upload-completed');
      assert.equal((await sumOf(service.readFile(completed?.detail.commit.file_id))).sha256, sha256);
      assert.equal(completed?.detail.id, added?.detail.id);
    }
    const paused = await (isSame ? eventsOf(page, 'upload-paused') : untilEvent(page, 'upload-paused'));
    assert.deepEqual(
      paused.map(({ detail }) => detail.reason),
      isSame ? [] : ['needs-file'],
    );
    await page.close();
  });

let count = 0;
for (const [what, change] of Object.entries(CHANGES)) {
  for (const [when, come] of Object.entries(MOMENTS)) {
    test(`a file that ${what} ${when} is requested again, and no wrong file is stored`, async () => {
      count += 1;
      const { service } = world;
      const name = `${count} bad.bin`;
      const path = join(world.folder, name);
      const good = join(world.folder, `${count} good.bin`);
      writeRandom(path, FILE_BYTES);
      const goodSha256 = writeRandom(good, 3 * CHUNK_BYTES);
      const match = { fileName: name };
      const gate = createGate();
      if (when === 'while it is hashed')
        service.faults.add({ operation: 'session', match, waitFor: gate.opened });
      else service.faults.add({ operation: 'put', match, skip: 3, times: FOR_EVER, waitFor: gate.opened });
      const page = await world.openWithToken(SETTINGS);
      await pick(page, [path, good]);
      const [added] = await untilEvent(page, 'file-added');
      const goOn = await come(page, added?.detail.id);
      change(path);
      service.faults.clear();
      gate.open();
      await goOn();
      await page.waitForFunction(
        (id) => {
          const { files } = document.querySelector('secure-uploader')?.snapshot ?? { files: [] };
          const row = files.find((file) => file.id === id);
          return row?.pauseReason === 'needs-file' && row.warning === 'file-unreadable';
        },
        added?.detail.id,
        { polling: 20 },
      );
      const [completed] = await untilEvent(page, 'upload-completed');
      assert.equal(completed?.detail.name, `${count} good.bin`);
      assert.equal((await sumOf(service.readFile(completed?.detail.commit.file_id))).sha256, goodSha256);
      const names = (await service.listFiles('folder-a')).map((file) => file.name);
      assert.equal(names.includes(name), false, 'nothing is stored under its name');
      if (what === 'is deleted') return page.close();

      await pick(page, [path]);
      const again = (await untilEvent(page, 'upload-completed', 2)).at(-1);
      const sums = await sumOf(service.readFile(again?.detail.commit.file_id));
      assert.equal(sums.sha256, await sumOfFile(path), 'picked again, it is stored as it is now');
      assert.equal((await eventsOf(page, 'upload-failed')).length, 0);
      return page.close();
    });
  }
}

for (const engine of engines.filter((engine) => engine !== 'chromium'))
  test(`in ${engine}, which does not report it, a file that is rewritten while it is sent is not stored as a mixture`, async (t) => {
    const { service } = world;
    const name = `${engine}.bin`;
    const path = join(world.folder, name);
    writeRandom(path, FILE_BYTES);
    const gate = createGate();
    service.faults.add({
      operation: 'put',
      match: { fileName: name },
      skip: 3,
      times: FOR_EVER,
      waitFor: gate.opened,
    });
    const browser = await startEngine(engine);
    t.after(() => browser.close());
    await (await world.open(SETTINGS)).close();
    const page = await openElsewhere(world, await newContext(browser));
    await pick(page, [path]);
    const [added] = await untilEvent(page, 'file-added');
    await hasStoredSome(page, added?.detail.id);
    const sha256 = writeRandom(path, FILE_BYTES);
    service.faults.clear();
    gate.open();
    const [failed] = await untilEvent(page, 'upload-failed');
    assert.equal(failed?.detail.code, 'file-changed');
    const names = (await service.listFiles('folder-a')).map((file) => file.name);
    assert.equal(names.includes(name), false, 'nothing is stored under its name');

    await page.getByRole('button', { name: 'Retry' }).first().click();
    const [completed] = await untilEvent(page, 'upload-completed');
    assert.equal((await sumOf(service.readFile(completed?.detail.commit.file_id))).sha256, sha256);
    await page.close();
  });
