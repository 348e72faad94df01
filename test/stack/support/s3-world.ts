// The example for S3 with Ceph RGW in the place of the reference service, for the journeys of test/e2e. The gates of the reference
// service are in front of both, for faults and log.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { createClock } from '../../../demo/server/clock.ts';
import { createFaults, type Fault } from '../../../demo/server/faults.ts';
import { createNetwork } from '../../../demo/server/network.ts';
import type { ServiceOptions } from '../../../demo/server/options.ts';
import type { Env, Parts, StoredFile } from '../../../demo/server/parts.ts';
import { attach, closeServer, listen } from '../../../demo/server/ports.ts';
import { createGate } from '../../../demo/server/request-gate.ts';
import type { Service } from '../../../demo/server/server.ts';
import { createStorageGate } from '../../../demo/server/storage-gate.ts';
import type { Answer } from '../../../demo/server/storage-server.ts';
import { copyExample, createBucket, SETTINGS, startExample } from '../../support/service-s3.ts';
import { startDatabase } from './database.ts';
import { replace } from './stack.ts';
import { startStore } from './store.ts';

/** Sets what the example needs, before the element is defined. */
export const PROFILE_SCRIPT = `{
  const element = document.querySelector('secure-uploader');
  element.profile = { sendSizes: true };
  element.setAttribute('cancel-path', '/files/uploadsession');
}`;

const OPTIONS = ['appOrigins', 'publicUrls'];
/** Options that change nothing here. */
const IGNORED = ['dataDir', 'test', 'fsync', 'loginScript'];
/** Fields of faults that need the seal or the tables of the reference service. */
const UNSUPPORTED = ['expireTickets', 'wrongTicket', 'pending'] as const;

const { WORLD = '' } = process.env;
assert.match(WORLD, /^(memory|PostgreSQL)$/);

const unsupported = (what: string): never => {
  throw new Error(`not with WORLD=${WORLD}: ${what}`);
};

/** Starts Ceph RGW, the example, and the gates. */
export async function startS3Service(options: ServiceOptions): Promise<Service> {
  for (const name of Object.keys(options))
    if (![...OPTIONS, ...IGNORED].includes(name)) unsupported(`the option ${name}`);
  const ends: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    return Object.assign(await startBehindGates(options, ends), { close });
  } catch (error) {
    await close();
    throw error;
  }
}

