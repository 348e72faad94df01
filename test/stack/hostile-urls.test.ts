// The example service for S3 with PostgreSQL and Ceph RGW: clients that misuse presigned URLs, slow clients, and what the log has.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { runInExample, startExample, TOKEN } from '../support/service-s3.ts';
import { until } from '../support/until.ts';
import {
  ALICE,
  type Answer,
  CHUNKS,
  type Chunk,
  COMMIT,
  put,
  request,
  SECOND_TOKEN,
  SESSION,
  startWorld,
  type World,
} from './support/hostile.ts';

const keyOf = (user: string, { hash }: { hash: string }): string => `chunks/u-${user}/${hash}`;
/** Sets the clock of the example back: its URLs have expired, and the store still accepts its own requests. */
const LATE = `data:text/javascript,${encodeURIComponent(`const now = Date.now;
  globalThis.Date = class extends Date {
    constructor(...given) { super(...(given.length ? given : [now() - 360_000])); }
    static now() { return now() - 360_000; }
  };`)}`;

describe('The example for S3, with hostile users of its URLs', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  /** Presigns one chunk. */
  async function ticketFor(client = world.alice, bytes = randomBytes(1000)): Promise<Chunk> {
    const { chunks } = await client.begin(bytes);
    return chunks[0] as Chunk;
  }

  test('a URL stores its bytes only', async () => {
    await world.survives(async () => {
      const chunk = await ticketFor();
      const { bytes, hash, ticket } = chunk;
      const other = randomBytes(1000);
      assert.equal((await put(chunk, { body: other })).status, 400);
      const { hash: otherHash } = await ticketFor(world.alice, other);
      for (const changed of [otherHash, 'UNSIGNED-PAYLOAD', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', ''])
        assert.equal(
          (await put(chunk, { body: other, headers: { 'x-amz-content-sha256': changed } })).status,
          403,
          changed,
        );
      for (const body of [Buffer.concat([bytes, other]), bytes.subarray(1), Buffer.alloc(0)])
        assert.equal((await put(chunk, { body })).status, 403, `${body.length} bytes`);
      // Without one of the signed headers.
      for (const name of Object.keys(ticket.headers ?? {})) {
        const { [name]: _, ...headers } = ticket.headers ?? {};
        assert.equal((await put({ ...chunk, ticket: { ...ticket, headers } })).status, 403, name);
      }
      for (const type of ['text/html', 'image/svg+xml'])
        assert.equal((await put(chunk, { headers: { 'content-type': type } })).status, 403, type);
      assert.equal((await put(chunk)).status, 200);
      assert.equal((await put(chunk)).status, 200);
      return [keyOf(ALICE, { hash })];
    });
  });

  test('a URL is of no use for other methods and keys', async () => {
    const { alice, bob } = world;
    await world.survives(async () => {
      const [chunk, own, ofBob] = [await ticketFor(), await ticketFor(), await ticketFor(bob)];
      assert.equal((await put(chunk)).status, 200);
      assert.equal((await put(ofBob)).status, 200);
      // Ceph RGW responds with 501 to requests that it can't do if the hash of a body is signed.
      for (const [method, status] of Object.entries({ GET: 403, HEAD: 403, DELETE: 501, POST: 501 }))
        assert.equal((await put(chunk, { method })).status, status, method);
      for (const method of ['GET', 'HEAD', 'DELETE', 'POST'])
        assert.equal((await put(chunk, { method, body: '' })).status, 403, method);
      const url = `${own.ticket.upload_url}`;

      const changes: [string | RegExp, string][] = [
        [own.hash, chunk.hash],
        [own.hash, ''],
        [own.hash, `${own.hash}/a`],
        [`u-${ALICE}`, 'u-bob'],
        [`u-${ALICE}`, `u-${ALICE}/..%2Fu-bob`],
        ['/chunks/', '/files/'],
        ['/uploads/', '/other/'],
        [/X-Amz-Expires=\d+/, 'X-Amz-Expires=604800'],
        [/X-Amz-Date=\d+/, 'X-Amz-Date=20991231'],
        [/&X-Amz-Signature=\w+/, ''],
        [/(X-Amz-Signature=\w+)\w/, '$1g'],
        [/X-Amz-SignedHeaders=[^&]+/, 'X-Amz-SignedHeaders=host'],
        [/$/, '&acl'],
        [/$/, '&tagging'],
        [/$/, '&partNumber=1&uploadId=a'],
        [/$/, '&X-Amz-Expires=604800'],
      ];
      for (const [part, by] of changes) {
        const changed = url.replace(part, by);
        assert.notEqual(changed, url);
        assert.equal((await put(own, { url: changed })).status, 403, `${part} → ${by}`);
      }
      assert.equal((await put(own, { url: `${url}&uploads`, method: 'POST', body: '' })).status, 403);
      // The URL of another session and user, with the headers of the own one.
      const swapped = {
        ...own,
        ticket: { ...own.ticket, upload_url: (await ticketFor(bob)).ticket.upload_url },
      };
      assert.equal((await put(swapped)).status, 403);
      const anonymous = { method: 'GET', headers: {} };
      for (const { ticket } of [chunk, ofBob])
        assert.equal((await request(`${ticket.upload_url}`.replace(/\?.*/, ''), anonymous)).status, 403);
      const session = await alice.open(1000);
      const [stored] = await alice.presign(session, chunk.bytes);
      assert.equal(stored?.ticket.upload_url, null);
      return [keyOf(ALICE, chunk), keyOf('bob', ofBob)];
    });
  });

  test('a URL copies no object, and makes none public', async () => {
    await world.survives(async () => {
      const ofBob = await ticketFor(world.bob);
      assert.equal((await put(ofBob)).status, 200);
      const own = await ticketFor();
      const source = { 'x-amz-copy-source': `/uploads/${keyOf('bob', ofBob)}` };
      // Ceph RGW can't copy if the hash of the bytes is signed.
      assert.equal((await put(own, { headers: source })).status, 501);
      assert.equal((await put(own, { headers: { ...source, 'content-length': '1000' } })).status, 501);
      assert.equal((await put(own, { headers: source, body: '' })).status, 403);
      for (const access of [
        'public-read',
        'public-read-write',
        'authenticated-read',
        'private, public-read',
        '',
      ])
        assert.equal((await put(own, { headers: { 'x-amz-acl': access } })).status, 403, access);
      const grant = { 'x-amz-grant-read': 'uri="http://acs.amazonaws.com/groups/global/AllUsers"' };
      assert.equal((await put(own, { headers: grant })).status, 400);
      return [keyOf('bob', ofBob)];
    });
  });

  test('a file has nothing that a client has sent with a chunk but its bytes', async () => {
    const { alice } = world;
    await world.survives(async () => {
      const { session, chunks } = await alice.begin(randomBytes(1000));
      const [chunk] = chunks as [Chunk];
      const extra = {
        'x-amz-meta-a': 'b',
        'x-amz-tagging': 'public=yes',
        'x-amz-website-redirect-location': 'https://other.example',
        'cache-control': 'max-age=1',
        'content-disposition': 'inline',
        'content-language': 'de',
        expires: 'Wed, 21 Oct 2099 07:28:00 GMT',
      };
      assert.equal((await put(chunk, { headers: extra })).status, 200);
      const { status, body } = await alice.commit(session, chunks);
      assert.equal(status, 200);
      const key = await world.store.keyOfFile(ALICE, body.file_id);
      const { headers } = await world.ask(`/${key}`, 'HEAD');
      assert.equal(headers.get('content-type'), 'application/octet-stream');
      for (const name of Object.keys(extra)) assert.equal(headers.get(name), null, name);
      assert.equal(headers.get('x-amz-tagging-count'), null);
      assert.doesNotMatch(await (await world.ask(`/${key}?tagging`)).text(), /<Tag>/);
      return [keyOf(ALICE, chunk), key];
    });
  });

  test('a URL ends after five minutes', async () => {
    const { settings, folder } = world;
    const late = await startExample('hono', settings, { folder, nodeArgs: ['--import', LATE] });
    try {
      await world.survives(async () => {
        const { session, chunks } = await world.client(TOKEN, late.baseUrl).begin(randomBytes(1000));
        const [expired] = chunks as [Chunk];
        assert.equal((await put(expired)).status, 403);
        const [fresh] = (await world.alice.presign(session, expired.bytes)) as [Chunk];
        assert.equal((await put(fresh)).status, 200);
        return [keyOf(ALICE, fresh)];
      });
    } finally {
      await late.stop();
    }
  });

  /** Sends the start of a request, and then a byte each second. Resolves with the response when the server ends the connection. */
  async function drip(baseUrl: string, start: string): Promise<string> {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    let said = '';
    socket.on('data', (text) => (said += text)).on('error', () => undefined);
    socket.write(start);
    const timer = setInterval(() => socket.write('a'), 1000);
    await once(socket, 'close');
    clearInterval(timer);
    return said;
  }

  test('slow clients block no others, and are ended', { timeout: 120_000 }, async () => {
    // Not those of Alice, who has eight requests at once.
    const head = `POST ${SESSION} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${SECOND_TOKEN}\r\n`;
    const starts = [
      head,
      `${head}content-length: 60000\r\n\r\n{`,
      `${head}content-type: application/json\r\ncontent-length: 60000\r\n\r\n{`,
      // One long chunk: the server has no length to check.
      `${head}transfer-encoding: chunked\r\n\r\nfffff\r\n{`,
    ];
    const express = await startExample('express', world.settings, { folder: world.folder });
    try {
      const slow = [world.example, express].flatMap(({ baseUrl }) =>
        Array.from({ length: 25 }, () => starts.map((start) => drip(baseUrl, start))).flat(),
      );
      await world.survives(async () => undefined);
      const answers = await Promise.all(slow);
      for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 (408|429) /);
      // Eight of each process, and those whose headers have no end.
      assert.equal(answers.filter((answer) => answer.startsWith('HTTP/1.1 408 ')).length, 2 * (25 + 8));
      await world.survives(async () => undefined);
    } finally {
      await express.stop();
    }
  });

  test('prints no secret, also if the store and the database are away', async () => {
    const { alice, store, database, example, settings, folder, secrets } = world;
    const { session, chunks } = await alice.begin(randomBytes(1000));
    const { session: other } = await alice.begin(randomBytes(1000));
    const [chunk] = chunks as [Chunk];
    assert.equal((await put(chunk)).status, 200);
    const file = { parent_id: 'folder-a', file_name: 'name-of-a-file-0001.bin', file_size: 1000 };
    secrets.add(file.file_name);
    const statuses = async (): Promise<number[]> => [
      await alice.statusOf(SESSION, file),
      await alice.statusOf(CHUNKS, { hashes: [chunk.hash], sizes: [1000] }, session),
      await alice.statusOf(COMMIT, { hashes: [chunk.hash], receipts: [chunk.ticket.receipt] }, session),
      await alice.statusOf(SESSION, file, other, { method: 'DELETE' }),
      (await request(`${example.baseUrl}/readyz`, { method: 'GET' })).status,
    ];
    await database.interrupt();
    assert.deepEqual(await statuses(), [503, 503, 503, 503, 503]);
    await database.resume();
    await store.interrupt();
    assert.deepEqual(await statuses(), [201, 503, 503, 204, 503]);
    await store.resume();
    world.assertNoSecrets();
    const commit = (): Promise<Answer> => alice.commit(session, chunks);
    let answer = await commit();
    while (answer.status === 202) answer = await commit();
    assert.equal(answer.status, 200);

    /** Resolves with what the example prints if it can't start, or has no database. */
    async function print(changes: object): Promise<string> {
      const child = runInExample(['hono.ts'], { ...settings, ...changes }, folder);
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text));
      const closed = once(child, 'close');
      await until(() => /error/i.test(said));
      child.kill();
      await closed;
      return said;
    }
    const wrong: Record<string, string>[] = [
      { DATABASE_URL: database.url.replace(/:\d+\//, ':1/') },
      { DATABASE_URL: database.url.replace(/:\d+\//, ':port/') },
      { DATABASE_URL: database.url.replace('postgres:', 'mysql:') },
      { DATABASE_URL: database.url.replace('/postgres', '/unknown') },
      { RECEIPT_KEY: settings.RECEIPT_KEY?.slice(0, 31) ?? '' },
    ];
    for (const changes of wrong) {
      const said = await print(changes);
      for (const secret of [...secrets, ...Object.values(changes)])
        assert.ok(!said.includes(secret), `${JSON.stringify(changes)}: ${said}`);
    }
    await world.survives(async () => undefined);
  });
});
