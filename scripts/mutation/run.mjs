// `npm run test:mutation -- src/engine src/ui --seed=7`: makes one change (mutant) to the sources at a time, and runs the tests
// that reach the change. A change that no test detects is a gap in the tests. Exits with 1 if the tests detect fewer changes
// than the target. With `--matrix=FILE`, runs all tests that reach a change, adds them to the matrix, and prints what it says.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleKeeper, framesUnder, PAGE_TESTS } from '../../test/support/page-scripts.mjs';
import { bundle } from '../bundles.mjs';
import { filesUnder } from '../files.mjs';
import { addRow, MOST_KILLS, printMatrix, readDone, readMatrix } from './matrix.mjs';
import { findMutants, instrument } from './mutants.mjs';
import { openNode } from './node.mjs';
import { openPages } from './pages.mjs';
import { printFolder, printSum, printTaken } from './report.mjs';
import { select, stale } from './select.mjs';
import { measure, trial } from './trial.mjs';

const own = fileURLToPath(new URL('../..', import.meta.url));
const args = process.argv.slice(2);
const option = (name, fallback) =>
  args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback;
const root = resolve(option('root', own));
const seeds = option('seed', '1').split(',');
const count = args.includes('--all') ? Infinity : Number(option('count', '50'));
const target = Number(option('target', '90'));
const limitMs = Number(option('minutes', 'Infinity')) * 60_000;
const pageCount = Number(option('pages', '2'));
const matrix = option('matrix', '');
const folders = args.filter((arg) => !arg.startsWith('-')).map((path) => path.replace(/^\.\/|\/$/g, ''));

function fail(sentence) {
  console.error(`mutation: ${sentence}`);
  process.exit(2);
}

/** Exits after all output is written, because a pipe writes output in pieces. */
async function end(status) {
  await new Promise((resolve) => process.stdout.write('', resolve));
  process.exit(status);
}

const sourcesOf = (folder) => {
  const path = join(root, folder);
  if (!existsSync(path))
    fail(`${folder} is not there. Name folders or files, as in: npm run test:mutation -- src/engine`);
  return statSync(path).isFile() ? [folder] : filesUnder(root, [folder], /(?<!\.d)\.ts$/);
};

if (!folders.length && !existsSync(matrix))
  fail('name folders or files, as in: npm run test:mutation -- src/engine');
if (!(count > 0)) fail('--count is a number of mutants.');

const equivalentsFile = option('equivalents', fileURLToPath(new URL('equivalents.json', import.meta.url)));
const known = JSON.parse(readFileSync(equivalentsFile, 'utf8'));
const started = performance.now();
const isOver = () => performance.now() - started > limitMs;
const seconds = () => `${((performance.now() - started) / 1000).toFixed(0)} s`;

// Mutants by key. A mutant that several seeds or folders select runs only once.
const mutants = new Map();
const texts = new Map();
const rounds = folders.flatMap((folder) => {
  const files = sourcesOf(folder);
  const found = files.flatMap((file) => {
    texts.set(file, readFileSync(join(root, file), 'utf8'));
    return findMutants(file, texts.get(file));
  });
  const old = stale(known, found, files);
  for (const each of old)
    console.log(`mutation: equivalents.json names what is not there any more: ${each.file}: ${each.within}`);
  const wanted = count === Infinity ? ['all'] : seeds;
  return wanted.map((seed) => {
    const { taken, equivalents } = select(found, { seed: `${seed} ${folder}`, count, known });
    const ids = taken.map((mutant) => {
      const key = `${mutant.file}:${mutant.start}:${mutant.end}:${mutant.replacement}`;
      if (!mutants.has(key)) mutants.set(key, { ...mutant, id: mutants.size + 1 });
      return mutants.get(key);
    });
    return { folder, seed, taken: ids, equivalents, found: found.length };
  });
});
const isDone = matrix ? readDone(matrix) : () => false;
/** All mutants, one of each folder in turn: a run that is stopped then has some of each. */
const inTurn = Array.from({ length: Math.max(...rounds.map(({ taken }) => taken.length)) }, (_, turn) =>
  rounds.flatMap(({ taken }) => taken.slice(turn, turn + 1)),
).flat();
const all = [...new Set(inTurn)].filter((mutant) => !isDone(mutant));
if (args.includes('--list')) {
  for (const round of rounds) printTaken(round);
  await end(0);
}
if (matrix && all.length === 0) {
  printMatrix(readMatrix(matrix), root);
  await end(0);
}
const instrumented = new Map();
for (const [file, text] of texts)
  instrumented.set(
    file,
    instrument(
      text,
      all.filter((mutant) => mutant.file === file),
    ),
  );

