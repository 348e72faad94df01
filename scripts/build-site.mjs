// `npm run build:site`: builds the site into dist-site, as static files. `npm start -- --built` serves them with a service. Without
// one, or without a `demo-config.json` that names one, the pages say that nothing can be uploaded.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';
import { site } from './site.mjs';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The folder of the built site. */
export const SITE = path('../dist-site');

/** Builds the site into a folder. */
export const buildSite = (outDir = SITE) =>
  build({
    configFile: path('../vite.config.ts'),
    mode: 'site',
    plugins: [site],
    logLevel: 'warn',
    build: { outDir, emptyOutDir: true },
  });

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildSite();
