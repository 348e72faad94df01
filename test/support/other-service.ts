// A service that differs from the reference service wherever the interface leaves a choice: the value of the session header is
// nested in the body, hashes are base64 and need sizes, entries are named after the hash with a prefix, a wrong token is 419,
// chunks are sent with POST, the commit takes a while and says so with 200, and there is no way to cancel.
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export const OTHER_TOKEN = 'other-token';

interface Session {
  readonly sizeBytes: number;
  readonly sizes: Map<string, number>;
  commits: number;
  done?: string;
}

interface Reply {
  readonly status: number;
  readonly body?: object;
}

/** Returned for a wrong request. */
class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function must(condition: unknown, status: number, message: string): asserts condition {
  if (!condition) throw new Refused(status, message);
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

export interface OtherService {
  readonly baseUrl: string;
  /** The bytes of the committed files, by name. */
  readonly files: ReadonlyMap<string, Buffer>;
  close(): Promise<void>;
}

/** Starts the service below the path `/v2`. `page` is the only origin that may use it. */
export async function startOtherService(page: string): Promise<OtherService> {
  const sessions = new Map<string, Session & { readonly name: string }>();
  const chunks = new Map<string, Buffer>();
  const grants = new Map<string, { hash: string; size: number }>();
  const files = new Map<string, Buffer>();
  let origin = '';

  async function readBody(request: IncomingMessage): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    return Buffer.concat(parts);
  }

  function open(body: Record<string, unknown>): Reply {
    const { parent_id: folder, file_name: name, file_size: sizeBytes, category } = body;
    must(folder === 'inbox' && category === 'letter', 422, 'the folder or the category is unknown');
    must(typeof name === 'string' && /^[^/]+$/.test(name), 422, 'a name is missing');
    must(Number.isSafeInteger(sizeBytes) && Number(sizeBytes) > 0, 422, 'file_size must be positive');
    const id = randomUUID();
    sessions.set(id, { name, sizeBytes: Number(sizeBytes), sizes: new Map(), commits: 0 });
    return { status: 200, body: { session_id: `public-${id}`, data: { upload: { ticket: id } } } };
  }

  function presign(session: Session, { hashes, sizes }: Record<string, unknown>): Reply {
    must(isTexts(hashes) && hashes.every((hash) => /^[\w+/]{43}=$/.test(hash)), 422, 'hashes must be base64');
    must(Array.isArray(sizes) && sizes.length === hashes.length, 422, 'sizes are missing');
    must(hashes.length <= 20, 413, 'at most 20 hashes');
    const entries = hashes.map((hash, index) => {
      session.sizes.set(hash, Number(sizes[index]));
      if (chunks.has(hash)) return [`sha256:${hash}`, { receipt: `r ${hash}` }];
      const grant = randomUUID();
      grants.set(grant, { hash, size: Number(sizes[index]) });
      const headers = { 'x-chunk-grant': grant };
      const url = `${origin}/v2/blobs/${grants.size}`;
      return [
        `sha256:${hash}`,
        { receipt: `r ${hash}`, upload_url: url, headers, method: 'POST', expires_in: 120 },
      ];
    });
    return { status: 200, body: { chunks: Object.fromEntries(entries) } };
  }

  function store(grant: string, bytes: Buffer): Reply {
    const found = grants.get(grant);
    must(found, 403, 'no such grant');
    must(
      createHash('sha256').update(bytes).digest('base64') === found.hash,
      422,
      'the checksum does not match',
    );
    if (chunks.has(found.hash)) return { status: 412, body: { debuginfo: 'stored already' } };
    chunks.set(found.hash, bytes);
    return { status: 201 };
  }

  function commit(session: Session & { name: string }, { hashes, receipts }: Record<string, unknown>): Reply {
    must(isTexts(hashes) && isTexts(receipts), 422, 'hashes and receipts are missing');
    must(hashes.length === receipts.length, 422, 'each hash needs a receipt');
    must(
      hashes.every((hash, index) => receipts[index] === `r ${hash}`),
      422,
      'a receipt is wrong',
    );
    must(
      hashes.every((hash) => chunks.has(hash)),
      422,
      'a chunk is missing',
    );
    const parts = hashes.map((hash) => chunks.get(hash) ?? Buffer.alloc(0));
    const bytes = Buffer.concat(parts);
    must(bytes.length === session.sizeBytes, 422, 'the size is wrong');
    must(!session.done || session.done === hashes.join(), 422, 'committed with other chunks');
    session.done = hashes.join();
    session.commits += 1;
    if (session.commits === 1) return { status: 200, body: { state: 'processing' } };
    files.set(session.name, bytes);
    return { status: 200, body: { state: 'done' } };
  }

  async function handle(request: IncomingMessage): Promise<Reply> {
    const { method, url = '', headers } = request;
    const bytes = await readBody(request);
    if (url.startsWith('/v2/blobs/') && method === 'POST')
      return store(String(headers['x-chunk-grant']), bytes);
    must(method === 'POST' && url.startsWith('/v2/'), 404, 'not found');
    must(headers['x-api-key'] === OTHER_TOKEN, 419, 'the token is wrong');
    let body: Record<string, unknown>;
    try {
      body = JSON.parse(bytes.toString());
    } catch {
      throw new Refused(422, 'the body is not JSON');
    }
    if (url === '/v2/uploads') return open(body);
    const session = sessions.get(String(headers['x-service-uploadsession']));
    must(session, 410, 'the session is unknown');
    if (url === '/v2/uploads/chunks') return presign(session, body);
    must(url === '/v2/uploads/done', 404, 'not found');
    return commit(session, body);
  }

  const server = createServer(async (request, response) => {
    response.setHeader('access-control-allow-origin', page);
    response.setHeader('access-control-expose-headers', 'Retry-After, Date');
    if (request.method === 'OPTIONS') {
      response.setHeader(
        'access-control-allow-headers',
        'content-type, x-api-key, x-service-uploadsession, x-chunk-grant',
      );
      response.writeHead(200).end();
      return;
    }
    const reply = await handle(request).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error;
      return { status: error.status, body: { debuginfo: error.message } };
    });
    response.writeHead(reply.status, { 'content-type': 'application/json' });
    response.end(reply.body && JSON.stringify(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl: `${origin}/v2`,
    files,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
