// The table of docs/faults.md for a single file, and which cells it must have.
import { readFileSync } from 'node:fs';
import type { Operation } from '../../../demo/server/faults.ts';
import { type FaultCell, readCells } from '../../support/faults.ts';

/** Columns of the table, each with the name of the operation in the service. */
export const OPERATIONS = {
  session: 'session',
  presign: 'chunks',
  PUT: 'put',
  commit: 'commit',
  token: 'token',
} as const satisfies Record<string, Operation>;

export type Column = keyof typeof OPERATIONS;

export type Cell = FaultCell<Column>;

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

/** Returns all cells of the table. Throws if the table has an unknown column or outcome. */
export const readFaultTable = (): Cell[] =>
  readCells(
    readFileSync(new URL('../../../docs/faults.md', import.meta.url), 'utf8'),
    Object.keys(OPERATIONS) as Column[],
    OUTCOME,
  );
