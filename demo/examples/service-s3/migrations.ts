// The tables of the service in PostgreSQL.

export interface Migration {
  readonly number: number;
  readonly text: string;
}

/** Rows whose work is the deletion of their chunks. */
export const ENDED = `state in ('open', 'delivered', 'refused')`;

/** Each runs once, in this order. Add new ones at the end, with the next number, and change none that has run. */
export const MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    text: `create table upload_sessions (
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
  },
  {
    number: 2,
    text: 'alter table upload_sessions add column failing_since timestamptz',
  },
];
