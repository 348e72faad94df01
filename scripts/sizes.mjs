// Records the sizes of the parts in test/package/sizes.json: `npm run sizes -- "why they grew"`. Growth of more than 1 % needs the
// reason, which goes into docs/performance.md. Commit both files alone.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SIZES = `${root}test/package/sizes.json`;
const PAGE = `${root}docs/performance.md`;
/** The last line of the table that gets the rows. */
export const GROWTH_HEADING = '| --- | --- | ---: | --- |\n';
const FILES = ['package/loaded', 'package/locales', 'package/readme', 'server/service-s3'];

/** Returns a row of the table for each size that has grown by more than 1 %. */
export function growthRows(before, after, day, reason) {
  return Object.entries(after)
    .filter(([name, size]) => size > (before[name] ?? 0) * 1.01)
    .map(([name, size]) => `| ${day} | ${name} | ${before[name] ?? 'new'} → ${size} | ${reason} |\n`);
}

function measure() {
  const files = FILES.map((name) => `test/${name}.test.ts`);
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', '--test', ...files], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, UPDATE_SIZES: '1' },
  });
  if (status !== 0) throw new Error('The sizes are not recorded, because a test failed.');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const reason = process.argv.slice(2).join(' ').trim();
  const text = readFileSync(SIZES, 'utf8');
  try {
    measure();
    const after = JSON.parse(readFileSync(SIZES, 'utf8'));
    const rows = growthRows(JSON.parse(text), after, new Date().toISOString().slice(0, 10), reason);
    if (rows.length > 0 && !reason)
      throw new Error(`Say why these parts grew: npm run sizes -- "the reason"\n${rows.join('')}`);
    const page = readFileSync(PAGE, 'utf8');
    if (!page.includes(GROWTH_HEADING))
      throw new Error('docs/performance.md has no table for the growth of parts.');
    writeFileSync(PAGE, page.replace(GROWTH_HEADING, GROWTH_HEADING + rows.join('')));
  } catch (error) {
    writeFileSync(SIZES, text);
    console.error(error.message);
    process.exitCode = 1;
  }
}
