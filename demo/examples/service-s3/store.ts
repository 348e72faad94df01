// Calls to an S3-compatible store: presigned PUTs for browsers, and requests of the service itself.
import { AwsClient, AwsV4Signer } from 'aws4fetch';
import { settings } from './settings.ts';

const { endpoint, bucket, enforces, ...keys } = settings.store;
const base64 = (hash: string) => Buffer.from(hash, 'hex').toString('base64');
/** Headers that a URL signs, so that the store refuses other bytes. docs/s3.md lists what each store enforces. */
const SIGNED = {
  'content-sha256': (hash: string) => ({ 'x-amz-content-sha256': hash, 'x-amz-acl': 'private' }),
  'checksum-sha256': (hash: string) => ({ 'x-amz-checksum-sha256': base64(hash) }),
};
const headersOf = SIGNED[enforces as keyof typeof SIGNED];
const aws = new AwsClient({ ...keys, service: 's3', retries: 2 });
const urlOf = (key: string) => `${endpoint}/${bucket}/${key}`;
/** The type of all objects: a browser must never show the bytes of a user as a page. */
const BYTES = { 'content-type': 'application/octet-stream' };
/** What stores say if they have no space left, or if the bucket has reached its quota. */
const FULL = /^(QuotaExceeded|InsufficientStorage|XMinioStorageFull|InsufficientCapacity)$/;

/** An error of the store. The message has no part of the response, which may name keys and signatures. */
export class StoreError extends Error {
  readonly status: number;
  readonly isFull: boolean;
  constructor(method: string, status: number, code = '') {
    super(`${method}: the store responded with ${status} ${code}`);
    this.status = status;
    this.isFull = status === 507 || FULL.test(code);
  }
}

/** Resolves with the response body. */
export async function call(method: string, key: string, init: RequestInit = {}): Promise<string> {
  const response = await aws.fetch(urlOf(key), { method, signal: AbortSignal.timeout(300_000), ...init });
  const text = await response.text();
  // A copy that fails late has the status 200 and an error in the body.
  if (response.ok && !text.includes('<Error>')) return text;
  throw new StoreError(method, response.status, /<Code>(\w+)<\/Code>/.exec(text)?.[1]);
}

/** Calls `work` for all items, eight at a time. After an error, no further call begins. */
export async function forEach<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>) {
  const results: R[] = [];
  // An error in one of the loops ends this generator, and so the other loops.
  const queue = (function* () {
    yield* items.entries();
  })();
  const workAll = async () => {
    for (const [index, item] of queue) results[index] = await work(item, index);
  };
  // The caller must be able to undo what has started.
  const ends = await Promise.allSettled(Array.from({ length: 8 }, workAll));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return results;
}

/** Resolves with the size of an object in bytes; with `undefined` if it doesn't exist. */
export async function sizeOf(key: string): Promise<number | undefined> {
  const init = { method: 'HEAD', signal: AbortSignal.timeout(30_000) };
  const { ok, status, headers } = await aws.fetch(urlOf(key), init);
  if (!ok && status !== 404) throw new StoreError('HEAD', status);
  return ok ? Number(headers.get('content-length')) : undefined;
}

/** Deletes an object, or does nothing if it doesn't exist. */
export const remove = (key: string) => call('DELETE', key);

/** Signs the length too: without it, Ceph RGW accepts an empty PUT that copies another object (`x-amz-copy-source`). */
export async function presignPut(key: string, hash: string, sizeBytes: number) {
  const headers = { ...headersOf(hash), ...BYTES };
  const how = { method: 'PUT', url: `${urlOf(key)}?X-Amz-Expires=300`, signQuery: true, allHeaders: true };
  const signed = { ...headers, 'content-length': `${sizeBytes}` };
  const { url } = await new AwsV4Signer({ ...keys, service: 's3', ...how, headers: signed }).sign();
  return { upload_url: url.href, headers };
}

/** Deletes what attempts have left: unfinished uploads, and all objects whose keys begin with `prefix` but `kept`. */
export async function removeOthers(prefix: string, kept: string) {
  const begins = `prefix=${encodeURIComponent(prefix)}`;
  const [uploads, objects] = await Promise.all([
    call('GET', `?uploads&${begins}`),
    call('GET', `?list-type=2&${begins}`),
  ]);
  for (const [, key, id = ''] of uploads.matchAll(/<Key>([^<]+)<\/Key>\s*<UploadId>([^<]+)<\/UploadId>/g))
    await call('DELETE', `${key}?uploadId=${encodeURIComponent(id)}`);
  for (const [, key = ''] of objects.matchAll(/<Key>([^<]+)<\/Key>/g)) if (key !== kept) await remove(key);
}

/**
 * Joins objects to a new one, which has none of their metadata. All but the last need 5 MiB. Stops when `signal` aborts.
 */
export async function assemble(target: string, sources: string[], signal: AbortSignal): Promise<void> {
  const from = (key: string) => ({ 'x-amz-copy-source': `/${bucket}/${key}` });
  if (sources.length < 2) {
    const copy = sources[0] && { ...from(sources[0]), 'x-amz-metadata-directive': 'REPLACE' };
    return void (await call('PUT', target, { headers: { ...BYTES, ...copy } }));
  }
  const begun = await call('POST', `${target}?uploads`, { headers: BYTES });
  const upload = `uploadId=${encodeURIComponent(/<UploadId>(.+)<\/UploadId>/.exec(begun)?.[1] ?? '')}`;
  try {
    const parts = await forEach(sources, async (key, index) => {
      signal.throwIfAborted();
      const number = index + 1;
      const answer = await call('PUT', `${target}?partNumber=${number}&${upload}`, { headers: from(key) });
      return `<Part><PartNumber>${number}</PartNumber>${/<ETag>.+<\/ETag>/.exec(answer)?.[0]}</Part>`;
    });
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    await call('POST', `${target}?${upload}`, { body });
  } catch (error) {
    await call('DELETE', `${target}?${upload}`).catch(() => undefined);
    throw error;
  }
}