const wantedTests = option('tests', 'test').split(',');
const testFiles = filesUnder(
  root,
  PAGE_TESTS.map((name) => `test/${name}`),
  /\.test\.ts$/,
).filter((file) => wantedTests.some((path) => file === path || file.startsWith(`${path}/`)));
/** Tests outside of pages, by the folder of sources that they import. */
const inNode = {
  'src/cli/': ['test/server/conform.test.ts'],
  'src/photos/': filesUnder(root, ['test/photos'], /\.test\.ts$/),
};
const nodeTests = Object.entries(inNode).flatMap(([folder, files]) =>
  all.some(({ file }) => file.startsWith(folder)) ? files : [],
);
if (!testFiles.length) fail('no tests in pages were found.');
// Scripts that a page loads in addition to its tests.
const loaded = filesUnder(root, ['src'], /^(callback|.*\.worker)\.ts$/);
/** Modules that the HTML pages of tests import. The tests of such a page import the same sources, also those of a frame. */
const imported = filesUnder(root, ['test'], /\.html$/).flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/from '\/(src\/[^']+)'/g)].map(([, path]) => path),
);
const entries = new Set([...testFiles, ...loaded, ...imported, ...framesUnder(root)]);
const { scripts, inputs } = await bundle(root, [...entries], instrumented);
const keeper = await bundleKeeper(root, instrumented);
const isChanged = (entry) => all.some(({ file }) => inputs.get(entry)?.has(file));
const isKeeperChanged = all.some(({ file }) => file.startsWith('src/engine/resume/keeper/'));
const inPages = isKeeperChanged || loaded.some(isChanged) ? testFiles : testFiles.filter(isChanged);
const reaching = [...nodeTests, ...inPages];
console.log(`${all.length} mutants, ${reaching.length} files of tests that import them`);

const { default: config } = await import('../../web-test-runner.config.mjs');
const pages = await openPages({ root, config, testFiles, scripts, keeper, count: pageCount });
const node = nodeTests.length > 0 ? openNode({ root, instrumented }) : undefined;
const tests = { run: (file, job) => (nodeTests.includes(file) ? node : pages).run(file, job) };
try {
  const measured = await measure(tests, reaching);
  if (measured.broken.length) fail(`without a mutant these fail: ${measured.broken.join('; ')}`);
  console.log(`All pass without a mutant (${seconds()})`);
  const queue = all.values();
  let done = 0;
  const work = async () => {
    for (const mutant of queue) {
      if (isOver()) return;
      const startedMs = performance.now();
      mutant.result = await trial(tests, measured.runs, mutant, isOver, matrix ? MOST_KILLS : 1);
      if (matrix && mutant.result)
        addRow(matrix, mutant, mutant.result, (performance.now() - startedMs) / 1000);
      done += 1;
      if (args.includes('--verbose'))
        console.log(mutant.id, mutant.file, mutant.line, JSON.stringify(mutant.result));
      if (done % 25 === 0) console.log(`${done} of ${all.length} (${seconds()})`);
    }
  };
  await Promise.all(Array.from({ length: pageCount }, work));
} finally {
  await pages.stop();
}

if (matrix) {
  printMatrix(readMatrix(matrix), root);
  await end(all.every(({ result }) => result) ? 0 : 1);
}
for (const round of rounds) {
  round.unrun = round.taken.filter(({ result }) => !result).length;
  round.taken = round.taken.filter(({ result }) => result);
}
const scores = rounds.map((round) => printFolder(round));
printSum(rounds, scores, target);
console.log(seconds());
await end(rounds.every(({ unrun }, index) => unrun === 0 && scores[index] >= target) ? 0 : 1);
