// For the site, scripts/site.mjs adds the rest. `vite build`, which scripts/build.mjs calls, builds dist/cdn for pages without a
// bundler: one file that defines the element, and its workers. tsc builds the rest of the package.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, type UserConfig } from 'vite';
import { inlined, smallStyles, smallTemplates } from './scripts/smaller.mjs';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Serves the callback page, to which the sign-in window returns, at every path of the site. */
const callbackPage: Plugin = {
  name: 'callback-page',
  configureServer(server) {
    server.middlewares.use((request, response, next) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      if (pathname.endsWith('/secure-uploader-callback.js'))
        request.url = `/@fs/${path('src/auth/callback.ts')}`;
      if (!pathname.endsWith('/secure-uploader-callback.html')) return next();
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(readFileSync(path('src/auth/secure-uploader-callback.html')));
    });
  },
};

const demo: UserConfig = {
  root: path('demo'),
  plugins: [callbackPage],
  appType: 'mpa',
  cacheDir: path('node_modules/.vite'),
  resolve: {
    alias: [
      { find: /^secure-uploader\/engine$/, replacement: path('src/engine/uploader.ts') },
      { find: /^secure-uploader\/login$/, replacement: path('src/login.ts') },
      { find: /^secure-uploader\/locales$/, replacement: path('src/locales.ts') },
      { find: /^secure-uploader\/locales\/([\w-]+)$/, replacement: `${path('src/locales')}/$1.ts` },
      { find: /^secure-uploader\/define$/, replacement: path('src/define.ts') },
      { find: /^secure-uploader$/, replacement: path('src/index.ts') },
    ],
  },
  // Dependencies need no bundling, since all are ES modules. Bundling them on discovery would reload the page during an upload.
  optimizeDeps: { noDiscovery: true, include: [] },
  server: {
    host: '127.0.0.1',
    strictPort: false,
    // Not the root: it has the keys of the service in `.data`, and Vite answers every page on this machine.
    fs: { allow: ['demo', 'src', 'node_modules'].map(path) },
  },
};

/** Makes the paths in source maps of dist/cdn start at the root of this repository, or at `node_modules`. */
const fromPackage = (source: string, map: string): string =>
  `../../${relative(path('.'), resolve(dirname(map), source)).replace(/^.*(?=node_modules\/)/, '')}`;

const integrityLength = 'sha384-'.length + 64;
const integrityMark = '#'.repeat(integrityLength); // as long as its replacement, so that the source map stays correct

/** Replaces `__WORKER_INTEGRITY__` in the bundle with the integrity hash of the worker that it may fetch. */
const workerIntegrity: Plugin = {
  name: 'worker-integrity',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const worker = bundle['hash-wasm.worker.js'];
    if (!worker) return;
    const text = worker.type === 'asset' ? worker.source : worker.code;
    const integrity = `sha384-${createHash('sha384').update(text).digest('base64')}`;
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') file.code = file.code.replaceAll(integrityMark, integrity);
    }
  },
};

/** Keeps hash-wasm (14 kB) out of the page's file: if no worker can run, the page hashes with `crypto.subtle` only. */
const noWasmInPage: Plugin = {
  name: 'no-wasm-in-page',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/src/pipeline/hash-pool.ts')) return undefined;
    return { code: code.replace("() => import('./wasm-hashes.ts')", ''), map: null };
  },
};

