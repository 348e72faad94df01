// The service: sessions, background work, health, log and end. hono.ts, express.ts and next.ts connect `handle` to a server.
import { createFiles } from './files.ts';
import { postgresSessions } from './postgres.ts';
import { memorySessions } from './sessions.ts';
import { settings } from './settings.ts';
import { call, StoreError } from './store.ts';
import { createUploads, operationOf, reply, replyTo } from './uploads.ts';

/** Writes one line of JSON. Has no tokens, URLs, names and session headers, and only the kind of an error. */
const log = (line: object) => console.log(JSON.stringify({ time: new Date().toISOString(), ...line }));
const kindOf = (error: unknown) => {
  const { name, code, cause, stack = '' } = error as Error & { code?: string; cause?: { code?: string } };
  const at = /\/([\w.-]+:\d+):\d+/.exec(stack)?.[1];
  const message = error instanceof StoreError ? error.message : undefined;
  return { error: name, code: code ?? cause?.code, at, message };
};

async function start() {
  const url = settings.databaseUrl;
  const memory = { sessions: memorySessions(), pool: undefined };
  // The background work has its own connections, so that leases are renewed when there are many requests.
  const both = url ? await Promise.all([postgresSessions(url), postgresSessions(url, 4)]) : [memory, memory];
  const [{ sessions, pool }, back] = both as [(typeof both)[0], (typeof both)[0]];
  const report = (error: unknown, file?: string) => void log({ level: 'error', file, ...kindOf(error) });
  const files = createFiles(back.sessions, report);
  return { sessions, files, pools: [pool, back.pool], uploads: createUploads(sessions, files, pool) };
}
let service: ReturnType<typeof start> | undefined;
/** Connects to the database, on the first call. */
export const started = () => {
  service ??= start();
  service.catch(() => {
    service = undefined;
  });
  return service;
};

async function ready() {
  const { sessions } = await started();
  await Promise.all([sessions.check(), call('GET', '?max-keys=0', { signal: AbortSignal.timeout(5000) })]);
  return reply(200, {});
}

/** Handles one request. The server has to limit the size of the body, and to add the headers for CORS. */
export async function handle(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === '/healthz') return reply(200, {});
  if (pathname === '/readyz') return ready().catch(replyTo);
  const begun = performance.now();
  let problem = {};
  const response = await started()
    .then(({ uploads }) => uploads(request))
    .catch((error: unknown) => {
      const answer = replyTo(error);
      if (answer.status >= 500 && !(error instanceof Response))
        problem = { level: 'error', ...kindOf(error) };
      return answer;
    });
  const ms = Math.round(performance.now() - begun);
  log({ level: 'info', operation: operationOf(request) ?? 'none', status: response.status, ms, ...problem });
  return response;
}

/** Ends the background work, waits for running commits and `requests`, and disconnects. */
export async function close(requests: Promise<unknown>) {
  if (!service) return;
  const { files, pools } = await service;
  await Promise.all([files.close(), requests]);
  await Promise.all(pools.map((each) => each?.end()));
}
