// Calls to an S3-compatible store: presigned PUTs for browsers, and requests of the service itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { credentials } from './hooks.ts';
import { within } from './log.ts';
import { type Keys, settings } from './settings.ts';

const { endpoint, region, bucket, enforces } = settings.store;
const base64 = (hash: string) => Buffer.from(hash, 'hex').toString('base64');
/** What the key for URLs has written belongs to its user, and RGW asks for no policy before it copies a part. */
const ACL = { 'x-amz-acl': 'bucket-owner-full-control' };
/** Headers that a URL signs, so that the store refuses other bytes. docs/s3.md lists what each store enforces. */
const SIGNED = {
  'content-sha256': (hash: string) => ({ 'x-amz-content-sha256': hash, ...ACL }),
  'checksum-sha256': (hash: string) => ({ 'x-amz-checksum-sha256': base64(hash) }),
};
const headersOf = SIGNED[enforces as keyof typeof SIGNED];
const urlOf = (key: string) => `${endpoint}/${bucket}/${key}`;
/** The type of all objects: a browser must never show the bytes of a user as a page. */
export const BYTES = { 'content-type': 'application/octet-stream' };
const URL_SECONDS = 300;

/** What stores say if they have no space left, or if the bucket has reached its quota. */
const FULL = /^(QuotaExceeded|InsufficientStorage|XMinioStorageFull|InsufficientCapacity)$/;
/** What passes, although its status is below 500. A HEAD has no code, also if the keys have just ended. */
const PASSING = /^(400 |\d+ (RequestTimeout|SlowDown|ExpiredToken|OperationAborted))$/;

/** Names of requests, by their method and the first parameter of their query. */
const NAMES: Record<string, string> = {
  'HEAD ': 'HeadObject',
  'PUT ': 'PutObject',
  'PUT partNumber': 'UploadPartCopy',
  'POST uploads': 'CreateMultipartUpload',
  'POST uploadId': 'CompleteMultipartUpload',
  'GET uploads': 'ListMultipartUploads',
  'GET uploadId': 'ListParts',
  'GET list-type': 'ListObjectsV2',
  'GET max-keys': 'ListObjects',
  'DELETE ': 'DeleteObject',
  'DELETE uploadId': 'AbortMultipartUpload',
};
/** Such as `DeleteObject chunks/`. No more of the key, which names the user. */
function nameOf(method: string, key: string, isCopy: boolean): string {
  const [, folder = '', query = ''] = /^(?:(\w+\/).*?)?(?:\?([\w-]+).*)?$/.exec(key) ?? [];
  const name = isCopy && query === '' ? 'CopyObject' : NAMES[`${method} ${query}`];
  return `${name ?? `${method} ?${query}`} ${folder}`.trim();
}

/** An error of the store. The message has no part of the response, which may name keys and signatures. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly status: number;
  readonly code: string;
  readonly isFull: boolean;
  readonly isPassing: boolean;
  /** What the store asks for, in `Retry-After`. */
  readonly waitMs: number;
  constructor(name: string, status: number, code = '', waitMs = 0) {
    super(`${name}: the store responded with ${status} ${code}`.trim());
    [this.status, this.code, this.waitMs] = [status, code, waitMs];
    this.isFull = status === 507 || FULL.test(code);
    // A copy that fails late has the status 200 and an error in the body.
    const isOfStore = status < 300 || status === 408 || status === 429 || (status >= 500 && status !== 501);
    this.isPassing = !this.isFull && (isOfStore || PASSING.test(`${status} ${code}`));
  }
}

/** How often a request is sent, how long each one may take, and the longest wait before the next one. */
export interface Patience {
  tries: number;
  tryMs: number;
  longestMs: number;
  signal?: AbortSignal | undefined;
}
/** A browser waits for the response, and would repeat its request. */
export const BRIEF: Patience = { tries: 3, tryMs: 10_000, longestMs: 1000 };
export const PATIENT: Patience = { tries: 6, tryMs: 300_000, longestMs: 60_000 };

/** The wait after a number of tries. Random, so that the requests of one bad second do not come back in one. */
export const waitAfter = (tries: number, askedMs: number, random = Math.random()) =>
  askedMs + 200 * 2 ** (tries - 1) * (0.5 + random / 2);

const askedBy = (header: string | null) => {
  const ms = /^\d+$/.test(header ?? '') ? Number(header) * 1000 : Date.parse(header ?? '') - Date.now();
  return ms > 0 ? ms : 0;
};

