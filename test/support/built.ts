// Builds the package and single bundles that many test files load, once for each state of the sources. The results stay in
// node_modules/.cache, or in the folder `BUILT_CACHE`.
// `node --import tsx test/support/built.ts` builds everything before the tests.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = process.env.BUILT_CACHE ?? join(root, 'node_modules/.cache/secure-uploader-tests');
/** Number of results that are kept, including the newest. */
const KEPT_COUNT = 3;
/** Older results are kept for this time since their last use, because runs may still use them. */
const KEPT_MS = 3_600_000;

/** Inputs of `npm run build`. */
const BUILD_SOURCES = [
  'src',
  'scripts/build.mjs',
  'scripts/editor-data.mjs',
  'scripts/entries.mjs',
  'scripts/files.mjs',
  'scripts/cdn-parts.mjs',
  'scripts/third-party.mjs',
  'vite.config.ts',
  'tsconfig.json',
  'tsconfig.build.json',
  'custom-elements-manifest.config.mjs',
  'package.json',
  'package-lock.json',
];

/** Bundles that several test files load, with the paths of their sources. */
export const SHARED_BUNDLES = {
  login: 'src/login.ts',
  authPage: 'test/e2e/support/auth-page.ts',
} as const;

function stampOf(names: readonly string[]): string {
  const stamp = createHash('sha256');
  const add = (path: string): void => {
    if (statSync(path).isDirectory()) for (const name of readdirSync(path).sort()) add(join(path, name));
    else stamp.update(path).update(readFileSync(path));
  };
  for (const name of new Set([...names, 'package-lock.json'])) add(join(root, name));
  return stamp.digest('hex').slice(0, 16);
}

/**
 * Returns a folder that `make` filled for this state of the sources, now or in an earlier run. If several processes do this at the
 * same time, the result of the first one to finish is kept.
 */
function keep(name: string, folder: string, make: (target: string) => unknown): string {
  const kept = join(cache, name, folder);
  if (existsSync(kept)) {
    // The result counts as new again, so that it is kept.
    utimesSync(kept, new Date(), new Date());
    return kept;
  }
  mkdirSync(join(cache, name), { recursive: true });
  const target = mkdtempSync(join(cache, 'making-'));
  try {
    make(target);
    try {
      renameSync(target, kept);
    } catch (error) {
      if (!existsSync(kept)) throw error;
    }
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
  const modifiedMs = (other: string): number => statSync(join(cache, name, other)).mtimeMs;
  const others = readdirSync(join(cache, name)).sort((one, other) => modifiedMs(other) - modifiedMs(one));
  for (const old of others.slice(KEPT_COUNT).filter((other) => modifiedMs(other) < Date.now() - KEPT_MS))
    rmSync(join(cache, name, old), { recursive: true, force: true });
  return kept;
}

function run(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`the build failed: ${stdout}${stderr}`);
  return stdout;
}

export interface BuiltPackage {
  /** Folder with all outputs: `dist`, `custom-elements.json` and the folders of the entries. */
  readonly folder: string;
  /** Path of the copy of the project that was built. No file of the package may contain this path. */
  readonly builtIn: string;
}

/** Calls `work` with the path of a copy of the sources, and then deletes the copy. */
export function withCopy<T>(work: (stage: string) => T): T {
  const stage = mkdtempSync(join(tmpdir(), 'secure-uploader-build-'));
  try {
    for (const name of BUILD_SOURCES) cpSync(join(root, name), join(stage, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(stage, 'node_modules'));
    return work(stage);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/**
 * Builds a copy of the project in a new folder, with the arguments `args` of scripts/build.mjs. Copies everything that the build
 * creates to `target`. Returns the folder.
 */
export function buildTo(target: string, env: NodeJS.ProcessEnv = {}, args: readonly string[] = []): string {
  return withCopy((stage) => {
    run(['scripts/build.mjs', ...args], stage, env);
    const inputs = ['node_modules', ...BUILD_SOURCES.map((name) => name.replace(/\/.*/, ''))];
    for (const name of readdirSync(stage).filter((each) => !inputs.includes(each)))
      cpSync(join(stage, name), join(target, name), { recursive: true });
    return stage;
  });
}

/** Returns the output of `npm run build` for the current sources. */
export function builtPackage(): BuiltPackage {
  const folder = keep('package', stampOf(BUILD_SOURCES), (target) => {
    writeFileSync(join(target, 'built-in.txt'), buildTo(target));
  });
  return { folder, builtIn: readFileSync(join(folder, 'built-in.txt'), 'utf8') };
}

/** Returns the folder of the one-file build. Builds nothing else for it, unless the whole package is built already. */
export function builtWidget(): string {
  const stamp = stampOf(BUILD_SOURCES);
  const isBuilt = existsSync(join(cache, 'package', stamp));
  const make = (target: string): unknown => buildTo(target, {}, ['--pages']);
  return join(isBuilt ? builtPackage().folder : keep('widget', stamp, make), 'dist/cdn');
}

/** Returns the text of a bundle. `source` is a path from the root of the project, and may import only from `src`. */
export function builtBundle(source: string): string {
  const stamp = stampOf(['src', source, 'scripts/login-page.mjs']);
  const folder = keep(source.replaceAll('/', '-'), stamp, (target) => {
    const script = `import { bundle } from './scripts/login-page.mjs';
      process.stdout.write(await bundle(process.argv[1]));`;
    const text = run(['--input-type=module', '--eval', script, source], root);
    writeFileSync(join(target, 'bundle.js'), text);
  });
  return readFileSync(join(folder, 'bundle.js'), 'utf8');
}

const EXAMPLE = 'demo/examples/service-s3';

/** Returns a copy of demo/examples/service-s3 with its packages, which are not packages of the project. */
export function installedExample(): string {
  const names = readdirSync(join(root, EXAMPLE)).filter((name) => name !== 'node_modules');
  const paths = names.map((name) => join(EXAMPLE, name));
  return keep('service-s3', stampOf(paths), (target) => {
    for (const path of paths) cpSync(join(root, path), join(target, basename(path)));
    const npm = process.env.npm_execpath;
    const [command, args] = npm?.endsWith('js') ? [process.execPath, [npm]] : ['npm', []];
    const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status, stderr } = spawnSync(command, [...args, ...options], { cwd: target, encoding: 'utf8' });
    if (status !== 0) throw new Error(`npm ci failed in ${EXAMPLE}: ${stderr}`);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  builtPackage();
  for (const source of Object.values(SHARED_BUNDLES)) builtBundle(source);
}
