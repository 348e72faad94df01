// The example service for S3, as far as it needs no store: types, settings, requests and what a URL signs. `npm run test:stack`
// runs it with a store.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { installedExample } from '../support/built.ts';
import {
  PAGE,
  RECEIPT_KEY,
  type RunningExample,
  runInExample,
  SETTINGS,
  startExample,
  TOKEN,
  VARIANTS,
} from '../support/service-s3.ts';
import { hashOf } from './support.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MIB = 2 ** 20;
const SESSION = '/files/uploadsession';
const HASHES = ['a', 'b'].map((text) => hashOf(Buffer.from(text)));

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, string>;
}

const receiptOf = (sessionId: string, hash: string): string =>
  createHmac('sha256', RECEIPT_KEY).update(`${sessionId}${hash}`).digest('hex');

for (const variant of Object.keys(VARIANTS) as (keyof typeof VARIANTS)[]) {
  describe(`The example for S3 on ${variant}`, () => {
    let example: RunningExample;
    before(async () => {
      example = await startExample(variant);
    });
    after(() => example.stop());

    async function ask(
      path: string,
      body?: unknown,
      { session = '', token = TOKEN, origin = PAGE, method = 'POST' } = {},
    ): Promise<Answer> {
      const response = await fetch(`${example.baseUrl}${path}`, {
        method,
        headers: {
          origin,
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...(session && { 'x-service-uploadsession': session }),
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : {} };
    }
    const file = { parent_id: 'folder-a', file_name: 'ä b.bin', file_size: 10 };
    const open = async (sizeBytes: number): Promise<string> =>
      (await ask(SESSION, { ...file, file_size: sizeBytes })).body.session_id ?? '';
    /** Presigns chunks, which fails because the store can't be reached, but the session then has their sizes. */
    async function sessionWith(...sizes: number[]): Promise<{ session: string; body: object }> {
      const session = await open(sizes.reduce((sum, size) => sum + size, 0));
      const hashes = HASHES.slice(0, sizes.length);
      const presigned = await ask(`${SESSION}/chunks`, { hashes, sizes }, { session });
      assert.equal(presigned.status, 503);
      return { session, body: { hashes, receipts: hashes.map((hash) => receiptOf(session, hash)) } };
    }

    test('opens a session, which only its token may use', async () => {
      const opened = await ask(SESSION, file);
      assert.equal(opened.status, 201);
      assert.match(opened.body.session_id ?? '', /^[\w-]{32}$/);
      const wrong = await ask(SESSION, file, { token: 'other' });
      assert.equal(wrong.status, 401);
      assert.ok(wrong.body.debuginfo);
    });

    test('refuses files that are not valid, and folders without the right', async () => {
      const statusOf = async (change: object): Promise<number> =>
        (await ask(SESSION, { ...file, ...change })).status;
      assert.equal(await statusOf({ parent_id: 'private' }), 403);
      const invalid = [
        { parent_id: 7 },
        { file_name: '../a' },
        { file_name: '' },
        { file_name: 'a\u0000' },
        { file_size: -1 },
        { file_size: '10' },
      ];
      for (const change of invalid) assert.equal(await statusOf(change), 400, JSON.stringify(change));
      for (const body of ['{', 'null', '"text"']) assert.equal((await ask(SESSION, body)).status, 400, body);
    });

    test('allows exactly the page, on errors too', async () => {
      const allowed = await ask(SESSION, {}, { token: 'other' });
      assert.equal(allowed.headers.get('access-control-allow-origin'), PAGE);
      assert.match(allowed.headers.get('access-control-expose-headers') ?? '', /Retry-After, ?Date/);
      const foreign = await ask(SESSION, file, { origin: 'https://other.example' });
      assert.notEqual(foreign.headers.get('access-control-allow-origin'), 'https://other.example');
      const preflight = await fetch(`${example.baseUrl}${SESSION}/chunks`, {
        method: 'OPTIONS',
        headers: { origin: PAGE, 'access-control-request-method': 'POST' },
      });
      assert.equal(preflight.status, 204);
      assert.equal(
        preflight.headers.get('access-control-allow-headers')?.replaceAll(' ', ''),
        'authorization,content-type,x-service-uploadsession',
      );
    });

    test('refuses to presign without a session, sizes or valid hashes', async () => {
      const session = await open(10);
      const presign = async (body: object, id = session): Promise<Answer> =>
        ask(`${SESSION}/chunks`, body, { session: id });
      const [hash = ''] = HASHES;
      assert.equal((await presign({ hashes: [hash], sizes: [1] }, 'unknown')).status, 404);
      const without = await presign({ hashes: [hash] });
      assert.deepEqual([without.status, without.body.debuginfo], [400, 'set profile.sendSizes']);
      const invalid = [
        { hashes: [], sizes: [] },
        { hashes: ['../x'], sizes: [1] },
        { hashes: [hash.toUpperCase()], sizes: [1] },
        { hashes: [[hash]], sizes: [1] },
        { hashes: [hash], sizes: [0] },
        { hashes: [hash], sizes: [11] },
        { hashes: [hash], sizes: [1.5] },
      ];
      for (const body of invalid) assert.equal((await presign(body)).status, 400, JSON.stringify(body));
      const many = Array.from({ length: 1001 }, (_, index) => hashOf(Buffer.from([index % 256, index >> 8])));
      assert.equal((await presign({ hashes: many, sizes: many.map(() => 1) })).status, 413);
    });

    test('responds with 503 and Retry-After while the store can’t be reached', async () => {
      const { session, body } = await sessionWith(6 * MIB);
      const answer = await ask(`${SESSION}/commit`, body, { session });
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5']);
    });

    test('refuses a commit with other receipts or sizes', async () => {
      const { session, body } = await sessionWith(6 * MIB, 1);
      const commit = async (change: object, id = session): Promise<number> =>
        (await ask(`${SESSION}/commit`, { ...body, ...change }, { session: id })).status;
      const foreign = HASHES.map((hash) => receiptOf('other', hash));
      assert.equal(await commit({ receipts: foreign }), 400);
      assert.equal(await commit({ receipts: HASHES.map(() => 'é'.repeat(64)) }), 400);
      assert.equal(await commit({ receipts: [] }), 400);
      const [first = ''] = HASHES;
      assert.equal(await commit({ hashes: [first], receipts: [receiptOf(session, first)] }), 422);
      const small = await sessionWith(MIB, 1);
      assert.equal(await commit(small.body, small.session), 422);
    });

    test('cancels a session', async () => {
      const session = await open(10);
      const cancel = async (): Promise<number> =>
        (await ask(SESSION, undefined, { session, method: 'DELETE' })).status;
      assert.deepEqual([await cancel(), await cancel()], [200, 404]);
    });

    // Last, because Hono's server closes the connection if the rest of the body takes longer than 500 ms.
    test('refuses bodies above 4 MiB', async () => {
      const response = await fetch(`${example.baseUrl}${SESSION}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', origin: PAGE },
        body: JSON.stringify({ ...file, more: 'x'.repeat(4 * MIB) }),
      });
      assert.equal(response.status, 413);
      assert.equal(response.headers.get('access-control-allow-origin'), PAGE);
    });
  });
}

describe('The example for S3', () => {
  test('compiles', () => {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', installedExample()], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
  });

  test('has at most 200 lines, and 60 lines for another framework', () => {
    const linesOf = (name: string): number =>
      readFileSync(join(root, 'demo/examples/service-s3', name), 'utf8')
        .trimEnd()
        .split('\n').length;
    const lines = ['uploads.ts', 'store.ts', 'hono.ts'].map(linesOf);
    assert.ok(lines.reduce((sum, count) => sum + count) <= 200, lines.join());
    for (const name of ['express.ts', 'next.ts']) assert.ok(linesOf(name) < 60, name);
  });

  test('signs the length, the hash and the access list of a chunk for five minutes', async () => {
    const [hash = ''] = HASHES;
    const signedBy = async (enforces: string): Promise<{ url: URL; headers: object }> => {
      const script = `import { presignPut } from './store.ts';
        console.log(JSON.stringify(await presignPut('chunks/u-ann/x', '${hash}', 8388608)));`;
      const child = runInExample(['--input-type=module', '--eval', script], {
        ...SETTINGS,
        S3_ENFORCES: enforces,
      });
      let said = '';
      child.stdout?.on('data', (text) => (said += text));
      await once(child, 'close');
      const { upload_url, headers } = JSON.parse(said) as { upload_url: string; headers: object };
      return { url: new URL(upload_url), headers };
    };
    const ceph = await signedBy('content-sha256');
    assert.equal(ceph.url.pathname, '/uploads/chunks/u-ann/x');
    assert.equal(ceph.url.searchParams.get('X-Amz-Expires'), '300');
    assert.equal(
      ceph.url.searchParams.get('X-Amz-SignedHeaders'),
      'content-length;host;x-amz-acl;x-amz-content-sha256',
    );
    assert.deepEqual(ceph.headers, { 'x-amz-content-sha256': hash, 'x-amz-acl': 'private' });
    const aws = await signedBy('checksum-sha256');
    assert.equal(
      aws.url.searchParams.get('X-Amz-SignedHeaders'),
      'content-length;host;x-amz-checksum-sha256',
    );
    assert.deepEqual(aws.headers, { 'x-amz-checksum-sha256': Buffer.from(hash, 'hex').toString('base64') });
  });

  test('does not start without its settings', async () => {
    await assert.rejects(startExample('hono', { S3_SECRET_ACCESS_KEY: '' }), /Fill in \.env/);
    await assert.rejects(startExample('hono', { S3_ENFORCES: 'nothing' }), /Fill in \.env/);
    await assert.rejects(startExample('hono', { RECEIPT_KEY: 'short' }), /RECEIPT_KEY needs 32/);
  });
});
