// A journey, because it needs a browser that is offline.
// The row "offline for a while" of docs/faults.md: the upload pauses, no attempt is counted, and the upload continues automatically
// when the browser is online again.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Page } from 'playwright';
import { eventsOf, untilEvent } from './support/browser.ts';
import { fileFor, nameOf, outcomeOf } from './support/fault-cells.ts';
import { OPERATIONS, readFaultTable } from './support/fault-table.ts';
import { sumOf } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { createWorld } from './support/world.ts';

/**
 * Engine options with two attempts, so that an upload fails if requests of the offline period count. The first request after it may
 * fail, because Chromium dispatches `online` before its connections work.
 */
const TWO_TRIES = `data-engine-options='{"policy":{"attempts":2,"baseMs":1,"capMs":1},"times":{"auth":{"silentMs":6000}}}'`;
const cells = readFaultTable().filter(({ fault }) => fault === 'offline for a while');
const world = await createWorld();
afterEach(() => world.context.setOffline(false));

async function signInOnce(): Promise<void> {
  const page = await world.open();
  const { path } = fileFor(world, { fault: 'none', column: 'token', mode: 'once', expected: '' });
  await pick(page, path);
  const [window] = await Promise.all([
    page.waitForEvent('popup'),
    page.locator('[data-action="sign-in"]').first().click(),
  ]);
  await window.getByLabel(/e-?mail/i).fill('alice@example.com');
  await window.getByLabel(/password/i).fill(world.service.seed.password);
  await window.getByRole('button', { name: /sign in/i }).click();
  await untilEvent(page, 'upload-completed');
  await page.close();
}

const pick = (page: Page, path: string): Promise<void> =>
  page.setInputFiles('secure-uploader >> input[type=file]', path);

for (const cell of cells) {
  test(`${cell.column}, ${cell.fault}: ${cell.expected}`, async () => {
    const { service, context } = world;
    const operation = OPERATIONS[cell.column];
    if (operation === 'token') await signInOnce();
    service.faults.clear();
    service.faults.clearLog();
    const [arrived, gone] = [createGate(), createGate()];
    // Cuts every request of the operation until the browser is offline, because the browser may repeat a cut request automatically.
    service.faults.choose((request) => {
      if (request.operation !== operation) return undefined;
      arrived.open();
      return { waitFor: gone.opened, cut: 'before-body' };
    });
    const page = operation === 'token' ? await world.open(TWO_TRIES) : await world.openWithToken(TWO_TRIES);
    const { path, sha256 } = fileFor(world, cell);
    await pick(page, path);
    await arrived.opened;
    const failed = createGate();
    let failedCount = 0;
    page.on('requestfailed', () => {
      failedCount += 1;
      if (failedCount === 3) failed.open();
    });
    await context.setOffline(true);
    gone.open();
    const [paused] = await untilEvent(page, 'upload-paused');
    const says = paused?.detail.reason === 'offline' ? /offline|no connection/i : /sign in/i;
    await page.locator('secure-uploader').getByText(says).first().waitFor();
    if (operation !== 'token') await failed.opened;
    service.faults.clear();
    await context.setOffline(false);
    // If the offline period interrupted sign-in, the user has to sign in again.
    if (paused?.detail.reason === 'signed-out') await page.locator('[data-action="sign-in"]').first().click();
    const [completed] = await untilEvent(page, 'upload-completed');
    assert.equal((await sumOf(service.readFile(completed?.detail.commit.file_id))).sha256, sha256);
    const log = service.log.filter((entry) => entry.fileName === nameOf(cell));
    assert.equal(outcomeOf(cell.column, await eventsOf(page), log).became, cell.expected);
    await page.close();
  });
}
