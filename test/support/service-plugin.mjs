// Starts the reference service once for all in-page tests and tells pages where it is: GET /test-config.json.
// Pages, service and storage are three origins, so CORS is real. Faults and tokens: the service's own /_test/ routes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';

/** A Web Test Runner plugin. `/test-config.json` answers `{baseUrl, storageUrl, seed: {users, folders, password}}`. */
export function servicePlugin() {
  let service;
  let dataDir;
  return {
    name: 'reference-service',
    async serverStart({ config }) {
      const { startService } = await tsImport('../../demo/server/server.ts', import.meta.url);
      const appOrigins = ['localhost', '127.0.0.1'].map((host) => `http://${host}:${config.port}`);
      dataDir = mkdtempSync(join(tmpdir(), 'secure-uploader-pages-'));
      service = await startService({ dataDir, appOrigins, test: true, fsync: false });
    },
    async serverStop() {
      await service?.close();
      if (dataDir) rmSync(dataDir, { recursive: true, force: true });
    },
    serve({ path }) {
      if (path !== '/test-config.json') return undefined;
      const { baseUrl, storageUrl, seed } = service;
      return { body: JSON.stringify({ baseUrl, storageUrl, seed }), type: 'json' };
    },
  };
}
