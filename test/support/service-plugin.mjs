// Starts the reference service once for all in-page tests and tells pages where it is: GET /test-config.json.
// Pages, service and storage are three origins, so CORS is real.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const serverFile = fileURLToPath(new URL('../../demo/server/start.ts', import.meta.url));

/** A Web Test Runner plugin. `/test-config.json` answers `{baseUrl, storageUrl}` and whatever else the service tells pages. */
export function servicePlugin() {
  let service;
  return {
    name: 'reference-service',
    async serverStart({ config }) {
      if (!existsSync(serverFile)) return;
      const { tsImport } = await import('tsx/esm/api');
      const { startService } = await tsImport(serverFile, import.meta.url);
      const origins = ['localhost', '127.0.0.1'].map((host) => `http://${host}:${config.port}`);
      service = await startService({ test: true, allowedOrigins: origins });
    },
    async serverStop() {
      await service?.stop();
    },
    serve(context) {
      if (context.path !== '/test-config.json') return undefined;
      return {
        body: JSON.stringify({ baseUrl: service?.baseUrl, storageUrl: service?.storageUrl }),
        type: 'json',
      };
    },
  };
}
