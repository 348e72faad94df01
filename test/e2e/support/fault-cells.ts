// Runs many cells of the fault table in parallel, each with its own file, and returns the outcome of each in the table's words.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Page } from 'playwright';
import type { Fault, LogEntry, StruckRequest } from '../../../demo/server/faults.ts';
import { causeOf } from '../../support/faults.ts';
import { eventsOf, type SeenEvent } from './browser.ts';
import { type Cell, type Column, OPERATIONS } from './fault-table.ts';
import { sumOf, writeRandom } from './files.ts';
import { setTokenSource, tokenCallsOf } from './tokens.ts';
import { openElsewhere, pick } from './transfer.ts';
import type { World } from './world.ts';

// A file has three chunks. The last chunk is shorter.
const CHUNK_BYTES = 32_768;
const FILE_BYTES = 80_000;
const FOR_EVER = Number.POSITIVE_INFINITY;

const LONG_MS = 60_000;
const policy = { attempts: 3, baseMs: 30, capMs: 90 };
const auth = { renewalGapMs: 1, renewalLimit: 1000, coolBaseMs: 50, coolCapMs: 1500, silentMs: LONG_MS };

/** Engine options with few attempts, short delays, and deadlines that even a slow machine meets. */
export const LONG_DEADLINES = {
  policy,
  times: { callTimeoutMs: LONG_MS, stallMs: LONG_MS, auth: { ...auth, requestMs: LONG_MS } },
};
/** Engine options for requests that never end: a stalled PUT is stopped after 1.5 s, a call after 2.5 s. */
export const SHORT_DEADLINES = {
  policy,
  times: { callTimeoutMs: 2500, stallMs: 1500, auth: { ...auth, requestMs: 2500 } },
};

/** Returns true if the requests of a cell never end, so that only a deadline leads to the outcome. */
export const isEndless = ({ fault }: Cell): boolean => fault === 'stalled socket';

const settings = (options: object): string =>
  `chunk-size="${CHUNK_BYTES}" concurrency="6" data-engine-options='${JSON.stringify(options)}'`;

export interface Outcome {
  /** Outcome of the file, in the words of the table. */
  readonly became: string;
  /** Number of requests of the operation. */
  readonly requestCount: number;
  /** Number of different tokens in these requests. */
  readonly tokenCount: number;
}

export const nameOf = ({ fault, mode, column }: Cell): string =>
  `${column} ${fault} ${mode}.bin`.replaceAll(/[^\w .-]/g, '');

/** Faults after which a browser may repeat a request automatically, invisibly to the page. */
const RESENT = /^408|^connection cut/;

/**
 * Adds the faults of `cells` to the service. A fault applies only to the file of its cell, except for token requests, which have no
 * file. If the browser automatically repeats a PUT or token request, a fault that occurs once also applies to the repeated request.
 * The fault does not apply to a retry of the widget, which has another ticket or code.
 */
export function arm({ service }: World, cells: readonly Cell[]): void {
  const resent: ((request: StruckRequest) => Partial<Fault> | undefined)[] = [];
  for (const cell of cells) {
    const { column, fault, mode } = cell;
    const operation = OPERATIONS[column];
    const cause = causeOf(fault, column, service.storageUrl);
    if (mode === 'once' && RESENT.test(fault) && (operation === 'put' || operation === 'token')) {
      const name = nameOf(cell);
      let first: string | undefined;
      const isFirstTry = (hash: string): boolean => {
        first ??= hash;
        const asked = operation === 'token' ? 'authorize' : 'chunks';
        const isAbout = (entry: LogEntry): boolean => operation === 'token' || !!entry.hashes?.includes(hash);
        const asks = service.log.filter((entry) => entry.operation === asked && isAbout(entry));
        return hash === first && asks.length === 1;
      };
      resent.push((request) => {
        const isOurs =
          request.operation === operation && (operation === 'token' || request.fileName === name);
        return isOurs && isFirstTry(request.hashes?.[0] ?? '') ? cause : undefined;
      });
      continue;
    }
    const match = operation === 'token' ? {} : { match: { fileName: nameOf(cell), ...cause.match } };
    const times = mode === 'once' ? (cause.times ?? 1) : FOR_EVER;
    service.faults.add({ operation, ...cause, ...match, times });
  }
  service.faults.choose((request) => {
    for (const strike of resent) {
      const fault = strike(request);
      if (fault) return fault;
    }
    return undefined;
  });
}

