// Sessions of the example in PostgreSQL, over two pools of connections.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Sessions } from '../../demo/examples/service-s3/sessions.ts';
import { installedExample } from '../support/built.ts';
import { addTo, openOne, PLENTY, sessionOf } from '../support/session-steps.ts';
import { testSessions } from '../support/sessions-contract.ts';
import { type RunningDatabase, startDatabase } from './support/database.ts';
import { type RunningPooler, startPooler } from './support/pooler.ts';

/** The modules import a package that only the example has. */
interface Client {
  query(...sent: unknown[]): Promise<unknown>;
}
interface Database {
  transaction<T>(work: (client: Client) => Promise<T>): Promise<T>;
  run(text: string): Promise<{ readonly rows: Record<string, number>[] }>;
  end(): Promise<void>;
}
interface Modules {
  connect(url: string, max: number): Database;
  migrate(database: Database): Promise<void>;
  postgresSessions(database: Database): Sessions;
}
const load = async (name: string): Promise<Modules> =>
  import(pathToFileURL(join(installedExample(), name)).href);

async function connect(url: string): Promise<{ readonly sessions: Sessions; readonly pool: Database }> {
  const modules = { ...(await load('postgres.ts')), ...(await load('database.ts')) };
  const pool = modules.connect(url, 10);
  await modules.migrate(pool);
  return { sessions: modules.postgresSessions(pool), pool };
}

for (const how of ['directly', 'through PgBouncer'])
  describe(`Sessions of the example in PostgreSQL, ${how}`, () => {
    let database: RunningDatabase;
    let pooler: RunningPooler | undefined;
    let connections: Awaited<ReturnType<typeof connect>>[] = [];
    before(async () => {
      database = await startDatabase();
      // Less than the tests do at once.
      if (how !== 'directly') pooler = await startPooler(database.url, 5);
      const { url } = pooler ?? database;
      connections = await Promise.all([connect(url), connect(url)]);
    });
    after(async () => {
      for (const { pool } of connections) await pool.end();
      await pooler?.stop();
      await database.stop();
    });

    testSessions(() => {
      const [one, other] = connections;
      assert.ok(one && other);
      const pass = async (ms: number): Promise<void> => {
        const by = `interval '${ms} milliseconds'`;
        await one.pool.run(
          `update upload_sessions set opened_at = opened_at - ${by}, expires_at = expires_at - ${by}, due_at = due_at - ${by}`,
        );
      };
      return { one: one.sessions, other: other.sessions, pass };
    });
  });

