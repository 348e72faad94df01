// Starts a real service on free ports with its own folder, and calls the service as a page would.
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Service, type ServiceOptions, startService } from '../../demo/server/server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Origin of the page that all tests simulate. */
export const page = 'http://app.test:5173';
/** URL of the callback page. */
export const callback = `${page}/secure-uploader-callback.html`;

/** A service for one test, and its folder. */
export interface Rig {
  service: Service;
  dataDir: string;
  /** Restarts the service on the same ports with the same folder. */
  restart(): Promise<void>;
  end(): Promise<void>;
}

/** Starts a service in test mode with a new folder. */
export async function startRig(options: Partial<ServiceOptions> = {}): Promise<Rig> {
  const dataDir = temporaryFolder();
  const settings = { dataDir, appOrigins: [page], test: true, fsync: false, ...options };
  const rig: Rig = {
    service: await startService(settings),
    dataDir,
    async restart() {
      const { servicePort, storagePort } = rig.service;
      await rig.service.close();
      rig.service = await startService({ ...settings, servicePort, storagePort });
    },
    end: () => rig.service.close(),
  };
  return rig;
}

/** A response that was read completely. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked at by the test
  body: any;
}

/** Sends a request as the page would. A `body` that is not a string is sent as JSON. */
export async function ask(
  service: Pick<Service, 'baseUrl'>,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const answer = await fetch(`${service.baseUrl}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      origin: page,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json');
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
}

/** Returns the SHA-256 hash in lower-case hex. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A signed-in user: the token, and functions for the upload operations. */
export interface Person {
  token: string;
  open(file: { name?: string; size: number; folder?: string }): Promise<Answer>;
  presign(passport: string, hashes: unknown): Promise<Answer>;
  commit(passport: string, hashes: string[], receipts: string[], fileHash?: unknown): Promise<Answer>;
  get(path: string): Promise<Answer>;
}

/** Signs a user in with a test token. */
export async function actAs(service: Service, user: string, lifetimeMs?: number): Promise<Person> {
  const { token } = await service.createToken(user, lifetimeMs);
  const bearer = { authorization: `Bearer ${token}` };
  const withPassport = (passport: string): Record<string, string> => ({
    ...bearer,
    'x-service-uploadsession': passport,
  });
  return {
    token,
    open: ({ name = 'a.bin', size, folder = 'folder-a' }) =>
      ask(service, 'POST', '/files/uploadsession', {
        headers: bearer,
        body: { parent_id: folder, file_name: name, file_size: size },
      }),
    presign: (passport, hashes) =>
      ask(service, 'POST', '/files/uploadsession/chunks', {
        headers: withPassport(passport),
        body: { hashes },
      }),
    commit: (passport, hashes, receipts, fileHash) =>
      ask(service, 'POST', '/files/uploadsession/commit', {
        headers: withPassport(passport),
        body: { hashes, receipts, file_hash: fileHash },
      }),
    get: (path) => ask(service, 'GET', path, { headers: bearer }),
  };
}

/** Sends bytes to a presigned URL. */
export function put(url: string, bytes: Uint8Array): Promise<Response> {
  return fetch(url, {
    method: 'PUT',
    body: bytes as Uint8Array<ArrayBuffer>,
    headers: { origin: page },
  });
}

/** A session whose chunks are presigned. */
export interface StartedUpload {
  passport: string;
  sessionId: string;
  chunks: Uint8Array[];
  hashes: string[];
  receipts: string[];
  urls: (string | undefined)[];
}

/** Returns random bytes in chunks of the given lengths. */
export function randomChunks(...sizes: number[]): Uint8Array[] {
  return sizes.map((size) => randomBytes(size));
}

/** Opens a session for `chunks` and presigns all of them. */
export async function begin(
  person: Person,
  chunks: Uint8Array[],
  file: { name?: string; folder?: string } = {},
): Promise<StartedUpload> {
  const size = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  const opened = await person.open({ ...file, size });
  const passport = opened.headers.get('x-service-uploadsession') ?? '';
  const hashes = chunks.map(hashOf);
  const entries = hashes.length > 0 ? (await person.presign(passport, hashes)).body.chunks : {};
  return {
    passport,
    sessionId: opened.body.session_id,
    chunks,
    hashes,
    receipts: hashes.map((hash) => entries[hash].receipt),
    urls: hashes.map((hash) => entries[hash].upload_url),
  };
}

/** Uploads and commits `chunks`. Returns the response to the commit. */
export async function upload(
  person: Person,
  chunks: Uint8Array[],
  file: { name?: string; folder?: string } = {},
): Promise<Answer> {
  const { passport, hashes, receipts, urls } = await begin(person, chunks, file);
  for (const [index, url] of urls.entries()) {
    if (url) await put(url, chunks[index] ?? new Uint8Array());
  }
  return person.commit(passport, hashes, receipts);
}

/**
 * Lets appending to a file fail if its text matches, as on a disk without space. Chunks, which are not text, fail if it matches
 * `''`. Returns a function that ends this.
 */
export async function fillDisk(
  code: 'ENOSPC' | 'EDQUOT' = 'ENOSPC',
  matches: (text: string) => boolean = () => true,
): Promise<() => void> {
  const file = await open(fileURLToPath(import.meta.url));
  const prototype = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const mocks = (['appendFile', 'writev'] as const).map((name) => {
    const write = prototype[name] as (...args: unknown[]) => Promise<unknown>;
    return mock.method(prototype, name, async function (this: FileHandle, ...args: unknown[]) {
      if (matches(name === 'appendFile' ? String(args[0]) : ''))
        throw Object.assign(new Error('no space'), { code });
      return write.apply(this, args);
    });
  });
  // The service reports such errors.
  const report = mock.method(console, 'error', () => undefined);
  return () => {
    for (const each of [...mocks, report]) each.mock.restore();
  };
}
