// The service of a simulation over HTTP, with batches: the real client sends the requests, and the service may refuse any of them.

import type { UploaderError } from '../../src/core/errors.ts';
import type { CommitAnswer, Session, Ticket } from '../../src/core/types.ts';
import { SESSION_HEADER } from '../../src/service/wire.ts';
import type { ModelService } from './model-service.ts';
import type { Kind, Request } from './scripted-service.ts';

/** Paths of the service. */
export const HTTP_PATHS = {
  sessionPath: '/open',
  chunksPath: '/presign',
  commitPath: '/commit',
  cancelPath: '/open',
  batchPath: '/batch',
} as const;

/** The answer to the call of one file. */
interface FileAnswer {
  readonly status: number;
  readonly body?: unknown;
}

type Operation = Exclude<Kind, 'put'>;
type Fields = Readonly<Record<string, unknown>>;

/** Statuses with which an operation is refused. `undefined`: the response is lost. */
const REFUSALS: Readonly<Record<Operation | 'batch', readonly (number | undefined)[]>> = {
  open: [undefined, 429, 409, 403, 503],
  presign: [undefined, 429, 404, 410, 401, 403],
  commit: [undefined, 429, 404, 403, 503],
  cancel: [undefined, 403],
  batch: [undefined, undefined, 400, 401, 403, 413, 429, 500, 503],
};

/** Responds to the requests to each host. Requests to other hosts go to the network. */
const services = new Map<string, (request: globalThis.Request) => Promise<Response>>();
const fetchFromNetwork = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const address = input instanceof globalThis.Request ? input.url : `${input}`;
  const respond = services.get(new URL(address, location.href).host);
  return respond ? respond(new globalThis.Request(input, init)) : fetchFromNetwork(input, init);
};

interface HttpModel {
  readonly service: ModelService;
  readonly random: () => number;
  readonly faultRate: number;
}

/** Responds to all requests to `host`. `ticketsOf` returns tickets for the first storage. Returns a function that ends this. */
export function serveModel(
  host: string,
  model: HttpModel,
  ticketsOf: (hashes: readonly string[]) => ReadonlyMap<string, Ticket>,
): () => void {
  const { service, random } = model;
  const isRefused = (): boolean => random() < model.faultRate;
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

  /** Returns the answer of the service; `undefined` if it is lost on its way. */
  function askService(kind: Operation, asked: Fields): unknown {
    let answer: unknown;
    const request = {
      ...asked,
      kind,
      answer: (value: unknown) => {
        answer = value ?? (kind === 'commit' ? { missing: missingOf(asked) } : {});
      },
      refuse: (error: UploaderError) => {
        answer = error;
      },
    };
    service.answer(request as unknown as Request, ticketsOf);
    return answer;
  }

  const missingOf = ({ hashes }: Fields): readonly string[] =>
    (hashes as readonly string[]).filter((hash) => !service.stored.has(hash));

  /** Returns the answer to the call of one file; `undefined` if it is lost. */
  function answerFile(kind: Operation, fields: Fields, header: string): FileAnswer | undefined {
    if (isRefused()) {
      const status = oneOf(REFUSALS[kind]);
      return status === undefined ? undefined : refusalOf(status);
    }
    const session = { sessionId: header, header };
    const { file_name: fileName, hashes } = fields;
    const answer = askService(kind, { session, fileName, hashes });
    if (answer instanceof Error) {
      const { status, debugInfo } = answer as UploaderError;
      return status === undefined ? undefined : { status, body: { debuginfo: debugInfo } };
    }
    if (kind === 'commit') {
      const { missing } = answer as CommitAnswer;
      return missing.length > 0
        ? { status: 409, body: { missing } }
        : { status: 200, body: { file_id: 'f' } };
    }
    if (kind === 'presign') return { status: 200, body: chunksOf(answer as ReadonlyMap<string, Ticket>) };
    if (kind === 'cancel') return { status: 204 };
    const opened = answer as Session;
    const body = { session_id: opened.sessionId, passport: opened.header };
    // The tickets of the first chunks may come with the session, or not.
    const tickets =
      Array.isArray(hashes) && random() < 0.8 && askService('presign', { session: opened, hashes });
    return { status: 201, body: tickets instanceof Map ? { ...body, ...chunksOf(tickets) } : body };
  }

  function answerBatch(body: Fields): FileAnswer | undefined {
    if (isRefused()) {
      const status = oneOf(REFUSALS.batch);
      if (status !== undefined) return refusalOf(status);
    }
    const kind = body.open ? 'open' : 'commit';
    const files = body[kind] as readonly Fields[];
    const answers = files.map((fields) => answerFile(kind, fields, String(fields.session)));
    // The answers come in one response, so they are lost together.
    return answers.includes(undefined) ? undefined : { status: 200, body: { answers } };
  }

  const respond = async (request: globalThis.Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const text = await request.text();
    if (random() < 0.5) await pause(random() * 3, request.signal);
    request.signal.throwIfAborted();
    const fields = (text ? JSON.parse(text) : {}) as Fields;
    const header = request.headers.get(SESSION_HEADER) ?? '';
    const answer = navigator.onLine
      ? pathname === HTTP_PATHS.batchPath
        ? answerBatch(fields)
        : answerFile(request.method === 'DELETE' ? 'cancel' : operationOf(pathname), fields, header)
      : undefined;
    if (!answer) throw new TypeError('Failed to fetch');
    const { status, body } = answer;
    return new Response(body === undefined ? null : JSON.stringify(body), {
      status,
      headers: { 'retry-after': '0' },
    });
  };
  services.set(host, respond);
  return () => services.delete(host);
}

const operationOf = (pathname: string): Operation => pathname.slice(1) as Operation;

const refusalOf = (status: number): FileAnswer => ({
  status,
  body: { debuginfo: 'a fault', retry_after: 0 },
});

const chunksOf = (tickets: ReadonlyMap<string, Ticket>): object => ({
  chunks: Object.fromEntries(
    [...tickets].map(([hash, { receipt, upload }]) => [hash, { receipt, upload_url: upload?.url ?? null }]),
  ),
});

/** Resolves after `ms` milliseconds. Rejects when `signal` aborts. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
