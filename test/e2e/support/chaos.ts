// Reproducible random faults. The fault of a request depends only on the seed, the operation, the file, the chunk, and the number
// of earlier requests of the same kind.
import { createCipheriv, createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Fault, Operation, StruckRequest } from '../../../demo/server/faults.ts';

/** A fault, its operations, its relative frequency, and the error codes that a file may have after this fault. */
interface Kind {
  readonly on: readonly Operation[];
  readonly weight: number;
  readonly fault: Partial<Fault>;
  readonly codes: readonly string[];
}

const CALLS: readonly Operation[] = ['session', 'chunks', 'commit'];
const ALL: readonly Operation[] = [...CALLS, 'put'];
const JSON_TYPE = { contentType: 'application/json' };

const KINDS: readonly Kind[] = [
  { on: ALL, weight: 6, fault: { delayMs: 150 }, codes: [] },
  ...[500, 502, 504, 408].map((status) => ({
    on: ALL,
    weight: 3,
    fault: { status },
    codes: ['service-failed'],
  })),
  ...[429, 503].map((status) => ({ on: ALL, weight: 3, fault: { status }, codes: ['rate-limited'] })),
  { on: ALL, weight: 1, fault: { status: 429, headers: { 'retry-after': '1' } }, codes: ['rate-limited'] },
  { on: ALL, weight: 4, fault: { cut: 'before-body' }, codes: ['network'] },
  { on: ALL, weight: 4, fault: { cut: 'mid-body' }, codes: ['network'] },
  { on: ALL, weight: 4, fault: { cut: 'after-body' }, codes: ['network'] },
  { on: ALL, weight: 3, fault: { cut: 'mid-answer' }, codes: ['network'] },
  { on: ALL, weight: 0.4, fault: { stall: true }, codes: ['timeout', 'upload-stalled', 'network'] },
  { on: ALL, weight: 2, fault: { withoutCors: true }, codes: ['network', 'storage-unreadable'] },
  { on: ALL, weight: 2, fault: { redirect: '/elsewhere' }, codes: ['network', 'upload-refused'] },
  { on: CALLS, weight: 3, fault: { status: 200, body: '<!doctype html>' }, codes: ['bad-response'] },
  {
    on: CALLS,
    weight: 2,
    fault: { status: 200, body: '{"chunks":{"', ...JSON_TYPE },
    codes: ['bad-response'],
  },
  { on: CALLS, weight: 2, fault: { status: 401 }, codes: ['token-rejected'] },
  { on: CALLS, weight: 0.2, fault: { status: 403 }, codes: ['forbidden'] },
  { on: CALLS, weight: 0.2, fault: { status: 400 }, codes: ['upload-refused'] },
  { on: ['session'], weight: 0.2, fault: { status: 409 }, codes: ['name-taken'] },
  { on: ['chunks', 'commit'], weight: 0.5, fault: { status: 404 }, codes: ['session-expired'] },
  { on: ['chunks', 'commit'], weight: 0.5, fault: { status: 410 }, codes: ['session-expired'] },
  { on: ['chunks'], weight: 4, fault: { omitEntry: true }, codes: ['bad-response'] },
  { on: ['chunks'], weight: 4, fault: { expireTickets: true }, codes: ['upload-refused'] },
  { on: ['chunks'], weight: 4, fault: { wrongTicket: true }, codes: ['hash-mismatch'] },
  ...[400, 403, 404, 410, 412].map((status) => ({
    on: ['put' as const],
    weight: 2,
    fault: { status },
    codes: ['upload-refused'],
  })),
  { on: ['put'], weight: 4, fault: { storeNothing: true }, codes: ['service-failed'] },
];

/** Returns a number from 0 to 1 that depends only on `text`. */
function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;
}

export interface Chaos {
  /** Returns the fault of a request, or `undefined` if the request has no fault. */
  choose(request: StruckRequest): Partial<Fault> | undefined;
  /** Number of faults so far. */
  readonly count: number;
  /** Returns the error codes with which the upload of this file may fail after its faults so far. */
  codesOf(fileName: string): ReadonlySet<string>;
  /** Writes a file whose bytes depend only on the seed and `number`. Returns the hash of the file. */
  writeFile(path: string, number: number, sizeBytes: number): string;
  /** Returns a number from 0 to 1 that depends only on the seed and `name`. */
  random(name: string): number;
}

/** Creates the faults of a seed. `rate` is the fraction of requests with a fault. */
export function createChaos(seed: string, rate: number): Chaos {
  const counts = new Map<string, number>();
  const codes = new Map<string, Set<string>>();
  let count = 0;
  const choose = ({ operation, hashes = [], fileName }: StruckRequest): Partial<Fault> | undefined => {
    const kinds = KINDS.filter(({ on }) => on.includes(operation));
    if (kinds.length === 0 || fileName === undefined) return undefined;
    const about = `${operation} ${fileName} ${operation === 'put' ? hashes[0] : ''}`;
    const nth = counts.get(about) ?? 0;
    counts.set(about, nth + 1);
    if (numberOf(`${seed} ${about} ${nth} whether`) >= rate) return undefined;
    let left = numberOf(`${seed} ${about} ${nth} which`) * kinds.reduce((sum, { weight }) => sum + weight, 0);
    const kind = kinds.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    if (!kind) return undefined;
    count += 1;
    codes.set(fileName, new Set([...(codes.get(fileName) ?? []), ...kind.codes]));
    return kind.fault;
  };
  return {
    choose,
    get count() {
      return count;
    },
    codesOf: (fileName) => codes.get(fileName) ?? new Set(),
    writeFile(path, number, sizeBytes) {
      const key = createHash('sha256').update(`${seed} ${number}`).digest();
      const bytes = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(sizeBytes));
      writeFileSync(path, bytes);
      return createHash('sha256').update(bytes).digest('hex');
    },
    random: (name) => numberOf(`${seed} ${name}`),
  };
}
