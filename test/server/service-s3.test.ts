// The example service for S3, as far as it needs no store: types, settings, limits, requests, what a URL signs, and what it sends
// to a store. `npm run test:stack` runs it with a store.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { printSize } from '../package/sizes.ts';
import { installedExample } from '../support/built.ts';
import {
  PAGE,
  print,
  type RunningExample,
  receiptOf,
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

    test('takes files of at most 50 GiB', async () => {
      const statusOf = async (sizeBytes: number): Promise<number> =>
        (await ask(SESSION, { ...file, file_size: sizeBytes })).status;
      assert.deepEqual([await statusOf(50 * 1024 * MIB), await statusOf(50 * 1024 * MIB + 1)], [201, 413]);
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

    test('refuses to presign without sizes, and says so, and more chunks than the file can need', async () => {
      const session = await open(10);
      const presign = async (body: object): Promise<Answer> => ask(`${SESSION}/chunks`, body, { session });
      const without = await presign({ hashes: HASHES.slice(0, 1) });
      assert.deepEqual([without.status, without.body.debuginfo], [400, 'set profile.sendSizes']);
      const large = HASHES.concat(hashOf(Buffer.from('c')));
      assert.equal((await presign({ hashes: large, sizes: large.map(() => 10) })).status, 413);
    });

    test('responds with 503 and Retry-After while the store can’t be reached', async () => {
      const { session, body } = await sessionWith(6 * MIB);
      const answer = await ask(`${SESSION}/commit`, body, { session });
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5']);
    });

    test('cancels a session', async () => {
      const session = await open(10);
      const cancel = async (): Promise<number> =>
        (await ask(SESSION, undefined, { session, method: 'DELETE' })).status;
      assert.deepEqual([await cancel(), await cancel()], [204, 404]);
    });

    // Last, because the servers close the connection if the rest of the body takes longer than 500 ms.
    test('refuses bodies above 1.5 MiB', async () => {
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

  test('prints its lines', (t) => {
    const folder = join(root, 'demo/examples/service-s3');
    const names = readdirSync(folder).filter((name) => name.endsWith('.ts'));
    for (const name of names) {
      const lineCount = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n').length;
      printSize(t, `demo/examples/service-s3/${name}`, lineCount, 'lines');
    }
    assert.ok(names.length > 0);
  });

  test('signs the length, the type, the hash and the access list of a chunk for five minutes', async () => {
    const [hash = ''] = HASHES;
    const signedBy = async (enforces: string): Promise<{ url: URL; headers: object }> => {
      const script = `import { presignPut } from './store.ts';
        console.log(JSON.stringify(await presignPut('chunks/u-ann/x', '${hash}', 8388608)));`;
      const { upload_url, headers } = await print<{ upload_url: string; headers: object }>(script, {
        S3_ENFORCES: enforces,
      });
      return { url: new URL(upload_url), headers };
    };
    const ceph = await signedBy('content-sha256');
    assert.equal(ceph.url.pathname, '/uploads/chunks/u-ann/x');
    assert.equal(ceph.url.searchParams.get('X-Amz-Expires'), '300');
    assert.equal(
      ceph.url.searchParams.get('X-Amz-SignedHeaders'),
      'content-length;content-type;host;x-amz-acl;x-amz-content-sha256',
    );
    const type = { 'content-type': 'application/octet-stream' };
    const acl = { 'x-amz-acl': 'bucket-owner-full-control' };
    assert.deepEqual(ceph.headers, { ...type, 'x-amz-content-sha256': hash, ...acl });
    const aws = await signedBy('checksum-sha256');
    assert.equal(
      aws.url.searchParams.get('X-Amz-SignedHeaders'),
      'content-length;content-type;host;x-amz-checksum-sha256',
    );
    const checksum = Buffer.from(hash, 'hex').toString('base64');
    assert.deepEqual(aws.headers, { ...type, 'x-amz-checksum-sha256': checksum });
  });

  /** Runs a script that calls the service and can move its clock (`now`). Resolves with the `statuses` that it collects. */
  const limitsOf = (script: string): Promise<number[]> =>
    print(`import { handle } from './service.ts';
      console.log = () => undefined;
      let now = Date.now();
      Date.now = () => now;
      const headers = { authorization: 'Bearer ${TOKEN}', 'content-type': 'application/json' };
      const ask = (path, method, body, more) =>
        handle(new Request('http://service.invalid' + path, { method, headers: { ...headers, ...more }, body }));
      const open = (file_size) =>
        ask('${SESSION}', 'POST', JSON.stringify({ parent_id: 'folder-a', file_name: 'a', file_size }));
      const cancel = (id) => ask('${SESSION}', 'DELETE', undefined, { 'x-service-uploadsession': id });
      const statuses = [];
      ${script}
      process.stdout.write(JSON.stringify(statuses), () => process.exit());`);

  test('limits the requests of a user in a minute', async () => {
    const script = `for (let count = 0; count < 3000; count += 1) await cancel('unknown');
      statuses.push((await cancel('unknown')).status);
      now += 60_001;
      statuses.push((await cancel('unknown')).status);`;
    assert.deepEqual(await limitsOf(script), [429, 404]);
  });

  test('counts a large body as many requests, before it is parsed', async () => {
    const script = `const large = '{' + '"a": {}, '.repeat(148_000);
      const commit = () => ask('${SESSION}/commit', 'POST', large, { 'x-service-uploadsession': 'a'.repeat(32) });
      for (let count = 0; count < 37; count += 1) statuses.push((await commit()).status);`;
    assert.deepEqual(await limitsOf(script), [...Array(36).fill(400), 429]);
  });

  test('limits the open sessions of a user, which expire after an hour without a chunk', async () => {
    const script = `const { session_id: first } = await (await open(1)).json();
      for (let count = 1; count < 1000; count += 1) await open(1);
      statuses.push((await open(1)).status, (await cancel(first)).status, (await open(1)).status);
      const { session_id: last } = await (await open(1)).json();
      now += 3_600_001;
      const another = await open(1);
      statuses.push(another.status, (await cancel((await another.json()).session_id)).status);`;
    assert.deepEqual(await limitsOf(script), [429, 204, 201, 201, 204]);
    const expired = `const { session_id: id } = await (await open(1)).json();
      now += 3_600_001;
      statuses.push((await cancel(id)).status);`;
    assert.deepEqual(await limitsOf(expired), [404]);
  });

  test('limits the bytes that a user starts in a day, canceled ones too', async () => {
    const script = `for (let count = 0; count < 10; count += 1)
        await cancel((await (await open(50 * 2 ** 30)).json()).session_id);
      statuses.push((await open(1)).status);
      now += 86_400_001;
      statuses.push((await open(1)).status);`;
    assert.deepEqual(await limitsOf(script), [429, 201]);
  });

  test('does not start without its settings', async () => {
    await assert.rejects(
      startExample('hono', { S3_SECRET_ACCESS_KEY: '' }),
      /S3_SECRET_ACCESS_KEY must be the secret key/,
    );
    const wrong = {
      S3_ENFORCES: 'nothing',
      RECEIPT_KEY: 'short',
      PAGE_ORIGIN: 'https://a.example/path',
      PORT: 'x',
    };
    await assert.rejects(startExample('hono', wrong), ({ message }: Error) => {
      for (const name of Object.keys(wrong)) assert.match(message, new RegExp(`${name} must be .+\\.`));
      return true;
    });
  });

  test('does not start with its placeholders, except for a trial', async () => {
    const replace = /Write authorize\(\) in hooks.ts/;
    await assert.rejects(startExample('hono', { DEMO_TOKEN: 'demo-token' }), replace);
    await assert.rejects(startExample('hono', { DEMO_FOLDER: '' }), replace);
    await assert.rejects(startExample('hono', { NODE_ENV: 'production' }), replace);
    const filled = readFileSync(join(root, 'demo/examples/service-s3/.env.example'), 'utf8');
    assert.match(filled, /^DEMO_TOKEN=$/m);
  });
});

describe('The example for S3, with a server that records its requests to the store', () => {
  const sizeOf = new Map<string, number>();
  const requests: IncomingMessage[] = [];
  let heads = 0;
  let mostHeads = 0;
  const store = createServer(async (request, response) => {
    const { method, url = '' } = request;
    requests.push(request);
    request.resume();
    if (method !== 'HEAD') return response.end('<UploadId>1</UploadId><ETag>"1"</ETag>');
    heads += 1;
    mostHeads = Math.max(mostHeads, heads);
    await new Promise((resolve) => setImmediate(resolve));
    heads -= 1;
    const size = sizeOf.get(url.split('/').at(-1) ?? '');
    return response.writeHead(size === undefined ? 404 : 200, { 'content-length': size ?? 0 }).end();
  });
  let example: RunningExample;
  before(async () => {
    await once(store.listen(0, '127.0.0.1'), 'listening');
    const { port } = store.address() as AddressInfo;
    example = await startExample('hono', { S3_ENDPOINT: `http://127.0.0.1:${port}` });
  });
  beforeEach(() => {
    requests.length = 0;
  });
  after(async () => {
    await example.stop();
    store.closeAllConnections();
    store.close();
  });

  async function ask(path: string, body: object, session = ''): Promise<Answer> {
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-service-uploadsession': session };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${example.baseUrl}${SESSION}${path}`, init);
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Answer['body'],
    };
  }

  /** Opens a session, presigns chunks of `sizes`, stores them with the sizes `stored`, and commits `hashes`. */
  async function upload(sizes: number[], hashes: string[], stored: (number | undefined)[] = sizes) {
    const distinct = [...new Set(hashes)];
    const file_size = hashes.reduce((sum, hash) => sum + (sizes[distinct.indexOf(hash)] ?? 0), 0);
    const { body } = await ask('', { parent_id: 'folder-a', file_name: 'a', file_size });
    const session = body.session_id ?? '';
    for (let at = 0; at < distinct.length; at += 100) {
      const batch = { hashes: distinct.slice(at, at + 100), sizes: sizes.slice(at, at + 100) };
      assert.equal((await ask('/chunks', batch, session)).status, 200);
    }
    for (const [index, hash] of distinct.entries()) {
      const size = stored[index];
      if (size === undefined) sizeOf.delete(hash);
      else sizeOf.set(hash, size);
    }
    requests.length = 0;
    const receipts = hashes.map((hash) => receiptOf(session, hash));
    return ask('/commit', { hashes, receipts }, session);
  }
  const copies = (): IncomingMessage[] =>
    requests.filter(({ method }) => method === 'POST' || method === 'PUT');

  test('copies nothing if the stored chunks have other sizes than file_size', async () => {
    const [hash = '', other = ''] = HASHES;
    const listed = Array<string>(1000).fill(hash);
    assert.equal((await upload([5 * MIB], listed, [5 * 1024 * MIB])).status, 422);
    assert.equal((await upload([MIB, 1], [hash, other])).status, 422, 'all but the last need 5 MiB');
    const { status, body } = await upload([6 * MIB, 1], [hash, other], [6 * MIB, undefined]);
    assert.deepEqual([status, body.missing], [409, [other]]);
    assert.deepEqual(copies(), []);
  });

  test('gives a file its own type, whatever type its chunks have', async () => {
    const [hash = '', other = ''] = HASHES;
    const type = 'application/octet-stream';
    assert.equal((await upload([6 * MIB], [hash])).status, 200);
    const [copy] = copies();
    assert.equal(copy?.headers['x-amz-metadata-directive'], 'REPLACE');
    assert.equal(copy?.headers['content-type'], type);
    assert.equal((await upload([6 * MIB, 1], [hash, other])).status, 200);
    const [begun] = copies();
    assert.match(begun?.url ?? '', /\?uploads$/);
    assert.equal(begun?.headers['content-type'], type);
    assert.equal((await upload([], [])).status, 200);
    assert.equal(copies()[0]?.headers['content-type'], type);
  });

  test('asks once, however many ask whether the service is ready', async () => {
    const ask = async (): Promise<number> => (await fetch(`${example.baseUrl}/readyz`)).status;
    const statuses = await Promise.all(Array.from({ length: 20 }, ask));
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.equal(requests.length, 1);
  });

  test('asks for eight chunks at once, each once', async () => {
    const hashes = Array.from({ length: 100 }, (_, index) => hashOf(Buffer.from([index])));
    mostHeads = 0;
    const { status } = await upload(Array<number>(100).fill(6 * MIB), [...hashes, ...hashes]);
    assert.equal(status, 200);
    assert.equal(requests.filter(({ method }) => method === 'HEAD').length, 100);
    assert.ok(mostHeads <= 8, `${mostHeads} at once`);
  });
});
