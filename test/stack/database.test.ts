// The example's connections to PostgreSQL, directly and through PgBouncer in transaction mode.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Sessions } from '../../demo/examples/service-s3/sessions.ts';
import { installedExample } from '../support/built.ts';
import { copyExample, type RunningExample, startExample, TOKEN } from '../support/service-s3.ts';
import { openOne, sessionOf } from '../support/session-steps.ts';
import { until } from '../support/until.ts';
import { type RunningDatabase, startDatabase } from './support/database.ts';
import { type RunningPooler, startPooler } from './support/pooler.ts';
import { freePort } from './support/ports.ts';

type Rows = Promise<{ readonly rows: Record<string, string>[] }>;
interface Client {
  query(text: string): Rows;
}
interface Database {
  transaction<T>(work: (client: Client) => Promise<T>): Promise<T>;
  run(text: string, values?: unknown[]): Rows;
  end(): Promise<void>;
}
/** The modules import packages that only the example has. */
interface Modules {
  connect(url: string, max: number): Database;
  migrate(database: Database, migrations?: readonly { number: number; text: string }[]): Promise<void>;
  postgresSessions(database: Database): Sessions;
  readonly MIGRATIONS: readonly { number: number; text: string }[];
}
const load = async (name: string): Promise<Modules> =>
  import(pathToFileURL(join(installedExample(), name)).href);

const SESSION = '/files/uploadsession';

