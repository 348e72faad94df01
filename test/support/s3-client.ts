// Calls the example for S3 as a page would, and puts chunks into a fake store without sending bytes.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { FakeStore } from './fake-store.ts';
import { receiptOf, TOKEN } from './service-s3.ts';

const MIB = 2 ** 20;
export const SESSION = '/files/uploadsession';
export const CHUNK_BYTES = 6 * MIB;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked at by the test
  readonly body: any;
}

export async function ask(baseUrl: string, path: string, body: object, session = ''): Promise<Answer> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-service-uploadsession': session };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${baseUrl}${SESSION}${path}`, init);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Returns different hashes. */
export const hashesOf = (count: number, name = ''): string[] =>
  Array.from({ length: count }, (_, index) => createHash('sha256').update(`${name} ${index}`).digest('hex'));

export const chunkKey = (hash: string): string => `chunks/u-demo-user/${hash}`;

export interface Uploaded {
  readonly session: string;
  readonly sizeBytes: number;
  commit(): Promise<Answer>;
}

/** Opens and presigns a file of `count` chunks of 6 MiB, the last one of a byte, and puts them into the store. */
export async function upload(baseUrl: string, store: FakeStore, count: number, name = ''): Promise<Uploaded> {
  const hashes = hashesOf(count, name);
  const sizes = hashes.map((_, index) => (index === count - 1 ? 1 : CHUNK_BYTES));
  const sizeBytes = sizes.reduce((sum, size) => sum + size, 0);
  const opened = await ask(baseUrl, '', { parent_id: 'folder-a', file_name: 'a', file_size: sizeBytes });
  const session = opened.body.session_id as string;
  for (let at = 0; at < count; at += 100) {
    const batch = { hashes: hashes.slice(at, at + 100), sizes: sizes.slice(at, at + 100) };
    const { status } = await ask(baseUrl, '/chunks', batch, session);
    assert.equal(status, 200);
  }
  for (const [index, hash] of hashes.entries()) store.objects.set(chunkKey(hash), sizes[index] ?? 0);
  store.requests.length = 0;
  const receipts = hashes.map((hash) => receiptOf(session, hash));
  return {
    ...{ session, sizeBytes },
    commit: () => ask(baseUrl, '/commit', { hashes, receipts }, session),
  };
}
