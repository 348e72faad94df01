// The example with two users, PostgreSQL and Ceph RGW, and clients that can send anything.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request as send } from 'node:http';
import {
  copyExample,
  createBucket,
  type RunningExample,
  SETTINGS,
  startExample,
  TOKEN,
} from '../../support/service-s3.ts';
import { DATABASE_PASSWORD, type RunningDatabase, startDatabase } from './database.ts';
import { type RunningStore, startStore } from './store.ts';

export const MIB = 2 ** 20;
export const SESSION = '/files/uploadsession';
export const COMMIT = `${SESSION}/commit`;
export const CHUNKS = `${SESSION}/chunks`;
export const SECOND_TOKEN = 'another-token-of-32-characters-or-more';
/** The user alice@example.com in keys. */
export const ALICE = 'alice=40example.com';
export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
  /** The response body, if it is JSON. */
  readonly body: Record<string, unknown>;
}

export interface Ticket {
  readonly receipt: string;
  readonly upload_url: string | null;
  readonly headers?: Record<string, string>;
}

/** A chunk with its ticket. */
export interface Chunk {
  readonly bytes: Buffer;
  readonly hash: string;
  readonly ticket: Ticket;
}

interface Request {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Sends a request. Unlike `fetch`, sends any headers, also a false length. */
export async function request(url: string, { method = 'PUT', headers = {}, body = '' }: Request) {
  const length = headers['transfer-encoding'] ? {} : { 'content-length': Buffer.byteLength(body) };
  const sent = send(url, { agent: false, method, headers: { ...length, ...headers } });
  sent.end(body);
  // The server may end the connection before it has read the body.
  sent.once('response', () => sent.on('error', () => undefined));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += part;
  return { status: response.statusCode ?? 0, text, retryAfter: response.headers['retry-after'] };
}

/** Sends a chunk as a browser does, with what is changed. */
export const put = ({ bytes, ticket }: Chunk, { headers, ...change }: Request & { url?: string } = {}) =>
  request(change.url ?? ticket.upload_url ?? '', {
    body: bytes,
    ...change,
    headers: { ...ticket.headers, ...headers },
  });

export class Client {
  readonly #token: string;
  readonly #baseUrl: string;
  readonly #secrets: Set<string>;
  constructor(token: string, baseUrl: string, secrets: Set<string>) {
    this.#token = token;
    this.#baseUrl = baseUrl;
    this.#secrets = secrets;
  }

  async ask(path: string, body: unknown, session = '', change: Request = {}): Promise<Answer> {
    const answer = await request(`${this.#baseUrl}${path}`, {
      method: 'POST',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...change,
      headers: {
        authorization: `Bearer ${this.#token}`,
        'content-type': 'application/json',
        ...(session && { 'x-service-uploadsession': session }),
        ...change.headers,
      },
    });
    const parsed = /^\{.*\}$/s.test(answer.text) ? (JSON.parse(answer.text) as Record<string, unknown>) : {};
    return { ...answer, body: parsed };
  }

  async statusOf(...args: Parameters<Client['ask']>): Promise<number> {
    return (await this.ask(...args)).status;
  }

  async open(sizeBytes: number, name = `${randomBytes(12).toString('hex')}.bin`): Promise<string> {
    const file = { parent_id: SETTINGS.DEMO_FOLDER, file_name: name, file_size: sizeBytes };
    const { status, body } = await this.ask(SESSION, file);
    assert.equal(status, 201);
    const session = String(body.session_id);
    this.#secrets.add(name).add(session);
    return session;
  }

  /** Presigns chunks, and resolves with them in their order. */
  async presign(session: string, ...chunks: readonly Buffer[]): Promise<Chunk[]> {
    const hashes = chunks.map(sha256);
    const sizes = chunks.map(({ length }) => length);
    const { status, text, body } = await this.ask(CHUNKS, { hashes, sizes }, session);
    assert.equal(status, 200, text);
    return chunks.map((bytes, index) => {
      const hash = hashes[index] ?? '';
      const ticket = (body.chunks as Record<string, Ticket>)[hash] as Ticket;
      this.#secrets.add(ticket.receipt);
      const signature = new URL(ticket.upload_url ?? 'none:').searchParams.get('X-Amz-Signature');
      if (signature) this.#secrets.add(signature);
      return { bytes, hash, ticket };
    });
  }

