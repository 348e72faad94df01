// Reads the tables of docs/faults.md, and defines how the reference service causes each of their faults.
import type { Fault } from '../../demo/server/faults.ts';

/** Part of a cell of a table: the outcome of one fault at one operation, either once or for ever. */
export interface FaultCell<C extends string = string> {
  readonly fault: string;
  readonly column: C;
  readonly mode: 'once' | 'for ever';
  readonly expected: string;
}

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

/** Returns all cells of the table with these columns in `text`. Throws if there is none, or if an outcome does not match. */
export function readCells<C extends string>(
  text: string,
  columns: readonly C[],
  outcome: RegExp,
): FaultCell<C>[] {
  const start = text.indexOf(`| Fault | ${columns.join(' | ')} |`);
  if (start < 0) throw new Error(`no table of ${columns.join()}`);
  const [table = ''] = text.slice(start).split('\n\n');
  const [, , ...rows] = rowsOf(table);
  const cells = rows.flatMap(([fault = '', ...texts]) =>
    columns.flatMap((column, at) => {
      if (texts[at] === '—') return [];
      const [once = '', forEver] = (texts[at] ?? '').split(' / ');
      const first: FaultCell<C> = { fault, column, mode: 'once', expected: once };
      return forEver === undefined
        ? [first]
        : [first, { ...first, mode: 'for ever', expected: forEver } as const];
    }),
  );
  for (const { expected } of cells) if (!outcome.test(expected)) throw new Error(`no outcome: ${expected}`);
  return cells;
}

const SPIKE_MS = 700;
const HTML = '<!doctype html><title>Sign in to the network</title>';
/** Number of times that a proxy responds instead of the service, or that the service responds to a commit with 202. */
const PROXY_TIMES = 2;

/** Truncated JSON bodies of complete HTTP responses. */
const TRUNCATED: Readonly<Record<string, string>> = {
  session: '{"session_id":"s',
  presign: '{"chunks":{"0":{"upload_url":"https',
  commit: '{"file_id":"f',
  token: '{"token":"t',
  batch: '{"answers":[{"status":201,"body":{"session_id":"s',
};

/** Returns the settings by which the service causes a fault of the table. Offline periods are not included: tests cause them. */
export function causeOf(fault: string, column: string, storageUrl: string): Partial<Fault> {
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
