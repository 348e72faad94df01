// A store for demo/examples/service-s3 that keeps the sizes of objects and parts, counts requests and has faults. It checks no
// signature: only a real store shows what a URL allows.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a request is for. */
export type Purpose = 'head' | 'list' | 'begin' | 'parts' | 'part' | 'complete' | 'copy' | 'delete' | 'chunk';

export interface StoreRequest {
  readonly purpose: Purpose;
  readonly method: string;
  /** Key of the object. */
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly atMs: number;
}

/** `hang` never responds, `reset` breaks the connection, and `lost` does so after the work is done. `status` may be 200. */
export type Fault = 'hang' | 'reset' | 'lost' | { status: number; code?: string; retryAfter?: string };

export interface FakeStore {
  readonly origin: string;
  /** Sizes by key. */
  readonly objects: Map<string, number>;
  /** Unfinished uploads by their ids. */
  readonly uploads: Map<string, { key: string; sizes: Map<number, number> }>;
  readonly requests: StoreRequest[];
  /** Says which fault a request has. */
  fault: (request: StoreRequest) => Fault | undefined;
  of(...purposes: Purpose[]): StoreRequest[];
  close(): Promise<void>;
}

/** Parts of an upload that a list has at most. */
const PAGE_SIZE = 1000;

function purposeOf(method: string, query: URLSearchParams, key: string): Purpose {
  const isUpload = query.has('uploadId');
  if (method === 'HEAD') return 'head';
  if (method === 'DELETE') return 'delete';
  if (method === 'GET') return isUpload ? 'parts' : 'list';
  if (method === 'POST') return isUpload ? 'complete' : 'begin';
  if (isUpload) return 'part';
  return key.startsWith('chunks/') ? 'chunk' : 'copy';
}

/** `page` is the origin that may send chunks. */
export async function startFakeStore(page: string): Promise<FakeStore> {
  const objects: FakeStore['objects'] = new Map();
  const uploads: FakeStore['uploads'] = new Map();
  let uploadCount = 0;
  const refuse = (status: number, code: string): [number, string] => [
    status,
    `<Error><Code>${code}</Code></Error>`,
  ];
  const sourceOf = ({ headers }: StoreRequest): number | undefined =>
    objects.get(String(headers['x-amz-copy-source']).split('/').slice(2).join('/'));

  function listOf(prefix: string): string {
    const own = [...uploads].filter(([, { key }]) => key.startsWith(prefix));
    const begun = own.map(([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix));
    return [...begun, ...keys.map((key) => `<Contents><Key>${key}</Key></Contents>`)].join('');
  }
  const partsOf = (sizes: Map<number, number>, after: number): string => {
    const numbers = [...sizes.keys()].sort((one, other) => one - other).filter((number) => number > after);
    const part = (number: number): string =>
      `<Part><PartNumber>${number}</PartNumber><ETag>"${number}"</ETag><Size>${sizes.get(number)}</Size></Part>`;
    const isTruncated = numbers.length > PAGE_SIZE;
    const shown = numbers.slice(0, PAGE_SIZE);
    return `${shown.map(part).join('')}<NextPartNumberMarker>${shown.at(-1)}</NextPartNumberMarker>
      <IsTruncated>${isTruncated}</IsTruncated>`;
  };

  function work(request: StoreRequest, body: Buffer): [status: number, text: string] {
    const { purpose, key, query } = request;
    const id = query.get('uploadId') ?? '';
    const upload = uploads.get(id);
    if (purpose === 'chunk') {
      if (createHash('sha256').update(body).digest('hex') !== key.split('/').at(-1)) return [400, ''];
      objects.set(key, body.length);
      return [200, ''];
    }
    if (purpose === 'list') return [200, query.has('max-keys') ? '' : listOf(query.get('prefix') ?? '')];
    if (purpose === 'begin') {
      uploadCount += 1;
      uploads.set(`upload-${uploadCount}`, { key, sizes: new Map() });
      return [200, `<UploadId>upload-${uploadCount}</UploadId>`];
    }
    if (purpose === 'copy') {
      const size = request.headers['x-amz-copy-source'] ? sourceOf(request) : 0;
      if (size === undefined) return refuse(404, 'NoSuchKey');
      objects.set(key, size);
      return [200, '<ETag>"1"</ETag>'];
    }
    if (purpose === 'delete') {
      if (id) uploads.delete(id);
      else objects.delete(key);
      return [204, ''];
    }
    if (!upload) return refuse(404, 'NoSuchUpload');
    if (purpose === 'parts') return [200, partsOf(upload.sizes, Number(query.get('part-number-marker')))];
    if (purpose === 'part') {
      const size = sourceOf(request);
      if (size === undefined) return refuse(404, 'NoSuchKey');
      upload.sizes.set(Number(query.get('partNumber')), size);
      return [200, `<ETag>"${query.get('partNumber')}"</ETag>`];
    }
    const listed = [...body.toString().matchAll(/<PartNumber>(\d+)</g)].map(([, number]) => Number(number));
    const sizes = listed.map((number) => upload.sizes.get(number));
    if (sizes.includes(undefined)) return refuse(400, 'InvalidPart');
    objects.set(
      upload.key,
      sizes.reduce((sum: number, size) => sum + (size ?? 0), 0),
    );
    uploads.delete(id);
    return [200, '<ETag>"1"</ETag>'];
  }

  async function respond(incoming: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { method = '', url = '', headers } = incoming;
    response.setHeader('access-control-allow-origin', page);
    response.setHeader('access-control-allow-methods', 'PUT');
    response.setHeader('access-control-allow-headers', headers['access-control-request-headers'] ?? '');
    const { pathname, searchParams: query } = new URL(url, 'http://store.invalid');
    const body = Buffer.concat(await incoming.toArray());
    if (method === 'OPTIONS') return response.end();
    const key = pathname.split('/').slice(2).join('/');
    const request = {
      purpose: purposeOf(method, query, key),
      method,
      key,
      query,
      headers,
      atMs: performance.now(),
    };
    store.requests.push(request);
    const fault = store.fault(request);
    if (fault === 'hang') return;
    if (fault === 'reset') return incoming.socket.destroy();
    if (typeof fault === 'object') {
      const wait = fault.retryAfter ? { 'retry-after': fault.retryAfter } : {};
      const text = fault.code ? `<Error><Code>${fault.code}</Code></Error>` : '';
      return response.writeHead(fault.status, wait).end(method === 'HEAD' ? '' : text);
    }
    if (request.purpose === 'head') {
      const size = objects.get(key);
      return response.writeHead(size === undefined ? 404 : 200, { 'content-length': size ?? 0 }).end();
    }
    const [status, text] = work(request, body);
    if (fault === 'lost') return incoming.socket.destroy();
    return response.writeHead(status).end(text);
  }

  const server = createServer((request, response) => {
    void respond(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const store: FakeStore = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ objects, uploads, requests: [], fault: () => undefined },
    of: (...purposes) => store.requests.filter(({ purpose }) => purposes.includes(purpose)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return store;
}
