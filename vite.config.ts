// For the site, scripts/site.mjs adds the rest. `vite build`, which scripts/build.mjs calls, builds dist/cdn for pages without a
// bundler: a file that defines the element, and the parts that it loads. tsc builds the rest of the package.

import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, type UserConfig } from 'vite';
import { cdnParts, chunksOf, FIRST_FILE, workerCodes } from './scripts/cdn-parts.mjs';

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
  plugins: [callbackPage, workerCodes],
  appType: 'mpa',
  cacheDir: path('node_modules/.vite'),
  resolve: {
    alias: [
      { find: /^secure-uploader\/engine$/, replacement: path('src/engine.ts') },
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

const { name, version } = JSON.parse(readFileSync(path('package.json'), 'utf8')) as Record<string, string>;
/** First line of the files in dist/cdn that contain other packages. */
const banner = `/*! ${name} ${version} | MIT | third-party-licenses.txt has the licenses of the packages in this file */`;

const firstFile = path('src/cdn/first-file.ts');

const cdn: UserConfig = {
  root: path('.'),
  publicDir: false,
  plugins: [workerCodes, cdnParts(banner)],
  resolve: {
    // Here, workers start from parts with their code.
    alias: ['hash-workers.ts', 'photo-worker.ts'].map((file) => ({
      find: `./${file}`,
      replacement: path(`src/cdn/${file}`),
    })),
  },
  build: {
    lib: { entry: firstFile, formats: ['cjs'], fileName: () => FIRST_FILE },
    outDir: 'dist/cdn',
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: true,
    minify: true,
    rollupOptions: {
      preserveEntrySignatures: 'allow-extension',
      output: {
        chunkFileNames: '[name]-[hash].js',
        codeSplitting: chunksOf(firstFile),
        sourcemapPathTransform: fromPackage,
        sourcemapExcludeSources: true,
      },
    },
  },
};

export default defineConfig(({ command, mode }) => (command === 'serve' || mode === 'site' ? demo : cdn));
