// The storage origin: accepts a `PUT` of a chunk to a presigned URL, which names the user and the session. Uses Node's HTTP server
// directly, for speed.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Parts } from './parts.ts';
import type { Handler } from './ports.ts';
import { isDiskFull } from './refusal.ts';
import type { Grant } from './seal.ts';

/** Thrown if the connection was closed, so that no response can be sent. */
export class Broken extends Error {}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export function createStorageHandler(parts: Parts): Handler {
  return async (request, response) => {
    try {
      await send(response, await answerTo(parts, request, bytesOf(request)));
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      request.socket.destroy();
    }
  };
}

/** Yields the request body. Throws `Broken` if it is incomplete. */
export async function* bytesOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    // If the loop ends early, the connection must stay open to send the refusal.
    yield* request.iterator({ destroyOnReturn: false });
  } catch (cause) {
    throw new Broken('the connection broke', { cause });
  }
}

/** Handles a request whose body is `bytes`. Rejects only with `Broken`. */
export async function answerTo(
  parts: Parts,
  request: IncomingMessage,
  bytes: AsyncIterable<Uint8Array>,
): Promise<Answer> {
  try {
    return complete(parts, request, await decide(parts, request, bytes));
  } catch (error) {
    if (error instanceof Broken) throw error;
    console.error('storage:', error);
    const answer = isDiskFull(error) ? refuse(507, 'no space left') : refuse(500, 'internal error');
    return complete(parts, request, answer);
  }
}

export async function send(response: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  response.writeHead(status, headers);
  response.end(body);
  // Rejects if the connection is closed, also if that was before this call.
  await finished(response).catch(() => undefined);
}

/** Adds the headers that all responses have. */
export function complete({ settings }: Parts, request: IncomingMessage, answer: Answer): Answer {
  const { origin } = request.headers;
  const headers: Record<string, string> = {
    ...answer.headers,
    ...(answer.status !== 204 && { 'content-length': String(Buffer.byteLength(answer.body)) }),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    vary: 'Origin',
  };
  if (origin !== undefined && settings.appOrigins.includes(origin)) {
    headers['access-control-allow-origin'] = origin;
  }
  return { ...answer, headers };
}

function refuse(status: number, debuginfo: string): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ debuginfo }) };
}

async function decide(
  parts: Parts,
  request: IncomingMessage,
  bytes: AsyncIterable<Uint8Array>,
): Promise<Answer> {
  if (request.method === 'OPTIONS') {
    const headers = {
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': String(parts.settings.accessControlMaxAgeS),
    };
    return { status: 204, headers, body: '' };
  }
  if (request.method !== 'PUT') return refuse(405, 'storage takes PUT');
  const grant = parts.seal.readUrl(request.url ?? '');
  const refused = checkGrant(grant, request, parts.clock.now());
  if (refused || !grant) return refused ?? refuse(403, 'not a URL that was signed here');
  return store(parts, grant, request, bytes);
}

/** Stores the chunk, unless its session would exceed a limit. */
async function store(
  { usage, storage }: Parts,
  grant: Grant,
  request: IncomingMessage,
  bytes: AsyncIterable<Uint8Array>,
): Promise<Answer> {
  const { sessionId, userId, hash } = grant;
  const draft = usage.beginChunk(sessionId, userId, Number(request.headers['content-length']));
  if (draft === 'closed') return refuse(403, 'the upload session is over');
  if (draft === 'too-much') return refuse(413, 'the session has stored more than its file can need');
  if (draft === 'busy') {
    return { ...refuse(503, 'too many chunks at once'), headers: { 'retry-after': '1' } };
  }
  try {
    const refused = await storage.putChunk(userId, hash, bytes, draft.store);
    if (!refused) return { status: 200, headers: { etag: `"${hash}"` }, body: '' };
    if (refused === 'not-accepted') return refuse(403, 'the upload session is over');
    return refuse(400, 'the bytes have another hash');
  } finally {
    draft.end();
  }
}

function checkGrant(grant: Grant | undefined, request: IncomingMessage, now: number): Answer | undefined {
  if (!grant) return refuse(403, 'not a URL that was signed here');
  if (grant.expiresAt <= now) return refuse(403, 'the URL has expired');
  // Node accepts no more bytes than this header states, so the service can reserve them.
  const sizeBytes = request.headers['content-length'];
  if (sizeBytes === undefined) return refuse(411, 'the header Content-Length is missing');
  if (Number(sizeBytes) > grant.maxBytes)
    return refuse(413, `the chunk has more than ${grant.maxBytes} bytes`);
  return undefined;
}
