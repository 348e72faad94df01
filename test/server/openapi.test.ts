// docs/openapi.json: is a valid document, and describes what the reference service and the example for S3 receive and send. A proxy
// in front of each records the requests of `conform`, and some that `conform` does not send.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { failuresOf, runConform } from '../support/conform.ts';
import { type FakeStore, startFakeStore } from '../support/fake-store.ts';
import { type FaultyServer, type Passing, startFaultyServer } from '../support/mutant-proxy.ts';
import { closed, Description, walk } from '../support/openapi.ts';
import { copyExample, PAGE, type RunningExample, startExample, TOKEN } from '../support/service-s3.ts';
import { BATCH, delayInBatches, uploadInBatches } from './batches.ts';
import { challenge, login, redeem } from './sign-in-steps.ts';
import {
  type Answer,
  actAs,
  ask,
  begin,
  fillDisk,
  hashOf,
  page,
  randomChunks,
  startRig,
  upload,
} from './support.ts';

const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text);
const description = new Description(document);
const SESSION = '/files/uploadsession';
const COMMIT = `${SESSION}/commit`;
const UPLOADS = ['openSession', 'presignChunks', 'commitSession', 'cancelSession', 'sendBatch'];

/** Statuses that no exchange here has: they need thousands of requests, or a database that can't be reached or is full. */
const UNSEEN = [
  ...['presignChunks 429', 'commitSession 429', 'cancelSession 429', 'sendBatch 429'],
  ...['openSession 503', 'cancelSession 503', 'sendBatch 503', 'sendBatch 507', 'commitSession 202'],
];
/** Fields that no accepted exchange here has. No service sends the first one. */
const UNSENT = [
  '/components/schemas/Entry method',
  // Needs a passkey.
  '/components/schemas/ChallengeRequest credential',
  // The object may have any other field, too.
  '/components/schemas/BatchFile/allOf/1 sizes',
];

const exchanges: Passing[] = [];

async function startProxy(): Promise<{ proxy: FaultyServer; seen: Passing[] }> {
  const [proxy, seen] = [await startFaultyServer(), [] as Passing[]];
  proxy.mutation = {
    after: (passing) => {
      seen.push(passing);
      exchanges.push(passing);
    },
  };
  return { proxy, seen };
}

function assertDescribed(seen: readonly Passing[], ids: readonly string[]): void {
  const strict = new Description(closed(document));
  assert.deepEqual([...new Set(seen.flatMap((passing) => strict.problemsOf(passing)))], []);
  const isOk = ({ response: { status } }: Passing): boolean => status >= 200 && status < 300;
  const accepted = new Set(seen.filter(isOk).map((passing) => description.operationOf(passing)?.id));
  assert.deepEqual(
    ids.filter((id) => !accepted.has(id)),
    [],
  );
}

