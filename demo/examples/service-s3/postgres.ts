// Upload sessions in PostgreSQL, for several processes. The clock is that of the database.
import { Pool, type PoolClient } from 'pg';
import { DAY_MS, digestOf, excess, LEASE_MS, MOVES, type Sessions } from './sessions.ts';

const ENDED = `state in ('open', 'delivered', 'refused')`;
/** Each runs once, in this order. Add new ones at the end. */
const MIGRATIONS = [
  `create table upload_sessions (
    id text primary key, user_id text not null, folder text not null, name text not null, size_bytes bigint not null,
    file_id text not null unique, state text not null default 'open', hashes jsonb not null default '[]',
    digest text not null default '', sentence text not null default '', attempt text not null default '',
    holder text not null default '', opened_at timestamptz not null default now(), expires_at timestamptz not null,
    due_at timestamptz not null);
  create index on upload_sessions (user_id, opened_at);
  create index on upload_sessions (user_id) where state in ('open', 'committing', 'done');
  create index on upload_sessions (state, due_at) where state in ('committing', 'done');
  create index on upload_sessions (due_at) where ${ENDED};
  create table upload_chunks (
    session_id text not null references upload_sessions on delete cascade, user_id text not null, hash text not null,
    size_bytes bigint not null, primary key (session_id, hash));
  create index on upload_chunks (user_id, hash);
  create table upload_rates (key text primary key, points integer not null default 0, expire bigint)`,
];

const COLUMNS = `id, user_id "user", folder, name, size_bytes::float8 "sizeBytes", file_id "fileId", state, digest, sentence`;
const LIVE = `(state = 'committing' or expires_at > now())`;
const UNFINISHED = `(state in ('committing', 'done') or (state = 'open' and expires_at > now()))`;
const after = (ms: number) => `now() + interval '${ms} milliseconds'`;
const LEASED = after(LEASE_MS);
const HELD = `id = $1 and holder = $2 and ($2 <> '' or state in ('open', 'committing'))`;
const ENDS_AT = `greatest(expires_at, opened_at + interval '${DAY_MS} milliseconds')`;
const TODAY = `opened_at > ${after(-DAY_MS)}`;
const used = (rows: string) =>
  `count(*) filter (where ${rows})::int, coalesce(sum(size_bytes) filter (where ${rows}), 0)::float8`;