/** Creates a file of random bytes for `cell`. Returns the path and the hash of the file. */
export function fileFor({ folder }: World, cell: Cell): { path: string; sha256: string } {
  const path = join(folder, nameOf(cell));
  return { path, sha256: writeRandom(path, FILE_BYTES) };
}

/** Resolves when every file on the page is done or failed. */
export const settled = (page: Page): Promise<unknown> =>
  page.waitForFunction(
    () => {
      const { files } = (
        document.querySelector('secure-uploader') as unknown as {
          snapshot: { files: { phase: string }[] };
        }
      ).snapshot;
      return files.length > 0 && files.every(({ phase }) => phase === 'done' || phase === 'failed');
    },
    undefined,
    { timeout: 180_000, polling: 50 },
  );

export interface Outcomes {
  readonly outcomes: ReadonlyMap<Cell, Outcome>;
  /** Number of calls of `getToken` on the pages. Each call returns a new token. */
  readonly tokenCalls: number;
  /** Number of different tokens that the service has received. */
  readonly tokenCount: number;
}

const tokenCountOf = (log: readonly LogEntry[]): number =>
  new Set(log.flatMap(({ bearerNumber = [] }) => bearerNumber)).size;

/**
 * Runs all cells in parallel, removes the faults, and retries failed files. Throws if a file is not stored byte for byte in the
 * end.
 */
export async function runCells(world: World, cells: readonly Cell[]): Promise<Outcomes> {
  const { service } = world;
  service.faults.clear();
  service.faults.clearLog();
  arm(world, cells);
  const page = await world.openWithToken(settings(LONG_DEADLINES));
  world.pages.add('/impatient.html', world.elementWith(settings(SHORT_DEADLINES)));
  const context = await world.newContext();
  const impatient = await openElsewhere(world, context, '/impatient.html');
  await setTokenSource(impatient, async () => (await service.createToken('alice', 3_600_000)).token);
  const parts = [
    await begin(
      world,
      page,
      cells.filter((cell) => !isEndless(cell)),
    ),
    await begin(world, impatient, cells.filter(isEndless)),
  ];
  await Promise.all(parts.map((part) => settled(part.page)));
  const log = [...service.log];
  const events = await Promise.all(parts.map((part) => eventsOf(part.page)));
  service.faults.clear();
  const outcomes = new Map<Cell, Outcome>();
  let tokenCalls = 0;
  for (const [at, { page, files }] of parts.entries()) {
    await page.evaluate(() => document.querySelector('secure-uploader')?.retry());
    await settled(page);
    await areStored(world, page, files);
    tokenCalls += await tokenCallsOf(page);
    for (const cell of files.keys()) {
      const name = nameOf(cell);
      outcomes.set(cell, outcomeOf(cell.column, ofFile(events[at] ?? [], name), requestsOf(log, name)));
    }
  }
  await page.close();
  await context.close();
  return { outcomes, tokenCalls, tokenCount: tokenCountOf(service.log) };
}

interface Begun {
  readonly page: Page;
  /** SHA-256 of the file of each cell. */
  readonly files: ReadonlyMap<Cell, string>;
}

/** Adds a file for each cell to the widget. */
async function begin(world: World, page: Page, cells: readonly Cell[]): Promise<Begun> {
  const files = cells.map((cell) => [cell, fileFor(world, cell)] as const);
  await pick(page, ...files.map(([, { path }]) => path));
  return { page, files: new Map(files.map(([cell, { sha256 }]) => [cell, sha256])) };
}

/**
 * Asserts that every file was completed once and is stored byte for byte. A file whose cell expects a failure must have failed once
 * before, with the expected code. A file that is too large must have failed without a retry.
 */
