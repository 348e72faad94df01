// Bundles each file that a test page loads into one script: test files, workers, and the script of the callback page.
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const own = fileURLToPath(new URL('..', import.meta.url));

/** Returns the expression that replaces `import.meta.url`: the URL of the module's source, not of its bundle. */
const addressOf = (path) => `new URL(${JSON.stringify(path)}, globalThis.location.href).href`;

/**
 * Bundles `entries` (paths below `root`) with esbuild. `sources` (path to text) replaces files on disk; `options` are options of
 * esbuild. Resolves with `{outputFiles, scripts, inputs}`: esbuild's output, the script of each entry (path to text), and the
 * source files of each script (path to set of paths).
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
    // Keeps imports that bundlers may drop because of `sideEffects` in package.json, because tests need all imports.
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
