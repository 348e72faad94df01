// Sends each of the CASES to the reference service and to the example for S3 (with a stand-in for the store), and compares the
// answers with the wanted status and with docs/openapi.json.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { startFakeStore } from '../support/fake-store.ts';
import type { Passing } from '../support/mutant-proxy.ts';
import { closed, Description } from '../support/openapi.ts';
import { PAGE, startExample, TOKEN, VARIANTS } from '../support/service-s3.ts';
import { CASES, type Case, type Known } from './cases.ts';
import { hashOf, page, startRig } from './support.ts';

const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
const description = new Description(closed(JSON.parse(text)));
const SESSION = '/files/uploadsession';
const REQUESTS = {
  open: ['POST', SESSION],
  presign: ['POST', `${SESSION}/chunks`],
  commit: ['POST', `${SESSION}/commit`],
  cancel: ['DELETE', SESSION],
  batch: ['POST', `${SESSION}/batch`],
} as const;
const FILE_BYTES = 9;

interface Service {
  readonly baseUrl: string;
  readonly token: string;
  readonly origin: string;
  close(): Promise<unknown>;
}

async function startReference(): Promise<Service> {
  const { service, end } = await startRig({ batches: true });
  // Has no right to folder-b.
  const { token } = await service.createToken('vic');
  return { baseUrl: service.baseUrl, token, origin: page, close: end };
}

async function startS3(variant: keyof typeof VARIANTS): Promise<Service> {
  const store = await startFakeStore(PAGE);
  const { baseUrl, stop } = await startExample(variant, { S3_ENDPOINT: store.origin });
  return { baseUrl, token: TOKEN, origin: PAGE, close: () => Promise.all([stop(), store.close()]) };
}

interface Sent {
  readonly session?: string;
  readonly token?: string;
  readonly body?: unknown;
}

