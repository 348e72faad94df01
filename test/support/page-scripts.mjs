// Serves the scripts of test pages as bundles, because loading a hundred modules takes longer than most tests.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../../scripts/bundles.mjs';
import { filesUnder } from '../../scripts/files.mjs';

/** Folders of tests that run in pages. */
export const PAGE_TESTS = ['core', 'service', 'auth', 'store', 'pipeline', 'engine', 'ui'];

/** Scripts of the frames of tests. */
export const framesUnder = (root) => filesUnder(root, ['test/ui/fixtures'], /-page\.ts$/);

/** Returns middleware that serves files from their sources under the names that they have in the built package. */
export const asBuilt = (root) => (context, next) => {
  context.url = context.url
    .replace(/^\/secure-uploader-callback\.html/, '/src/auth/secure-uploader-callback.html')
    .replace(/^\/(src\/auth\/)?secure-uploader-callback\.js/, '/src/auth/callback.ts');
  const isSource = /^\/(src|demo|test)\/.*\.js$/.test(context.path);
  const source = join(root, context.path.replace(/\.js$/, '.ts'));
  if (isSource && existsSync(source)) context.url = context.url.replace(/\.js(?=$|\?)/, '.ts');
  return next();
};

/**
 * Bundles the tests, the scripts of their frames (`*-page.ts`), the workers and the script of the callback page. Returns scripts,
 * shared chunks and source maps by path.
 */
async function bundleAll(root) {
  const tests = PAGE_TESTS.map((name) => `test/${name}`);
  const entries = [
    ...filesUnder(root, tests, /\.test\.ts$/),
    ...framesUnder(root),
    ...filesUnder(root, ['src'], /^(callback|.*\.worker)\.ts$/),
  ];
  return (await bundle(root, entries, undefined, { sourcemap: 'linked' })).scripts;
}

/** Path of the file keeper's script on test pages. */
export const KEEPER_PATH = '/file-keeper.js';

/**
 * Bundles the script of the file keeper, a classic script, which cannot import modules. `sources` (path to text) replaces files on
 * disk. Resolves with `undefined` if `root` has no file keeper.
 */
export async function bundleKeeper(root, sources) {
  const entry = 'src/engine/resume/keeper/file-keeper.ts';
  if (!existsSync(join(root, entry))) return undefined;
  const { scripts } = await bundle(root, [entry], sources, { format: 'iife' });
  return scripts.get(entry);
}

/**
 * Returns middleware that serves the results of `bundleAll()`, built once per run. If bundling fails, serves all files as modules.
 */
export function bundled(root) {
  let bundles;
  let keeper;
  return async (context, next) => {
    if (context.path === KEEPER_PATH) {
      keeper ??= bundleKeeper(root);
      context.type = 'text/javascript';
      context.body = await keeper;
      return undefined;
    }
    bundles ??= bundleAll(root).catch(() => new Map());
    const text = (await bundles).get(context.path.slice(1));
    if (text === undefined) return next();
    context.type = context.path.endsWith('.map') ? 'application/json' : 'text/javascript';
    context.body = text;
  };
}
