// `npm start`: starts the site, the reference service and its storage, and prints the URL and the demo users. Skips ports that are
// in use. Ctrl-C stops everything. `--data=<folder>` sets the folder for uploaded files (default: .data), `--origin=<origin>` lets
// a page of yours use the service (may be repeated, besides the page of README.md), `--built` serves the site that
// `npm run build:site` has built.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../demo/server/free-ports.ts';
import { SITE } from './build-site.mjs';
import { startDemo } from './demo.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const valuesOf = (name) =>
  process.argv.filter((arg) => arg.startsWith(`--${name}=`)).map((arg) => arg.slice(name.length + 3));
/** Where README.md serves its first page. */
const README_PAGE = 'http://localhost:5180';
const isBuilt = process.argv.includes('--built');
if (isBuilt && !existsSync(join(SITE, 'index.html'))) {
  console.error('The site is not built. Run "npm run build:site" first.');
  process.exit(1);
}
const demo = await startDemo({
  dataDir: valuesOf('data')[0] ?? join(root, '.data'),
  port: await freePort(5173),
  hostname: 'localhost',
  built: isBuilt ? SITE : undefined,
  origins: [README_PAGE, ...valuesOf('origin')],
}).catch(({ message }) => {
  console.error(message);
  process.exit(1);
});
const { baseUrl, storageUrl, seed } = demo.service;

const rows = [
  ['Open', demo.url],
  ['Sign in as', seed.users.map(({ email }) => email).join(', ')],
  ['Password', seed.password],
  ['Service', `${baseUrl}, storage ${storageUrl}`],
  ['Test mode', 'on this machine only; every program here can get tokens of the demo users'],
];
console.log(
  `\n${rows.map(([name, value]) => `  ${name.padEnd(12)}${value}`).join('\n')}\n\n  Ctrl-C ends it.\n`,
);

let isEnding = false;
async function end() {
  if (isEnding) return;
  isEnding = true;
  await demo.stop();
  process.exit(0);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