describe('docs/openapi.json', () => {
  test('has references that lead to something, and no part without a reference', () => {
    assert.match(document.openapi, /^3\.1\.\d+$/);
    const used = new Set<string>();
    walk(document, ({ $ref }) => {
      if (typeof $ref !== 'string') return;
      assert.match($ref, /^#\/components\//);
      description.at($ref.slice(1));
      used.add($ref.slice(1));
    });
    const parts = Object.entries(document.components as Record<string, object>).flatMap(([kind, list]) =>
      kind === 'securitySchemes' ? [] : Object.keys(list).map((name) => `/components/${kind}/${name}`),
    );
    assert.deepEqual(
      parts.filter((part) => !used.has(part)),
      [],
    );
  });

  test('has schemas that compile', () => {
    const pointers: string[] = [];
    walk(document, (_node, pointer) => {
      if (/^\/components\/schemas\/[^/]+$|\/schema$/.test(pointer)) pointers.push(pointer);
    });
    assert.ok(pointers.length > 30, `${pointers.length} schemas`);
    for (const pointer of pointers) description.validatorAt(pointer);
    walk(document, ({ 'x-project-only': fields, properties }, pointer) => {
      if (!Array.isArray(fields)) return;
      for (const name of fields) assert.ok(Object.hasOwn(properties as object, name), `${pointer} ${name}`);
    });
  });

  test('has operations with different ids, a summary, and responses with descriptions', () => {
    const { operations } = description;
    assert.equal(new Set(operations.map(({ id }) => id)).size, operations.length);
    for (const { id, node, pointer } of operations) {
      assert.ok(node.summary, id);
      const statuses = Object.keys(node.responses as object);
      assert.ok(statuses.some((status) => status.startsWith('2')));
      for (const status of statuses) {
        const place = `${pointer}/responses/${status}`;
        assert.ok(description.at(place).node.description, place);
      }
      for (const [scheme] of ((node.security ?? document.security) as object[]).map(Object.keys))
        assert.ok(document.components.securitySchemes[String(scheme)], id);
    }
  });
});

type Rig = Awaited<ReturnType<typeof startRig>>;

/** Takes all methods of the second step, and signs in, redeems the code and signs out. */
async function signIn({ service }: Rig): Promise<void> {
  const enter = (name: string): Promise<Answer> =>
    login(service, `${name}@example.com`, service.seed.password);
  const step = (from: Answer, action: string, method: string, code?: string): Promise<Answer> =>
    ask(service, 'POST', '/auth/challenge', {
      body: { challenge_token: from.body.challenge_token, action, method, code },
    });
  const code = await service.people.totp('tom');
  const first = await enter('tom');
  const wrong = await step(first, 'answer', 'totp', '000000');
  assert.equal(wrong.status, 401);
  assert.equal((await step(wrong, 'answer', 'totp', code)).status, 200);
  assert.equal((await step(first, 'answer', 'totp', code)).status, 410);
  for (const method of ['email', 'sms', 'recovery']) await step(await enter('mia'), 'start', method);
  await step(await step(await enter('paul'), 'start', 'push'), 'poll', 'push');
  await step(await enter('petra'), 'start', 'passkey');
  assert.equal((await login(service, 'alice@example.com', 'wrong')).status, 401);
  const body = { idp_id: 'local', email: 'alice@example.com', password: service.seed.password };
  const signedIn = await ask(service, 'POST', '/auth/login', {
    body: { ...body, code_challenge: challenge },
  });
  assert.equal((await redeem(service, signedIn.body.code)).status, 200);
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  assert.equal((await ask(service, 'POST', '/auth/logout', { headers: { cookie } })).status, 204);
}

/** Sends to each operation of sign-in what it refuses. */
async function signInWrong({ service }: Rig): Promise<void> {
  for (const path of ['/auth/token', '/auth/login', '/auth/challenge', '/auth/logout']) {
    const post = async (headers: Record<string, string>, body?: unknown): Promise<number> =>
      (await ask(service, 'POST', path, { headers, body })).status;
    assert.equal(await post({ origin: 'https://evil.example' }), 403);
    if (path === '/auth/logout') continue;
    assert.equal(await post({}, {}), 400);
    assert.equal(await post({}, { more: 'x'.repeat(2 ** 15) }), 413);
    assert.equal(await post({ 'content-type': 'text/plain' }, '{}'), 415);
  }
}

/** Sends to each operation of an upload what it refuses. */
async function uploadWrong({ service }: Rig): Promise<void> {
  const [alice, vic] = [await actAs(service, 'alice'), await actAs(service, 'vic')];
  const bearer = { authorization: `Bearer ${alice.token}` };
  assert.equal((await vic.open({ size: 1, folder: 'folder-b' })).status, 403);
  assert.equal((await vic.open({ size: 2 ** 21, folder: 'folder-small' })).status, 413);
  const named = { name: 'taken.bin', folder: 'folder-unique' };
  assert.equal((await upload(alice, randomChunks(10), named)).status, 200);
  assert.equal((await alice.open({ ...named, size: 1 })).status, 409);
  assert.equal((await ask(service, 'DELETE', SESSION, { headers: bearer })).status, 400);

  const [chunk = new Uint8Array()] = randomChunks(10);
  const { passport, hashes, receipts } = await begin(alice, [chunk]);
  const header = { ...bearer, 'x-service-uploadsession': passport };
  for (const path of [SESSION, `${SESSION}/chunks`, COMMIT, BATCH]) {
    const headers = { ...header, 'content-type': 'text/plain' };
    assert.equal((await ask(service, 'POST', path, { headers, body: '{}' })).status, 415);
  }
  assert.equal((await alice.presign(passport, Array(101).fill(hashOf(chunk)))).status, 413);
  const many = Array(20_001).fill(hashOf(chunk));
  assert.equal((await alice.commit(passport, many, [])).status, 413);
  await alice.presign(passport, hashes);
  assert.equal((await alice.commit(passport, hashes, receipts)).status, 409);

  const whole = await begin(alice, [chunk], { name: 'hashed.bin' });
  await fetch(String(whole.urls[0]), { method: 'PUT', body: chunk as Uint8Array<ArrayBuffer> });
  const commit = async (fileHash: string): Promise<number> =>
    (await alice.commit(whole.passport, whole.hashes, whole.receipts, fileHash)).status;
  assert.deepEqual([await commit(hashOf(new Uint8Array())), await commit(hashOf(chunk))], [422, 200]);
  const finished = { ...bearer, 'x-service-uploadsession': whole.passport };
  assert.equal((await ask(service, 'DELETE', SESSION, { headers: finished })).status, 409);
  const old = await begin(alice, [chunk]);
  const over = { ...bearer, 'x-service-uploadsession': old.passport };
  service.clock.shift(8 * 86_400_000);
  const again = { authorization: `Bearer ${(await actAs(service, 'alice')).token}` };
  assert.equal((await ask(service, 'DELETE', SESSION, { headers: { ...over, ...again } })).status, 410);
}

/** Opens and cancels an upload on a full disk. */
async function fill({ service }: Rig): Promise<void> {
  const alice = await actAs(service, 'alice');
  const { passport } = await begin(alice, randomChunks(10));
  const headers = { authorization: `Bearer ${alice.token}`, 'x-service-uploadsession': passport };
  const empty = await fillDisk();
  const { status: opened } = await alice.open({ size: 1 });
  const { status: canceled } = await ask(service, 'DELETE', SESSION, { headers });
  empty();
  assert.deepEqual([opened, canceled], [507, 507]);
}

/** Sends more requests than the limits allow. */
async function exceed({ service }: Rig): Promise<void> {
  for (const path of ['/auth/token', '/auth/login', '/auth/challenge']) {
    const send = (): Promise<Answer> => ask(service, 'POST', path, { body: {} });
    for (let status = 400, count = 0; status !== 429; count += 1) {
      assert.ok(count < 20, path);
      ({ status } = await send());
    }
  }
}

test('docs/openapi.json describes the reference service', async () => {
  const { proxy, seen } = await startProxy();
  const publicUrls = { service: proxy.origin };
  const rig = await startRig({ publicUrls, batches: true });
  const strict = await startRig({ publicUrls, rateLimit: { requests: 1, windowMs: 60_000 } });
  try {
    proxy.target = `http://127.0.0.1:${rig.service.servicePort}`;
    const [own, other] = [await rig.service.createToken('alice'), await rig.service.createToken('tom')];
    const report = await runConform({
      ...{ 'base-url': proxy.origin, 'parent-id': 'folder-a', origin: page },
      ...{ token: own.token, 'second-token': other.token, 'commit-path': COMMIT, 'cancel-path': SESSION },
    });
    assert.deepEqual(failuresOf(report), []);
    await signIn(rig);
    await signInWrong(rig);
    await fill(rig);
    await uploadInBatches(proxy.origin, page, own.token, ({ passport }) => passport);
    await delayInBatches(rig, proxy.origin, own.token);
    await uploadWrong(rig);
    proxy.target = `http://127.0.0.1:${strict.service.servicePort}`;
    await exceed(strict);
    assertDescribed(
      seen,
      description.operations.map(({ id }) => id),
    );
  } finally {
    await Promise.all([rig.end(), strict.end(), proxy.close()]);
  }
});

describe('docs/openapi.json describes the example for S3', () => {
  let store: FakeStore;
  let example: RunningExample;
  let proxy: FaultyServer;
  let seen: Passing[];
  before(async () => {
    store = await startFakeStore(PAGE);
    example = await startExample('hono', { S3_ENDPOINT: store.origin });
    ({ proxy, seen } = await startProxy());
    proxy.target = example.baseUrl;
  });
  after(() => Promise.all([example.stop(), store.close(), proxy.close()]));

  const send = (method: string, path: string, session: string, body?: object): Promise<Answer> =>
    ask({ baseUrl: proxy.origin }, method, path, {
      headers: { origin: PAGE, authorization: `Bearer ${TOKEN}`, 'x-service-uploadsession': session },
      body,
    });
  test('and the requests of conform', async () => {
    const report = await runConform({
      ...{ 'base-url': proxy.origin, 'parent-id': 'folder-a', origin: PAGE, token: TOKEN },
      ...{ 'commit-path': COMMIT, 'cancel-path': SESSION },
    });
    // This store doesn't check signatures.
    assert.deepEqual(
      failuresOf(report).filter((failure) => !/^put-|^presign-signed/.test(failure)),
      [],
    );
    await uploadInBatches(proxy.origin, PAGE, TOKEN, ({ session_id: id }) => id);
    assertDescribed(seen, UPLOADS);
  });

  test('while the store is full, or can’t be reached', async () => {
    const hashes = [hashOf(new Uint8Array())];
    for (const [fault, expected] of [
      [507, 507],
      [403, 503],
    ] as const) {
      store.fault = () => undefined;
      const file = { parent_id: 'folder-a', file_name: 'a', file_size: 9 };
      const { session_id: session } = (await send('POST', SESSION, '', file)).body;
      const presign = (): Promise<Answer> =>
        send('POST', `${SESSION}/chunks`, session, { hashes, sizes: [9] });
      const { body } = await presign();
      store.fault = ({ purpose }) => (purpose === 'chunk' ? undefined : { status: fault });
      const receipts = hashes.map((hash) => body.chunks[hash].receipt);
      const commit = async (): Promise<number> =>
        (await send('POST', COMMIT, session, { hashes, receipts })).status;
      assert.equal((await presign()).status, expected);
      assert.deepEqual([await commit(), await commit()], [expected, expected]);
    }
    store.fault = () => undefined;
    assertDescribed(seen, UPLOADS);
  });

  test('when a user may not upload at all', async (t) => {
    const hooks = `export const authorize = () => 403;
export const [refuse, onCompleted] = [() => undefined, () => undefined];`;
    const other = await startExample('hono', { S3_ENDPOINT: store.origin }, { folder: copyExample(hooks) });
    t.after(() => other.stop());
    proxy.target = other.baseUrl;
    const { status } = await send('POST', BATCH, '', { open: [{}] });
    proxy.target = example.baseUrl;
    assert.equal(status, 403);
    assertDescribed(seen, UPLOADS);
  });

  test('when a user starts too many bytes in a day', async () => {
    const file = { parent_id: 'folder-a', file_name: 'a', file_size: 50 * 2 ** 30 };
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 20) {
      const { status, body } = await send('POST', SESSION, '', file);
      statuses.push(status);
      // Otherwise, the unfinished files reach the limit of their bytes first.
      if (status === 201) await send('DELETE', SESSION, body.session_id);
    }
    assert.equal(statuses.at(-1), 429, `${statuses}`);
    assertDescribed(seen, UPLOADS);
  });
});

