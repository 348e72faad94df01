// `npm run build`: builds the modules with types (tsc), dist/cdn (Vite: a first file and its parts), the themes, the callback page,
// the workers, the command, custom-elements.json, the data for editors, licenses, the SBOM, and the folders of the entries.
// `--pages` builds only dist/cdn, for tests. `--if-older` builds only if a source is newer than dist, as `npm pack` does.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';
import { build } from 'vite';
import { workerCode } from './cdn-parts.mjs';
import { customData, webTypes } from './editor-data.mjs';
import { listEntries } from './entries.mjs';
import { filesUnder } from './files.mjs';
import { createNotices, createSbom } from './third-party.mjs';

// Otherwise Vite bundles Lit's development build when the environment says so.
process.env.NODE_ENV = 'production';

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
  for (const name of filesUnder(dist, ['.'], /\.js$/)) {
    // In a module, `this` is undefined. Rollup warns about it.
    const text = readFileSync(join(dist, name), 'utf8');
    writeFileSync(join(dist, name), text.replace(/\(this && this\.__\w+\) \|\| /g, ''));
  }
  dropUnusedTypes();
}

/** Deletes the declarations of modules that no entry's types refer to. */
function dropUnusedTypes() {
  const files = listEntries(root).flatMap(([, { types }]) => (types ? join(root, types) : []));
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, paths: {} }, root);
  const sources = ts.createProgram(files, options).getSourceFiles();
  const used = new Set(sources.map(({ fileName }) => resolve(fileName)));
  for (const name of filesUnder(dist, ['.'], /\.d\.ts$/))
    if (!used.has(join(dist, name))) rmSync(join(dist, name));
}

const bundle = () =>
  build({
    root,
    configFile: join(root, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: join(dist, 'cdn') },
  });

/** First line of a file that is built here. `notice` names the licenses of the packages in it. */
const bannerOf = (notice = '') => `/*! secure-uploader ${readJson('package.json').version} | MIT${notice} */`;
const withPackages = ' | third-party-licenses.txt has the licenses of the packages in this file';

/**
 * Writes the workers beside the modules that start them, and into dist/cdn. They have no imports, because many bundlers copy a
 * worker without its imports. Also writes the text of the default worker.
 */
async function workers() {
  const files = {
    'pipeline/hash.worker': bannerOf(),
    'pipeline/hash-wasm.worker': bannerOf(withPackages),
    'photos/photo.worker': bannerOf(),
  };
  for (const [name, banner] of Object.entries(files)) {
    const text = `${banner}\n${await workerCode(join(root, 'src', `${name}.ts`))}\n`;
    writeFileSync(join(dist, 'cdn', `${name.split('/')[1]}.js`), text);
    if (isWhole) writeFileSync(join(dist, `${name}.js`), text);
  }
  const source = await workerCode(join(root, 'src/pipeline/hash.worker.ts'));
  if (isWhole)
    writeFileSync(join(dist, 'pipeline/worker-source.js'), `export default ${JSON.stringify(source)};\n`);
}

/** Builds a script that is used without a bundler, so it is bundled here. */
async function script(name, source) {
  const text = `${bannerOf()}\n${await workerCode(join(root, source))}\n`;
  for (const folder of [dist, join(dist, 'cdn')]) writeFileSync(join(folder, name), text);
}

/** Builds the callback page, to which the sign-in window returns. */
async function callbackPage() {
  const name = 'secure-uploader-callback.html';
  await script('secure-uploader-callback.js', 'src/auth/callback.ts');
  writeFileSync(join(dist, 'secure-uploader-callback.d.ts'), 'export {};\n');
  for (const folder of [dist, join(dist, 'cdn')]) cpSync(join(root, 'src/auth', name), join(folder, name));
}

const readJson = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));

/**
 * Writes a folder with a `package.json` for each entry with types, for tools that ignore `exports` by default, such as Parcel 2 and
 * TypeScript with `node10`.
 */
function entryFolders() {
  rmSync(join(root, 'locales'), { recursive: true, force: true });
  for (const [entry, { types, default: main }] of listEntries(root)) {
    if (!types || entry === '.') continue;
    const folder = join(root, entry);
    mkdirSync(folder, { recursive: true });
    const up = relative(folder, root);
    const text = JSON.stringify({ type: 'module', main: join(up, main), types: join(up, types) }, null, 2);
    writeFileSync(join(folder, 'package.json'), `${text}\n`);
  }
}