async function startBehindGates(
  { appOrigins, publicUrls }: ServiceOptions,
  ends: (() => unknown)[],
): Promise<Omit<Service, 'close'>> {
  const store = await startStore(1);
  ends.push(store.stop);
  const { S3_ENDPOINT = '' } = store.settings;
  const folder = copyExample(readFileSync(new URL('any-user.ts', import.meta.url), 'utf8'));
  // The journeys have chunks of 64 KiB.
  replace(join(folder, 'files.ts'), 'MIN_PART_BYTES = 5 * 2 ** 20', 'MIN_PART_BYTES = 1');
  const ASSEMBLED = join(folder, 'assembled');
  writeFileSync(ASSEMBLED, '');
  const settings = { ...SETTINGS, ...store.settings, ASSEMBLED, PAGE_ORIGIN: appOrigins[0] };
  if (WORLD === 'PostgreSQL') {
    const database = await startDatabase();
    ends.push(database.stop);
    Object.assign(settings, { DATABASE_URL: database.url });
  }
  await createBucket(settings, folder);
  const example = await startExample('hono', settings, { folder });
  ends.push(() => example.stop());

  const servers = [createServer(), createServer()] as const;
  const [servicePort, storagePort] = [await listen(servers[0], 0), await listen(servers[1], 0)];
  for (const server of servers) ends.push(() => closeServer(server));
  const baseUrl = `http://127.0.0.1:${servicePort}`;
  const storageUrl = publicUrls?.storage ?? `http://127.0.0.1:${storagePort}`;
  const clock = createClock();
  const faults = createFaults();
  const { add, fileNames } = faults;
  faults.add = (fault: Fault) => {
    for (const name of UNSUPPORTED) if (fault[name]) unsupported(`the fault ${name}`);
    return add(fault);
  };
  // What the gates use.
  const parts = {
    clock,
    settings: { appOrigins },
    seal: {
      openPassport: async (sessionId: string) => ({ sessionId, fileName: fileNames.get(sessionId) }),
    },
    tables: { files: { add: unsupported } },
  } as unknown as Parts;
  const network = createNetwork(faults);
  const gate = createGate(parts, faults, network);

  const listFiles = async (folderId?: string): Promise<(StoredFile & { key: string })[]> => {
    const lines = readFileSync(ASSEMBLED, 'utf8').split('\n').filter(Boolean);
    // A file that was assembled again has several lines.
    const files = new Map(lines.map((line) => JSON.parse(line)).map((file) => [file.id, file]));
    return [...files.values()].filter((file) => folderId === undefined || file.folder === folderId);
  };
  async function open(fileId: string): Promise<ReadableStream<Uint8Array>> {
    const file = (await listFiles()).find(({ id }) => id === fileId);
    const { ok, body } = await store.ask(`/${file?.key}`);
    if (!ok || !body) throw new Error(`no such file: ${fileId}`);
    return body;
  }
  async function* readFile(fileId: string): AsyncGenerator<Uint8Array> {
    yield* await open(fileId);
  }

  /** Sends a request to the example. Changes presigned URLs so that they lead to the gate and name the session. */
  async function callExample(c: Context<Env>): Promise<Response> {
    const { method, headers: given } = c.req.raw;
    const headers = new Headers(given);
    for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) headers.delete(name);
    const [, expiresAt] = headers.get('authorization')?.split('.') ?? [];
    if (Number(expiresAt) <= clock.now()) headers.delete('authorization');
    const body = method === 'POST' ? await c.req.raw.arrayBuffer() : null;
    const response = await fetch(example.baseUrl + c.req.path, { method, headers, body });
    const session = headers.get('x-service-uploadsession');
    const text = (await response.text()).replace(
      /"upload_url":"[^"]+/g,
      (url) => `${url.replace(`${S3_ENDPOINT}/uploads`, storageUrl)}&session=${session}`,
    );
    const own = new Headers(response.headers);
    for (const name of ['connection', 'keep-alive', 'content-length', 'transfer-encoding']) own.delete(name);
    return new Response(text || null, { status: response.status, headers: own });
  }

  /** Sends a request to the store, for the host that is signed. */
  async function callStore(
    _: Parts,
    { url = '', method, headers }: IncomingMessage,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<Answer> {
    const target = new URL(`${S3_ENDPOINT}/uploads${url.replace(/&session=[^&]*$/, '')}`);
    const outgoing = send(target, { method, headers: { ...headers, host: target.host } });
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    answered.catch(() => undefined);
    await pipeline(bytes, outgoing);
    const [response] = await answered;
    let body = '';
    for await (const part of response.setEncoding('utf8')) body += part;
    const { connection: _c, 'transfer-encoding': _t, ...own } = response.headers;
    return { status: response.statusCode ?? 0, headers: own as Record<string, string>, body };
  }

  const app = new Hono<Env>();
  app.use('*', gate.outside);
  // For the responses of faults.
  app.use('*', async (c, next) => {
    await next();
    c.res.headers.set('access-control-allow-origin', appOrigins[0] ?? '');
    c.res.headers.set('access-control-expose-headers', 'Retry-After, Date, WWW-Authenticate');
  });
  app.use('*', gate.inside);
  // Downloads are not part of the example.
  app.get('/files/:id', async (c) => new Response(await open(c.req.param('id'))));
  app.all('*', callExample);
  attach(servers[0], getRequestListener(app.fetch, { overrideGlobalObjects: false }), baseUrl);
  attach(servers[1], createStorageGate(parts, faults, network, callStore), storageUrl);

  return {
    ...{ baseUrl, storageUrl, servicePort, storagePort, faults, log: faults.log, clock, listFiles, readFile },
    get people() {
      return unsupported('people');
    },
    get seed() {
      return unsupported('seed');
    },
    allowOrigin: () => unsupported('allowOrigin'),
    async createToken(user, lifetimeMs = 900_000) {
      const expiresAt = clock.now() + lifetimeMs;
      const token = `${user}.${expiresAt}.${randomUUID()}`;
      return { token, expires_at: new Date(expiresAt).toISOString() };
    },
  };
}
