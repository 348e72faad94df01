// Upload sessions in PostgreSQL, for several processes. The clock is that of the database.
import type { Database } from './database.ts';
import { ENDED } from './migrations.ts';
import { DAY_MS, digestOf, excess, LEASE_MS, MOVES, type Sessions } from './sessions.ts';

const COLUMNS = `id, user_id "user", folder, name, size_bytes::float8 "sizeBytes", file_id "fileId", state, digest, sentence`;
const LIVE = `(state = 'committing' or expires_at > now())`;
const UNFINISHED = `(state in ('committing', 'done') or (state = 'open' and expires_at > now()))`;
const after = (ms: number) => `now() + interval '${ms} milliseconds'`;
const LEASED = after(LEASE_MS);
const HELD = `id = $1 and holder = $2 and ($2 <> '' or state in ('open', 'committing'))`;
const ENDS_AT = `greatest(expires_at, opened_at + interval '${DAY_MS} milliseconds')`;
const TODAY = `opened_at > ${after(-DAY_MS)}`;
/** A holder that has left its work without a move, because of an error or its end, has failed when its lease ended. */
const FAILING = `coalesce(failing_since, case when holder <> '' then due_at end)`;
const used = (rows: string) =>
  `count(*) filter (where ${rows})::int, coalesce(sum(size_bytes) filter (where ${rows}), 0)::float8`;

/** Needs the tables, see `migrate`. */
export function postgresSessions({ run, transaction }: Database): Sessions {
  const rowOf = async (text: string, values: unknown[]) => (await run(text, values)).rows[0];
  const changes = async (text: string, values: unknown[]) => (await run(text, values)).rowCount === 1;

  const last = new Map<string, Promise<unknown>>();
  /** What would wait for the same lock waits here, without a connection that others need. */
  function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const result = (last.get(key) ?? Promise.resolve()).then(work, work);
    const forget = () => void (last.get(key) === result && last.delete(key));
    last.set(key, result);
    result.then(forget, forget);
    return result;
  }

  return {
    open: ({ id, user, folder, name, sizeBytes, fileId }, limits) =>
      inTurn(user, () =>
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
      ),
    find: (id) => rowOf(`select ${COLUMNS} from upload_sessions where id = $1 and ${LIVE}`, [id]),
    addChunks: (id, sizes, most, mostBytes) =>
      inTurn(id, () =>
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
      ),
    claim: (id, holder, hashes) =>
      changes(
        `update upload_sessions set state = 'committing', hashes = $3, digest = $4, holder = $2,
           due_at = case $2 when '' then now() else ${LEASED} end, failing_since = ${FAILING},
           expires_at = greatest(expires_at, ${after(MOVES.open.expiresMs)})
         where id = $1 and ${LIVE} and (state = 'open'
           or (state = 'committing' and $2 <> '' and (due_at <= now() or holder = '') and digest = $4))`,
        [id, holder, JSON.stringify(hashes), digestOf(hashes)],
      ),
    renew: (id, holder) =>
      changes(`update upload_sessions set due_at = ${LEASED} where ${HELD}`, [id, holder]),
    takeWork: (holder, kind, without) =>
      rowOf(
        `update upload_sessions set holder = $1, due_at = ${LEASED}, failing_since = ${FAILING}
         where id = (select id from upload_sessions where ${kind === 'ended' ? ENDED : `state = '${kind}'`} and due_at <= now()
             and user_id <> all($3) order by due_at limit 1 for update skip locked)
         returning ${COLUMNS}, hashes, attempt "keyEnd", expires_at <= now() "isOver", array(
           select hash from upload_chunks own where session_id = id and $2 and not exists (select from upload_chunks other
             where other.user_id = own.user_id and other.hash = own.hash and other.session_id <> id)) chunks`,
        [holder, kind === 'ended', without],
      ),
    move(id, holder, to, sentence = '') {
      if (to === 'cleared')
        return changes(
          `with gone as (delete from upload_chunks using upload_sessions where session_id = id and ${HELD}),
             ended as (delete from upload_sessions where ${HELD} and ${ENDS_AT} <= now() returning 1),
             kept as (update upload_sessions set holder = '', hashes = '[]', due_at = ${ENDS_AT}, failing_since = null
               where ${HELD} and ${ENDS_AT} > now() returning 1)
           select from ended union all select from kept`,
          [id, holder],
        );
      const { state, dueMs, expiresMs } = MOVES[to];
      const more =
        (expiresMs === undefined ? '' : `, expires_at = ${after(expiresMs)}`) +
        (to === 'done' ? ', attempt = digest' : '') +
        `, failing_since = ${to === 'committing' ? 'coalesce(failing_since, now())' : 'null'}`;
      const text = `update upload_sessions set state = $3, sentence = $4, holder = '', due_at = ${after(dueMs)} ${more} where ${HELD}`;
      return changes(text, [id, holder, state, sentence]);
    },
    async check() {
      const { transaction_read_only: isReadOnly } = await rowOf('show transaction_read_only', []);
      if (isReadOnly !== 'off') throw new Error('the database is read-only');
    },
  };
}
