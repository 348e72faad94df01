// The state of the service: tables in memory, with a journal on disk. A database could replace this module, because all functions
// are async and each call changes at most one row.
import { createReadStream, existsSync, mkdirSync } from 'node:fs';
import { type FileHandle, open, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A row of a table. If `keepUntil` is set (ms since 1970), the row is removed some time after that time. */
export interface Row {
  keepUntil?: number;
}

/** A table. Rows can't be changed, only replaced. If a change can't be written, it is undone, and the call rejects. */
export interface Table<R extends Row> {
  get(key: string): Promise<R | undefined>;
  put(key: string, row: R): Promise<void>;
  /**
   * Adds a row, unless the key exists or a row has the same values in the fields `unique`, of which the first must be indexed.
   * Resolves with the row of the key, if there is one.
   */
  add(key: string, row: R, unique?: (keyof R & string)[]): Promise<R | undefined>;
  /** Removes a row and resolves with the row. Of several concurrent callers, only one gets the row. */
  take(key: string): Promise<R | undefined>;
  /** Changes a row atomically. If `change` returns undefined, the row stays unchanged. Resolves with the resulting row. */
  update(key: string, change: (row: R | undefined) => R | undefined): Promise<R | undefined>;
  list(filter?: (row: R, key: string) => boolean): Promise<R[]>;
  /** Resolves with the rows that have this value in an indexed field. */
  listBy(field: keyof R & string, value: unknown): Promise<R[]>;
}

export interface State {
  table<R extends Row>(name: string, indexed?: (keyof R & string)[]): Table<R>;
  close(): Promise<void>;
}

export interface StateOptions {
  dataDir: string;
  now: () => number;
  fsync: boolean;
}

const SWEEP_EVERY_WRITES = 2000;
// The journal is compacted at the start. Later, a journal above this size is compacted when its size has doubled since then.
const COMPACT_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

/** Opens the state in `dataDir` and compacts its journal. */
export async function openState({ dataDir, now, fsync }: StateOptions): Promise<State> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'state.jsonl');
  const tables = await readJournal(path);
  const sweepAll = (): void => {
    for (const rows of tables.values()) rows.sweep(now());
  };
  // Rows that change meanwhile are written again afterwards, because the journal appends nothing before the rewrite has ended.
  const rewrite = async (): Promise<number> => {
    sweepAll();
    const compact = `${path}.new`;
    await writeFile(compact, journalOf(tables), { mode: 0o600, flush: true });
    await rename(compact, path);
    return (await stat(path)).size;
  };
  const journal = await openJournal(path, rewrite, fsync);
  let writes = 0;

  function table<R extends Row>(name: string, indexed: (keyof R & string)[] = []): Table<R> {
    const rows = rowsOf<R>(tables, name);
    for (const field of indexed) rows.index(field);
    // For each row that is being written: its last form in the journal, and the number of unfinished writes.
    const unsaved = new Map<string, { saved: R | undefined; writes: number }>();
    const write = async (key: string, row: R | undefined): Promise<void> => {
      if (++writes % SWEEP_EVERY_WRITES === 0) sweepAll();
      const state = unsaved.get(key) ?? { saved: rows.all.get(key), writes: 0 };
      unsaved.set(key, state);
      state.writes += 1;
      const written = rows.set(key, row);
      try {
        await journal.append(lineOf(name, key, row));
        state.saved = written;
      } catch (error) {
        if (rows.all.get(key) === written) rows.set(key, state.saved);
        throw error;
      } finally {
        state.writes -= 1;
        if (state.writes === 0) unsaved.delete(key);
      }
    };
    return {
      get: async (key) => rows.all.get(key),
      put: (key, row) => write(key, row),
      async add(key, row, unique = []) {
        const [first] = unique;
        const others = first === undefined ? [] : rows.by(first, row[first]);
        const isTaken = others.some((other) => unique.every((field) => other[field] === row[field]));
        if (!rows.all.has(key) && !isTaken) await write(key, row);
        return rows.all.get(key);
      },
      async take(key) {
        const row = rows.all.get(key);
        if (row) await write(key, undefined);
        return row;
      },
      async update(key, change) {
        const next = change(rows.all.get(key));
        if (next) await write(key, next);
        return rows.all.get(key);
      },
      list: async (filter = () => true) =>
        [...rows.all].filter(([key, row]) => filter(row, key)).map(([, row]) => row),
      listBy: async (field, value) => rows.by(field, value),
    };
  }
  return { table, close: () => journal.close() };
}

