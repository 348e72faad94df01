// Starts the site, the reference service and its storage, on three origins in one process: for `npm start` and the journeys.
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createServer, preview } from 'vite';
import { startOnFreePorts } from '../demo/server/free-ports.ts';
import { startService } from '../demo/server/server.ts';
import { buildLoginPage } from './login-page.mjs';
import { site } from './site.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const MOST_DOWN_MS = 60_000;
/** The site may be framed by its own pages only (silent sign-in), so that no other site can make its visitors press a button. */
const headers = { 'content-security-policy': "frame-ancestors 'self'" };

/**
 * Serves the site from its sources, or the built one from the folder `built`, on `port` (0: any free port), and starts the service
 * in test mode. `origins` are those of further pages that may use the service. Returns `{url, service, stop}`.
 */
export async function startDemo({ dataDir, port = 0, hostname = '127.0.0.1', built, origins = [] }) {
  let options;
  let service;
  let isOn = true;
  let timer;
  let last = Promise.resolve();
  /** Stops the service and its storage, or starts them on the same ports, with the same time and speed of the line. */
  const setPower = (next) => {
    last = last
      .catch(() => undefined)
      .then(async () => {
        if (next === isOn) return;
        if (next) {
          const { faults, clock } = service;
          service = await startService(options);
          service.faults.shape(faults.network);
          service.clock.shift(clock.offsetMs);
        } else await service.close();
        isOn = next;
      });
    return last;
  };
  /** Stops the service, and starts it again after `downMs`; with 0, starts it now. */
  const stopFor = async (downMs) => {
    await setPower(downMs === 0);
    clearTimeout(timer);
    if (downMs > 0) timer = setTimeout(() => setPower(true).catch(console.error), downMs);
  };

  let onStart;
  const started = new Promise((resolve) => {
    onStart = resolve;
  });
  const answer = async (request, response) => {
    await started;
    response.setHeader('cache-control', 'no-store');
    if (request.method === 'GET') {
      const { baseUrl, storageUrl, seed } = service;
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ baseUrl, storageUrl, seed }));
    }
    // Other sites must not stop the service.
    const isOwn = request.method === 'POST' && request.headers['sec-fetch-site'] === 'same-origin';
    const body = isOwn && (await json(request).catch(() => undefined));
    const downMs = body?.downMs;
    const isValid = Number.isFinite(downMs) && downMs >= 0 && downMs <= MOST_DOWN_MS;
    if (isValid) await stopFor(downMs);
    response.statusCode = isValid ? 204 : isOwn ? 400 : 403;
    response.end();
  };
  const use = ({ middlewares }) => {
    middlewares.use('/demo-config.json', (request, response, next) => {
      answer(request, response).catch(next);
    });
  };
  const config = {
    configFile: join(root, 'vite.config.ts'),
    logLevel: 'error',
    clearScreen: false,
    mode: 'site',
    plugins: [site, { name: 'demo-service', configureServer: use, configurePreviewServer: use }],
  };
  const host = '127.0.0.1';
  const watched = port === 0 ? { hmr: false, watch: null } : {};
  const pages = built
    ? await preview({ ...config, build: { outDir: built }, preview: { host, port, headers } })
    : await createServer({ ...config, server: { host, port, headers, ...watched } });
  if (!built) await pages.listen();
  const { port: ownPort } = pages.httpServer.address();
  const origin = `http://${hostname}:${ownPort}`;
  try {
    options = {
      dataDir,
      appOrigins: [...new Set([origin, `http://127.0.0.1:${ownPort}`, ...origins])],
      host: hostname,
      test: true,
      loginScript: await buildLoginPage(),
    };
    service = await startOnFreePorts(options);
  } catch (error) {
    await pages.close();
    throw error;
  }
  options = { ...options, servicePort: service.servicePort, storagePort: service.storagePort };
  onStart();
  return {
    url: `${origin}/`,
    get service() {
      return service;
    },
    async stop() {
      clearTimeout(timer);
      await Promise.all([pages.close(), setPower(false)]);
    },
  };
}