for (const how of ['directly', 'through PgBouncer'] as const)
  describe(`The example with PostgreSQL, ${how}`, { timeout: 120_000 }, () => {
    let database: RunningDatabase;
    let pooler: RunningPooler | undefined;
    let modules: Modules;
    const connections: Database[] = [];
    let url = '';
    before(async () => {
      database = await startDatabase();
      if (how !== 'directly') pooler = await startPooler(database.url, 10);
      url = pooler?.url ?? database.url;
      modules = {
        ...(await load('database.ts')),
        ...(await load('postgres.ts')),
        ...(await load('migrations.ts')),
      };
    });
    after(async () => {
      for (const each of connections) await each.end();
      await pooler?.stop();
      await database.stop();
    });
    const open = (max = 10, to = url): Database => {
      const opened = modules.connect(to, max);
      connections.push(opened);
      return opened;
    };
    /** Names another, empty database at the same place. */
    async function another(): Promise<string> {
      const name = `d${randomUUID().replaceAll('-', '')}`;
      await database.query(`create database ${name}`);
      return url.replace(/[^/]+$/, name);
    }
    const ask = (
      example: RunningExample,
      path: string,
      body?: object,
      token = TOKEN,
    ): Promise<{ status: number; retryAfter: string | null }> =>
      fetch(example.baseUrl + path, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }).then(async (response) => {
        await response.arrayBuffer();
        return { status: response.status, retryAfter: response.headers.get('retry-after') };
      });
    const file = { parent_id: 'folder-a', file_name: 'a', file_size: 1 };

    test('creates the tables once, also if many processes start at once', async () => {
      const own = await another();
      const many = Array.from({ length: 6 }, () => open(2, own));
      await Promise.all(many.map((each) => modules.migrate(each)));
      await Promise.all(many.map((each) => modules.migrate(each)));
      const { rows } = (await many[0]?.run('select number::text from upload_migrations')) ?? { rows: [] };
      assert.deepEqual(
        rows,
        modules.MIGRATIONS.map(({ number }) => ({ number: `${number}` })),
      );
    });

    test('runs a new migration once, and keeps the rows of a database of the first version', async () => {
      const own = await another();
      const [one, other] = [open(2, own), open(2, own)];
      // What the first version did.
      await one.transaction(async (client) => {
        await client.query('create table upload_migrations (at timestamptz default now())');
        await client.query(modules.MIGRATIONS[0]?.text ?? '');
        await client.query('insert into upload_migrations default values');
      });
      const session = sessionOf('user-old');
      assert.equal(await openOne(modules.postgresSessions(one), session), 'opened');
      const more = { number: 3, text: `create table upload_new (at int); insert into upload_new values (1)` };
      const failing = { number: 4, text: `insert into upload_new values (2); select 1 / 0` };
      const all = [...modules.MIGRATIONS, more];
      await Promise.all([one, other].map((each) => modules.migrate(each, all)));
      await assert.rejects(modules.migrate(one, [...all, failing]), /division by zero/);
      const { rows } = await one.run('select at::text from upload_new');
      assert.deepEqual(rows, [{ at: '1' }], 'a migration is done once, and whole or not at all');
      const { rows: numbers } = await one.run('select number::text from upload_migrations order by number');
      assert.deepEqual(
        numbers,
        ['1', '2', '3'].map((number) => ({ number })),
      );
      assert.equal((await modules.postgresSessions(other).find(session.id))?.user, 'user-old');
      // A process of the first version counts the rows.
      assert.ok(Number((await one.run('select count(*) count from upload_migrations')).rows[0]?.count) >= 1);
    });

    test('has the limits in force in each statement, and in no other transaction', async () => {
      const own = open(2);
      const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
      const text = `select ${names.map((name) => `current_setting('${name}') "${name}"`)}`;
      const limits = {
        statement_timeout: '8s',
        lock_timeout: '3s',
        idle_in_transaction_session_timeout: '10s',
      };
      assert.deepEqual((await own.run(text)).rows, [limits]);
      assert.deepEqual((await own.transaction((client) => client.query(text))).rows, [limits]);
      await assert.rejects(own.run('select pg_sleep(60)'), { code: '57014' });
      await own.run('create table limited (at int)');
      await own.transaction(async (client) => {
        await client.query('lock table limited');
        await assert.rejects(own.run('select from limited'), { code: '55P03' });
      });
    });

    test('a user who waits for a lock takes no connection from the others', async () => {
      const own = open();
      await modules.migrate(own);
      const sessions = modules.postgresSessions(own);
      await own.transaction(async (client) => {
        await client.query(`select pg_advisory_xact_lock(hashtextextended('user-noisy', 0))`);
        const held = Array.from({ length: 40 }, () => openOne(sessions, sessionOf('user-noisy')));
        const over = Promise.allSettled(held).then(() => 'over');
        assert.equal(await Promise.race([openOne(sessions, sessionOf('user-calm')), over]), 'opened');
        void over;
      });
    });

    test('a process whose database comes later answers 503 until then, and does not end', async (t) => {
      const port = await freePort();
      const nowhere = `postgres://demo@127.0.0.1:${port}/postgres`;
      const example = await startExample('hono', { DATABASE_URL: nowhere });
      t.after(() => example.stop());
      const { status, retryAfter } = await ask(example, SESSION, file);
      assert.deepEqual([status, retryAfter], [503, '5']);
      assert.equal((await ask(example, '/readyz')).status, 503);
      const late = await startPooler(database.url, 4, port);
      t.after(() => late.stop());
      await until(async () => (await ask(example, SESSION, file)).status === 201);
    });

    test('many users share a pool that is smaller than their number', async (t) => {
      const small = await startPooler(database.url, 2);
      const folder = copyExample(readFileSync(new URL('support/many-users.ts', import.meta.url), 'utf8'));
      const start = (): Promise<RunningExample> =>
        startExample('hono', { DATABASE_URL: small.url }, { folder });
      const examples = await Promise.all([start(), start()]);
      t.after(async () => {
        for (const example of examples) await example.stop();
        await small.stop();
      });
      const statuses = new Set<number>();
      const work = Array.from({ length: 60 }, async (_, user) => {
        for (let count = 0; count < 10; count += 1) {
          const example = examples[count % 2] as RunningExample;
          statuses.add((await ask(example, SESSION, file, `user-${user}`)).status);
        }
      });
      await Promise.all(work);
      assert.deepEqual([...statuses], [201]);
    });

    test('the log says that a pooler has too few places for clients', async (t) => {
      const small = await startPooler(database.url, 1, undefined, 'max_client_conn = 1');
      const example = await startExample('hono', { DATABASE_URL: small.url });
      t.after(async () => {
        await example.stop();
        await small.stop();
      });
      await until(async () => {
        await ask(example, SESSION, file);
        return example.output().includes('08P01');
      });
      const line = example
        .output()
        .split('\n')
        .find((each) => each.includes('08P01'));
      const { part, at, message } = JSON.parse(line ?? '');
      assert.match(`${part} ${at}`, /^database database\.ts:\d+$/);
      assert.match(message, /no more connections allowed/);
    });

    test('recovers from a server that is stopped, starts, and becomes read-only', async (t) => {
      const own = await another();
      const name = own.split('/').at(-1);
      const example = await startExample('hono', { DATABASE_URL: own });
      t.after(() => example.stop());
      const status = async (): Promise<number> => (await ask(example, SESSION, file)).status;
      await until(async () => (await status()) === 201);
      const seen = new Set<number>();
      let isOver = false;
      // Eight at a time is the limit of a user.
      const load = Promise.all(
        Array.from({ length: 4 }, async () => {
          while (!isOver) seen.add(await status());
        }),
      );
      const broken = async (): Promise<void> => {
        seen.clear();
        await until(() => seen.has(503));
      };
      const whole = async (): Promise<void> => {
        await until(() => seen.has(201));
        seen.clear();
        await until(
          () => seen.has(201) && !seen.has(503),
          () => `${[...seen]}`,
        );
      };
      await database.interrupt();
      await broken();
      await database.resume();
      await whole();
      await database.query(`alter database ${name} set default_transaction_read_only = on`);
      const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
      await database.query(cut);
      await broken();
      await until(async () => (await fetch(`${example.baseUrl}/readyz`)).status === 503);
      await database.query(`alter database ${name} reset default_transaction_read_only`);
      // The old connections stay with the server: each is given up after its first error.
      await whole();
      isOver = true;
      await load;
      for (const each of seen) assert.match(`${each}`, /^(201|429|503)$/);
      assert.doesNotMatch(example.output(), /unhandled|node:internal/i);
    });
  });
