// One script for each file that a page of the tests loads: a test file, a worker, the script of the callback page.
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const own = fileURLToPath(new URL('..', import.meta.url));

/** The URL of a module's source, in place of its bundle's. */
const addressOf = (path) => `new URL(${JSON.stringify(path)}, globalThis.location.href).href`;

/**
 * Bundles `entries`, which are paths below `root`, with `sources` (path to text) in place of what is on the disk. Resolves with
 * `{outputFiles, scripts, inputs}`: esbuild's output, path to text, and path to the set of paths that it was made of. `options` are
 * options of esbuild.
 */
export async function bundle(root, entries, sources = new Map(), options = {}) {
  const slashed = (path) => relative(root, path).split(sep).join('/');
  const instrumented = {
    name: 'instrumented',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const name = slashed(path);
        const text = sources.get(name) ?? readFileSync(path, 'utf8');
        return { contents: text.replaceAll('import.meta.url', addressOf(`/${name}`)), loader: 'ts' };
      });
    },
  };
  const { outputFiles, metafile } = await build({
    entryPoints: entries.map((entry) => join(root, entry)),
    outdir: join(root, 'bundles'),
    outbase: root,
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'esnext',
    // package.json says which modules may be left out of a page's own bundle; tests need all that they import.
    ignoreAnnotations: true,
    conditions: ['development'],
    external: ['/__web-*'],
    tsconfig: join(own, 'tsconfig.json'),
    plugins: [instrumented],
    logLevel: 'error',
    ...options,
  });
  const entryOf = (path) =>
    slashed(path)
      .replace(/^bundles\//, '')
      .replace(/\.js$/, '.ts');
  const scripts = new Map(outputFiles.map(({ path, text }) => [entryOf(path), text]));
  const inputs = new Map(
    Object.entries(metafile.outputs).map(([path, { inputs: parts }]) => [
      entryOf(join(root, path)),
      new Set(Object.keys(parts)),
    ]),
  );
  return { outputFiles, scripts, inputs };
}
