// The matrix of mutants and the tests that detect them: a file with one line of JSON per mutant. A run adds the mutants that the
// file doesn't have yet, so a long run can be stopped and started again.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder } from '../files.mjs';
import { mutations } from '../security-mutations.mjs';
import { findMutants } from './mutants.mjs';

/** Number of tests after which a run leaves a mutant: a mutant that three tests detect does not depend on one of them. */
export const MOST_KILLS = 3;

const identity = ['file', 'operator', 'within', 'before', 'after', 'occurrence'];

const keyOf = (mutant) => identity.map((name) => mutant[name]).join('\n');

export function readMatrix(path) {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  return lines.map((line) => JSON.parse(line));
}

/** Returns a function that returns true for the mutants that the matrix at `path` has. */
export function readDone(path) {
  const done = new Set(readMatrix(path).map(keyOf));
  return (mutant) => done.has(keyOf(mutant));
}

/** Adds a mutant with its result (`trial.mjs`) to the matrix at `path`. `seconds` is the time that its tests took. */
export function addRow(path, mutant, { kills, tests }, seconds) {
  const detectedBy = {};
  for (const { file, title } of kills) {
    detectedBy[file] ??= [];
    detectedBy[file].push(title ?? '');
  }
  const row = Object.fromEntries(identity.map((name) => [name, mutant[name]]));
  appendFileSync(path, `${JSON.stringify({ ...row, tests, seconds: Math.round(seconds), detectedBy })}\n`);
}

const folderOf = (file) => file.split('/').slice(0, 2).join('/');

/** Returns the number of tests that detect the mutant of a row: of the tests that ran, which are not all if it is `MOST_KILLS`. */
const countOf = ({ detectedBy }) => Object.values(detectedBy).flat().length;

/** Returns test files that detect all `rows`: again and again the file that detects most of the rest per line. */
function coverOf(rows, linesOf) {
  const left = new Set(rows);
  const chosen = new Set();
  while (left.size > 0) {
    const gains = new Map();
    for (const { detectedBy } of left)
      for (const file of Object.keys(detectedBy)) gains.set(file, (gains.get(file) ?? 0) + 1);
    const worth = ([file, gain]) => gain / linesOf(file);
    const [[best]] = [...gains].sort((a, b) => worth(b) - worth(a));
    chosen.add(best);
    for (const row of left) if (row.detectedBy[best]) left.delete(row);
  }
  return chosen;
}

/** Returns the rows of each table of faults in a document. */
function faultTables(text) {
  const tables = text.split('\n\n').filter((part) => part.startsWith('| Fault |'));
  return tables.map((table) => {
    const [header, , ...faults] = table
      .trim()
      .split('\n')
      .map((line) => line.slice(2, -2).split(' | '));
    return { header, faults };
  });
}

/**
 * Returns the faults that are not mutants of `src`, with the test file that detects each: the security rules, the faulty services
 * of `conform`, and the cells of docs/faults.md.
 */
function readFaults(root) {
  const textOf = (path) => readFileSync(join(root, path), 'utf8');
  const rules = mutations.map(({ rule, test }) => ({ fault: `rule ${rule}`, file: test }));
  const services = filesUnder(root, ['test/server'], /^mutants-of-.*\.ts$/).flatMap((path) =>
    [...textOf(path).matchAll(/\bfault: (['"])(.+)\1/g)].map(([, , fault]) => ({
      fault: `service ${fault}`,
      file: 'test/server/conform.test.ts',
    })),
  );
  const offline = 'offline for a while';
  const tests = filesUnder(root, ['test/e2e', 'test/engine'], /^(?:fault-matrix.*|batch-faults)\.test\.ts$/);
  const cells = faultTables(textOf('docs/faults.md')).flatMap(({ header, faults }) =>
    tests.flatMap((file) => {
      const text = textOf(file);
      const isOffline = text.includes(`fault === '${offline}'`);
      const columns = header.filter((column) => isOffline || text.includes(`'${column}'`));
      return faults.flatMap(([fault, ...outcomes]) =>
        outcomes
          .map((outcome, index) => ({ outcome, column: header[index + 1] }))
          .filter(({ outcome, column }) => outcome !== '—' && columns.includes(column))
          .filter(() => (fault === offline) === isOffline)
          .map(({ column }) => ({ fault: `${fault} of ${column}`, file })),
      );
    }),
  );
  return [...rules, ...services, ...cells];
}

/**
 * Prints what a matrix says: for each folder the mutants that no test, one test, and more tests detect; for each test file below
 * `root` the mutants that it detects, those that no other file detects, the other faults that it detects, and whether a cover needs
 * it. Mutants that `MOST_KILLS` tests detect say nothing about one file, and changes of sources that are gone say nothing at all.
 */
export function printMatrix(allRows, root) {
  const present = new Set(
    filesUnder(root, ['src'], /\.ts$/).flatMap((file) =>
      findMutants(file, readFileSync(join(root, file), 'utf8')).map(keyOf),
    ),
  );
  const rows = allRows.filter((row) => present.has(keyOf(row)));
  if (rows.length < allRows.length)
    console.log(
      `\n${allRows.length - rows.length} changes of places that the sources do not have any more are left out`,
    );
  console.log('\nfolder: mutants; detected by no test, one, two, three or more; hours of its tests');
  for (const folder of [...new Set(rows.map(({ file }) => folderOf(file)))].sort()) {
    const inFolder = rows.filter(({ file }) => folderOf(file) === folder);
    const counts = inFolder.map(countOf);
    const number = (least, most) => counts.filter((count) => count >= least && count <= most).length;
    const hours = inFolder.reduce((sum, { seconds }) => sum + seconds, 0) / 3600;
    const classes = [number(0, 0), number(1, 1), number(2, 2), number(MOST_KILLS, Infinity)];
    console.log(`${folder}: ${inFolder.length}; ${classes.join(', ')}; ${hours.toFixed(1)} h`);
  }
  const linesOf = (file) => readFileSync(join(root, file), 'utf8').split('\n').length;
  // Detected mutants whose detecting tests are all in the matrix.
  const telling = rows.filter((row) => countOf(row) > 0 && countOf(row) < MOST_KILLS);
  const needed = coverOf(telling, linesOf);
  const faults = readFaults(root);
  console.log('\ntest file: lines; mutants that it detects, that no other file detects; other faults');
  for (const file of filesUnder(root, ['test'], /\.test\.ts$/)) {
    const detected = rows.filter(({ detectedBy }) => detectedBy[file]);
    const alone = telling.filter(
      ({ detectedBy }) => detectedBy[file] && Object.keys(detectedBy).length === 1,
    );
    const others = faults.filter((fault) => fault.file === file);
    const cover = needed.has(file) ? '; in the cover' : '';
    console.log(`${file}: ${linesOf(file)}; ${detected.length}, ${alone.length}; ${others.length}${cover}`);
  }
}