  /** Opens a session for a file of these chunks, and presigns them. */
  async begin(...bytes: readonly Buffer[]): Promise<{ session: string; chunks: Chunk[] }> {
    const session = await this.open(bytes.reduce((sum, { length }) => sum + length, 0));
    return { session, chunks: await this.presign(session, ...bytes) };
  }

  commit(session: string, chunks: readonly Chunk[]): Promise<Answer> {
    const hashes = chunks.map(({ hash }) => hash);
    return this.ask(COMMIT, { hashes, receipts: chunks.map(({ ticket }) => ticket.receipt) }, session);
  }
}

export interface World {
  readonly store: RunningStore;
  readonly database: RunningDatabase;
  readonly example: RunningExample;
  readonly settings: Record<string, string>;
  readonly alice: Client;
  readonly bob: Client;
  /** What no log may have. */
  readonly secrets: Set<string>;
  /** Folder of the example with two users. */
  readonly folder: string;
  client(token: string, baseUrl: string): Client;
  readonly ask: RunningStore['ask'];
  /** Uploads a file of two chunks as Alice, and checks its bytes. Resolves with the keys of its objects. */
  upload(): Promise<string[]>;
  /** Runs hostile requests. Then checks that they have stored only the returned keys, and that a normal upload still works. */
  survives(work: () => Promise<string[] | undefined>): Promise<void>;
  /** Checks that the example has printed lines of JSON only, and nothing secret. */
  assertNoSecrets(): void;
  stop(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    return { ...(await startParts(ends)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(ends: (() => Promise<unknown>)[]): Promise<Omit<World, 'stop'>> {
  const folder = copyExample(readFileSync(new URL('two-users.ts', import.meta.url), 'utf8'));

  const store = await startStore();
  ends.push(store.stop);
  const database = await startDatabase();
  ends.push(database.stop);
  const settings = { ...SETTINGS, ...store.settings, SECOND_TOKEN, DATABASE_URL: database.url };
  await createBucket(settings, folder);
  const example = await startExample('hono', settings, { folder });
  ends.push(example.stop);

  const { S3_SECRET_ACCESS_KEY: secretAccessKey = '', RECEIPT_KEY } = settings;
  const secrets = new Set([
    TOKEN,
    SECOND_TOKEN,
    RECEIPT_KEY,
    secretAccessKey,
    database.url,
    DATABASE_PASSWORD,
  ]);
  const client = (token: string, baseUrl: string): Client => new Client(token, baseUrl, secrets);
  const [alice, bob] = [TOKEN, SECOND_TOKEN].map((token) => client(token, example.baseUrl)) as [
    Client,
    Client,
  ];

  const { ask } = store;
  /** Resolves with the keys of all objects and unfinished uploads. */
  async function list(): Promise<string[]> {
    const texts = await Promise.all(
      ['?max-keys=1000', '?uploads'].map(async (path) => (await ask(path)).text()),
    );
    return texts
      .flatMap((text) => [...text.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key]) => `${key}`))
      .sort();
  }

  async function upload(): Promise<string[]> {
    const bytes = [randomBytes(5 * MIB), randomBytes(17)];
    const { session, chunks } = await alice.begin(...bytes);
    for (const chunk of chunks) assert.equal((await put(chunk)).status, 200);
    const { status, text, body } = await alice.commit(session, chunks);
    assert.equal(status, 200, text);
    const key = await store.keyOfFile(ALICE, body.file_id);
    const stored = await ask(`/${key}`);
    assert.equal(sha256(Buffer.from(await stored.arrayBuffer())), sha256(Buffer.concat(bytes)));
    return [key, ...chunks.map(({ hash }) => `chunks/u-${ALICE}/${hash}`)];
  }

  async function survives(work: () => Promise<string[] | undefined>): Promise<void> {
    const before = await list();
    const after = [...before, ...((await work()) ?? [])];
    assert.deepEqual(await list(), after.sort());
    after.push(...(await upload()));
    assert.deepEqual(await list(), after.sort());
  }
  function assertNoSecrets(): void {
    const output = example.output();
    for (const secret of secrets) assert.ok(!output.includes(secret), `the log has ${secret}`);
    const lines = output.trim().split('\n');
    for (const line of lines) assert.doesNotThrow(() => JSON.parse(line), line);
  }
  const parts = { assertNoSecrets, store, database, example, settings, secrets, folder };
  return { ...parts, alice, bob, client, ask, upload, survives };
}
