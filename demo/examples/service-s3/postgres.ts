// Upload sessions in PostgreSQL, for several processes. The clock is that of the database.
import { Pool, type PoolClient } from 'pg';
import { ENDED_MS, LEASE_MS, OPEN_MS, type Session, type Sessions, URLS_MS } from './sessions.ts';

/** Each runs once, in this order. Add new ones at the end. */
const MIGRATIONS = [
  `create table upload_sessions (
    id text primary key, user_id text not null, folder text not null, name text not null, size_bytes bigint not null,
    file_id text not null unique, state text not null default 'open', hashes jsonb not null default '[]',
    sentence text not null default '', holder text not null default '', lease_until timestamptz not null default now(),
    expires_at timestamptz not null);
  create index on upload_sessions (user_id) where state in ('open', 'committing', 'done');
  create index on upload_sessions (expires_at);
  create index on upload_sessions (lease_until) where state in ('committing', 'done');
  create table upload_chunks (
    session_id text not null references upload_sessions on delete cascade, user_id text not null, hash text not null,
    size_bytes bigint not null, primary key (session_id, hash));
  create index on upload_chunks (user_id, hash);
  create table upload_rates (key varchar(255) primary key, points integer not null default 0, expire bigint)`,
];

const COLUMNS = `id, user_id "user", folder, name, size_bytes::float8 "sizeBytes", file_id "fileId", state, hashes, sentence`;
const LIVE = `(state = 'committing' or expires_at > now())`;
const ms = (value: number) => `interval '${value} milliseconds'`;

/** Connects, and creates the tables. All processes may start at the same time. */
export async function postgresSessions(
  connectionString: string,
): Promise<{ sessions: Sessions; pool: Pool }> {
  const limits = { statement_timeout: 8000, lock_timeout: 3000, idle_in_transaction_session_timeout: 10_000 };
  const pool = new Pool({ connectionString, connectionTimeoutMillis: 3000, ...limits });
  // Of a connection that breaks while no query runs. The next query opens another.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  async function transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const result = await work(client);
      await client.query(result === false ? 'rollback' : 'commit');
      client.release();
      return result;
    } catch (error) {
      // Closes the connection.
      client.release(true);
      throw error;
    }
  }
  const changes = async (text: string, values: unknown[]) => (await pool.query(text, values)).rowCount === 1;

  await transaction(async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtext('upload_migrations'))`);
    await client.query('create table if not exists upload_migrations (at timestamptz default now())');
    const { rows } = await client.query('select count(*)::int count from upload_migrations');
    for (const migration of MIGRATIONS.slice(rows[0].count)) {
      await client.query(migration);
      await client.query('insert into upload_migrations default values');
    }
  });

  const sessions: Sessions = {
    open: ({ id, user, folder, name, sizeBytes, fileId }, most, freeBytes) =>
      transaction(async (client) => {
        await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [user]);
        const { rows } = await client.query(
          `select count(*)::int count, coalesce(sum(size_bytes), 0)::float8 bytes from upload_sessions
           where user_id = $1 and (state in ('committing', 'done') or (state = 'open' and expires_at > now()))`,
          [user],
        );
        if (rows[0].count >= most) return 'many';
        if (rows[0].bytes + sizeBytes > freeBytes) return 'full';
        await client.query(
          `insert into upload_sessions (id, user_id, folder, name, size_bytes, file_id, expires_at)
           values ($1, $2, $3, $4, $5, $6, now() + ${ms(OPEN_MS)})`,
          [id, user, folder, name, sizeBytes, fileId],
        );
        return 'opened';
      }),
    async find(id) {
      const { rows } = await pool.query(`select ${COLUMNS} from upload_sessions where id = $1 and ${LIVE}`, [
        id,
      ]);
      return rows[0] as Session | undefined;
    },
    addChunks: (id, sizes, most, mostBytes) =>
      transaction(async (client) => {
        const live = `select user_id from upload_sessions where id = $1 and ${LIVE} for update`;
        const { rows } = await client.query(live, [id]);
        if (!rows[0]) return false;
        const given = [id, [...sizes.keys()], [...sizes.values()]];
        await client.query(
          `insert into upload_chunks select $1, $4, hash, size from unnest($2::text[], $3::bigint[]) given (hash, size)
           on conflict do nothing`,
          [...given, rows[0].user_id],
        );
        const { rows: sums } = await client.query(
          `select count(*)::int count, coalesce(sum(size_bytes), 0)::float8 bytes, (
             select count(*) from unnest($2::text[], $3::bigint[]) given (hash, size)
             join upload_chunks known using (hash) where session_id = $1 and size_bytes <> size)::int other
           from upload_chunks where session_id = $1`,
          given,
        );
        const { count, bytes, other } = sums[0];
        return other === 0 && count <= most && bytes <= mostBytes;
      }),
    claim: (id, holder, hashes) =>
      changes(
        `update upload_sessions set state = 'committing', hashes = $3, holder = $2, lease_until = now() + ${ms(LEASE_MS)}
         where id = $1 and ${LIVE} 
         and (state = 'open' or (state = 'committing' and (lease_until <= now() or holder = '') and hashes = $3::jsonb))`,
        [id, holder, JSON.stringify(hashes)],
      ),
    renew: (id, holder) =>
      changes(
        `update upload_sessions set lease_until = now() + ${ms(LEASE_MS)} where id = $1 and holder = $2`,
        [id, holder],
      ),
    async takeWork(holder) {
      const { rows } = await pool.query(
        `update upload_sessions set holder = $1, lease_until = now() + ${ms(LEASE_MS)} where id = (
           select id from upload_sessions where lease_until <= now()
             and (state in ('committing', 'done') or expires_at < now() - ${ms(URLS_MS)})
           order by lease_until limit 1 for update skip locked)
         returning ${COLUMNS}`,
        [holder],
      );
      if (!rows[0]) return undefined;
      const { rows: unneeded } = await pool.query(
        `select hash from upload_chunks own where session_id = $1 and not exists (
           select from upload_chunks other join upload_sessions on id = other.session_id
           where other.user_id = own.user_id and other.hash = own.hash and id <> $1 and ${LIVE})`,
        [rows[0].id],
      );
      return { ...(rows[0] as Session), chunks: unneeded.map(({ hash }) => hash) };
    },
    move(id, holder, to, sentence = '') {
      const where = 'where id = $1 and holder = $2';
      if (to === 'deleted') return changes(`delete from upload_sessions ${where}`, [id, holder]);
      const wait = ms(to === 'committing' ? LEASE_MS : 0);
      const free = `update upload_sessions set holder = '', lease_until = now() + ${wait}`;
      const ended = `${free}, expires_at = now(), state = 'open' ${where} and state in ('open', 'committing')`;
      if (to === 'expired') return changes(ended, [id, holder]);
      const ends = to === 'done' || to === 'refused' ? `, expires_at = now() + ${ms(ENDED_MS)}` : '';
      return changes(`${free}, state = $3, sentence = $4${ends} ${where}`, [id, holder, to, sentence]);
    },
    check: async () => void (await pool.query('select 1')),
  };
  return { sessions, pool };
}
