// A journey, because it needs faults that a function chooses for each request, in the process of the service, and the stored bytes.
// Random faults: each file is stored byte for byte, or fails with a correct code and is stored after a
// retry. `TEST_SEED=…` selects other faults. `CHAOS_SECONDS=…` sets the minimum duration.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { firstSeed, isFullSize } from '../../scripts/scope.mjs';
import { eventsOf, type SeenEvent } from './support/browser.ts';
import { createChaos } from './support/chaos.ts';
import { settled } from './support/fault-cells.ts';
import { sumOf } from './support/files.ts';
import { createWorld } from './support/world.ts';

const SEED = String(firstSeed);
const SECONDS = Number(process.env.CHAOS_SECONDS ?? (isFullSize ? 60 : 0));
const FAULTS = isFullSize ? 500 : 150;
const SIZES = [0, 1, 3000, 65_536, 65_537, 150_000, 400_000, 1_000_000];
const WAVE = 16;
const OPTIONS = {
  policy: { attempts: 4, baseMs: 10, capMs: 100 },
  times: { callTimeoutMs: 5000, stallMs: 3000, auth: { renewalGapMs: 1, renewalLimit: 1e6 } },
};

interface Picked {
  readonly name: string;
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

const world = await createWorld();

test('the same seed makes the same faults, whatever else happens meanwhile, and another seed makes others', () => {
  const operations = ['session', 'chunks', 'put', 'put', 'commit'] as const;
  const requests = Array.from({ length: 400 }, (_, at) => ({
    operation: operations[at % operations.length] as (typeof operations)[number],
    fileName: `${at % 7}.bin`,
    hashes: [`hash ${at % 7}`],
  }));
  const faultsOf = (seed: string, fileName: string, asked = requests): unknown[] => {
    const { choose } = createChaos(seed, 0.4);
    return asked.flatMap((request) => {
      const fault = choose(request);
      return request.fileName === fileName ? [fault] : [];
    });
  };
  const alone = requests.filter(({ fileName }) => fileName === '3.bin');
  const faults = faultsOf('a seed', '3.bin');
  assert.ok(faults.some((fault) => fault !== undefined));
  assert.deepEqual(faultsOf('a seed', '3.bin'), faults);
  assert.deepEqual(faultsOf('a seed', '3.bin', alone), faults);
  const others = faultsOf('another', '3.bin');
  assert.notDeepEqual(others.map(Boolean), faults.map(Boolean));
  assert.ok(faults.some((fault, at) => fault && others[at] && fault !== others[at]));
});

test('random faults lose no byte, and every failure has a correct code', {
  timeout: 3_600_000,
}, async (t) => {
  t.diagnostic(`TEST_SEED=${SEED}`);
  const { faults } = world.service;
  const chaos = createChaos(SEED, 0.4);
  faults.choose(chaos.choose);
  const attributes = `chunk-size="65536" concurrency="6" data-engine-options='${JSON.stringify(OPTIONS)}'`;
  const page = await world.openWithToken(attributes);
  const files: Picked[] = [];
  const endMs = Date.now() + SECONDS * 1000;
  while (chaos.count < FAULTS || Date.now() < endMs) {
    const wave = Array.from({ length: WAVE }, (_, at) => createFile(files.length + at));
    files.push(...wave);
    await page.setInputFiles(
      'secure-uploader >> input[type=file]',
      wave.map(({ path }) => path),
    );
    await settled(page);
  }
  const events = await eventsOf(page);
  await allAreTrue(files, events);
  // Without faults, all failed files can complete.
  faults.clear();
  const failedCount = events.filter(({ name }) => name === 'upload-failed').length;
  await page.evaluate(() =>
    (document.querySelector('secure-uploader') as unknown as { retry(): void }).retry(),
  );
  await settled(page);
  await allAreStored(page, files);
  t.diagnostic(`${chaos.count} faults, ${files.length} files, ${failedCount} of them failed at first`);
  await page.close();

  function createFile(number: number): Picked {
    const sizeBytes = SIZES[Math.floor(chaos.random(`size ${number}`) * SIZES.length)] ?? 0;
    // Some files have the same bytes as the previous file.
    const content = chaos.random(`copy ${number}`) < 0.15 ? number - 1 : number;
    const name = `${number}.bin`;
    const folder = join(world.folder, 'picked');
    mkdirSync(folder, { recursive: true });
    const path = join(folder, name);
    return { name, path, sizeBytes, sha256: chaos.writeFile(path, content, sizeBytes) };
  }

  async function allAreTrue(all: readonly Picked[], reported: readonly SeenEvent[]): Promise<void> {
    for (const { name, sha256 } of all) {
      const ended = reported.filter(
        (event) => /^upload-(?:completed|failed)$/.test(event.name) && event.detail.name === name,
      );
      assert.equal(ended.length, 1, `${name} ended ${ended.length} times (TEST_SEED=${SEED})`);
      const { name: how, detail } = ended[0] as SeenEvent;
      if (how === 'upload-completed') await isStored(detail.commit.file_id, sha256, name);
      else
        assert.ok(
          chaos.codesOf(name).has(detail.code),
          `${name} failed with ${detail.code}, which nothing caused: ${[...chaos.codesOf(name)]} (TEST_SEED=${SEED})`,
        );
    }
    hasHonestProgress(all, reported);
  }
});

async function isStored(fileId: string, sha256: string, name: string): Promise<void> {
  const stored = await sumOf(world.service.readFile(fileId));
  assert.equal(stored.sha256, sha256, `${name} lies on the service with other bytes (TEST_SEED=${SEED})`);
}

async function allAreStored(page: Page, files: readonly Picked[]): Promise<void> {
  const completed = await eventsOf(page, 'upload-completed');
  for (const { name, sha256 } of files) {
    const done = completed.find(({ detail }) => detail.name === name);
    assert.ok(done, `${name} was never completed (TEST_SEED=${SEED})`);
    await isStored(done.detail.commit.file_id, sha256, name);
  }
}

/** Asserts that the progress of each file never decreases, and is complete only in the last report of a completed file. */
function hasHonestProgress(files: readonly Picked[], events: readonly SeenEvent[]): void {
  for (const { name, sizeBytes } of files) {
    const { id } =
      events.find((event) => event.name === 'file-added' && event.detail.name === name)?.detail ?? {};
    let shown = 0;
    const ended = events.findIndex((event) => event.name === 'upload-completed' && event.detail.id === id);
    const numbers = events.flatMap((event, at) =>
      event.name === 'upload-progress' && event.detail.id === id
        ? [{ at, sent: event.detail.sentBytes }]
        : [],
    );
    for (const { at, sent } of numbers) {
      assert.ok(sent >= shown, `${name} went back from ${shown} to ${sent} (TEST_SEED=${SEED})`);
      const isLast = ended >= 0 && at === numbers.at(-1)?.at;
      assert.ok(sent < Math.max(1, sizeBytes) || isLast, `${name} was full too early (TEST_SEED=${SEED})`);
      shown = sent;
    }
  }
}
