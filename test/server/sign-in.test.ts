// `/auth/login` exchanges credentials for a session; `/auth/token` exchanges a code for a token.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { authorizePath, getCode, login, redeem, signedIn, verifier } from './sign-in-steps.ts';
import { ask, type Rig, startRig } from './support.ts';

let rig: Rig;
before(async () => {
  rig = await startRig();
});
after(() => rig.end());

test('a code and its verifier give a valid token', async () => {
  const code = await getCode(rig.service);
  const { status, body, headers } = await redeem(rig.service, code);
  assert.equal(status, 200);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.deepEqual(Object.keys(body).sort(), ['device_id', 'expires_at', 'id', 'token']);
  assert.match(body.expires_at, /^\d{4}-\d\d-\d\dT.*Z$/);
  const list = await ask(rig.service, 'GET', '/files?parent_id=folder-a', {
    headers: { authorization: `Bearer ${body.token}` },
  });
  assert.equal(list.status, 200);
});

test('a code that is sent a second time is refused, and the token of the first is revoked', async () => {
  const code = await getCode(rig.service);
  const first = await redeem(rig.service, code);
  const second = await redeem(rig.service, code);
  assert.equal(second.status, 400);
  assert.equal(second.body.error, 'invalid_grant');
  const list = await ask(rig.service, 'GET', '/files?parent_id=folder-a', {
    headers: { authorization: `Bearer ${first.body.token}` },
  });
  assert.equal(list.status, 401);
});

test('a second use of a code revokes the token of the first, also after the time of the code', async () => {
  const code = await getCode(rig.service);
  const { body } = await redeem(rig.service, code);
  const headers = { authorization: `Bearer ${body.token}` };
  const list = async (): Promise<number> =>
    (await ask(rig.service, 'GET', '/files?parent_id=folder-a', { headers })).status;
  rig.service.clock.shift(60_001);
  assert.equal(await list(), 200);
  assert.equal((await redeem(rig.service, code)).status, 400);
  assert.equal(await list(), 401);
  rig.service.clock.shift(-60_001);
});

test('a code exchanged twice at the same time gives at most one response, and no valid token', async () => {
  const code = await getCode(rig.service);
  const answers = await Promise.all([1, 2, 3, 4].map(() => redeem(rig.service, code)));
  const good = answers.filter(({ status }) => status === 200);
  assert.equal(good.length, 1);
  const list = await ask(rig.service, 'GET', '/files?parent_id=folder-a', {
    headers: { authorization: `Bearer ${good[0]?.body.token}` },
  });
  assert.equal(list.status, 401);
});

test('a wrong verifier burns the code', async () => {
  const code = await getCode(rig.service);
  assert.equal((await redeem(rig.service, code, 'x'.repeat(43))).status, 400);
  assert.equal((await redeem(rig.service, code)).status, 400);
});

test('a code ends after a minute', async () => {
  const code = await getCode(rig.service);
  rig.service.clock.shift(60_001);
  assert.equal((await redeem(rig.service, code)).status, 400);
  rig.service.clock.shift(-60_001);
});

test('the token operation takes exactly a code and a verifier, as JSON', async () => {
  const code = await getCode(rig.service);
  for (const body of [
    {},
    { code },
    { code: 5, code_verifier: verifier },
    { code, code_verifier: verifier, x: 1 },
  ]) {
    const answer = await ask(rig.service, 'POST', '/auth/token', { body });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.error, 'invalid_request');
  }
  const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `code=${code}` };
  assert.equal((await ask(rig.service, 'POST', '/auth/token', form)).status, 415);
  const foreign = { headers: { origin: 'http://evil.test' }, body: { code, code_verifier: verifier } };
  assert.equal((await ask(rig.service, 'POST', '/auth/token', foreign)).status, 403);
  assert.equal((await redeem(rig.service, code)).status, 200, 'none of these touched the code');
});

