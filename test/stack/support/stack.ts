// Two processes of the example with hooks of the tests, PostgreSQL and Ceph RGW.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  copyExample,
  createBucket,
  type RunningExample,
  SETTINGS,
  startExample,
} from '../../support/service-s3.ts';
import { until } from '../../support/until.ts';
import { type RunningDatabase, startDatabase } from './database.ts';
import { type RunningStore, startStore } from './store.ts';

/** A file that `onCompleted` reported. */
export interface Report {
  readonly id: string;
  readonly user: string;
  readonly folder: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly key: string;
}

export interface Stack {
  readonly store: RunningStore;
  readonly database: RunningDatabase;
  readonly settings: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly processes: RunningExample[];
  start(): Promise<RunningExample>;
  /** Resolves with all reports, or those of a user, with their repetitions, when this number of files was reported. */
  reports(fileCount: number, user?: string): Promise<Report[]>;
  /** Lets all sessions of a user expire, when their files are delivered. Resolves when they are deleted. */
  clear(user: string): Promise<void>;
  stop(): Promise<void>;
}

/** Replaces text in a file, which must contain it. */
export function replace(path: string, before: string, after: string): void {
  const text = readFileSync(path, 'utf8');
  assert.ok(text.includes(before), before);
  writeFileSync(path, text.replace(before, after));
}

type Settings = Record<string, string>;
type Parts = Pick<Stack, 'store' | 'database'>;

/** Creates the bucket, and starts `count` processes. `changes` of the settings may start parts between these and their stores. */
export async function startStack(
  changes: Settings | ((parts: Parts) => Promise<Settings>) = {},
  count = 2,
): Promise<Stack> {
  const [store, database] = await Promise.all([startStore(), startDatabase()]);
  const changed = typeof changes === 'function' ? await changes({ store, database }) : changes;
  const folder = copyExample(readFileSync(new URL('many-users.ts', import.meta.url), 'utf8'));
  const REPORTS = join(folder, 'reports');
  writeFileSync(REPORTS, '');
  // A tenth of the times, so that the work of a killed process is continued soon.
  replace(join(folder, 'sessions.ts'), 'LEASE_MS = 30_000', 'LEASE_MS = 3000');
  replace(join(folder, 'files.ts'), 'POLL_MS = 5000', 'POLL_MS = 500');
  replace(join(folder, 'files.ts'), 'HOOK_MS = 600_000', 'HOOK_MS = 6000');
  const settings = { ...SETTINGS, ...store.settings, DATABASE_URL: database.url, REPORTS, ...changed };
  await createBucket(settings, folder);
  const start = (): Promise<RunningExample> => startExample('hono', settings, { folder });
  const processes = await Promise.all(Array.from({ length: count }, start));
  return {
    ...{ store, database, settings, folder, processes, start },
    reports: (fileCount, user) =>
      until(() => {
        const lines = readFileSync(REPORTS, 'utf8').trim().split('\n').filter(Boolean);
        const own = lines
          .map((line) => JSON.parse(line) as Report)
          .filter((file) => !user || file.user === user);
        return new Set(own.map(({ id }) => id)).size >= fileCount && own;
      }),
    async clear(user) {
      const rows = `upload_sessions where user_id = '${user}'`;
      const end = `opened_at = now() - interval '8 d', expires_at = now(), due_at = now()`;
      const isTrue = async (sql: string): Promise<boolean> => (await database.query(`select ${sql}`)) === 't';
      await until(
        async () => !(await isTrue(`exists (select from ${rows} and state in ('committing', 'done'))`)),
      );
      await database.query(`update ${rows.replace('where', `set ${end} where`)}`);
      await until(async () => !(await isTrue(`exists (select from ${rows})`)));
    },
    async stop() {
      await Promise.all(processes.map((each) => each.stop()));
      await Promise.all([store.stop(), database.stop()]);
    },
  };
}
