// One IndexedDB database with one object store, through idb-keyval. It is opened again if it was closed or deleted, every use has a
// deadline, and all errors are `UploaderError`.

import { createStore, promisifyRequest, type UseStore } from 'idb-keyval';
import { UploaderError } from '../core/errors.ts';
import { sleep } from '../core/wait.ts';

/** Its functions reject with `store-full` or `store-unavailable` only. */
export interface Database {
  /** Runs requests in one read-only transaction. */
  read<T>(ask: (store: IDBObjectStore) => Promise<T>): Promise<T>;
  /**
   * Runs requests in one read-write transaction; resolves when it is complete. `change` may be called a second time if the database
   * was lost.
   */
  write(change: (store: IDBObjectStore) => void): Promise<void>;
}

const STORE_NAME = 'entries';

/** Errors after which a new connection may succeed. */
const LOST = new Set(['InvalidStateError', 'AbortError', 'UnknownError', 'TransactionInactiveError']);

/**
 * Opens the database on first use. A use that takes longer than `deadlineMs` rejects. `onLost` is called if the connection was
 * lost, and perhaps the data with it.
 */
export function createDatabase(
  name: string,
  deadlineMs: number,
  onLost: () => void = () => undefined,
): Database {
  let useStore: UseStore | undefined;
  /** Uses that missed their deadline and have not ended. While there is one, others fail at once instead of waiting again. */
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
        // An open connection would block the deletion of the database, and then all later uses.
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
    const used = useOrReopen(mode, run);
    const onLate = (): void => {
      const end = (): void => {
        overdueCount -= 1;
      };
      overdueCount += 1;
      used.then(end, end);
    };
    return withDeadline(() => used, deadlineMs, onLate);
  }

  return {
    read: (ask) => guarded('readonly', ask),
    write: (change) =>
      guarded('readwrite', (store) => {
        change(store);
        // Awaits the transaction, not the request: a full disk, or WebKit with a file, aborts it after the request succeeded.
        return promisifyRequest(store.transaction);
      }),
  };
}

/** Deletes a database if it exists. Rejects with `store-unavailable`. */
export async function deleteDatabase(name: string, deadlineMs: number): Promise<void> {
  await withDeadline(() => promisifyRequest(indexedDB.deleteDatabase(name)), deadlineMs);
}

/** Rejects with `store-full` or `store-unavailable` only; `onLate` is called when the deadline is missed. */
async function withDeadline<T>(
  work: () => Promise<T>,
  deadlineMs: number,
  onLate: () => void = () => undefined,
): Promise<T> {
  const done = new AbortController();
  const late = sleep(deadlineMs, done.signal).then(() => {
    onLate();
    throw new UploaderError(
      'store-unavailable',
      `the browser's database did not answer within ${deadlineMs} ms`,
    );
  });
  try {
    return await Promise.race([work(), late]);
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