/** Removes the indentation of templates, and spaces and comments in styles. Minifiers do not change template literals. */
const smallViews: Plugin = {
  name: 'small-views',
  enforce: 'pre',
  transform(code, id) {
    if (!/\/src\/ui\/(views|styles)\//.test(id)) return undefined;
    return { code: id.includes('/styles/') ? smallStyles(code) : smallTemplates(code), map: null };
  },
};

/** Replaces the helper for decorators, since `property` needs only its call (0.2 kB less). */
const smallDecorators: Plugin = {
  name: 'small-decorators',
  transform: (_code, id) =>
    id.endsWith('/helpers/esm/decorate.js')
      ? { code: 'export default ([property], prototype, name) => property(prototype, name);', map: null }
      : undefined,
};

/**
 * Replaces Lit's `css`, which the element does not use (0.4 kB less). A page's subclass may have `static styles`, of `css` of its own.
 */
const smallSheets: Plugin = {
  name: 'small-sheets',
  transform: (_code, id) =>
    id.endsWith('/reactive-element/css-tag.js')
      ? {
          code: `export const adoptStyles = (root, styles) => (root.adoptedStyleSheets = styles.map((each) => each.styleSheet ?? each));
            export const getCompatibleStyle = (style) => style;
            export let CSSResult, css, supportsAdoptingStyleSheets, unsafeCSS;`,
          map: null,
        }
      : undefined,
};

/** Puts related modules next to each other, which gzip compresses better (1 kB less). The order was found by trying. */
const nearEachOther: Plugin = {
  name: 'near-each-other',
  transform(code, id) {
    if (id !== path('src/define.ts')) return undefined;
    const first = [
      'ui/messages',
      'engine/sign-in',
      'engine/uploader',
      'ui/views/widget',
      'ui/drop-controller',
      'ui/engine-controller',
    ];
    return { code: first.map((name) => `import './${name}.ts';`).join('') + code, map: null };
  },
};

/** Module of the one file whose function resolves with modules that only some pages need: another file has them. */
const LOADED = '\0loaded';
const loaded = `export const loaded = async (file) => {
  const modules = globalThis[Symbol.for('secure-uploader.' + file)];
  if (modules) return modules;
  throw Error('Load ' + file + '.js first');
}`;

/** Makes dynamic imports static, since all code is in one file. Otherwise, the bundler would wrap each module in a function. */
const nothingLate: Plugin = {
  name: 'nothing-late',
  resolveId: (id) => (id === LOADED ? id : undefined),
  load: (id) => (id === LOADED ? loaded : undefined),
  transform(code, id) {
    if (!id.startsWith(path('src'))) return undefined;
    const imports: string[] = [];
    const here = code.replace(
      /\(await import\((["'].+?["'])\)\)|\bimport\((["'].+?["'])\)/g,
      (late, awaited, source) => {
        const file = /\/photos\/|keeper-client/.test(late)
          ? 'extras'
          : late.includes('/trace.ts') && 'tracing';
        const name = `__late${imports.length}`;
        imports.push(
          file
            ? `import { loaded as ${name} } from '${LOADED}';`
            : `import * as ${name} from ${awaited ?? source};`,
        );
        if (file) return awaited ? `(await ${name}('${file}'))` : `${name}('${file}')`;
        return awaited ? name : `Promise.resolve(${name})`;
      },
    );
    // Imports go at the end, so that line numbers stay the same.
    return here === code ? undefined : { code: [here, ...imports].join('\n'), map: null };
  },
};

const { name, version } = JSON.parse(readFileSync(path('package.json'), 'utf8')) as Record<string, string>;
/** First line of the files in dist/cdn that contain other packages. */
const banner = `/*! ${name} ${version} | MIT | third-party-licenses.txt has the licenses of the packages in this file */`;

const cdn: UserConfig = {
  root: path('.'),
  base: './', // otherwise, the worker would be loaded from the root of the page's origin
  publicDir: false,
  plugins: [
    workerIntegrity,
    inlined,
    noWasmInPage,
    nothingLate,
    smallViews,
    smallDecorators,
    smallSheets,
    nearEachOther,
  ],
  define: { __WORKER_INTEGRITY__: JSON.stringify(integrityMark) },
  build: {
    outDir: 'dist/cdn',
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: true,
    modulePreload: false,
    rollupOptions: {
      input: path('src/define.ts'),
      preserveEntrySignatures: 'strict',
      output: {
        format: 'es',
        entryFileNames: 'secure-uploader.min.js',
        codeSplitting: false,
        sourcemapPathTransform: fromPackage,
        sourcemapExcludeSources: true,
        postBanner: banner,
      },
    },
  },
  // Also one file: a worker that was started from a Blob could not load a second one.
  worker: {
    format: 'es',
    rollupOptions: {
      output: {
        entryFileNames: '[name].js',
        codeSplitting: false,
        sourcemapPathTransform: fromPackage,
        sourcemapExcludeSources: true,
        postBanner: (chunk) => (chunk.name.includes('wasm') ? banner : (undefined as never)),
      },
    },
  },
};

export default defineConfig(({ command, mode }) => (command === 'serve' || mode === 'site' ? demo : cdn));