describe('Sessions of the example in PostgreSQL', () => {
  let database: RunningDatabase;
  before(async () => {
    database = await startDatabase();
  });
  after(() => database.stop());

  test('read only the rows that they need, of many', async () => {
    await database.query('create database many');
    const url = database.url.replace(/postgres$/, 'many');
    const { pool } = await connect(url);
    await pool.run(`insert into upload_sessions
      (id, user_id, folder, name, size_bytes, file_id, state, opened_at, expires_at, due_at)
      select 'id-' || n, 'user-' || n % 1000, '', '', 1, 'file-' || n, 'delivered', now() - n * interval '3 s',
        now() + interval '7 d', now() from generate_series(1, 200000) n`);
    // The statistics are old: they say that all rows are due.
    await pool.run('alter table upload_sessions set (autovacuum_enabled = false)');
    await pool.run('analyze upload_sessions');
    await pool.run(`update upload_sessions set due_at = now() + interval '1 h'`);
    await pool.end();
    /** Resolves with the number of reads of the whole table, and of those with an index. Counts connections that have ended. */
    const scans = async (): Promise<number[]> => {
      const watch = await connect(url);
      const { rows } = await watch.pool.run(
        `select seq_scan::int, idx_scan::int from pg_stat_user_tables where relname = 'upload_sessions'`,
      );
      await watch.pool.end();
      return [rows[0]?.seq_scan ?? 0, rows[0]?.idx_scan ?? 0];
    };
    const before = await scans();
    const busy = await connect(url);
    const session = sessionOf('user-1');
    assert.equal(await openOne(busy.sessions, session), 'opened');
    assert.ok(await addTo(busy.sessions, session.id, new Map([['a', 10]]), 10, 10));
    assert.ok(await busy.sessions.claim(session.id, 'p', ['a']));
    assert.ok(await busy.sessions.move(session.id, 'p', 'done'));
    assert.equal((await busy.sessions.takeWork('q', 'done', ['user-2']))?.id, session.id);
    assert.ok(await busy.sessions.move(session.id, 'q', 'delivered'));
    for (const kind of ['committing', 'ended'] as const)
      assert.equal(await busy.sessions.takeWork('q', kind, []), undefined);
    await busy.pool.end();
    let after = await scans();
    while ((after[1] ?? 0) < (before[1] ?? 0) + 8) after = await scans();
    assert.equal(after[0], before[0], 'reads of the whole table');
  });

  test('open 64 files with 100 chunks in two transactions of five statements', async () => {
    const { postgresSessions } = await load('postgres.ts');
    const { pool } = await connect(database.url);
    const counts = { transactions: 0, statements: 0 };
    const sessions = postgresSessions({
      ...pool,
      transaction(work) {
        counts.transactions += 1;
        return pool.transaction((client) =>
          work({
            query(...sent) {
              counts.statements += 1;
              return client.query(...sent);
            },
          }),
        );
      },
    });
    const openings = Array.from({ length: 64 }, () => ({ session: sessionOf('user-batch'), limits: PLENTY }));
    const additions = openings.map(({ session: { id } }, at) => ({
      ...{ id, most: 10, mostBytes: 10, isOpening: false },
      sizes: new Map(['a', 'b'].slice(0, at < 36 ? 2 : 1).map((hash) => [hash, 1])),
    }));
    assert.deepEqual(await sessions.open(openings), Array(64).fill('opened'));
    assert.deepEqual(await sessions.addChunks(additions), Array(64).fill(true));
    assert.deepEqual(counts, { transactions: 2, statements: 5 });
    const { rows } = await pool.run(
      `select count(*)::int chunks from upload_chunks where user_id = 'user-batch'`,
    );
    assert.equal(rows[0]?.chunks, 100);
    await pool.end();
  });

  test('remember since when their work fails, until it succeeds, also if a holder has ended without a word', async () => {
    const { sessions, pool } = await connect(database.url);
    const { id, ...session } = sessionOf('user-fails');
    assert.equal(await openOne(sessions, { id, ...session }), 'opened');
    /** Seconds since the first failure, or -1. */
    const failing = async (): Promise<number> => {
      const seconds = 'floor(extract(epoch from now() - failing_since))::int';
      const { rows } = await pool.run(
        `select coalesce(${seconds}, -1) seconds from upload_sessions where id = '${id}'`,
      );
      return rows[0]?.seconds ?? 0;
    };
    const isFailingFor = async (seconds: number): Promise<void> => {
      const since = await failing();
      assert.ok(since >= seconds && since < seconds + 9, `${since} s`);
    };
    const pass = (seconds: number): Promise<unknown> => {
      const by = `interval '${seconds} s'`;
      return pool.run(
        `update upload_sessions set due_at = due_at - ${by}, failing_since = failing_since - ${by}`,
      );
    };
    const take = async (holder: string, kind: 'committing' | 'done'): Promise<void> =>
      assert.equal((await sessions.takeWork(holder, kind, []))?.id, id);
    assert.ok(await sessions.claim(id, 'p', ['a']));
    assert.equal(await failing(), -1);
    // The lease of p ends.
    await pass(90);
    await take('q', 'committing');
    await isFailingFor(60);
    await pass(10);
    assert.ok(await sessions.move(id, 'q', 'committing'));
    assert.ok(await sessions.claim(id, 'r', ['a']));
    // The first failure counts.
    await isFailingFor(70);
    assert.ok(await sessions.move(id, 'r', 'done'));
    assert.equal(await failing(), -1);
    await take('q', 'done');
    assert.equal(await failing(), -1);
    await pass(35);
    await take('r', 'done');
    await isFailingFor(5);
    assert.ok(await sessions.move(id, 'r', 'delivered'));
    assert.equal(await failing(), -1);
    await pool.end();
  });

  test('survive the end of the database, and are available again afterwards', async () => {
    const one = await connect(database.url);
    await one.sessions.check();
    await database.interrupt();
    await assert.rejects(one.sessions.check());
    await database.resume();
    await one.sessions.check();
    await one.pool.end();
  });
});
