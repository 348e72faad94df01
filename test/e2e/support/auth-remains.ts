// What a browser still holds of a page's origin: every kind of storage that a page can write to, and the strings in the memory of
// its scripts. Independent of tests.
import type { BrowserContext, Page } from 'playwright';

/** Everything that is stored for the origin of a page, by the kind of storage. */
export interface Remains {
  /** Values of all object stores, as JSON; bytes are shown as text. */
  readonly databases: readonly string[];
  /** URLs in the caches of the Cache API. */
  readonly caches: readonly string[];
  /** Names in the origin's private file system. */
  readonly files: readonly string[];
  readonly localStorage: readonly (readonly [string, string])[];
  readonly sessionStorage: readonly (readonly [string, string])[];
}

/** Reads what is stored for the page's origin now. */
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

/**
 * All strings that the scripts of the page still hold, after a garbage collection: everything reachable from the element is
 * included. Chromium only.
 */
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

/** Network values from now on that no page may keep after a sign-out: tokens, codes, verifiers, session headers. */
export function secretsOf(context: BrowserContext): ReadonlySet<string> {
  const secrets = new Set<string>();
  const names = ['token', 'code', 'code_verifier', 'challenge_token'];
  const collect = (text: string | null): void => {
    const body = JSON.parse(text || '{}') as Record<string, unknown>;
    // Error codes are not authorization codes.
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
