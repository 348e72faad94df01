// Deletes the files that file keepers hold. Loaded with the engine, because an earlier page may have set `keeper-url`.

import type { KeeperRequest } from './keeper-messages.ts';

/** Returns the active worker, else the waiting or installing one: it also gets the files if the page is left immediately. */
export const workerOf = (from: ServiceWorkerRegistration | undefined): ServiceWorker | null | undefined =>
  from?.active ?? from?.waiting ?? from?.installing;

/** Returns the key under which the files of uploads without a record are kept, for a client id of the service. */
export const keyOfNew = (clientId: string): string => JSON.stringify([clientId]);

/** Drops the files that the keepers of this origin keep for the next page. Never rejects. */
export async function dropKept(): Promise<void> {
  try {
    for (const registration of await navigator.serviceWorker.getRegistrations()) {
      const worker = workerOf(registration);
      // Other workers of the site have a larger scope than their script.
      if (worker?.scriptURL === registration.scope)
        worker.postMessage({ drop: true } satisfies KeeperRequest);
    }
  } catch {
    // Without service workers, nothing is kept.
  }
}