test('too many token requests get 429 and a delay, and leave the code unused', async () => {
  const other = await startRig({ rateLimit: { requests: 10, windowMs: 60_000 } });
  const code = await getCode(other.service);
  for (let count = 0; count < 10; count += 1) assert.equal((await redeem(other.service, 'x')).status, 400);
  const limited = await redeem(other.service, code);
  assert.equal(limited.status, 429);
  const waitS = Number(limited.headers.get('retry-after'));
  assert.ok(waitS > 0 && waitS <= 60);
  assert.match(limited.headers.get('access-control-expose-headers') ?? '', /Retry-After/);
  const elsewhere = await ask(other.service, 'POST', '/auth/token', {
    headers: { origin: other.service.baseUrl },
    body: { code: 'x', code_verifier: 'y' },
  });
  assert.equal(elsewhere.status, 400, 'another origin has a limit of its own');
  other.service.clock.shift(waitS * 1000);
  assert.equal((await redeem(other.service, code)).status, 400, 'by now the code has expired');
  assert.equal((await redeem(other.service, await getCode(other.service))).status, 200);
  await other.end();
});

test('login sets a cookie that scripts cannot read, a new one each time', async () => {
  const { email } = { email: 'alice@example.com' };
  const first = await login(rig.service, email, rig.service.seed.password);
  assert.deepEqual(first.body, {
    status: 'ok',
    next_step: 'authorize',
    challenge_token: '',
    available_methods: [],
  });
  const set = first.headers.get('set-cookie') ?? '';
  assert.match(set, /^su_session=[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; SameSite=Lax$/);
  assert.equal(first.headers.get('access-control-allow-credentials'), 'true');
  const cookie = set.split(';')[0] ?? '';
  const second = await login(rig.service, email, rig.service.seed.password, { cookie });
  assert.notEqual(second.headers.get('set-cookie')?.split(';')[0], cookie);
  const path = authorizePath({ prompt: 'none' });
  const old = await ask(rig.service, 'GET', path, { headers: { cookie } });
  assert.match(old.headers.get('location') ?? '', /login_required/);
});

test('a service of another site marks its cookie for partitioned use', async () => {
  const other = await startRig({ cookie: 'cross-site' });
  const { headers } = await login(other.service, 'alice@example.com', other.service.seed.password);
  const set = headers.get('set-cookie') ?? '';
  assert.match(set, /Secure/);
  assert.match(set, /SameSite=None/);
  assert.match(set, /Partitioned/);
  await other.end();
});

test('an unknown user and a wrong password get the same response, and the same lock', async () => {
  const other = await startRig();
  for (const email of ['vic@example.com', 'nobody@example.com']) {
    for (let count = 0; count < 5; count += 1) {
      const { status, body } = await login(other.service, email, 'wrong');
      assert.equal(status, 401);
      assert.equal(body.status, 'denied');
    }
    const locked = await login(other.service, email, other.service.seed.password);
    assert.equal(locked.status, 401);
    assert.equal(locked.body.status, 'locked');
  }
  assert.equal((await login(other.service, 'alice@example.com', other.service.seed.password)).status, 200);
  other.service.clock.shift(60_000);
  assert.equal((await login(other.service, 'vic@example.com', other.service.seed.password)).status, 200);
  await other.end();
});

test('login is for listed pages, in JSON, with an identity provider that exists', async () => {
  const { password } = rig.service.seed;
  const stranger = await login(rig.service, 'alice@example.com', password, { origin: 'http://evil.test' });
  assert.equal(stranger.status, 403);
  assert.equal(stranger.headers.get('set-cookie'), null);
  const elsewhere = { idp_id: 'nowhere', email: 'alice@example.com', password };
  assert.equal((await ask(rig.service, 'POST', '/auth/login', { body: elsewhere })).status, 400);
  const form = { headers: { 'content-type': 'text/plain' }, body: JSON.stringify(elsewhere) };
  assert.equal((await ask(rig.service, 'POST', '/auth/login', form)).status, 415);
  for (const body of [{}, { idp_id: 'local' }, { idp_id: 'local', email: [], password }, '[]', 'x']) {
    assert.equal((await ask(rig.service, 'POST', '/auth/login', { body })).status, 400);
  }
});

test('no token, code or cookie is readable in the state on disk', async () => {
  const cookie = await signedIn(rig.service);
  const code = await getCode(rig.service);
  const { body } = await redeem(rig.service, code);
  const state = await readFile(`${rig.dataDir}/state.jsonl`, 'utf8');
  for (const secret of [cookie.split('=')[1] ?? '', code, body.token, rig.service.seed.password]) {
    assert.ok(secret.length > 0 && !state.includes(secret));
  }
});
