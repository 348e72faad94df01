// Bundles each file that a test page loads into one script: test files, workers, and the script of the callback page.
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const own = fileURLToPath(new URL('..', import.meta.url));

/** Returns the expression that replaces `import.meta.url`: the URL of the module's source, not of its bundle. */
const addressOf = (path) => `new URL(${JSON.stringify(path)}, globalThis.location.href).href`;

/**
 * Bundles `entries` (paths below `root`) with esbuild. Modules that several entries share, and modules that are loaded late, become
 * chunks. `sources` (path to text) replaces files on disk; `options` are options of esbuild. Resolves with `{scripts, inputs}`: the
 * text of each output (entries under the path of their source, chunks under `chunks/`), and the source files that each output
 * loads, also by its chunks (path to set of paths).
 */
export async function bundle(root, entries, sources = new Map(), options = {}) {
  const slashed = (path) => relative(root, path).split(sep).join('/');
  const instrumented = {
    name: 'instrumented',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /\?code$/ }, ({ path, resolveDir }) => ({
        path: join(resolveDir, path.replace('?code', '')),
        namespace: 'code',
      }));
      // The code of a worker as text.
      onLoad({ filter: /.*/, namespace: 'code' }, async ({ path }) => {
        const worker = await bundle(root, [slashed(path)], sources);
        return { contents: worker.scripts.get(slashed(path)), loader: 'text' };
      });
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const name = slashed(path);
        const text = sources.get(name) ?? readFileSync(path, 'utf8');
        return { contents: text.replaceAll('import.meta.url', addressOf(`/${name}`)), loader: 'ts' };
      });
    },
  };
  const { format = 'esm' } = options;
  const { outputFiles, metafile } = await build({
    entryPoints: entries.map((entry) => join(root, entry)),
    outdir: root,
    outbase: root,
    absWorkingDir: root,
    bundle: true,
    splitting: format === 'esm',
    chunkNames: 'chunks/[hash]',
    write: false,
    metafile: true,
    format,
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
  const { outputs } = metafile;
  // Modules that are loaded late are entry points of esbuild, too.
  const nameOf = (output) => {
    const { entryPoint } = outputs[output] ?? {};
    return entries.includes(entryPoint) ? entryPoint : output;
  };
  const inputsOf = (output, all = new Set(), visited = new Set()) => {
    if (visited.has(output) || !outputs[output]) return all;
    visited.add(output);
    for (const input of Object.keys(outputs[output].inputs)) all.add(input);
    for (const { path } of outputs[output].imports) inputsOf(path, all, visited);
    return all;
  };
  return {
    scripts: new Map(outputFiles.map(({ path, text }) => [nameOf(slashed(path)), text])),
    inputs: new Map(Object.keys(outputs).map((output) => [nameOf(output), inputsOf(output)])),
  };
}
