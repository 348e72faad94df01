// Small files, kept whole until they are done: as bytes, since not every browser keeps a File. Each belongs to the page that
// has kept it. It knows nothing of uploads but where one was to go.

import { promisifyRequest } from 'idb-keyval';
import type { Session } from '../core/types.ts';
import type { Database } from './database.ts';

/** Where a kept file was to go, and for whom. */
export interface KeptPlace {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly owner: string;
  readonly parentId: string;
  readonly relativePath: string;
}

/** What becomes of one until it is done. */
export interface KeptState {
  /** Where its upload had one already. */
  readonly session?: Session | undefined;
  /** Where somebody gave it another name. */
  readonly newName?: string | undefined;
  /** By the person. */
  readonly isPaused?: true | undefined;
}

export interface KeptFile extends KeptPlace, KeptState {
  readonly id: string;
  readonly file: File;
}

/** Kept files of this origin. Every function rejects with `store-full` or `store-unavailable` only. */
export interface FileStore {
  /** Keeps a file, whose bytes these are, whether there is room or not. */
  keep(page: string, file: KeptFile, bytes: ArrayBuffer): Promise<void>;
  saveState(page: string, id: string, state: KeptState): Promise<void>;
  /** Bytes of all that is kept, by any page. */
  sumBytes(): Promise<number>;
  /** The pages that have kept something. */
  pages(): Promise<readonly string[]>;
  list(page: string): Promise<readonly KeptFile[]>;
  remove(page: string, id: string): Promise<void>;
  prune(maxAgeMs: number): Promise<void>;
  clear(): Promise<void>;
}

const VERSION = 1;

/** Size and date are in the key, so that they are known without reading the bytes; a state has none. */
type Key = readonly [page: string, id: string, sizeBytes?: number, keptAtMs?: number];

const under = (...parts: string[]): IDBKeyRange => IDBKeyRange.bound(parts, [...parts, []]);

/** The file in a value from the database; `undefined` where it is none, or a newer version's. */
function readKept(id: string, value: unknown, state: unknown): KeptFile | undefined {
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
  const { version, bytes, name, type, lastModifiedMs, place } = fields;
  if (version !== VERSION || !(bytes instanceof ArrayBuffer)) return undefined;
  const options = { type: String(type), lastModified: Number(lastModifiedMs) };
  const file = new File([bytes], String(name), options);
  const { sessionId, header, newName, isPaused } = (state ?? {}) as Readonly<Record<string, unknown>>;
  const isOpen = typeof sessionId === 'string' && typeof header === 'string';
  return {
    ...(place as KeptPlace),
    id,
    file,
    session: isOpen ? { sessionId, header } : undefined,
    newName: typeof newName === 'string' ? newName : undefined,
    isPaused: isPaused === true || undefined,
  };
}

/** The files in a database of their own. */
export function createFileStore(database: Database): FileStore {
  const keys = async (): Promise<Key[]> =>
    (await database.read((store) => promisifyRequest(store.getAllKeys()))) as unknown as Key[];

  const remove = (page: string, id: string): Promise<void> =>
    database.write((store) => void store.delete(under(page, id)));

  return {
    keep: (page, { id, file, baseUrl, clientId, owner, parentId, relativePath }, bytes) =>
      database.write((store) => {
        const { name, type, lastModified } = file;
        const place: KeptPlace = { baseUrl, clientId, owner, parentId, relativePath };
        const value = { version: VERSION, name, type, lastModifiedMs: lastModified, bytes, place };
        store.put(value, [page, id, bytes.byteLength, Date.now()]);
      }),

    saveState: (page, id, { session, newName, isPaused }) =>
      database.write((store) => void store.put({ ...session, newName, isPaused }, [page, id])),

    sumBytes: async () => (await keys()).reduce((sum, [, , sizeBytes = 0]) => sum + sizeBytes, 0),

    pages: async () => [...new Set((await keys()).map(([page]) => page))],

    list: (page) =>
      database.read(async (store) => {
        const [all, values] = await Promise.all([
          promisifyRequest(store.getAllKeys(under(page))),
          promisifyRequest<unknown[]>(store.getAll(under(page))),
        ]);
        const states = new Map<string, unknown>();
        return (all as unknown as Key[]).flatMap(([, id, sizeBytes], at) => {
          // A state comes before its file: its key is the beginning of the other.
          if (sizeBytes === undefined) states.set(id, values[at]);
          return (sizeBytes !== undefined && readKept(id, values[at], states.get(id))) || [];
        });
      }),

    remove,

    async prune(maxAgeMs) {
      for (const [page, id, , keptAtMs] of await keys())
        if (keptAtMs !== undefined && Math.abs(Date.now() - keptAtMs) > maxAgeMs) await remove(page, id);
    },

    clear: () => database.write((store) => void store.clear()),
  };
}