/** Sends a request. Resolves with what was sent and received. */
async function send(service: Service, call: Case['call'], { session, token, body }: Sent): Promise<Passing> {
  const [method, path] = REQUESTS[call];
  const given = token ?? service.token;
  const headers = {
    origin: service.origin,
    ...(given && { authorization: `Bearer ${given}` }),
    ...(session !== undefined && { 'x-service-uploadsession': session }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const sent = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(service.baseUrl + path, {
    method,
    headers,
    ...(sent !== undefined && { body: sent }),
  });
  return {
    ...{ method, path, headers, body: Buffer.from(sent ?? '') },
    response: {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
    },
  };
}
// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked at by the test
const bodyOf = ({ response }: Passing): any => JSON.parse(response.body.toString() || '{}');

/** Does what the stage says. Resolves with the session, and with what is known of it. */
async function reach(service: Service, stage: Case['stage']): Promise<Known & { session: string }> {
  const bytes = randomBytes(FILE_BYTES);
  const hash = hashOf(bytes);
  const open = async (file_size: number): Promise<string> => {
    const opened = await send(service, 'open', {
      body: { parent_id: 'folder-a', file_name: 'a', file_size },
    });
    return String(opened.response.headers['x-service-uploadsession'] ?? bodyOf(opened).session_id);
  };
  const presign = async (
    session: string,
  ): Promise<{ receipt: string; upload_url: string; headers?: object }> =>
    bodyOf(await send(service, 'presign', { session, body: { hashes: [hash], sizes: [FILE_BYTES] } })).chunks[
      hash
    ];
  const { receipt: foreignReceipt } = await presign(await open(FILE_BYTES));
  const session = await open(stage === 'empty' ? 0 : stage === 'short' ? FILE_BYTES + 1 : FILE_BYTES);
  const { receipt, upload_url, headers } =
    stage === 'empty' ? ({ receipt: '' } as never) : await presign(session);
  if (stage === 'stored' || stage === 'short' || stage === 'done') {
    const { status } = await fetch(upload_url, {
      method: 'PUT',
      body: bytes,
      headers: { origin: service.origin, ...headers },
    });
    assert.equal(status, 200);
  }
  if (stage === 'done') {
    const { response } = await send(service, 'commit', {
      session,
      body: { hashes: [hash], receipts: [receipt] },
    });
    assert.equal(response.status, 200);
  }
  if (stage === 'canceled') assert.equal((await send(service, 'cancel', { session })).response.status, 204);
  return { session, hash, receipt, foreignReceipt };
}

/** A case of a file that can also be one of a batch. */
const isForBatch = ({ call, body, token }: Case): boolean =>
  (call === 'open' || call === 'commit') && token === undefined && typeof body !== 'string';
const OPENED = { parent_id: 'folder-a', file_name: 'a', file_size: 1, hashes: [] };
const UNKNOWN = { session: 'unknown', hashes: [], receipts: [] };
/** What else is in the batch. */
const OTHERS = { open: [OPENED, { ...OPENED, file_size: 0 }], commit: [UNKNOWN, UNKNOWN] };

const SERVICES: Record<string, () => Promise<Service>> = { 'the reference service': startReference };
for (const variant of Object.keys(VARIANTS) as (keyof typeof VARIANTS)[])
  SERVICES[`the example for S3 on ${variant}`] = () => startS3(variant);

for (const [name, start] of Object.entries(SERVICES))
  describe(`The cases, with ${name}`, () => {
    let service: Service;
    before(async () => {
      service = await start();
    });
    after(() => service.close());

    const isReference = start === startReference;
    const wantedOf = ({ status }: Case): number =>
      typeof status === 'number' ? status : status[isReference ? 'reference' : 'example'];
    for (const each of CASES) {
      const { what, call, stage, body, token, session, answer } = each;
      const wanted = wantedOf(each);
      test(`${call}: ${what} is a ${wanted}${stage ? ` (${stage})` : ''}`, async () => {
        const known = stage ? await reach(service, stage) : undefined;
        const passing = await send(service, call, {
          ...(token !== undefined && { token }),
          ...(known && { session: session ?? known.session }),
          ...(body !== undefined && { body: typeof body === 'function' ? body(known) : body }),
        });
        const said = bodyOf(passing);
        assert.equal(passing.response.status, wanted, JSON.stringify(said));
        assert.deepEqual(description.problemsOf(passing), []);
        if (wanted >= 400) assert.equal(typeof said.debuginfo, 'string');
        if (wanted === 401) assert.match(passing.response.headers['www-authenticate'] ?? '', /^Bearer/);
        for (const [field, value] of Object.entries((known && answer?.(known)) ?? {}))
          assert.deepEqual(said[field], value);
      });
    }

    for (const each of CASES.filter(isForBatch)) {
      const { what, call, stage, body, session, answer } = each;
      const wanted = wantedOf(each);
      test(`a batch: ${call}: ${what} is a ${wanted}${stage ? ` (${stage})` : ''}`, async () => {
        const known = stage ? await reach(service, stage) : undefined;
        const file = { ...(typeof body === 'function' ? body(known) : body) };
        const isMany = file.hashes?.length > 100;
        // A body that is too long in bytes would break the connection.
        if (isMany) file.hashes = file.hashes.slice(0, 101);
        const [first, last] = OTHERS[call === 'open' ? 'open' : 'commit'];
        const sent =
          call === 'open' ? { ...file, hashes: [] } : { ...file, session: session ?? known?.session };
        const passing = await send(service, 'batch', { body: { [call]: [first, sent, last] } });
        const { answers } = bodyOf(passing);
        assert.equal(passing.response.status, isMany ? 413 : 200);
        assert.deepEqual(description.problemsOf(passing), []);
        if (isMany) return;
        const other = call === 'open' ? 201 : 404;
        assert.deepEqual(
          answers.map(({ status }: { status: number }) => status),
          [other, wanted, other],
        );
        const said = answers[1].body;
        assert.equal(typeof said.debuginfo, wanted >= 400 ? 'string' : 'undefined');
        for (const [field, value] of Object.entries((known && answer?.(known)) ?? {}))
          assert.deepEqual(said[field], value);
      });
    }
  });

test('The cases have different names, and say why the services differ', () => {
  const names = CASES.map(({ call, what, stage }) => `${call} ${what} ${stage}`);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
  for (const { what, status } of CASES)
    if (typeof status !== 'number') assert.ok(status.why && status.reference !== status.example, what);
});
