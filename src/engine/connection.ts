// Everything that belongs to one set of settings: the service's calls, sign-in, the sender, the hash workers. Rows that
// were added under the same settings share it.

import { type AuthSession, openAuthSession } from '../auth/session.ts';
import type { AuthTimes } from '../auth/times.ts';
import type { Report } from '../core/changes.ts';
import type { Settings } from '../core/config.ts';
import type { Calls, Put } from '../core/types.ts';
import { HashPool } from '../pipeline/hash-pool.ts';
import { createCalls, createPost } from '../service/client.ts';
import { createPut } from '../service/put.ts';

export interface Connection {
  readonly settings: Settings;
  readonly auth: AuthSession;
  readonly calls: Calls;
  readonly put: Put;
  readonly pool: HashPool;
  /** How long a PUT may stand still, where the page has set it. */
  readonly stallMs: number | undefined;
  close(): void;
}

/** Times that tests make small; milliseconds. */
export interface Times {
  /** A call to the service is given up after this long. */
  readonly callTimeoutMs?: number;
  /** A PUT without progress is given up after this long. */
  readonly stallMs?: number;
  readonly auth?: Partial<AuthTimes>;
}

export interface ConnectOptions {
  readonly times?: Times | undefined;
  /** Asked before sign-in leaves the page; false keeps it. */
  readonly confirmRedirect: () => boolean;
  /** Aborts when calls that are under way may be on a dead connection. */
  readonly lineChange: () => AbortSignal;
}

export function connect(
  settings: Settings,
  report: Report,
  { times = {}, confirmRedirect, lineChange }: ConnectOptions,
): Connection {
  const auth = openAuthSession(settings, {
    post: createPost(settings, { timeoutMs: times.callTimeoutMs }),
    report,
    confirmRedirect,
    ...(times.auth && { options: times.auth }),
  });
  const options = { timeoutMs: times.callTimeoutMs, lineChange };
  // Giving up an upload is what signing out still waits for.
  const { cancel } = createCalls(settings, auth.withLastToken, options);
  const pool = new HashPool({ algorithm: settings.hash, workerUrl: settings.workerUrl });
  return {
    settings,
    auth,
    pool,
    stallMs: times.stallMs,
    calls: { ...createCalls(settings, auth.withToken, options), ...(cancel && { cancel }) },
    put: createPut({ baseUrl: settings.baseUrl, statuses: settings.profile.putStatuses }),
    close() {
      pool.close();
      auth.close();
    },
  };
}