describe('The exchanges with both services', () => {
  test('have all statuses that docs/openapi.json describes', () => {
    const seen = new Set(
      exchanges.map((passing) => `${description.operationOf(passing)?.id} ${passing.response.status}`),
    );
    const described = description.operations.flatMap(({ id, node }) =>
      Object.keys(node.responses as object).map((status) => `${id} ${status}`),
    );
    assert.deepEqual(described.filter((each) => !seen.has(each)).sort(), [...UNSEEN].sort());
  });

  test('have all headers that it describes', () => {
    const described = new Set<string>();
    const seen = new Set<string>();
    for (const { response, ...passing } of exchanges) {
      const operation = description.operationOf({ ...passing, response });
      if (!operation) continue;
      const { node } = description.at(`${operation.pointer}/responses/${response.status}`);
      for (const name of Object.keys(node.headers ?? {})) {
        described.add(`${operation.id} ${response.status} ${name}`);
        if (name.toLowerCase() in response.headers) seen.add(`${operation.id} ${response.status} ${name}`);
      }
    }
    assert.ok(described.size > 8, `${described.size} headers`);
    assert.deepEqual(seen, described);
  });

  test('show each wrong field name in docs/openapi.json', () => {
    const missed: string[] = [];
    walk(document, ({ properties }, pointer) => {
      for (const name of Object.keys(properties ?? {})) {
        const wrong = structuredClone(document);
        const { node } = new Description(wrong).at(pointer);
        const { properties: fields, required } = node as { properties: object; required?: string[] };
        const entries = Object.entries(fields).map(([key, value]) => [key === name ? `${key}x` : key, value]);
        Object.assign(node, { properties: Object.fromEntries(entries) });
        if (required)
          Object.assign(node, { required: required.map((key) => (key === name ? `${key}x` : key)) });
        const strict = new Description(closed(wrong));
        if (!exchanges.some((passing) => strict.problemsOf(passing).length > 0))
          missed.push(`${pointer} ${name}`);
      }
    });
    assert.deepEqual(missed.sort(), [...UNSENT].sort());
  });
});
