// Sessions of the example in PostgreSQL, over two connections.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Sessions } from '../../demo/examples/service-s3/sessions.ts';
import { installedExample } from '../support/built.ts';
import { testSessions } from '../support/sessions-contract.ts';
import { type RunningDatabase, startDatabase } from './support/database.ts';

/** The module imports a package that only the example has. */
interface Postgres {
  postgresSessions(url: string): Promise<{
    readonly sessions: Sessions;
    readonly pool: { query(text: string): Promise<unknown>; end(): Promise<void> };
  }>;
}

describe('Sessions of the example in PostgreSQL', () => {
  let database: RunningDatabase;
  let connections: Awaited<ReturnType<Postgres['postgresSessions']>>[] = [];
  before(async () => {
    database = await startDatabase();
    const { href } = pathToFileURL(join(installedExample(), 'postgres.ts'));
    const { postgresSessions } = (await import(href)) as Postgres;
    // Both create the tables.
    connections = await Promise.all([postgresSessions(database.url), postgresSessions(database.url)]);
  });
  after(async () => {
    for (const { pool } of connections) await pool.end();
    await database.stop();
  });

  testSessions(() => {
    const [one, other] = connections;
    assert.ok(one && other);
    const pass = async (ms: number): Promise<void> => {
      const by = `interval '${ms} milliseconds'`;
      await one.pool.query(
        `update upload_sessions set expires_at = expires_at - ${by}, lease_until = lease_until - ${by}`,
      );
    };
    return { one: one.sessions, other: other.sessions, pass };
  });

  test('survive the end of the database, and are available again afterwards', async () => {
    const [one] = connections;
    assert.ok(one);
    await one.sessions.check();
    await database.interrupt();
    await assert.rejects(one.sessions.check());
    await database.resume();
    await one.sessions.check();
  });
});
