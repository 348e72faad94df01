// One IndexedDB database with one object store, opened through idb-keyval: opened again when it was closed or deleted under
// us, never waited for without end, and with errors of ours. It knows nothing of what is kept in it.

import { createStore, promisifyRequest, type UseStore } from 'idb-keyval';
import { UploaderError } from '../core/errors.ts';
import { sleep } from '../core/wait.ts';

/** A database; its functions reject with `store-full` or `store-unavailable` only. */
export interface Database {
  /** Runs requests in one transaction of reading. */
  read<T>(ask: (store: IDBObjectStore) => Promise<T>): Promise<T>;
  /** Runs requests in one transaction of writing; resolves when it is complete. It may run twice, if the first run was lost. */
  write(change: (store: IDBObjectStore) => void): Promise<void>;
}

const STORE_NAME = 'entries';

/** Errors after which a new connection may do what the old one could not. */
const LOST = new Set(['InvalidStateError', 'AbortError', 'UnknownError', 'TransactionInactiveError']);

/**
 * Opens the database when it is first used. A use that takes longer than `deadlineMs` rejects; `onLost` hears that the connection was lost, and with it
 * perhaps all that was in it.
 */
export function createDatabase(
  name: string,
  deadlineMs: number,
  onLost: () => void = () => undefined,
): Database {
  let useStore: UseStore | undefined;
  /** Uses that missed their deadline and have not ended. While there is one, others fail at once: an upload must not wait again for each. */
  let overdueCount = 0;
  const lose = (): void => {
    useStore = undefined;
    onLost();
  };

  async function use<T>(mode: IDBTransactionMode, run: (store: IDBObjectStore) => Promise<T>): Promise<T> {
    useStore ??= createStore(name, STORE_NAME);
    const mine = useStore;
    try {
      return await mine(mode, (store) => {
        const { db } = store.transaction;
        // Someone wants to delete the database; holding on to it would block them, and then us.
        db.onversionchange = () => {
          db.close();
          if (useStore === mine) lose();
        };
        return run(store);
      });
    } catch (error) {
      if (useStore === mine && isLost(error)) lose();
      throw error;
    }
  }

  async function useOrReopen<T>(
    mode: IDBTransactionMode,
    run: (store: IDBObjectStore) => Promise<T>,
  ): Promise<T> {
    try {
      return await use(mode, run);
    } catch (error) {
      if (!isLost(error)) throw error;
      return use(mode, run);
    }
  }

  async function guarded<T>(
    mode: IDBTransactionMode,
    run: (store: IDBObjectStore) => Promise<T>,
  ): Promise<T> {
    if (overdueCount > 0) throw new UploaderError('store-unavailable', "the browser's database hangs");
    const done = new AbortController();
    const used = useOrReopen(mode, run);
    const late = sleep(deadlineMs, done.signal).then(() => {
      const end = (): void => {
        overdueCount -= 1;
      };
      overdueCount += 1;
      used.then(end, end);
      throw new UploaderError(
        'store-unavailable',
        `the browser's database did not answer within ${deadlineMs} ms`,
      );
    });
    try {
      return await Promise.race([used, late]);
    } catch (error) {
      throw toStoreError(error);
    } finally {
      done.abort();
    }
  }

  return {
    read: (ask) => guarded('readonly', ask),
    write: (change) =>
      guarded('readwrite', (store) => {
        change(store);
        // Not the request but the transaction: a full disk, and WebKit with a file, abort it after the request succeeded.
        return promisifyRequest(store.transaction);
      }),
  };
}

/** Deletes a database, or does nothing where there is none. Rejects with `store-unavailable`. */
export async function deleteDatabase(name: string, deadlineMs: number): Promise<void> {
  const done = new AbortController();
  try {
    const late = sleep(deadlineMs, done.signal).then(() => {
      throw new UploaderError(
        'store-unavailable',
        `the browser did not delete ${name} within ${deadlineMs} ms`,
      );
    });
    await Promise.race([promisifyRequest(indexedDB.deleteDatabase(name)), late]);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    done.abort();
  }
}

const isLost = (error: unknown): boolean =>
  error === null || (error instanceof DOMException && LOST.has(error.name));

function toStoreError(cause: unknown): UploaderError {
  if (cause instanceof UploaderError) return cause;
  return cause instanceof DOMException && cause.name === 'QuotaExceededError'
    ? new UploaderError('store-full', 'there is no room left to save the upload', { cause })
    : new UploaderError('store-unavailable', 'the browser does not let the page save the upload', { cause });
}
