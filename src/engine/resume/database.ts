// An IndexedDB database with one object store, based on idb-keyval. Reopens a database that was closed or deleted, limits the time
// of each use, and turns all errors into `UploaderError`.

import { createStore, promisifyRequest, type UseStore } from 'idb-keyval';
import { UploaderError } from '../../core/errors.ts';
import { sleep } from '../../core/wait.ts';

const STORE_NAME = 'entries';

/** Most records that are read in one transaction. */
export const BATCH_SIZE = 128;

/** Names of errors after which the operation is repeated with a new connection to the database. */
const LOST: readonly string[] = [
  'InvalidStateError',
  'AbortError',
  'UnknownError',
  'TransactionInactiveError',
];

/** A database with one object store, which opens on first use. All methods reject only with `store-full` or `store-unavailable`. */
export class Database {
  readonly #name: string;
  readonly #deadlineMs: number;
  readonly #onLost: () => void;
  #useStore: UseStore | undefined;
  /** Number of uses that missed their deadline and are still pending. If the number is above 0, new uses fail immediately. */
  #overdueCount = 0;

  /** Each use rejects after `deadlineMs`. Calls `onLost` when the connection is lost; the data may be lost too. */
  constructor(name: string, deadlineMs: number, onLost: () => void = () => undefined) {
    this.#name = name;
    this.#deadlineMs = deadlineMs;
    this.#onLost = onLost;
  }

  /** Calls `ask` in a read-only transaction. */
  read<T>(ask: (store: IDBObjectStore) => Promise<T>): Promise<T> {
    return this.#guarded('readonly', (store) => {
      abortOnLeave(store.transaction);
      return ask(store);
    });
  }

  /**
   * Reads all entries in batches, in the order of their keys. Each batch has a transaction of its own, so that a slow disk misses
   * no deadline and the page stays responsive.
   */
  async *entries(): AsyncGenerator<readonly (readonly [key: string, value: unknown])[]> {
    let range: IDBKeyRange | null = null;
    for (;;) {
      const [keys, values]: [IDBValidKey[], unknown[]] = await this.read((store) =>
        Promise.all([
          promisifyRequest(store.getAllKeys(range, BATCH_SIZE)),
          promisifyRequest<unknown[]>(store.getAll(range, BATCH_SIZE)),
        ]),
      );
      yield keys.map((key, at) => [String(key), values[at]] as const);
      if (keys.length < BATCH_SIZE) return;
      range = IDBKeyRange.lowerBound(keys.at(-1), true);
    }
  }

  /**
   * Calls `change` in a read-write transaction, and resolves when the transaction is complete. If the connection was lost, calls
   * `change` a second time.
   */
  write(change: (store: IDBObjectStore) => unknown): Promise<void> {
    return this.#guarded('readwrite', (store) => {
      change(store);
      return complete(store.transaction);
    });
  }

  /**
   * Replaces the value of `key` by `next(value)`, in one transaction. `undefined` deletes the value, and the same value changes
   * nothing. If the connection was lost, calls `next` a second time.
   */
  replace(key: string, next: (value: unknown) => unknown): Promise<void> {
    return this.#guarded('readwrite', async (store) => {
      abortOnLeave(store.transaction);
      const value: unknown = await promisifyRequest(store.get(key));
      const after = next(value);
      if (after === undefined && value !== undefined) store.delete(key);
      else if (after !== value) store.put(after, key);
      await complete(store.transaction);
    });
  }

  async #guarded<T>(mode: IDBTransactionMode, run: (store: IDBObjectStore) => Promise<T>): Promise<T> {
    if (this.#overdueCount > 0)
      throw new UploaderError('store-unavailable', "The browser's database does not respond");
    const used = this.#use(mode, run).catch((error) => {
      if (!isLost(error)) throw error;
      return this.#use(mode, run);
    });
    const done = new AbortController();
    const late = sleep(this.#deadlineMs, done.signal).then(() => {
      const end = (): void => {
        this.#overdueCount -= 1;
      };
      this.#overdueCount += 1;
      used.then(end, end);
      throw new UploaderError('store-unavailable', "The browser's database did not respond");
    });
    try {
      return await Promise.race([used, late]);
    } catch (error) {
      throw toStoreError(error);
    } finally {
      done.abort();
    }
  }

  async #use<T>(mode: IDBTransactionMode, run: (store: IDBObjectStore) => Promise<T>): Promise<T> {
    this.#useStore ??= createStore(this.#name, STORE_NAME);
    const useStore = this.#useStore;
    try {
      return await useStore(mode, (store) => {
        const { db } = store.transaction;
        // Closes the connection. An open connection would block another page that deletes the database, and then all later uses.
        // The browser closes it without a change of the version when the user or `Clear-Site-Data` clears the storage.
        db.onversionchange = db.onclose = () => {
          db.close();
          this.#lose(useStore);
        };
        return run(store);
      });
    } catch (error) {
      if (isLost(error)) this.#lose(useStore);
      throw error;
    }
  }

  /** Drops the connection `useStore`, unless another one has replaced it. */
  #lose(useStore: UseStore): void {
    if (this.#useStore !== useStore) return;
    this.#useStore = undefined;
    this.#onLost();
  }
}

function complete(transaction: IDBTransaction): Promise<void> {
  // An open transaction of a page in the back/forward cache of WebKit would block the database for the next page. This call lets
  // the transaction end without the page.
  transaction.commit?.();
  // Awaits the transaction, because it can abort after a successful request (full disk, files in WebKit).
  return promisifyRequest(transaction);
}

/**
 * Aborts the transaction when the page is left, for the same reason. If the page comes back from the cache, the use is repeated
 * with a new connection.
 */
function abortOnLeave(transaction: IDBTransaction): void {
  const ended = new AbortController();
  for (const name of ['complete', 'abort']) transaction.addEventListener(name, () => ended.abort());
  const abort = (): void => {
    try {
      transaction.abort();
    } catch {
      // The transaction has ended, but its event has not been dispatched.
    }
  };
  globalThis.addEventListener('pagehide', abort, ended);
}

const isLost = (error: unknown): boolean =>
  error === null || (error instanceof DOMException && LOST.includes(error.name));

function toStoreError(cause: unknown): UploaderError {
  if (cause instanceof UploaderError) return cause;
  return cause instanceof DOMException && cause.name === 'QuotaExceededError'
    ? new UploaderError('store-full', 'The browser has no storage space left', { cause })
    : new UploaderError('store-unavailable', 'The browser does not allow saving the upload', {
        cause,
      });
}
