// The upload operations refuse invalid requests with a status and a body in the form of the interface, never with a 500.
// cases.ts has what both services must refuse.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { firstSeed } from '../../scripts/scope.mjs';
import { type Answer, actAs, ask, begin, type Person, page, type Rig, startRig, upload } from './support.ts';

let rig: Rig;
let alice: Person;
before(async () => {
  rig = await startRig();
  alice = await actAs(rig.service, 'alice');
});
after(() => rig.end());

const paths = ['/files/uploadsession', '/files/uploadsession/chunks', '/files/uploadsession/commit'];
const bearer = (): Record<string, string> => ({ authorization: `Bearer ${alice.token}` });

function assertRefused(answer: Answer, status: number): void {
  assert.equal(answer.status, status);
  assert.equal(typeof answer.body.debuginfo, 'string');
}

test('every upload operation requires a bearer and says so', async () => {
  const expired = await actAs(rig.service, 'alice', -1);
  const tokens = [
    undefined,
    'Bearer nonsense',
    `Bearer ${'A'.repeat(43)}`,
    `Bearer ${expired.token}`,
    'Basic YTpi',
  ];
  for (const path of [...paths, '/files', '/files/x']) {
    for (const authorization of tokens) {
      const isRead = !path.includes('session');
      const answer = await ask(rig.service, isRead ? 'GET' : 'POST', path, {
        headers: authorization ? { authorization } : {},
        ...(isRead ? {} : { body: {} }),
      });
      assertRefused(answer, 401);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer error="invalid_token"');
    }
  }
});

test('a token ends when it says', async () => {
  const person = await actAs(rig.service, 'alice', 5000);
  assert.equal((await person.open({ size: 1 })).status, 201);
  rig.service.clock.shift(5001);
  assert.equal((await person.open({ size: 1 })).status, 401);
  rig.service.clock.shift(-5001);
});

test('a user without permission in the folder gets 403, in a read-only one too', async () => {
  const vic = await actAs(rig.service, 'vic');
  assertRefused(await vic.open({ size: 1, folder: 'folder-b' }), 403);
  assertRefused(await vic.get('/files?parent_id=folder-b'), 403);
  assertRefused(await alice.open({ size: 1, folder: 'folder-readonly' }), 403);
  assert.equal((await alice.get('/files?parent_id=folder-readonly')).status, 200);
  assert.equal((await vic.open({ size: 1, folder: 'folder-a' })).status, 201);
});

test('a file of a folder without read permission is not served', async () => {
  const vic = await actAs(rig.service, 'vic');
  const { body } = await upload(alice, [new Uint8Array([1, 2, 3])], { folder: 'folder-b' });
  assertRefused(await vic.get(`/files/${body.file_id}`), 403);
  assertRefused(await alice.get('/files/file_nowhere'), 404);
  assertRefused(await alice.get('/files/..%2f..%2fkeys.json'), 404);
});

test('a session header is refused without a token, and with the token of another user', async () => {
  const { passport, hashes } = await begin(alice, [new Uint8Array([1])]);
  const vic = await actAs(rig.service, 'vic');
  assertRefused(await vic.presign(passport, hashes), 403);
  assertRefused(await vic.commit(passport, hashes, ['x']), 403);
  const headers = { authorization: `Bearer ${vic.token}`, 'x-service-uploadsession': passport };
  assertRefused(await ask(rig.service, 'DELETE', '/files/uploadsession', { headers }), 403);
  assert.equal((await alice.presign(passport, hashes)).status, 200, 'the upload continues');
  const alone = await ask(rig.service, 'POST', '/files/uploadsession/chunks', {
    headers: { 'x-service-uploadsession': passport },
    body: { hashes },
  });
  assertRefused(alone, 401);
});

test('a passport that was not sealed here, was changed, or is another token, opens nothing', async () => {
  const { passport, sessionId, hashes, receipts } = await begin(alice, [new Uint8Array([2])]);
  const other = await startRig();
  const strange = (await (await actAs(other.service, 'alice')).open({ size: 1 })).body.passport;
  await other.end();
  const parts = passport.split('.');
  const changed = [
    ...parts.slice(0, 3),
    `${parts[3]?.startsWith('A') ? 'B' : 'A'}${parts[3]?.slice(1)}`,
    parts[4],
  ];
  for (const wrong of [strange, changed.join('.'), sessionId, receipts[0] ?? '', 'x', '....']) {
    assertRefused(await alice.presign(wrong, hashes), 404);
  }
  assertRefused(await alice.presign('', hashes), 400);
});

test('an upload session ends when its time is over', async () => {
  const { passport, hashes } = await begin(alice, [new Uint8Array([3])]);
  rig.service.clock.shift(8 * 24 * 3600_000);
  const later = await actAs(rig.service, 'alice');
  assertRefused(await later.presign(passport, hashes), 410);
  rig.service.clock.shift(-8 * 24 * 3600_000);
});

