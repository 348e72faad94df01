// A stage of `npm run verify`: 30 fixed journeys of the element on bad lines (test/survival), with real browsers in real time.
// Every file has to be stored without a click. A journey that fails runs once more, alone, and counts if it fails again. Arguments
// after `--`: names of worlds; by default all.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from '../test/bench/install.mjs';

install(fileURLToPath(new URL('../test/bench', import.meta.url)));
const { lineOf, planJourneys, runJourneys, servePages } = await import('../test/survival/survival.mjs');
const { worlds } = await import('../test/survival/worlds.mjs');

const names = process.argv.slice(2);
const SEEDS = [1, 2, 3, 4, 5, 6];
const AT_ONCE = 10;

/** Each page that was opened again may ask for the file again. */
const hasFailed = ({ outcome, clicks, picks, loads }) => outcome !== 'stored' || clicks > 0 || picks >= loads;

const scratch = mkdtempSync(join(tmpdir(), 'secure-uploader-survival-'));
const pages = await servePages();

async function run(journeys, name, atOnce) {
  const failed = new Set();
  const onRow = (row) => {
    const isFailed = hasFailed(row);
    if (isFailed) failed.add(`${row.world} ${row.seed}`);
    console.log(`${isFailed ? 'FAIL' : 'ok  '} ${lineOf(row)}`);
    if (isFailed) console.log(row.log.join('\n'));
  };
  await runJourneys(journeys, { pages, path: join(scratch, name), atOnce, onRow });
  return journeys.filter(({ world, seed }) => failed.has(`${world.name} ${seed}`));
}

try {
  const planned = planJourneys({
    worldNames: names.length > 0 ? names : Object.keys(worlds),
    clients: ['secure-uploader'],
    seeds: SEEDS,
  });
  const journeys = planned.filter(({ seed }) => seed !== undefined);
  const differing = await run(journeys, 'all.jsonl', AT_ONCE);
  if (differing.length > 0) console.log('\nOnce more, each alone:');
  const failed = await run(differing, 'alone.jsonl', 1);
  console.log(`${journeys.length - failed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length > 0 ? 1 : 0;
} finally {
  await pages.stop();
  rmSync(scratch, { recursive: true, force: true });
}