async function areStored({ service }: World, page: Page, files: Begun['files']): Promise<void> {
  const events = await eventsOf(page);
  for (const [cell, sha256] of files) {
    const ofThis = events.filter(({ detail }) => detail.name === nameOf(cell));
    const failed = ofThis.filter(({ name }) => name === 'upload-failed');
    const expected = cell.expected.startsWith('failed: ') ? [cell.expected] : [];
    assert.deepEqual(
      failed.map(({ detail }) => `failed: ${detail.code}`),
      expected,
      nameOf(cell),
    );
    const isFinal = cell.expected === 'failed: file-too-large';
    for (const { detail } of failed) assert.equal(detail.retryable, !isFinal, nameOf(cell));
    if (isFinal) continue;
    const done = ofThis.filter(({ name }) => name === 'upload-completed');
    if (done.length !== 1) throw new Error(`${nameOf(cell)} was completed ${done.length} times`);
    const stored = await sumOf(service.readFile(done[0]?.detail.commit.file_id));
    if (stored.sha256 !== sha256) throw new Error(`${nameOf(cell)} lies on the service with other bytes`);
  }
}

function ofFile(events: readonly SeenEvent[], name: string): SeenEvent[] {
  const { id } =
    events.find((event) => event.name === 'file-added' && event.detail.name === name)?.detail ?? {};
  return events.filter(({ detail }) => detail.id === id);
}

const requestsOf = (log: readonly LogEntry[], name: string): LogEntry[] =>
  log.filter((entry) => entry.fileName === name && entry.method !== 'OPTIONS');

/**
 * Returns the outcome of a file. `events` are the page's events about the file, and `log` has the service's requests for the file.
 */
export function outcomeOf(column: Column, events: readonly SeenEvent[], log: readonly LogEntry[]): Outcome {
  const operation = OPERATIONS[column];
  const requests = log.filter((entry) => entry.operation === operation);
  const became = word(operation, events, log, requests);
  return { became, requestCount: requests.length, tokenCount: tokenCountOf(requests) };
}

function word(
  operation: string,
  events: readonly SeenEvent[],
  log: readonly LogEntry[],
  requests: readonly LogEntry[],
): string {
  const failed = events.find(({ name }) => name === 'upload-failed');
  if (failed) return `failed: ${failed.detail.code}`;
  const paused = events.find(({ name }) => name === 'upload-paused');
  if (paused) return `paused: ${paused.detail.reason}`;
  if (operation !== 'session' && log.filter((entry) => entry.operation === 'session').length > 1)
    return 'new session';
  if (requests.some((request) => wasRenewed(request, requests))) return 'renewed';
  if (wasPresignedAfterPut(log)) return 'presigned again';
  const asked = log.map((entry) => `${entry.operation} ${entry.hash ?? entry.hashes?.toSorted()}`);
  const hashes = log.flatMap((entry) => (entry.operation === 'chunks' ? (entry.hashes ?? []) : []));
  const isTwice = new Set(asked).size < asked.length || new Set(hashes).size < hashes.length;
  return isTwice ? 'retried' : 'continues';
}

/** Returns true if the request `refused` got a 401 and was repeated with another token. */
function wasRenewed(refused: LogEntry, requests: readonly LogEntry[]): boolean {
  const later = requests.slice(requests.indexOf(refused) + 1);
  const again = later.find(({ hashes }) => String(hashes) === String(refused.hashes));
  return (
    refused.operation !== 'put' &&
    refused.status === 401 &&
    again !== undefined &&
    again.bearerNumber !== refused.bearerNumber
  );
}

/**
 * Returns true if tickets were requested for a chunk after its PUT. After a PUT with a hash that was never requested, every ticket
 * request counts, because the chunk had a ticket for the wrong hash.
 */
function wasPresignedAfterPut(log: readonly LogEntry[]): boolean {
  const all = new Set(log.flatMap(({ hashes = [] }) => hashes));
  const put = new Set<string>();
  for (const { operation, hash, hashes = [] } of log) {
    if (operation === 'put' && hash) put.add(hash);
    const isForeign = [...put].some((hash) => !all.has(hash));
    if (operation === 'chunks' && put.size > 0 && (isForeign || hashes.some((hash) => put.has(hash))))
      return true;
  }
  return false;
}
