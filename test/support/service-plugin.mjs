// Gives each file of in-page tests its own reference service, so that faults of one file never affect another. GET
// /test-config returns the URLs of the service. Page, service and storage have different origins, so CORS is real. GET
// /test-script.js?text=… returns a script with this text. /test-hits counts its requests, by path.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { firstSeed, isFullSize } from '../../scripts/scope.mjs';

/** Size and first seed of random tests. `onlySeed` is set to repeat one seed. */
const { MODEL_SEED } = process.env;
const scope = { isFullSize, firstSeed, ...(MODEL_SEED && { onlySeed: Number(MODEL_SEED) }) };

// Number of services that keep running: more than the files that `npm test` runs, because a file that takes a minute still uses its
// service when many short ones have ended. Runs of mutants start thousands.
const keptServices = 300;

/**
 * Returns a Web Test Runner plugin. `/test-config` returns `{baseUrl, storageUrl, seed: {users, folders, password}}`, the
 * same for all requests of a test file. The service itself has routes for faults, log and tokens below /_test.
 */
export function servicePlugin() {
  const services = new Map();
  /** Number of requests for each path below `/test-hits/`. */
  const hits = {};
  let start;

  async function open(appOrigins) {
    const { startService } = await start;
    const dataDir = mkdtempSync(join(tmpdir(), 'secure-uploader-pages-'));
    const service = await startService({ dataDir, appOrigins, test: true, fsync: false, batches: true });
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
      if (context.path === '/test-script.js') return { body: context.query.text, type: 'js' };
      if (context.path === '/test-hits') return { body: JSON.stringify(hits), type: 'json' };
      if (context.path.startsWith('/test-hits/')) {
        hits[context.path] = (hits[context.path] ?? 0) + 1;
        return { body: '', type: 'text/plain' };
      }
      if (context.path === '/test-scope.json') return { body: JSON.stringify(scope), type: 'json' };
      // Without an extension: the test runner lets browsers keep responses to other paths for a year, and files share a page.
      if (context.path !== '/test-config') return undefined;
      // The URL of a test page has an id of the test file. Frames and workers of tests have no id, and share one service.
      const referrer = new URL(context.get('referer') || context.href);
      const key = referrer.searchParams.get('wtr-session-id') ?? 'unnamed';
      if (!services.has(key)) services.set(key, open([context.origin]));
      const [oldest] = services.keys();
      // Closes the oldest service if there are too many. No running page uses it, so errors are ignored.
      if (services.size > keptServices) forget(oldest)?.catch(() => undefined);
      const { baseUrl, storageUrl, seed } = (await services.get(key)).service;
      return { body: JSON.stringify({ baseUrl, storageUrl, seed }), type: 'json' };
    },
  };
}
