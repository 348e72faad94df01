// A journey, because it needs a real window.
// The column `token` of docs/faults.md: each fault at the request that exchanges a code for a token has the documented outcome. The
// test clicks "Sign in" if the upload needs the user.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsOf, type SeenEvent, untilEvent } from './support/browser.ts';
import { arm, fileFor, isEndless, LONG_DEADLINES, SHORT_DEADLINES } from './support/fault-cells.ts';
import { type Cell, readFaultTable } from './support/fault-table.ts';
import { sumOf } from './support/files.ts';
import { createWorld } from './support/world.ts';

const withOptions = (options: object): string => `data-engine-options='${JSON.stringify(options)}'`;
const cells = readFaultTable().filter(
  ({ column, fault }) => column === 'token' && fault !== 'offline for a while',
);
const POLLING = { polling: 50, timeout: 180_000 };

const world = await createWorld();
const page = await world.open(withOptions(LONG_DEADLINES));
const signInButton = () => page.locator('[data-action="sign-in"]').first();
world.pages.add('/impatient.html', world.elementWith(withOptions(SHORT_DEADLINES)));
// Signs in once. From now on, the browser has a cookie of the service, and the page can get tokens without a window.
const { path } = fileFor(world, { ...(cells[0] as Cell), fault: 'none' });
await page.setInputFiles('secure-uploader >> input[type=file]', path);
const [window] = await Promise.all([page.waitForEvent('popup'), signInButton().click()]);
await window.getByLabel(/e-?mail/i).fill('alice@example.com');
await window.getByLabel(/password/i).fill(world.service.seed.password);
await window.getByRole('button', { name: /sign in/i }).click();
await untilEvent(page, 'upload-completed');

/** With these reasons, a pause is not an outcome, because the upload continues automatically. */
const AUTOMATIC = ['rate-limited', 'offline'];

/** Runs a cell. Returns the outcome of the file in the words of the table. */
async function runCell(cell: Cell): Promise<string> {
  const { service } = world;
  service.faults.clear();
  service.faults.clearLog();
  arm(world, [cell]);
  // Loads the page again, so that the token of the previous cell is lost.
  await page.goto(`${world.pages.origin}${isEndless(cell) ? '/impatient.html' : '/index.html'}`);
  await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined, undefined, POLLING);
  const { path, sha256 } = fileFor(world, cell);
  await page.setInputFiles('secure-uploader >> input[type=file]', path);
  await page.waitForFunction(
    (automatic) => {
      const { events } = globalThis as unknown as { events: SeenEvent[] };
      return events.some(
        ({ name, detail }) =>
          /^upload-(?:completed|failed|paused)$/.test(name) && !automatic.includes(detail.reason),
      );
    },
    AUTOMATIC,
    POLLING,
  );
  const events = await eventsOf(page);
  const count = (operation: string): number =>
    service.log.filter((entry) => entry.operation === operation && entry.method !== 'OPTIONS').length;
  const counts = { token: count('token'), authorize: count('authorize') };
  service.faults.clear();
  const paused = events.find(
    ({ name, detail }) => name === 'upload-paused' && !AUTOMATIC.includes(detail.reason),
  );
  if (paused) await signInButton().click();
  const [completed] = await untilEvent(page, 'upload-completed');
  assert.equal((await sumOf(service.readFile(completed?.detail.commit.file_id))).sha256, sha256);
  if (paused) return `paused: ${paused.detail.reason}`;
  if (counts.authorize > 1) return 'renewed';
  return counts.token > 1 ? 'retried' : 'continues';
}

for (const cell of cells) {
  test(`token, ${cell.fault}, ${cell.mode}: ${cell.expected}`, async () => {
    assert.equal(await runCell(cell), cell.expected);
  });
}