test('a name is stored in NFC, and counted in bytes', async () => {
  assert.equal((await alice.open({ name: 'é'.repeat(127), size: 1 })).status, 201);
  const { body } = await upload(alice, [], { name: 'e\u0301.txt' });
  assert.equal(body.file_name, '\u00e9.txt');
});

test('a file that is too large for its folder is refused, and one for an unknown folder', async () => {
  assertRefused(await alice.open({ size: 1024 * 1024 + 1, folder: 'folder-small' }), 413);
  assertRefused(await alice.open({ size: 1, folder: 'folder-nowhere' }), 404);
});

test('a body of another type than JSON is refused', async () => {
  const { passport } = await begin(alice, []);
  const headers = { ...bearer(), 'x-service-uploadsession': passport };
  for (const path of paths) {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
      const plain = { headers: { ...headers, 'content-type': type }, body: '{}' };
      assertRefused(await ask(rig.service, 'POST', path, plain), 415);
    }
  }
});

test('a body larger than its operation needs is refused with 413', async () => {
  const { passport } = await begin(alice, []);
  const headers = { ...bearer(), 'x-service-uploadsession': passport };
  const sizes = [20 * 1024, 70 * 1024, 17 * 1024 * 1024];
  for (const [index, path] of paths.entries()) {
    const body = JSON.stringify({ hashes: ['x'.repeat(sizes[index] ?? 0)] });
    assertRefused(await ask(rig.service, 'POST', path, { headers, body }), 413);
  }
});

test('for any JSON, the response is an error in the interface’s form', async () => {
  // The file has bytes, because a commit of an empty file with two empty lists is valid.
  const { passport } = await begin(alice, [new Uint8Array([4])]);
  const headers = { ...bearer(), 'x-service-uploadsession': passport };
  const junk = fc.record(
    {
      parent_id: fc.jsonValue(),
      file_name: fc.jsonValue(),
      file_size: fc.jsonValue(),
      hashes: fc.jsonValue(),
      receipts: fc.jsonValue(),
      ['__proto__']: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const property = fc.asyncProperty(fc.constantFrom(...paths), junk, async (path, body) => {
    const answer = await ask(rig.service, 'POST', path, { headers, body });
    assert.ok([400, 404, 413, 422].includes(answer.status), `${answer.status} for ${JSON.stringify(body)}`);
    assert.equal(typeof answer.body.debuginfo, 'string');
  });
  await fc.assert(property, { numRuns: 150, seed: firstSeed });
});

test('an unknown operation has a different error than a refused one', async () => {
  for (const [method, path] of [['PUT', '/files/uploadsession'] as const, ['GET', '/nothing'] as const]) {
    const answer = await ask(rig.service, method, path);
    assert.equal(answer.status, 404);
    assert.equal(answer.body.error, 'not_found');
    assert.equal(answer.body.debuginfo, undefined);
  }
});

test('listed pages may read responses and the headers that they need; others may not', async () => {
  const ours = await alice.open({ size: 1 });
  assert.equal(ours.headers.get('access-control-allow-origin'), page);
  assert.equal(
    ours.headers.get('access-control-expose-headers'),
    'Retry-After, Date, WWW-Authenticate, x-service-uploadsession',
  );
  assert.equal(ours.headers.get('access-control-allow-credentials'), null);
  assert.match(ours.headers.get('vary') ?? '', /Origin/);
  for (const origin of ['http://evil.test', 'null', `${page}.evil.test`, page.replace('http', 'https')]) {
    const theirs = await ask(rig.service, 'GET', '/files?parent_id=folder-a', {
      headers: { origin, ...bearer() },
    });
    assert.equal(theirs.headers.get('access-control-allow-origin'), null);
  }
});

test('a preflight response lists what is allowed, and may be cached', async () => {
  const preflight = (path: string): Promise<Answer> =>
    ask(rig.service, 'OPTIONS', path, { headers: { 'access-control-request-method': 'POST' } });
  const files = await preflight('/files/uploadsession/chunks');
  assert.equal(files.status, 204);
  assert.equal(files.headers.get('access-control-allow-origin'), page);
  assert.equal(
    files.headers.get('access-control-allow-headers'),
    'content-type, authorization, x-service-uploadsession',
  );
  assert.ok(Number(files.headers.get('access-control-max-age')) > 0);
  for (const path of ['/auth/token', '/auth/login']) {
    assert.equal((await preflight(path)).headers.get('access-control-allow-credentials'), 'true');
  }
});

test('outside test mode there are no faults, no log and no test tokens', async () => {
  const other = await startRig({ test: false });
  for (const path of ['/_test/log', '/_test/faults', '/_test/token']) {
    const answer = await ask(other.service, path.endsWith('log') ? 'GET' : 'POST', path, {
      ...(path.endsWith('log') ? {} : { body: { user: 'alice', operation: 'put' } }),
    });
    assert.equal(answer.status, 404);
  }
  assert.throws(() => other.service.faults.add({ operation: 'put' }));
  await assert.rejects(other.service.createToken('alice'));
  assert.equal(other.service.log.length, 0);
  await other.end();
});
