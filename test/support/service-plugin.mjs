// Gives each file of in-page tests its own reference service, so that faults of one never affect another, and serves its URLs: GET
// /test-config.json. Page, service and storage are three origins, so CORS is real.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { isFullRun } from '../../scripts/scope.mjs';

/** The scope of the model and fuzz tests, and a seed to repeat one. */
const { MODEL_SEED } = process.env;
const scope = { isFullRun, ...(MODEL_SEED && { seed: Number(MODEL_SEED) }) };

// Files run two at a time; a service followed by this many newer ones has no page any more.
const keptServices = 6;

/**
 * A Web Test Runner plugin. `/test-config.json` returns `{baseUrl, storageUrl, seed: {users, folders, password}}`, the same for all
 * requests of one test file. Faults, log and tokens: the service's own routes below /_test.
 */
export function servicePlugin() {
  const services = new Map();
  let start;

  async function open(appOrigins) {
    const { startService } = await start;
    const dataDir = mkdtempSync(join(tmpdir(), 'secure-uploader-pages-'));
    const service = await startService({ dataDir, appOrigins, test: true, fsync: false });
    const close = async () => {
      await service.close();
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
    };
    return { service, close };
  }

  function forget(key) {
    const opened = services.get(key);
    services.delete(key);
    return opened?.then(({ close }) => close());
  }

  return {
    name: 'reference-service',
    serverStart() {
      start = tsImport('../../demo/server/server.ts', import.meta.url);
    },
    async serverStop() {
      await Promise.all([...services.keys()].map(forget));
    },
    async serve(context) {
      if (context.path === '/test-scope.json') return { body: JSON.stringify(scope), type: 'json' };
      if (context.path !== '/test-config.json') return undefined;
      // The runner names the file's page in its URL; frames and workers of a test have no such name and share one service.
      const referrer = new URL(context.get('referer') || context.href);
      const key = referrer.searchParams.get('wtr-session-id') ?? 'unnamed';
      if (!services.has(key)) services.set(key, open([context.origin]));
      const [oldest] = services.keys();
      // The result does not concern the requesting page.
      if (services.size > keptServices) forget(oldest)?.catch(() => undefined);
      const { baseUrl, storageUrl, seed } = (await services.get(key)).service;
      return { body: JSON.stringify({ baseUrl, storageUrl, seed }), type: 'json' };
    },
  };
}