/** The rows of a table in memory. */
interface Rows<R extends Row> {
  readonly all: ReadonlyMap<string, R>;
  /** Replaces or removes a row. Returns the new row, which is a frozen copy. */
  set(key: string, row: R | undefined): R | undefined;
  index(field: keyof R): void;
  by(field: keyof R, value: unknown): R[];
  /** Removes the rows that need not be kept. */
  sweep(now: number): void;
}

function createRows<R extends Row>(): Rows<R> {
  const all = new Map<string, R>();
  // For each indexed field, the rows by value and key.
  const indexes = new Map<keyof R, Map<unknown, Map<string, R>>>();
  const set = (key: string, row: R | undefined): R | undefined => {
    const before = all.get(key);
    const after = row && Object.freeze({ ...row });
    if (after) all.set(key, after);
    else all.delete(key);
    for (const [field, groups] of indexes) {
      const old = before && groups.get(before[field]);
      if (old?.delete(key) && old.size === 0) groups.delete(before?.[field]);
      if (after) groups.set(after[field], (groups.get(after[field]) ?? new Map()).set(key, after));
    }
    return after;
  };
  return {
    all,
    set,
    index(field) {
      indexes.set(field, new Map());
      for (const [key, row] of all) set(key, row);
    },
    by: (field, value) => [...(indexes.get(field)?.get(value)?.values() ?? [])],
    sweep(now) {
      for (const [key, { keepUntil }] of all) {
        if (keepUntil !== undefined && keepUntil < now) set(key, undefined);
      }
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: each table has rows of its own type
type Tables = Map<string, Rows<any>>;

function rowsOf<R extends Row>(tables: Tables, name: string): Rows<R> {
  const rows = tables.get(name) ?? createRows<R>();
  tables.set(name, rows);
  return rows;
}

// Each line starts with its line break. After an incomplete line (disk full, process killed), the next line is still readable.
function lineOf(table: string, key: string, row: Row | undefined): string {
  return `\n${JSON.stringify([table, key, row ?? null])}`;
}

function* journalOf(tables: Tables): Generator<string> {
  let piece = '';
  for (const [name, { all }] of tables) {
    for (const [key, row] of all) {
      piece += lineOf(name, key, row);
      if (piece.length < PIECE_BYTES) continue;
      yield piece;
      piece = '';
    }
  }
  yield piece;
}

async function readJournal(path: string): Promise<Tables> {
  const tables: Tables = new Map();
  if (!existsSync(path)) return tables;
  for await (const line of linesIn(path)) {
    let entry: [string, string, Row | null];
    try {
      entry = JSON.parse(line) as typeof entry;
    } catch {
      continue; // an empty or incomplete line
    }
    const [name, key, row] = entry;
    rowsOf(tables, name).set(key, row ?? undefined);
  }
  return tables;
}

// Not `readline`, which also ends a line at U+2028.
async function* linesIn(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of createReadStream(path, { encoding: 'utf8', highWaterMark: PIECE_BYTES })) {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}

interface Journal {
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a journal that appends lines in order. Lines that arrive during a write are written together. `rewrite` replaces the
 * journal with the current rows and resolves with the new size in bytes. `rewrite` is called at the start, and when the journal is
 * too large.
 */
async function openJournal(path: string, rewrite: () => Promise<number>, fsync: boolean): Promise<Journal> {
  let sizeBytes = 0;
  let largestBytes = 0;
  let file: FileHandle;
  let waiting: string[] = [];
  let next: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();

  const start = async (bytes: number): Promise<void> => {
    sizeBytes = bytes;
    largestBytes = Math.max(COMPACT_BYTES, 2 * sizeBytes);
    file = await open(path, 'a', 0o600);
  };
  const flush = async (): Promise<void> => {
    next = undefined;
    const text = waiting.join('');
    waiting = [];
    await file.appendFile(text);
    if (fsync) await file.datasync();
    sizeBytes += Buffer.byteLength(text);
  };
  const compact = async (): Promise<void> => {
    if (sizeBytes <= largestBytes) return;
    let bytes: number;
    try {
      bytes = await rewrite();
    } catch (error) {
      // The disk may be full. The journal has all rows, and is rewritten after its size has doubled.
      console.error(`${path} cannot be compacted:`, error);
      largestBytes = 2 * sizeBytes;
      return;
    }
    await file.close();
    await start(bytes);
  };

  await start(await rewrite());
  return {
    append(text) {
      waiting.push(text);
      if (!next) {
        next = last.then(flush);
        last = next.then(compact).catch(() => undefined);
      }
      return next;
    },
    async close() {
      await last;
      await file.close();
    },
  };
}
