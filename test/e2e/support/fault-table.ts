// Reads the table of docs/faults.md, and defines how the reference service causes each fault in the table.
import { readFileSync } from 'node:fs';
import type { Fault, Operation } from '../../../demo/server/faults.ts';

/** Columns of the table, each with the name of the operation in the service. */
export const OPERATIONS = {
  session: 'session',
  presign: 'chunks',
  PUT: 'put',
  commit: 'commit',
  token: 'token',
} as const satisfies Record<string, Operation>;

export type Column = keyof typeof OPERATIONS;

/** Part of a cell of the table: the outcome of one fault at one operation, either once or for ever. */
export interface Cell {
  readonly fault: string;
  readonly column: Column;
  readonly mode: 'once' | 'for ever';
  readonly expected: string;
}

const STATUSES = [400, 401, 403, 404, 408, 409, 410, 412, 413, 422, 429, 500, 501, 502, 503, 504, 507];
/** Faults that can occur at every operation. */
const ANYWHERE: readonly string[] = [
  ...STATUSES.map(String),
  'latency spike',
  '429 with Retry-After',
  'connection cut before the body',
  'connection cut in the middle',
  'connection cut after the body, before the answer',
  'stalled socket',
  'truncated answer',
  'HTML instead of JSON',
  'redirect',
  'offline for a while',
  'proxy that answers for a while',
];
/** Faults that can occur at only one operation. */
const ONLY_AT: Readonly<Record<string, Column>> = {
  '413 to several chunks': 'presign',
  '422 to several chunks': 'presign',
  'entry missing from `chunks`': 'presign',
  'expired ticket': 'presign',
  'ticket for the wrong hash': 'presign',
  'storage that stored nothing': 'PUT',
  'accepted (202) for a while': 'commit',
};
/** Faults that cannot last for ever, because they end after a while by definition. */
const SHORT = /for a while$/;
/** Faults that cannot last for ever, because the chunk is stored and no second PUT is sent. */
const STORED_AT_ONCE = ['connection cut after the body, before the answer, PUT', 'truncated answer, PUT'];

/**
 * Returns the names of all cells that the table must have, sorted. A fault that can last has a second cell, `for ever`, if the
 * outcome of a single occurrence in `cells` is another attempt.
 */
export function everyCell(cells: readonly Cell[]): string[] {
  const columns = Object.keys(OPERATIONS);
  const met = [
    ...ANYWHERE.flatMap((fault) => columns.map((column) => `${fault}, ${column}`)),
    ...Object.entries(ONLY_AT).map((pair) => pair.join(', ')),
  ];
  const isLasting = ({ fault, column, mode, expected }: Cell): boolean =>
    mode === 'once' &&
    /^(?:retried|renewed|presigned again)$/.test(expected) &&
    !SHORT.test(fault) &&
    !STORED_AT_ONCE.includes(`${fault}, ${column}`);
  return [
    ...met.map((cell) => `${cell}, once`),
    ...cells.filter(isLasting).map(({ fault, column }) => `${fault}, ${column}, for ever`),
  ].sort();
}

const OUTCOME = /^(?:continues|retried|renewed|presigned again|paused: [a-z-]+|failed: [a-z-]+)$/;
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );

/** Returns all cells of the table. Throws if the table has an unknown column or outcome. */
export function readFaultTable(): Cell[] {
  const text = readFileSync(new URL('../../../docs/faults.md', import.meta.url), 'utf8');
  const [table = ''] = text.slice(text.indexOf('| Fault |')).split('\n\n');
  const [[, ...columns] = [], , ...rows] = rowsOf(table);
  if (columns.join() !== Object.keys(OPERATIONS).join()) throw new Error(`unknown columns: ${columns}`);
  return rows.flatMap(([fault = '', ...cells]) =>
    cells.flatMap((cell, position) => {
      if (cell === '—') return [];
      const [once = '', forEver] = cell.split(' / ');
      const column = columns[position] as Column;
      const found: Cell[] = [{ fault, column, mode: 'once', expected: once }];
      if (forEver !== undefined) found.push({ fault, column, mode: 'for ever', expected: forEver });
      for (const { expected } of found) {
        if (!OUTCOME.test(expected)) throw new Error(`no outcome: ${expected}`);
      }
      return found;
    }),
  );
}

const SPIKE_MS = 700;
const HTML = '<!doctype html><title>Sign in to the network</title>';
/** Number of times that a proxy responds instead of the service, or that the service responds to a commit with 202. */
const PROXY_TIMES = 2;

/** Truncated JSON bodies of complete HTTP responses. */
const TRUNCATED: Partial<Record<Column, string>> = {
  session: '{"session_id":"s',
  presign: '{"chunks":{"0":{"upload_url":"https',
  commit: '{"file_id":"f',
  token: '{"token":"t',
};

/** Returns the settings by which the service causes a fault of the table. Offline periods are not included: tests cause them. */
export function causeOf(fault: string, column: Column, storageUrl: string): Partial<Fault> {
  const json = { contentType: 'application/json', body: { debuginfo: 'a fault' } };
  const status = Number(/^\d{3}/.exec(fault)?.[0]);
  if (fault.endsWith('to several chunks')) return { status, match: { several: true }, ...json };
  if (fault.endsWith('with Retry-After')) return { status, headers: { 'retry-after': '1' }, ...json };
  if (status) return { status, ...json };
  switch (fault) {
    case 'latency spike':
      return { delayMs: SPIKE_MS };
    case 'connection cut before the body':
      return { cut: 'before-body' };
    case 'connection cut in the middle':
      return { cut: 'mid-body' };
    case 'connection cut after the body, before the answer':
      return { cut: 'after-body' };
    case 'stalled socket':
      return { stall: true };
    case 'truncated answer':
      return column === 'PUT'
        ? { cut: 'mid-answer' }
        : { status: 200, contentType: 'application/json', body: TRUNCATED[column] ?? '{' };
    case 'HTML instead of JSON':
      return { status: 200, body: HTML };
    case 'entry missing from `chunks`':
      return { omitEntry: true };
    case 'expired ticket':
      return { expireTickets: true };
    case 'ticket for the wrong hash':
      return { wrongTicket: true };
    case 'storage that stored nothing':
      return { storeNothing: true };
    case 'accepted (202) for a while':
      return { pending: true, times: PROXY_TIMES };
    case 'redirect':
      return { redirect: `${storageUrl}/elsewhere` };
    case 'proxy that answers for a while':
      return { status: 511, body: HTML, withoutCors: true, times: PROXY_TIMES };
    default:
      throw new Error(`there is no way to cause "${fault}"`);
  }
}
