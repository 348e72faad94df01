// The state of the service: tables in memory, with a journal on disk. A database could replace this module, because all functions
// are async and each call changes at most one row.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/** A row of a table. If `keepUntil` is set (ms since 1970), the row is removed some time after that time. */
export interface Row {
  keepUntil?: number;
}

/** A table. Takes and returns copies of rows. */
export interface Table<R extends Row> {
  get(key: string): Promise<R | undefined>;
  put(key: string, row: R): Promise<void>;
  /** Removes a row and resolves with the row. Of several concurrent callers, only one gets the row. */
  take(key: string): Promise<R | undefined>;
  /** Changes a row atomically. If `change` returns undefined, the row stays unchanged. Resolves with the resulting row. */
  update(key: string, change: (row: R | undefined) => R | undefined): Promise<R | undefined>;
  list(filter?: (row: R, key: string) => boolean): Promise<R[]>;
}

export interface State {
  table<R extends Row>(name: string): Table<R>;
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

/** Opens the state in `dataDir` and compacts its journal. */
export async function openState({ dataDir, now, fsync }: StateOptions): Promise<State> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'state.jsonl');
  const tables = readJournal(path);
  const rewrite = (): number => {
    for (const rows of tables.values()) sweep(rows, now());
    const lines = [...journalLines(tables)].join('');
    const compact = `${path}.new`;
    writeFileSync(compact, lines, { mode: 0o600, flush: true });
    renameSync(compact, path);
    return Buffer.byteLength(lines);
  };
  const journal = await openJournal(path, rewrite, fsync);
  let writes = 0;

  function table<R extends Row>(name: string): Table<R> {
    const rows = (tables.get(name) ?? new Map<string, string>()) as Map<string, string>;
    tables.set(name, rows);
    const read = (text: string | undefined): R | undefined =>
      text === undefined ? undefined : (JSON.parse(text) as R);
    const write = (key: string, row: R | undefined): Promise<void> => {
      if (++writes % SWEEP_EVERY_WRITES === 0) for (const all of tables.values()) sweep(all, now());
      if (row === undefined) rows.delete(key);
      else rows.set(key, JSON.stringify(row));
      return journal.append(line(name, key, rows.get(key)));
    };
    return {
      get: async (key) => read(rows.get(key)),
      put: (key, row) => write(key, row),
      async take(key) {
        const row = read(rows.get(key));
        if (row) await write(key, undefined);
        return row;
      },
      async update(key, change) {
        const next = change(read(rows.get(key)));
        if (next) await write(key, next);
        return read(rows.get(key));
      },
      async list(filter) {
        const found: R[] = [];
        for (const [key, text] of rows) {
          const row = JSON.parse(text) as R;
          if (!filter || filter(row, key)) found.push(row);
        }
        return found;
      },
    };
  }
  return { table, close: () => journal.close() };
}

type Tables = Map<string, Map<string, string>>;

// Each line starts with its line break. After an incomplete line (disk full, process killed), the next line is still readable.
function line(table: string, key: string, text: string | undefined): string {
  return `\n[${JSON.stringify(table)},${JSON.stringify(key)},${text ?? 'null'}]`;
}

function* journalLines(tables: Tables): Generator<string> {
  for (const [name, rows] of tables) for (const [key, text] of rows) yield line(name, key, text);
}

function readJournal(path: string): Tables {
  const tables: Tables = new Map();
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  for (const entry of text.split('\n')) {
    if (entry === '') continue;
    let parsed: [string, string, Row | null];
    try {
      parsed = JSON.parse(entry) as [string, string, Row | null];
    } catch {
      continue; // an incomplete line
    }
    const [name, key, row] = parsed;
    const rows = tables.get(name) ?? new Map<string, string>();
    tables.set(name, rows);
    if (row === null) rows.delete(key);
    else rows.set(key, JSON.stringify(row));
  }
  return tables;
}

function sweep(rows: Map<string, string>, now: number): void {
  for (const [key, text] of rows) {
    const { keepUntil } = JSON.parse(text) as Row;
    if (keepUntil !== undefined && keepUntil < now) rows.delete(key);
  }
}

interface Journal {
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a journal that appends lines in order. Lines that arrive during a write are written together. `rewrite` replaces the
 * journal with the current rows and returns the new size in bytes. `rewrite` is called at the start, and when the journal is too
 * large.
 */
async function openJournal(path: string, rewrite: () => number, fsync: boolean): Promise<Journal> {
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
    if (sizeBytes <= largestBytes) return;
    let bytes: number;
    try {
      bytes = rewrite();
    } catch {
      // The disk may be full. The journal has all rows, and is rewritten after its size has doubled.
      largestBytes = 2 * sizeBytes;
      return;
    }
    await file.close();
    await start(bytes);
  };

  await start(rewrite());
  return {
    append(text) {
      waiting.push(text);
      next ??= last.then(flush);
      last = next.catch(() => undefined);
      return next;
    },
    async close() {
      await last;
      await file.close();
    },
  };
}
