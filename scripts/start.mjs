// `npm start`: starts the demo page, the reference service and its storage, on three origins in one process. Prints the URL and the
// demo users. Skips ports that are in use. Ctrl-C stops everything. `--data=<folder>` sets the folder for uploaded files (default:
// .data).
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService } from '../demo/server/server.ts';
import { startDemoPages } from './demo-pages.mjs';
import { buildLoginPage } from './login-page.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dataDir = process.argv.find((arg) => arg.startsWith('--data='))?.slice(7) ?? join(root, '.data');

const isFree = (port, host) =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', ({ code }) => resolve(code !== 'EADDRINUSE'));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });

/**
 * Returns the first port from `port` on that is free on both loopback addresses. Browsers may try both addresses for `localhost`.
 */
async function freePort(port) {
  for (let next = port; next < port + 500; next += 1) {
    if ((await isFree(next, '127.0.0.1')) && (await isFree(next, '::1'))) return next;
  }
  throw new Error(`No free port from ${port} on.`);
}

const pages = await startDemoPages({ port: await freePort(5173), hostname: 'localhost' });
const servicePort = await freePort(8787);
const service = await startService({
  dataDir,
  appOrigins: [pages.origin],
  host: 'localhost',
  demo: true,
  loginScript: await buildLoginPage(),
  servicePort,
  storagePort: await freePort(servicePort + 1),
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
