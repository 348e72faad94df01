// Selects the tests for `npm test -- --changed`: tests that import changed files, directly or indirectly. A file has changed if it
// differs from the merge base with `main`. Prefers the nearest tests up to a limit, so that a run takes about a minute.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { filesUnder } from './files.mjs';

/** Maximum number of test files, by folder. Changed test files count too, but always run. */
export const LIMITS = [
  {
    at: /^test\/(?:core|service|auth|pipeline|engine|ui)\//,
    what: 'files of tests in pages',
    most: 20,
  },
  { at: /^test\/server\//, what: 'files of tests of the service', most: 20 },
  { at: /^test\/package\//, what: 'files of tests of the package', most: 2 },
  { at: /^test\/e2e\//, what: 'journeys', most: 1 },
];

/** A file of an example project. `service-s3` has a test of its own, which names its files. */
const EXAMPLE = /^demo\/examples\/(?!service-s3\/)([\w-]+)\//;
const EXAMPLES_TEST = 'test/package/examples.test.ts';

/**
 * Tests that depend on files without importing them. Journeys load the built package, so a changed source file selects the shortest
 * journey that uses this file. A changed file outside the code selects the tests that read this file.
 */
const TABLE = [
  {
    changed: /^src\/(?:auth\/|login\.ts|ui\/login|ui\/views\/login)/,
    tests: ['test/e2e/auth-element.test.ts'],
  },
  { changed: /^src\/.*\.ts$/, tests: ['test/e2e/transfer-kept.test.ts'] },
  {
    changed: /^(?:src|docs|demo)\/.*\.md$/,
    tests: ['test/package/readme.test.ts', 'test/package/samples.test.ts'],
  },
  { changed: EXAMPLE, tests: [EXAMPLES_TEST] },
  {
    changed: /^docs\/faults\.md$/,
    tests: ['test/e2e/fault-matrix.test.ts', 'test/engine/batch-faults.test.ts'],
  },
  { changed: /^(?:test|src)\//, tests: ['test/package/acceptance.test.ts'], isSmall: true },
];

/**
 * Files that contain paths of source files without importing these files. Without this list, every change would select every
 * journey.
 */
const NO_IMPORTS = ['test/support/built.ts', 'scripts/changed.mjs'];
const PAGE_CONFIG = 'web-test-runner.config.mjs';

function git(root, ...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr.trim() || 'failed'}`);
  return stdout.split('\0').filter(Boolean);
}

/** Returns the files that differ from the merge base with `main`, including uncommitted and untracked files. */
export function changedFiles(root) {
  const isKnown = (name) =>
    spawnSync('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], { cwd: root }).status === 0;
  const main = ['main', 'origin/main'].find(isKnown);
  if (!main) throw new Error('there is no branch "main" to compare with; fetch it, or name the tests to run');
  const [base = ''] = git(root, 'merge-base', main, 'HEAD').map((line) => line.trim());
  const tracked = git(root, 'diff', '--name-only', '--no-renames', '-z', '--relative', base);
  return [...new Set([...tracked, ...git(root, 'ls-files', '--others', '--exclude-standard', '-z')])];
}

/** Returns the project files that `file` loads: imported files, except types, and files whose names occur in strings. */
function loadedBy(root, file) {
  if (NO_IMPORTS.includes(file)) return [];
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest);
  const found = new Set();
  const add = (text) => {
    if (!/^[\w./@-]+\.\w+$/.test(text)) return;
    // A page loads a file of the project by its absolute path.
    const path = text.startsWith('.') ? normalize(join(dirname(file), text)) : text.replace(/^\//, '');
    for (const name of [path, path.replace(/\.js$/, '.ts')])
      if (!name.startsWith('..') && existsSync(join(root, name)) && statSync(join(root, name)).isFile())
        found.add(name);
  };
  const isErased = (node) => {
    const clause = ts.isImportDeclaration(node) ? node.importClause : node;
    if (!clause) return false;
    const named = clause.namedBindings ?? clause.exportClause;
    const elements = named && 'elements' in named ? named.elements : [];
    return (
      clause.isTypeOnly || (!clause.name && elements.length > 0 && elements.every((each) => each.isTypeOnly))
    );
  };
  const visit = (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && isErased(node)) return;
    if (ts.isImportTypeNode(node)) return;
    if (ts.isStringLiteralLike(node)) add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found];
}

/** Returns a map from each project file to the files that load it. */
function loadersOf(root) {
  const code = filesUnder(root, ['src', 'demo', 'test', 'scripts'], /\.[cm]?[jt]s$/).filter(
    (file) => !file.startsWith('test/bench/') && !/\.d\.[cm]?ts$/.test(file),
  );
  const configs = [PAGE_CONFIG, 'vite.config.ts'].filter((file) => existsSync(join(root, file)));
  const loaders = new Map();
  const add = (file, loader) => loaders.set(file, [...(loaders.get(file) ?? []), loader]);
  for (const file of [...code, ...configs]) for (const loaded of loadedBy(root, file)) add(loaded, file);
  for (const file of code) if (LIMITS[0].at.test(file) && file.endsWith('.test.ts')) add(PAGE_CONFIG, file);
  return loaders;
}

/** Returns the number of imports between each file and the nearest changed file. */
function distancesFrom(changed, loaders) {
  const distances = new Map(changed.map((file) => [file, 0]));
  for (const [file, distance] of distances)
    for (const loader of loaders.get(file) ?? [])
      if (!distances.has(loader)) distances.set(loader, distance + 1);
  return distances;
}

/**
 * Returns the selection `{tests, examples, left}`: the tests to run, the example projects that the test of the examples is limited
 * to (none: all projects), and a description of related tests that were left out.
 */
export function changedTests(root, changed = changedFiles(root)) {
  const distances = distancesFrom(changed, loadersOf(root));
  const ofExamples = changed.map((file) => EXAMPLE.exec(file)?.[1]).filter(Boolean);
  const examples = distances.has(EXAMPLES_TEST) ? [] : [...new Set(ofExamples)];
  const always = new Set();
  for (const { changed: pattern, tests, isSmall } of TABLE) {
    if (!changed.some((file) => pattern.test(file))) continue;
    for (const test of tests) {
      if (isSmall) always.add(test);
      else distances.set(test, Math.min(1, distances.get(test) ?? 1));
    }
  }
  const related = [...distances]
    .filter(([file]) => file.endsWith('.test.ts') && existsSync(join(root, file)))
    .sort(([one, near], [other, far]) => near - far || (one < other ? -1 : 1));
  const tests = new Set([...always].filter((file) => existsSync(join(root, file))));
  const left = [];
  for (const { at, what, most } of LIMITS) {
    const own = related.filter(([file]) => at.test(file));
    const chosen = own.filter(([, distance], index) => distance === 0 || index < most);
    for (const [file] of chosen) tests.add(file);
    const count = own.length - chosen.length;
    if (count) left.push(`${count} more ${what} that the change may concern: npm test`);
  }
  if (changed.some((file) => file.startsWith('src/'))) left.push('all other journeys: npm test');
  return { tests: [...tests].sort(), examples, left };
}
