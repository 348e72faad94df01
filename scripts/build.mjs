// `npm run build`: builds the modules with types (tsc), dist/cdn (Vite: one file and its workers), the callback page,
// custom-elements.json and the data for editors.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { customData, webTypes } from './editor-data.mjs';
import { filesUnder } from './files.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const bin = (name) => join(root, 'node_modules', name);

function run(name, script, args) {
  const { status } = spawnSync(process.execPath, [bin(script), ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`build: ${name} failed`);
    process.exit(1);
  }
}

function compile() {
  rmSync(dist, { recursive: true, force: true });
  run('tsc', 'typescript/bin/tsc', ['-p', 'tsconfig.build.json']);
  // tsc does not copy `.d.ts` files.
  for (const name of filesUnder(join(root, 'src'), ['.'], /\.d\.ts$/))
    cpSync(join(root, 'src', name), join(dist, name));
}

const bundle = (options = {}) =>
  build({
    root,
    configFile: join(root, 'vite.config.ts'),
    logLevel: 'warn',
    ...options,
    build: { outDir: join(dist, 'cdn'), ...options.build },
  });

/**
 * Copies the workers of dist/cdn to the modules, and the text of the default worker to `worker-source.js`. These workers have no
 * imports, and many bundlers copy a worker without its imports.
 */
function copyWorkers() {
  for (const worker of ['hash.worker.js', 'hash-wasm.worker.js'])
    for (const name of [worker, `${worker}.map`])
      cpSync(join(dist, 'cdn', name), join(dist, 'pipeline', name));
  const text = readFileSync(join(dist, 'cdn/hash.worker.js'), 'utf8').replace(/\n\/\/# source.*\s*$/, '');
  const source = join(dist, 'pipeline/worker-source.js');
  writeFileSync(source, `export const workerSource = ${JSON.stringify(text)};\n`);
  rmSync(`${source}.map`);
}

/**
 * Builds the callback page, to which the sign-in window returns. The page is used without a bundler, so its script is bundled here.
 */
async function callbackPage() {
  const name = 'secure-uploader-callback';
  const output = { format: 'es', entryFileNames: `${name}.js`, codeSplitting: false };
  const rollupOptions = { input: join(root, 'src/auth/callback.ts'), output };
  await bundle({ build: { outDir: dist, emptyOutDir: false, sourcemap: false, rollupOptions } });
  cpSync(join(root, 'src/auth/secure-uploader-callback.html'), join(dist, `${name}.html`));
  for (const file of [`${name}.js`, `${name}.html`]) cpSync(join(dist, file), join(dist, 'cdn', file));
}

/** Writes custom-elements.json, and creates the data for editors from this file. */
function manifest() {
  run('cem', '@custom-elements-manifest/analyzer/cem.js', ['analyze', '--quiet']);
  const readJson = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const elements = readJson('custom-elements.json');
  const write = (name, data) => writeFileSync(join(dist, name), `${JSON.stringify(data, null, 2)}\n`);
  write('vscode.html-custom-data.json', customData(elements));
  write('web-types.json', webTypes(elements, readJson('package.json')));
}

function printSizes() {
  const names = filesUnder(dist, ['.'], /\.js$/).filter((name) => /-callback\.js$|^cdn\//.test(name));
  for (const file of names) {
    const bytes = readFileSync(join(dist, file));
    const kib = (size) => `${(size / 1024).toFixed(1)} KiB`;
    console.log(`dist/${file}: ${kib(bytes.length)}, gzip ${kib(gzipSync(bytes).length)}`);
    console.log(`  integrity="sha384-${createHash('sha384').update(bytes).digest('base64')}"`);
  }
}

compile();
await bundle();
copyWorkers();
await callbackPage();
manifest();
printSizes();
