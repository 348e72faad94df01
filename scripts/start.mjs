// `npm start`: starts the demo page, the reference service and its storage, on three origins in one process. Prints the URL and the
// demo users. Skips ports that are in use. Ctrl-C stops everything. `--data=<folder>` sets the folder for uploaded files (default:
// .data).
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, startOnFreePorts } from '../demo/server/free-ports.ts';
import { startDemoPages } from './demo-pages.mjs';
import { buildLoginPage } from './login-page.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dataDir = process.argv.find((arg) => arg.startsWith('--data='))?.slice(7) ?? join(root, '.data');

const pages = await startDemoPages({ port: await freePort(5173), hostname: 'localhost' });
const service = await startOnFreePorts({
  dataDir,
  appOrigins: [pages.origin],
  host: 'localhost',
  demo: true,
  loginScript: await buildLoginPage(),
}).catch(async (error) => {
  await pages.stop();
  throw error;
});
const { baseUrl, storageUrl, seed } = service;
pages.setConfig({ baseUrl, storageUrl, seed });

const rows = [
  ['Open', pages.url],
  ['Sign in as', seed.users.map(({ email }) => email).join(', ')],
  ['Password', seed.password],
  ['Service', `${baseUrl}, storage ${storageUrl}`],
];
console.log(
  `\n${rows.map(([name, value]) => `  ${name.padEnd(12)}${value}`).join('\n')}\n\n  Ctrl-C ends it.\n`,
);

let isEnding = false;
async function end() {
  if (isEnding) return;
  isEnding = true;
  await Promise.all([pages.stop(), service.close()]);
  process.exit(0);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
