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

/**
 * Serves the site from its sources, or the built one from the folder `built`, on `port` (0: any free port), and starts the service
 * in test mode. Returns `{url, service, stop}`.
 */
export async function startDemo({ dataDir, port = 0, hostname = '127.0.0.1', built }) {
  let options;
  let service;
  let isOn = true;
  let last = Promise.resolve();
  /** Stops the service and its storage, or starts them on the same ports and with the same speed of the line. */
  const setPower = (next) => {
    last = last
      .catch(() => undefined)
      .then(async () => {
        if (next === isOn) return;
        if (next) {
          const { network } = service.faults;
          service = await startService(options);
          service.faults.shape(network);
        } else await service.close();
        isOn = next;
      });
    return last;
  };

  const answer = async (request, response) => {
    response.setHeader('cache-control', 'no-store');
    if (request.method === 'GET') {
      const { baseUrl, storageUrl, seed } = service;
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ baseUrl, storageUrl, seed }));
    }
    // Other sites must not stop the service.
    const isOwn = request.headers['sec-fetch-site'] === 'same-origin';
    if (isOwn) await setPower((await json(request)).isOn === true);
    response.statusCode = isOwn ? 204 : 403;
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
    ? await preview({ ...config, build: { outDir: built }, preview: { host, port } })
    : await createServer({ ...config, server: { host, port, ...watched } });
  if (!built) await pages.listen();
  const origin = `http://${hostname}:${pages.httpServer.address().port}`;
  try {
    options = {
      dataDir,
      appOrigins: [origin],
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
  return {
    url: `${origin}/`,
    get service() {
      return service;
    },
    async stop() {
      await Promise.all([pages.close(), setPower(false)]);
    },
  };
}
