// Reads the data that a page has left in the browser: all kinds of storage of its origin, and the strings in the memory of its
// scripts.
import type { BrowserContext, Page } from 'playwright';

/** Stored data of the origin of a page, by the kind of storage. */
export interface Remains {
  /** Keys and values of all object stores in IndexedDB, as JSON with bytes decoded as text. */
  readonly databases: readonly string[];
  /** Names of the caches of the Cache API, and the URLs in them. */
  readonly caches: readonly string[];
  /** Names in the origin's private file system. */
  readonly files: readonly string[];
  readonly localStorage: readonly (readonly [string, string])[];
  readonly sessionStorage: readonly (readonly [string, string])[];
}

/** Returns everything that is stored for the origin of `page` now. */
export const remainsOf = (page: Page): Promise<Remains> =>
  page.evaluate(async () => {
    const result = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const write = (_: string, value: unknown): unknown =>
      value instanceof ArrayBuffer ? new TextDecoder().decode(value) : value;
    const databases: string[] = [];
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await result(indexedDB.open(name));
      for (const name of database.objectStoreNames) {
        const store = database.transaction(name).objectStore(name);
        const entries = [...(await result(store.getAllKeys())), ...(await result(store.getAll()))];
        databases.push(...entries.map((entry) => JSON.stringify(entry, write)));
      }
      database.close();
    }
    const addresses: string[] = [];
    for (const name of await caches.keys()) {
      const requests = await (await caches.open(name)).keys();
      addresses.push(name, ...requests.map(({ url }) => url));
    }
    const files: string[] = [];
    const root = await navigator.storage.getDirectory();
    for await (const name of (root as unknown as { keys(): AsyncIterable<string> }).keys()) files.push(name);
    return {
      databases,
      caches: addresses,
      files,
      localStorage: Object.entries(localStorage),
      sessionStorage: Object.entries(sessionStorage),
    };
  });

/** Returns the strings in a heap snapshot of the page after a garbage collection. Chromium only. */
export async function memoryOf(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const pieces: string[] = [];
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => pieces.push(chunk));
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  await session.detach();
  const { strings } = JSON.parse(pieces.join('')) as { strings: string[] };
  return strings;
}

/**
 * Returns a set that collects the secrets in network traffic from now on: tokens, codes, verifiers and session headers. A page must
 * keep none of these values after a sign-out.
 */
export function secretsOf(context: BrowserContext): ReadonlySet<string> {
  const secrets = new Set<string>();
  const names = ['token', 'code', 'code_verifier', 'challenge_token'];
  const collect = (text: string | null): void => {
    const body = JSON.parse(text || '{}') as Record<string, unknown>;
    // Skips short values: the field `code` of a response can also be an error code, which is not secret.
    for (const value of names.map((name) => body[name]))
      if (typeof value === 'string' && value.length > 15) secrets.add(value);
  };
  context.on('response', async (response) => {
    const request = response.request();
    const header = response.headers()['x-service-uploadsession'];
    if (header) secrets.add(header);
    if (request.method() !== 'POST' || !/^\/(auth|my-token)/.test(new URL(response.url()).pathname)) return;
    collect(request.postData());
    collect(await response.text().catch(() => null));
  });
  return secrets;
}
