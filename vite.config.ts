// Serves the demo pages from the sources (`vite`), and bundles what a page loads without a bundler (`vite build`, called by
// scripts/build.mjs): one file that defines the element, with its worker beside it. The package itself is built by tsc.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, type UserConfig } from 'vite';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The page that a sign-in window comes back to, beside every demo page, as the package ships it. */
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
      { find: /^secure-uploader\/define$/, replacement: path('src/define.ts') },
      { find: /^secure-uploader$/, replacement: path('src/index.ts') },
    ],
  },
  // All of them are modules already; bundling them on the way would reload the page under a running upload.
  optimizeDeps: { noDiscovery: true, include: [] },
  server: { host: '127.0.0.1', strictPort: false, fs: { allow: [path('.')] } },
};

/** Sources are shipped: where a map of dist/cdn finds them. */
const fromPackage = (source: string, map: string): string =>
  `../../${relative(path('.'), resolve(dirname(map), source))}`;

const integrityLength = 'sha384-'.length + 64;
const integrityMark = '#'.repeat(integrityLength); // as long as what takes its place, so that the source map stays right

/** Writes the integrity hash of the worker into the bundle that fetches it (`__WORKER_INTEGRITY__` in the source). */
const workerIntegrity: Plugin = {
  name: 'worker-integrity',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const worker = bundle['hash.worker.js'];
    if (!worker) return;
    const text = worker.type === 'asset' ? worker.source : worker.code;
    const integrity = `sha384-${createHash('sha384').update(text).digest('base64')}`;
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') file.code = file.code.replaceAll(integrityMark, integrity);
    }
  },
};

const refusal = `const refuse = () => Promise.reject(new DOMException('Without its worker the one file has sha-256 only', 'NotSupportedError'));
export { refuse as blake3, refuse as sha256 };`;

/** The page hashes without its worker only where none may run, and then by the platform: no 14 kB for everyone else. */
const noWasmInPage: Plugin = {
  name: 'no-wasm-in-page',
  enforce: 'pre',
  load: (id) => (id.endsWith('/src/pipeline/wasm-hashes.ts') ? refusal : undefined),
};

/** Templates without their indentation, styles also without comments: a minifier has to leave both alone. */
const smallTemplates: Plugin = {
  name: 'small-templates',
  enforce: 'pre',
  transform(code, id) {
    if (!/\/src\/ui\/(views|styles)\//.test(id)) return undefined;
    const lines = code.replace(/\n +/g, '\n');
    const isStyle = id.includes('/styles/');
    return {
      code: isStyle ? lines.replace(/\/\*.*?\*\//gs, '').replace(/([;{}])\n+/g, '$1') : lines,
      map: null,
    };
  },
};

/** In one file nothing comes late; as late imports, these and all that they import would each be wrapped in a function. */
const nothingLate: Plugin = {
  name: 'nothing-late',
  transform(code, id) {
    if (!id.startsWith(path('src'))) return undefined;
    const imports: string[] = [];
    const here = code.replace(/\bimport\((["'].+?["'])\)/g, (_late, source) => {
      const name = `__late${imports.length}`;
      imports.push(`import * as ${name} from ${source};`);
      return `Promise.resolve(${name})`;
    });
    // At the end, so that every line keeps its place.
    return imports.length > 0 ? { code: [here, ...imports].join('\n'), map: null } : undefined;
  },
};

const cdn: UserConfig = {
  root: path('.'),
  base: './', // else the worker would be looked for at the root of the page's origin
  publicDir: false,
  plugins: [workerIntegrity, noWasmInPage, nothingLate, smallTemplates],
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
      },
    },
  },
  // One file too: run from a Blob of its text, it could find no second one.
  worker: {
    format: 'es',
    rollupOptions: {
      output: { entryFileNames: '[name].js', codeSplitting: false, sourcemapPathTransform: fromPackage },
    },
  },
};

export default defineConfig(({ command }) => (command === 'serve' ? demo : cdn));
