// The service: sessions, background work, health, log and end. hono.ts, express.ts and next.ts connect `handle` to a server.
import { connect, migrate } from './database.ts';
import { createFiles } from './files.ts';
import { kindOf, log, notes } from './log.ts';
import { postgresSessions } from './postgres.ts';
import { reply } from './requests.ts';
import { memorySessions } from './sessions.ts';
import { settings } from './settings.ts';
import { call, signingKeys } from './store.ts';
import { createUploads, operationOf, replyTo } from './uploads.ts';

const report = (error: Error, file?: string) => void log({ level: 'error', file, ...kindOf(error) });

/**
 * Requests, the background work and the limit of requests have connections of their own: leases are renewed when there are many
 * requests, and a user who is above the limit takes no connection from the others.
 */
const CONNECTIONS = [10, 4, 2];

async function start() {
  const url = settings.databaseUrl;
  const databases = CONNECTIONS.flatMap((max) => (url ? [connect(url, max)] : []));
  const [front, back, rates] = databases;
  const end = () => Promise.all(databases.map((each) => each.end()));
  try {
    if (front) await migrate(front);
  } catch (error) {
    await end();
    throw error;
  }
  const memory = memorySessions();
  const sessions = front ? postgresSessions(front) : memory;
  const files = createFiles(back ? postgresSessions(back) : memory, report);
  return { sessions, files, end, uploads: createUploads(sessions, files, report, rates) };
}
const AGAIN_MS = 1000;
let service: ReturnType<typeof start> | undefined;
/** Connects to the database on the first call; if that fails, again every second, and requests are answered with 503 until then. */
export function started() {
  if (service) return service;
  service = start();
  service.catch((error) => {
    report(error);
    const again = () => {
      service = undefined;
      started().catch(() => undefined);
    };
    setTimeout(again, AGAIN_MS).unref();
  });
  return service;
}

const CHECK_MS = 1000;
let checked: Promise<unknown> | undefined;
/** Asks the database, the store and for the keys of URLs once a second, however many ask: this needs no token. */
function ready() {
  const check = async () => {
    const { sessions } = await started();
    const signal = AbortSignal.timeout(5000);
    await Promise.all([sessions.check(), signingKeys('urls'), call('GET', '?max-keys=0', { signal })]);
  };
  checked ??= check().finally(() => void setTimeout(() => (checked = undefined), CHECK_MS).unref());
  return checked.then(() => reply(200, {}));
}

/** Handles one request. The server has to add the headers for CORS. */
export async function handle(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === '/healthz') return reply(200, {});
  if (pathname === '/readyz') return ready().catch(replyTo);
  const begun = performance.now();
  let problem = {};
  const response = await started()
    .then(({ uploads }) => uploads(request))
    .catch((error: Error) => {
      const answer = replyTo(error);
      if (answer.status >= 500 && !(error instanceof Response))
        problem = { level: 'error', ...kindOf(error) };
      return answer;
    });
  const ms = Math.round(performance.now() - begun);
  const said = { operation: operationOf(request) ?? 'none', status: response.status, ms };
  log({ level: 'info', ...said, ...notes.get(response), ...problem });
  return response;
}

/** Ends the background work, waits for running commits and `requests`, and disconnects. */
export async function close(requests: Promise<unknown>) {
  const running = await service?.catch(() => undefined);
  await Promise.all([running?.files.close(), requests]);
  await running?.end();
}
