// The example service for S3 with PostgreSQL and Ceph RGW: clients that send wrong sessions, receipts, sizes, chunks and names.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { until } from '../support/until.ts';
import {
  ALICE,
  type Answer,
  CHUNKS,
  type Chunk,
  COMMIT,
  MIB,
  put,
  SESSION,
  startWorld,
  type World,
} from './support/hostile.ts';

const FOLDER = 'folder-a';
const keyOf = (user: string, { hash }: { hash: string }): string => `chunks/u-${user}/${hash}`;
/** Replaces the last character by another one of base64url and hex. */
const alter = (text: string): string => `${text.slice(0, -1)}${text.endsWith('a') ? 'b' : 'a'}`;

const INJECTIONS = [
  `'; drop table upload_sessions; --`,
  `' or '1'='1`,
  `x'); delete from upload_chunks where ('1'='1`,
  `$1; select pg_sleep(60)`,
  `\\'; truncate upload_sessions cascade; --`,
  `{"a": "'||(select current_user)||'"}`,
];

describe('The example for S3, with hostile clients', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  /** Sends the chunks to the store. Resolves with their keys. */
  async function store(user: string, ...chunks: readonly Chunk[]): Promise<string[]> {
    for (const chunk of chunks) assert.equal((await put(chunk)).status, 200);
    return chunks.map((chunk) => keyOf(user, chunk));
  }

  test('refuses sessions that are forged, altered, expired, canceled or of another user', async () => {
    const { alice, bob, database } = world;
    await world.survives(async () => {
      const { session, chunks } = await alice.begin(randomBytes(1000));
      const keys = await store(ALICE, ...chunks);
      const [chunk] = chunks as [Chunk];
      const presigning = { hashes: [chunk.hash], sizes: [1000] };
      const committing = { hashes: [chunk.hash], receipts: [chunk.ticket.receipt] };
      /** The statuses of all operations of a session. */
      const statusesOf = async (client: typeof alice, id: string): Promise<number[]> => [
        await client.statusOf(CHUNKS, presigning, id),
        await client.statusOf(COMMIT, committing, id),
        await client.statusOf(SESSION, undefined, id, { method: 'DELETE' }),
      ];
      const none = [404, 404, 404];
      const expired = await alice.open(1000);
      await database.query(
        `update upload_sessions set expires_at = now() - interval '1 s' where id = '${expired}'`,
      );
      const canceled = await alice.open(1000);
      assert.equal(await alice.statusOf(SESSION, undefined, canceled, { method: 'DELETE' }), 204);
      const forged = randomBytes(24).toString('base64url');
      const malformed = [
        '',
        ' ',
        session.slice(1),
        `${session}a`,
        `${session}, ${session}`,
        '%',
        '*'.repeat(32),
      ];
      for (const id of [forged, alter(session), expired, canceled, ...malformed, 'a'.repeat(10_000)])
        assert.deepEqual(await statusesOf(alice, id), none, id);
      assert.deepEqual(await statusesOf(bob, session), none);
      // The session still belongs to Alice.
      assert.equal((await alice.commit(session, chunks)).status, 200);
      assert.deepEqual(await statusesOf(bob, session), none);
      const fileId = await database.query(`select file_id from upload_sessions where id = '${session}'`);
      return [...keys, await world.store.keyOfFile(ALICE, fileId)];
    });
  });

  test('refuses tokens that are missing, altered or malformed', async () => {
    await world.survives(async () => {
      const { session } = await world.alice.begin(randomBytes(1000));
      for (const authorization of ['', 'Bearer', 'Bearer ', 'Bearer undefined', 'Basic YTpi'])
        for (const path of [SESSION, CHUNKS, COMMIT])
          assert.equal(await world.alice.statusOf(path, {}, session, { headers: { authorization } }), 401);
      return undefined;
    });
  });

  test('refuses receipts of other sessions and chunks, and those that are altered or truncated', async () => {
    const { alice, bob } = world;
    await world.survives(async () => {
      const bytes = randomBytes(1000);
      const { session, chunks } = await alice.begin(bytes);
      const keys = await store(ALICE, ...chunks);
      const [{ hash, ticket }] = chunks as [Chunk];
      const { receipt } = ticket;
      const [other] = (await alice.begin(bytes)).chunks as [Chunk];
      const [ofBob] = (await bob.begin(bytes)).chunks as [Chunk];
      const [ofOtherChunk] = (await alice.presign(session, randomBytes(1000))) as [Chunk];
      const wrong = [
        [other.ticket.receipt],
        [ofBob.ticket.receipt],
        [ofOtherChunk.ticket.receipt],
        [receipt.slice(0, -1)],
        [receipt.slice(0, 32)],
        [`${receipt}00`],
        [alter(receipt)],
        [receipt.toUpperCase()],
        [hash],
        [''],
        [null],
        [0],
        [[receipt]],
        [],
        [receipt, receipt],
        receipt,
        { 0: receipt, length: 1 },
        undefined,
      ];
      for (const receipts of wrong)
        assert.equal(
          await alice.statusOf(COMMIT, { hashes: [hash], receipts }, session),
          400,
          JSON.stringify(receipts),
        );
      return keys;
    });
  });

  test('refuses sizes that are false', async () => {
    const { alice } = world;
    await world.survives(async () => {
      const file = { parent_id: FOLDER, file_name: 'a.bin' };
      for (const file_size of [-1, 1.5, '10', null, true, [], 2 ** 53, undefined])
        assert.equal(await alice.statusOf(SESSION, { ...file, file_size }), 400, String(file_size));
      for (const file_size of [50 * 2 ** 30 + 1, 2 ** 53 - 1])
        assert.equal(await alice.statusOf(SESSION, { ...file, file_size }), 413);

      const bytes = [randomBytes(600), randomBytes(600)];
      const session = await alice.open(1000);
      const hashes = ['a'.repeat(64)];
      for (const sizes of [[0], [-1], [0.5], [1001], ['600'], [null], [2 ** 53], [], [1, 1], 600, undefined])
        assert.equal(await alice.statusOf(CHUNKS, { hashes, sizes }, session), 400, JSON.stringify(sizes));
      const twice = { hashes: [...hashes, ...hashes], sizes: [600, 601] };
      assert.equal(await alice.statusOf(CHUNKS, twice, session), 400);

      // The chunks have 1200 bytes, and the file 1000.
      const chunks = await alice.presign(session, ...bytes);
      const [first, second] = chunks as [Chunk, Chunk];
      const other = { hashes: [first.hash], sizes: [601] };
      assert.equal(await alice.statusOf(CHUNKS, other, session), 413);
      const keys = await store(ALICE, first, second);
      for (const listed of [[], [first], [first, first], [first, second]])
        assert.equal((await alice.commit(session, listed)).status, 422);

      // A chunk that is stored with 600 bytes, announced with 500 for a file of 500.
      const small = await alice.open(500);
      const { body } = await alice.ask(CHUNKS, { hashes: [first.hash], sizes: [500] }, small);
      const ticket = (body.chunks as Record<string, Chunk['ticket']>)[first.hash] as Chunk['ticket'];
      assert.equal((await alice.commit(small, [{ ...first, ticket }])).status, 422);
      const less = { ...first, bytes: first.bytes.subarray(0, 500), ticket };
      assert.equal((await put(less)).status, 400);
      assert.equal((await put({ ...first, ticket })).status, 403);
      assert.equal((await alice.commit(small, [{ ...first, ticket }])).status, 422);
      // More than twice the bytes of the file.
      const many = { hashes: [1, 2, 3].map((digit) => `${digit}`.repeat(64)), sizes: [500, 500, 500] };
      assert.equal(await alice.statusOf(CHUNKS, many, small), 413);
      return keys;
    });
  });

  test('refuses chunks that are missing, repeated, reordered or foreign', async () => {
    const { alice, bob } = world;
    await world.survives(async () => {
      const bytes = [randomBytes(5 * MIB), randomBytes(17)];
      const { session, chunks } = await alice.begin(...bytes);
      const [large, small] = chunks as [Chunk, Chunk];
      const keys = await store(ALICE, large);
      const missing = await alice.commit(session, chunks);
      assert.deepEqual([missing.status, missing.body.missing], [409, [small.hash]]);
      keys.push(...(await store(ALICE, small)));

      const lists = [[], [large], [small], [large, small, small], [large, large, small], [small, large]];
      for (const list of lists)
        assert.equal((await alice.commit(session, list)).status, 422, `${list.length}`);
      const swapped = [
        { ...large, ticket: small.ticket },
        { ...small, ticket: large.ticket },
      ];
      assert.equal((await alice.commit(session, swapped)).status, 400);

      // Alice gets a ticket for bytes of Bob, but has to send them.
      const secret = randomBytes(17);
      const [ofBob] = (await bob.begin(secret)).chunks as [Chunk];
      keys.push(...(await store('bob', ofBob)));
      assert.equal((await alice.commit(session, [large, ofBob])).status, 400);
      const [own] = (await alice.presign(session, secret)) as [Chunk];
      assert.ok(own.ticket.upload_url);
      const foreign = await alice.commit(session, [large, own]);
      assert.deepEqual([foreign.status, foreign.body.missing], [409, [ofBob.hash]]);

      const done = await alice.commit(session, chunks);
      assert.equal(done.status, 200);
      assert.equal((await alice.commit(session, [small, large])).status, 422);
      assert.deepEqual((await alice.commit(session, chunks)).body, done.body);
      return [...keys, await world.store.keyOfFile(ALICE, done.body.file_id)];
    });
  });

  test('makes one file of commits with several lists at once, and confirms no other list', async () => {
    const { alice, database } = world;
    await world.survives(async () => {
      const { session, chunks } = await alice.begin(randomBytes(5 * MIB), randomBytes(5 * MIB));
      const keys = await store(ALICE, ...chunks);
      const [first, second] = chunks as [Chunk, Chunk];
      const lists = [
        [first, second],
        [second, first],
        [first, first],
        [second, second],
      ];
      const all = [...lists, ...lists];
      const answers = await Promise.all(all.map((list) => alice.commit(session, list)));
      const ask = (column: string): Promise<string> =>
        database.query(`select ${column} from upload_sessions where id = '${session}'`);
      const made: unknown = JSON.parse(await ask('hashes'));
      const isMade = (list: readonly Chunk[]): boolean => `${list.map(({ hash }) => hash)}` === `${made}`;
      for (const [index, { status, text }] of answers.entries())
        assert.match(`${status}`, isMade(all[index] ?? []) ? /^20[02]$/ : /^(202|422)$/, text);
      const commit = (): Promise<Answer> => alice.commit(session, lists.find(isMade) ?? []);
      let answer = await commit();
      while (answer.status === 202) answer = await commit();
      assert.equal(answer.status, 200);
      return [...keys, await world.store.keyOfFile(ALICE, await ask('file_id'))];
    });
  });

  test('checks 10,000 hashes, and refuses one more', async () => {
    const { alice } = world;
    await world.survives(async () => {
      const session = await alice.open(10_000 * 5 * MIB);
      const hashes = Array.from({ length: 10_000 }, () => randomBytes(32).toString('hex'));
      const receipts: string[] = [];
      const presign = async (list: string[]) => {
        const sizes = list.map(() => 5 * MIB);
        const { status, body } = await alice.ask(CHUNKS, { hashes: list, sizes }, session);
        const tickets = (body.chunks ?? {}) as Record<string, Chunk['ticket']>;
        receipts.push(...list.flatMap((hash) => tickets[hash]?.receipt ?? []));
        return status;
      };
      assert.equal(await presign(hashes.slice(0, 101)), 413);
      for (let from = 0; from < hashes.length; from += 100)
        assert.equal(await presign(hashes.slice(from, from + 100)), 200);
      const commit = () => alice.ask(COMMIT, { hashes, receipts }, session);
      let answer = await commit();
      while (answer.status === 202) answer = await commit();
      assert.deepEqual([answer.status, answer.body.missing], [409, hashes]);
      hashes.push(`${hashes[0]}`);
      receipts.push(`${receipts[0]}`);
      assert.equal((await commit()).status, 400);
      return undefined;
    });
  });

  test('refuses names that are paths, have invisible characters or are too long', async () => {
    const { alice } = world;
    await world.survives(async () => {
      const file = { parent_id: FOLDER, file_name: 'a.bin', file_size: 10 };
      const texts = [
        'a\u0000b',
        'gnp.\u202eexe',
        'a\nb',
        'a\u2066b',
        'a\u200bb',
        'a\u007f',
        '\ud800',
        '\ufeff',
        'a'.repeat(256),
        '',
        7,
        null,
      ];
      for (const text of [...texts, ['a'], { length: 1 }, 'é'.repeat(10_000)]) {
        assert.equal(await alice.statusOf(SESSION, { ...file, file_name: text }), 400, JSON.stringify(text));
        assert.equal(await alice.statusOf(SESSION, { ...file, parent_id: text }), 400, JSON.stringify(text));
      }
      for (const name of ['.', '..', '../a', '../../files/u-bob/a', 'a/b', 'a\\b', 'a\u2028b', '/', '..\\a'])
        assert.equal(await alice.statusOf(SESSION, { ...file, file_name: name }), 400, name);
      for (const folder of ['../folder-a', 'folder-a/', 'FOLDER-A', '__proto__', 'folder-a '])
        assert.equal(await alice.statusOf(SESSION, { ...file, parent_id: folder }), 403, folder);
      // Just above the limit, and without a length: the server reads all of it, so that it need not reset the connection.
      const body = JSON.stringify({ ...file, file_name: 'a'.repeat(64 * 1024) });
      const headers = { 'transfer-encoding': 'chunked' };
      assert.equal(await alice.statusOf(SESSION, undefined, '', { body, headers }), 413);
      // A family and a flag, and a Persian word: they have invisible characters too.
      const usual = [
        '👨\u200d👩\u200d👧.jpg',
        '🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}',
        'می\u200cخواهم.pdf',
      ];
      for (const name of [...usual, '𝒳'.repeat(255), '...', '%2e%2e%2fa', ' '])
        assert.equal(await alice.statusOf(SESSION, { ...file, file_name: name }), 201, name);
      return undefined;
    });
  });

  test('takes SQL in all texts as text', async () => {
    const { alice, database } = world;
    await world.survives(async () => {
      const count = () => database.query('select count(*) from upload_sessions');
      const { session, chunks } = await alice.begin(randomBytes(17));
      const keys = await store(ALICE, ...chunks);
      const [{ hash, ticket }] = chunks as [Chunk];
      for (const text of INJECTIONS) {
        const known = await count();
        const file = { parent_id: FOLDER, file_name: 'a', file_size: 10 };
        assert.equal(await alice.statusOf(SESSION, { ...file, parent_id: text }), 403, text);
        assert.equal(await alice.statusOf(SESSION, { ...file, file_size: text }), 400, text);
        for (const id of [text, `${session}${text}`]) {
          assert.equal(await alice.statusOf(CHUNKS, { hashes: [hash], sizes: [17] }, id), 404, text);
          assert.equal(await alice.statusOf(SESSION, undefined, id, { method: 'DELETE' }), 404, text);
        }
        for (const hashes of [[text], [hash + text], [text.padEnd(64, '0').slice(0, 64)]]) {
          assert.equal(await alice.statusOf(CHUNKS, { hashes, sizes: [17] }, session), 400, text);
          const body = { hashes, receipts: [ticket.receipt] };
          assert.equal(await alice.statusOf(COMMIT, body, session), 400, text);
        }
        assert.equal(await alice.statusOf(CHUNKS, { hashes: [hash], sizes: [text] }, session), 400, text);
        const body = { hashes: [hash], receipts: [text] };
        assert.equal(await alice.statusOf(COMMIT, body, session), 400, text);
        assert.equal(await count(), known);

        const name = text.replaceAll('\\', '');
        const named = await alice.open(17, name);
        const done = await alice.commit(named, await alice.presign(named, (chunks[0] as Chunk).bytes));
        assert.deepEqual([done.status, done.body.file_name], [200, name]);
        keys.push(await world.store.keyOfFile(ALICE, done.body.file_id));
      }
      return keys;
    });
  });

  test('reports the key of an object also if the user has a name with other characters', async () => {
    const [key = ''] = await world.upload();
    const id = key.split('/').at(-1);
    const report = () => new RegExp(`"completed":"(.+/${id})"`).exec(world.example.output())?.[1];
    await until(report);
    assert.equal(report(), key);
    assert.equal((await world.ask(`/${key}`, 'HEAD')).status, 200);
  });

  test('prints no secret', () => world.assertNoSecrets());
});