/** Repeats `work` while the store has a bad moment: it is busy, a connection broke, or a response did not come. */
export async function repeated<T>(work: () => Promise<T>, patience: Patience): Promise<T> {
  const { tries, longestMs, signal } = patience;
  for (let count = 1; ; count += 1) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const isPassing = !(error instanceof StoreError) || error.isPassing;
      const waitMs = waitAfter(count, error instanceof StoreError ? error.waitMs : 0);
      if (signal?.aborted || !isPassing || count === tries || waitMs > longestMs) throw error;
      await sleep(waitMs, undefined, { signal });
    }
  }
}

/** Signing keys that were derived. */
const cache = new Map<string, ArrayBuffer>();

/** Resolves with keys that have not ended, the time of this answer, and the whole seconds that are left. */
export const signingKeys = (use: 'service' | 'urls') =>
  within('hook', 'credentials', async () => {
    const { expiresAt, ...keys } = await credentials(use);
    const now = new Date();
    const leftMs = expiresAt ? expiresAt.getTime() - now.getTime() : Number.POSITIVE_INFINITY;
    // Also if the end is no date.
    if (!(leftMs >= 1000))
      throw Object.assign(new Error('the keys of the store have ended'), { code: 'KEYS_ENDED' });
    return { keys, now, leftMs };
  });

interface Message {
  headers?: Record<string, string>;
  body?: string;
  /** Others than those of the service. */
  keys?: Keys | undefined;
}
/** Sends one request. Resolves with the headers and the body of the response. */
export function send(
  method: string,
  key: string,
  { headers = {}, body, keys: own }: Message,
  { tryMs, signal }: Patience,
) {
  const name = nameOf(method, key, 'x-amz-copy-source' in headers);
  return within('store', name, async () => {
    if (cache.size > 100) cache.clear();
    const keys = own ?? (await signingKeys('service')).keys;
    const request = { method, url: urlOf(key), headers, ...(body !== undefined && { body }) };
    const signed = await new AwsV4Signer({ ...request, ...keys, region, service: 's3', cache }).sign();
    const limit = AbortSignal.timeout(tryMs);
    const response = await fetch(signed.url, {
      ...{ method, headers: signed.headers, ...(body !== undefined && { body }) },
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    const text = await response.text();
    if (response.ok && !text.includes('<Error>')) return { text, headers: response.headers };
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1];
    throw new StoreError(name, response.status, code, askedBy(response.headers.get('retry-after')));
  });
}

interface Call extends Message {
  signal?: AbortSignal;
}
/** Resolves with the response body. */
export async function call(method: string, key: string, { signal, ...init }: Call = {}): Promise<string> {
  const patience = { ...PATIENT, signal };
  return (await repeated(() => send(method, key, init, patience), patience)).text;
}

/** Calls `work` for all items, eight at a time. After an error, no further call begins. */
export async function forEach<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
  atOnce = 8,
) {
  const results: R[] = [];
  // An error in one of the loops ends this generator, and so the other loops.
  const queue = (function* () {
    yield* items.entries();
  })();
  const workAll = async () => {
    for (const [index, item] of queue) results[index] = await work(item, index);
  };
  // The caller must be able to undo what has started.
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, workAll));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return results;
}

/** Resolves with the size of an object in bytes; with `undefined` if it doesn't exist. */
export async function sizeOf(key: string, patience: Patience = BRIEF): Promise<number | undefined> {
  const limits = { ...patience, tryMs: Math.min(patience.tryMs, 30_000) };
  try {
    const { headers } = await repeated(() => send('HEAD', key, {}, limits), limits);
    return Number(headers.get('content-length'));
  } catch (error) {
    if (error instanceof StoreError && error.status === 404) return undefined;
    throw error;
  }
}

/** Deletes an object, or does nothing if it doesn't exist. */
export const remove = (key: string) => call('DELETE', key);

/** Signs the length too: without it, Ceph RGW accepts an empty PUT that copies another object (`x-amz-copy-source`). */
export async function presignPut(key: string, hash: string, sizeBytes: number) {
  const { keys, now, leftMs } = await signingKeys('urls');
  const seconds = Math.min(URL_SECONDS, Math.floor(leftMs / 1000));
  const datetime = now.toISOString().replace(/[:-]|\.\d{3}/g, '');
  const headers = { ...headersOf(hash), ...BYTES };
  const signed = { ...headers, 'content-length': `${sizeBytes}` };
  const how = { method: 'PUT', signQuery: true, allHeaders: true, datetime, cache };
  const at = { url: `${urlOf(key)}?X-Amz-Expires=${seconds}`, region, service: 's3' };
  const { url } = await new AwsV4Signer({ ...how, ...at, ...keys, headers: signed }).sign();
  return { upload_url: url.href, headers };
}
