// `node scripts/journeys.mjs`: runs the core journeys of an upload in all browser engines, and writes the table of
// docs/browsers.md. With `--check`, runs nothing, and exits with 1 if the table does not list exactly the journeys of the test
// file.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium, findFirefox, findWebKit } from './browser.mjs';
import { readResults } from './results.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const TESTS = 'test/ui/core-journeys.test.ts';
const PAGE = 'docs/browsers.md';
const ENGINES = ['Chromium', 'Firefox', 'WebKit'];
const [START, END] = ['<!-- table: journeys -->', '<!-- end -->'];

const read = (name) => readFileSync(join(root, name), 'utf8');
const all = (text, pattern) => [...text.matchAll(pattern)].map((match) => match[1]);

/** Runs the tests. Returns a function that returns the titles of the passed tests of an engine. */
function runInEngines() {
  const scratch = mkdtempSync(join(tmpdir(), 'secure-uploader-journeys-'));
  const env = {
    ...process.env,
    BROWSERS: 'chromium,firefox,webkit',
    COUNT_FILE: join(scratch, 'count.json'),
  };
  const runner = join(root, 'node_modules/@web/test-runner/dist/bin.js');
  spawnSync(process.execPath, [runner, '--files', TESTS], { cwd: root, stdio: 'inherit', env });
  const results = readResults(env.COUNT_FILE);
  rmSync(scratch, { recursive: true, force: true });
  return (engine) => results.find((result) => result.engine === engine)?.titles ?? [];
}

/** Returns the first version number that a browser prints. */
const versionOf = (command, ...args) =>
  /\d+(\.\d+)+/.exec(spawnSync(command, [...args, '--version'], { encoding: 'utf8' }).stdout)?.[0];

function tableOf(titles, passedIn) {
  const versions = {
    Chromium: `Chromium ${versionOf(findChromium())}`,
    Firefox: `Firefox ${versionOf(findFirefox())}`,
    WebKit: `WebKitGTK ${versionOf('xvfb-run', '-a', findWebKit().browser)}`,
  };
  const row = (...cells) => `| ${cells.join(' | ')} |`;
  return [
    row('Journey', ...ENGINES.map((engine) => versions[engine])),
    row('---', ...ENGINES.map(() => '---')),
    ...titles.map((title) =>
      row(title, ...ENGINES.map((engine) => (passedIn(engine).includes(title) ? 'passed' : 'failed'))),
    ),
  ].join('\n');
}

const titles = all(read(TESTS), /^ {2}it\('(.+)', async/gm);
const page = read(PAGE);
const [before, rest] = page.split(START);
const [table, after] = rest.split(END);
if (process.argv.includes('--check')) {
  const passed = ENGINES.map(() => 'passed').join(' \\| ');
  const listed = all(table, new RegExp(`^\\| (.+) \\| ${passed} \\|$`, 'gm'));
  if (titles.length === 0 || listed.join('\n') !== titles.join('\n')) {
    console.error(`${PAGE} is not up to date: run \`node scripts/journeys.mjs\``);
    process.exitCode = 1;
  }
} else {
  const written = tableOf(titles, runInEngines());
  writeFileSync(join(root, PAGE), `${before}${START}\n\n${written}\n\n${END}${after}`);
}