/** Builds the command `secure-uploader` as one file for Node. */
async function command() {
  const output = {
    format: 'es',
    entryFileNames: 'main.js',
    banner: '#!/usr/bin/env node',
    codeSplitting: false,
  };
  const rollupOptions = { input: join(root, 'src/cli/main.ts'), output };
  const options = {
    ssr: true,
    outDir: join(dist, 'cli'),
    target: 'node20',
    sourcemap: false,
    minify: true,
    rollupOptions,
  };
  const rest = { root, configFile: false, publicDir: false, logLevel: 'warn' };
  await build({ ...rest, build: options });
}

/** Writes custom-elements.json with the paths of the built modules, and creates the data for editors from this file. */
function manifest() {
  run('cem', '@custom-elements-manifest/analyzer/cem.js', ['analyze', '--quiet']);
  const file = join(root, 'custom-elements.json');
  const paths = readFileSync(file, 'utf8').replace(/"(\/?)src\/([\w./-]+)\.ts"/g, '"$1dist/$2.js"');
  const elements = JSON.parse(paths);
  writeFileSync(file, JSON.stringify(elements));
  const write = (name, data) => writeFileSync(join(dist, name), `${JSON.stringify(data)}\n`);
  write('vscode.html-custom-data.json', customData(elements));
  write('web-types.json', webTypes(elements, readJson('package.json')));
}

/** Writes the licenses of the packages that the build uses, and the SBOM. */
function thirdParty() {
  const notices = createNotices(root);
  for (const folder of [dist, join(dist, 'cdn')])
    writeFileSync(join(folder, 'third-party-licenses.txt'), notices);
  writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(createSbom(root), null, 2)}\n`);
}

/** Copies the themes, which are plain style sheets. */
function themes() {
  for (const folder of [dist, join(dist, 'cdn')])
    cpSync(join(root, 'src/themes'), join(folder, 'themes'), { recursive: true });
}

function printSizes() {
  const names = filesUnder(dist, ['.'], /\.js$/).filter((name) =>
    /(-callback|^file-keeper)\.js$|^cdn\//.test(name),
  );
  for (const file of names) {
    const bytes = readFileSync(join(dist, file));
    const kib = (size) => `${(size / 1024).toFixed(1)} KiB`;
    console.log(`dist/${file}: ${kib(bytes.length)}, gzip ${kib(gzipSync(bytes).length)}`);
    const integrity = `sha384-${createHash('sha384').update(bytes).digest('base64')}`;
    console.log(`  integrity="${integrity}"`);
    // Each page loads these parts. With the link, they arrive a round trip earlier.
    if (/^cdn\/(uploads|settings)-/.test(file))
      console.log(
        `  <link rel="modulepreload" href="${file.slice('cdn/'.length)}" integrity="${integrity}" crossorigin="anonymous">`,
      );
  }
}

/** Returns true if no source, and no folder of sources, is newer than the file that the build writes last. */
function isCurrent() {
  const last = join(dist, 'sbom.cdx.json');
  if (!existsSync(last)) return false;
  const files = [
    'package.json',
    'package-lock.json',
    'vite.config.ts',
    'custom-elements-manifest.config.mjs',
  ];
  const folders = ['src', 'scripts'].flatMap((name) => [
    name,
    ...readdirSync(join(root, name), { recursive: true }).map((file) => join(name, file)),
  ]);
  const sources = [...files, 'tsconfig.json', 'tsconfig.build.json', ...folders];
  return sources.every((name) => statSync(join(root, name)).mtimeMs <= statSync(last).mtimeMs);
}

if (process.argv.includes('--if-older') && isCurrent()) {
  console.log('build: dist is newer than its sources');
  process.exit();
}
const isWhole = !process.argv.includes('--pages');
if (isWhole) compile();
await bundle();
themes();
await callbackPage();
await script('file-keeper.js', 'src/engine/resume/keeper/file-keeper.ts');
await workers();
if (isWhole) {
  await command();
  manifest();
  entryFolders();
  thirdParty();
  printSizes();
}