/** Connects, and creates the tables. All processes may start at the same time. */
export async function postgresSessions(connectionString: string, max = 10) {
  const limits = { statement_timeout: 8000, lock_timeout: 3000, idle_in_transaction_session_timeout: 10_000 };
  const pool = new Pool({ connectionString, max, connectionTimeoutMillis: 3000, ...limits });
  // Of a connection that breaks while no query runs. The next query opens another.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  async function transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let isBroken = true;
    try {
      await client.query('begin');
      const result = await work(client);
      await client.query(result === false ? 'rollback' : 'commit');
      isBroken = false;
      return result;
    } finally {
      client.release(isBroken);
    }
  }
  const rowOf = async (text: string, values: unknown[]) => (await pool.query(text, values)).rows[0];
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
    open: ({ id, user, folder, name, sizeBytes, fileId }, limits) =>
      transaction(async (client) => {
        await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [user]);
        // The repeated states name their index.
        const text = `select ${used(UNFINISHED)}, ${used(TODAY)} from upload_sessions where user_id = $1
          and (${TODAY} or (state in ('open', 'committing', 'done') and ${UNFINISHED}))`;
        const { rows } = await client.query({ text, values: [user], rowMode: 'array' });
        const reason = excess(rows[0] ?? [], sizeBytes, limits);
        if (reason) return reason;
        await client.query(
          `insert into upload_sessions (id, user_id, folder, name, size_bytes, file_id, expires_at, due_at)
           values ($1, $2, $3, $4, $5, $6, ${after(MOVES.opened.expiresMs)}, ${after(MOVES.opened.dueMs)})`,
          [id, user, folder, name, sizeBytes, fileId],
        );
        return 'opened';
      }),
    find: (id) => rowOf(`select ${COLUMNS} from upload_sessions where id = $1 and ${LIVE}`, [id]),
    addChunks: (id, sizes, most, mostBytes) =>
      transaction(async (client) => {
        const { dueMs, expiresMs } = MOVES.open;
        const given = [id, [...sizes.keys()], [...sizes.values()]];
        await client.query(
          `with live as (update upload_sessions set expires_at = greatest(expires_at, ${after(expiresMs)}),
             due_at = case state when 'open' then ${after(dueMs)} else due_at end
             where id = $1 and ${LIVE} returning user_id)
           insert into upload_chunks select $1, user_id, hash, size from live,
             unnest($2::text[], $3::bigint[]) given (hash, size) on conflict do nothing`,
          given,
        );
        const { rows } = await client.query(
          `select count(*)::int count, coalesce(sum(size_bytes), 0)::float8 bytes, count(*) filter (
             where hash = any($2) and size_bytes <> ($3::bigint[])[array_position($2::text[], hash)])::int other,
             exists (select from upload_sessions where id = $1 and ${LIVE}) live
           from upload_chunks where session_id = $1`,
          given,
        );
        const [{ count, bytes, other, live }] = rows;
        return live && other === 0 && count <= most && bytes <= mostBytes;
      }),
    claim: (id, holder, hashes) =>
      changes(
        `update upload_sessions set state = 'committing', hashes = $3, digest = $4, holder = $2,
           due_at = case $2 when '' then now() else ${LEASED} end, expires_at = greatest(expires_at, ${after(MOVES.open.expiresMs)})
         where id = $1 and ${LIVE} and (state = 'open'
           or (state = 'committing' and $2 <> '' and (due_at <= now() or holder = '') and digest = $4))`,
        [id, holder, JSON.stringify(hashes), digestOf(hashes)],
      ),
    renew: (id, holder) =>
      changes(`update upload_sessions set due_at = ${LEASED} where ${HELD}`, [id, holder]),
    takeWork: (holder, kind, without) =>
      rowOf(
        `update upload_sessions set holder = $1, due_at = ${LEASED} where id = (select id from upload_sessions
           where ${kind === 'ended' ? ENDED : `state = '${kind}'`} and due_at <= now()
             and user_id <> all($3) order by due_at limit 1 for update skip locked)
         returning ${COLUMNS}, hashes, attempt, expires_at <= now() "isOver", array(
           select hash from upload_chunks own where session_id = id and $2 and not exists (select from upload_chunks other
             where other.user_id = own.user_id and other.hash = own.hash and other.session_id <> id)) chunks`,
        [holder, kind === 'ended', without],
      ),
    move(id, holder, to, sentence = '') {
      if (to === 'cleared')
        return changes(
          `with gone as (delete from upload_chunks using upload_sessions where session_id = id and ${HELD}),
             ended as (delete from upload_sessions where ${HELD} and ${ENDS_AT} <= now() returning 1),
             kept as (update upload_sessions set holder = '', hashes = '[]', due_at = ${ENDS_AT}
               where ${HELD} and ${ENDS_AT} > now() returning 1)
           select from ended union all select from kept`,
          [id, holder],
        );
      const { state, dueMs, expiresMs } = MOVES[to];
      const more =
        (expiresMs === undefined ? '' : `, expires_at = ${after(expiresMs)}`) +
        (to === 'done' ? ', attempt = holder' : '');
      const text = `update upload_sessions set state = $3, sentence = $4, holder = '', due_at = ${after(dueMs)} ${more} where ${HELD}`;
      return changes(text, [id, holder, state, sentence]);
    },
    check: async () => void (await pool.query('select 1')),
  };
  return { sessions, pool };
}
