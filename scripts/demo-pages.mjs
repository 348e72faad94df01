// Serves the demo pages from the sources with Vite, for `npm start` and the journeys. Pages read the URL of the service from
// /demo-config.json.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Starts the pages on `port` (0: any free port). Returns `{url, origin, setConfig, stop}`. `setConfig` sets the response of
 * /demo-config.json.
 */
export async function startDemoPages({ port = 0, host = '127.0.0.1', hostname = host } = {}) {
  let config = {};
  const demoConfig = {
    name: 'demo-config',
    configureServer(server) {
      server.middlewares.use('/demo-config.json', (_request, response) => {
        response.setHeader('content-type', 'application/json');
        response.setHeader('cache-control', 'no-store');
        response.end(JSON.stringify(config));
      });
    },
  };
  const server = await createServer({
    configFile: join(root, 'vite.config.ts'),
    logLevel: 'error',
    clearScreen: false,
    plugins: [demoConfig],
    server: { host, port, hmr: port === 0 ? false : undefined, ...(port === 0 && { watch: null }) },
  });
  await server.listen();
  const origin = `http://${hostname}:${server.httpServer.address().port}`;
  return {
    origin,
    url: `${origin}/`,
    setConfig(next) {
      config = next;
    },
    stop: () => server.close(),
  };
}
