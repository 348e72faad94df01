// Requests to open and commit many files, for both services.
import assert from 'node:assert/strict';
import { type Answer, ask, hashOf, type Rig, randomChunks } from './support.ts';

export const BATCH = '/files/uploadsession/batch';

/**
 * Uploads two files and an empty one in batches, and sends some that are refused. `session` returns the session header of an
 * opened file.
 */
export async function uploadInBatches(
  baseUrl: string,
  origin: string,
  token: string,
  session: (opened: Answer['body']) => string,
): Promise<void> {
  const headers = { origin, authorization: `Bearer ${token}` };
  const post = (body: unknown, more = {}): Promise<Answer> =>
    ask({ baseUrl }, 'POST', BATCH, { headers: { ...headers, ...more }, body });
  const statusesOf = ({ body }: Answer): number[] =>
    body.answers.map(({ status }: { status: number }) => status);
  const fileOf = (size: number, hashes: string[], name = 'in-batch.bin'): object => ({
    ...{ parent_id: 'folder-a', file_name: name, file_size: size },
    ...{ hashes, sizes: hashes.map(() => size) },
  });
  const chunks = randomChunks(10, 20);
  const opened = await post({
    open: [...chunks.map((chunk) => fileOf(chunk.length, [hashOf(chunk)])), fileOf(0, [])],
  });
  assert.deepEqual(statusesOf(opened), [201, 201, 201]);
  assert.deepEqual(statusesOf(await post({ open: [fileOf(1, [], '..')] })), [400]);
  const commit = [];
  for (const [at, { body }] of opened.body.answers.entries()) {
    const hashes = Object.keys(body.chunks);
    const entries: { upload_url: string; receipt: string; headers?: object }[] = Object.values(body.chunks);
    const [ticket] = entries;
    const put = {
      method: 'PUT',
      body: chunks[at] as Uint8Array<ArrayBuffer>,
      headers: { origin, ...ticket?.headers },
    };
    if (at === 0) assert.equal((await fetch(String(ticket?.upload_url), put)).status, 200);
    commit.push({ session: session(body), hashes, receipts: entries.map(({ receipt }) => receipt) });
  }
  assert.deepEqual(statusesOf(await post({ commit })), [200, 409, 200]);
  assert.equal((await post({})).status, 400);
  assert.equal((await post({ open: Array(65).fill(fileOf(1, [])) })).status, 413);
  assert.equal((await post({}, { authorization: 'Bearer wrong' })).status, 401);
}

/** Sends files of batches that the reference service delays, in test mode. */
export async function delayInBatches({ service }: Rig, baseUrl: string, token: string): Promise<void> {
  const post = async (body: unknown): Promise<Answer['body']> =>
    (await ask({ baseUrl }, 'POST', BATCH, { headers: { authorization: `Bearer ${token}` }, body })).body
      .answers;
  const file = { parent_id: 'folder-a', file_name: 'late.bin', file_size: 0, hashes: [] };
  const match = { fileName: 'late.bin' };
  service.faults.add({ operation: 'session', match, status: 429, headers: { 'retry-after': '5' } });
  const [refused, opened] = await post({ open: [file, file] });
  assert.deepEqual([refused.status, refused.retry_after, opened.status], [429, 5, 201]);
  service.faults.add({ operation: 'commit', match, delayMs: 2000 });
  const session = opened.body.passport;
  const commit = [{ session, hashes: [], receipts: [], file_hash: hashOf(new Uint8Array()) }];
  const [pending] = await post({ commit });
  assert.deepEqual(pending, { status: 202, body: {}, retry_after: 2 });
}
