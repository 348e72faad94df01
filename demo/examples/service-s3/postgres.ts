// Upload sessions in PostgreSQL, for several processes. The clock is that of the database.
import type { Database } from './database.ts';
import { ENDED } from './migrations.ts';
import { DAY_MS, digestOf, judge, LEASE_MS, MOVES, type Sessions } from './sessions.ts';

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
    open(openings) {
      const user = openings[0]?.session.user ?? '';
      return inTurn(user, () =>
        transaction(async (client) => {
          await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [user]);
          // The repeated states name their index.
          const text = `select ${used(UNFINISHED)}, ${used(TODAY)} from upload_sessions where user_id = $1
          and (${TODAY} or (state in ('open', 'committing', 'done') and ${UNFINISHED}))`;
          const { rows } = await client.query({ text, values: [user], rowMode: 'array' });
          const judged = judge(rows[0] ?? [], openings);
          const fresh = openings.flatMap(({ session }, at) => (judged[at] === 'opened' ? [session] : []));
          const column = (name: 'id' | 'folder' | 'name' | 'sizeBytes' | 'fileId') =>
            fresh.map((session) => session[name]);
          if (fresh.length > 0)
            await client.query(
              `insert into upload_sessions (id, user_id, folder, name, size_bytes, file_id, expires_at, due_at)
             select id, $1, folder, name, size, file, ${after(MOVES.opened.expiresMs)}, ${after(MOVES.opened.dueMs)}
             from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[]) given (id, folder, name, size, file)`,
              [user, column('id'), column('folder'), column('name'), column('sizeBytes'), column('fileId')],
            );
          return judged;
        }),
      );
    },
    find: (id) => rowOf(`select ${COLUMNS} from upload_sessions where id = $1 and ${LIVE}`, [id]),
    addChunks(additions) {
      const ids = additions.map(({ id }) => id);
      return inTurn(`${ids}`, () =>
        transaction(async (client) => {
          // In one order, so that no two wait for each other.
          await client.query(`select from upload_sessions where id = any($1) order by id for update`, [ids]);
          const { dueMs, expiresMs } = MOVES.open;
          const chunks = additions.flatMap(({ id, sizes }) => [...sizes].map((chunk) => [id, ...chunk]));
          const column = (at: number) => chunks.map((chunk) => chunk[at]);
          const { rows } = await client.query(
            `with asked as (select * from
               unnest($1::text[], $2::bigint[], $3::bigint[], $7::bool[]) asked (id, most, most_bytes, opening)),
             given as (select * from unnest($4::text[], $5::text[], $6::bigint[]) given (id, hash, size)),
             known as (select session_id id, hash, size_bytes size from upload_chunks where session_id = any($1)),
             merged as (select id, hash, max(size) size, min(size) <> max(size) other
               from (select * from given union all select * from known) chunk group by id, hash),
             sums as (select id, count(*) count, sum(size) bytes, bool_or(other) other from merged group by id),
             fit as (select id, user_id, opening from asked join sums using (id) join upload_sessions using (id)
               where ${LIVE} and not other and count <= most and bytes <= most_bytes),
             extended as (update upload_sessions set expires_at = greatest(expires_at, ${after(expiresMs)}),
               due_at = case state when 'open' then ${after(dueMs)} else due_at end where id in (select id from fit where not opening)),
             added as (insert into upload_chunks
               select id, user_id, hash, size from fit join given using (id) on conflict do nothing)
           select id from fit`,
            [
              ids,
              additions.map(({ most }) => most),
              additions.map(({ mostBytes }) => mostBytes),
              ...[column(0), column(1), column(2)],
              additions.map(({ isOpening }) => isOpening),
            ],
          );
          return ids.map((id) => rows.some((row) => row.id === id));
        }),
      );
    },
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
