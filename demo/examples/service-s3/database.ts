// Connections to PostgreSQL, directly or through a pooler such as PgBouncer, and the tables of the service.
import { Pool, type PoolClient, type QueryResult } from 'pg';
import { within } from './log.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';

/**
 * The first statement of each transaction. A pooler refuses these settings at the start of a connection, and another client has the
 * connection after the transaction.
 */
const begin = (statementMs: number, lockMs: number) =>
  `begin; set local statement_timeout = ${statementMs}; set local lock_timeout = ${lockMs};
   set local idle_in_transaction_session_timeout = 10000`;
const BEGIN = begin(8000, 3000);
/** A migration may have to write an index of a large table. */
const MIGRATION_MS = 600_000;
const BEGIN_MIGRATION = begin(MIGRATION_MS, 10_000);
/** For a server that is gone without closing its connections: it can't end the statement. */
const ANSWER_MS = 12_000;
/**
 * For a connection: that of a server that is away, or one that other requests use. Many requests that begin at once wait for these.
 */
const CONNECTION_MS = 10_000;

export interface Database {
  transaction<T>(work: (client: PoolClient) => Promise<T>, begin?: string): Promise<T>;
  /** Runs one statement. */
  run(text: string, values?: unknown[]): Promise<QueryResult>;
  end(): Promise<void>;
}

export function connect(connectionString: string, max: number): Database {
  const times = { connectionTimeoutMillis: CONNECTION_MS, query_timeout: ANSWER_MS, keepAlive: true };
  const pool = new Pool({ connectionString, max, ...times });
  // Of a connection that breaks while no query runs. The next query opens another.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  async function transaction<T>(work: (client: PoolClient) => Promise<T>, first = BEGIN): Promise<T> {
    const client = await pool.connect();
    // After an error, the next transaction has a new connection: this one may lead to a server that is now read-only.
    let isBroken = true;
    try {
      await client.query(first);
      const result = await work(client);
      await client.query(result === false ? 'rollback' : 'commit');
      isBroken = false;
      return result;
    } finally {
      client.release(isBroken);
    }
  }
  const named: Database['transaction'] = (work, first) =>
    within('database', 'transaction', () => transaction(work, first));
  const run = (text: string, values: unknown[] = []) => named((client) => client.query(text, values));
  return { transaction: named, run, end: () => pool.end() };
}

/** Brings the tables up to date. All processes may do this at the same time, also beside those of an older version. */
export const migrate = (database: Database, migrations: readonly Migration[] = MIGRATIONS) =>
  database.transaction(async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtext('upload_migrations'))`);
    await client.query('create table if not exists upload_migrations (at timestamptz default now())');
    // The first version had one migration, and no numbers.
    await client.query('alter table upload_migrations add column if not exists number integer unique');
    await client.query('update upload_migrations set number = 1 where number is null');
    const { rows } = await client.query<{ number: number }>('select number from upload_migrations');
    for (const { number, text } of migrations) {
      if (rows.some((row) => row.number === number)) continue;
      await client.query({ text, query_timeout: MIGRATION_MS } as { text: string });
      await client.query('insert into upload_migrations (number) values ($1)', [number]);
    }
  }, BEGIN_MIGRATION);
