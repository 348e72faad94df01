// The session of a browser: the second step on the service's own pages, another identity provider, signing out, the
// partitioned cookie, and the demo page of codes and phones.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { authorizePath, challenge, getCode, login, redeem, signedIn } from './sign-in-steps.ts';
import { type Answer, ask, page, type Rig, startRig } from './support.ts';

const rig: Rig = await startRig();
after(() => rig.end());

/** Creates a browser for one service. The browser keeps cookies and sends forms. */
function createBrowser(): {
  get(url: string): Promise<Response & { text: string }>;
  submit(url: string, fields: Record<string, string>): Promise<Response & { text: string }>;
} {
  const jar = new Map<string, string>();
  const send = async (url: string, init: RequestInit): Promise<Response & { text: string }> => {
    const full = new URL(url, rig.service.baseUrl);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie && { cookie }) };
    const answer = await fetch(full, { ...init, headers, redirect: 'manual' });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/Max-Age=0/.test(set)) jar.delete(name);
      else jar.set(name, value);
    }
    return Object.assign(answer, { text: await answer.text() }) as unknown as Response & { text: string };
  };
  return {
    get: (url) => send(url, {}),
    submit: (url, fields) =>
      send(url, {
        method: 'POST',
        headers: { origin: new URL(url, rig.service.baseUrl).origin },
        body: new URLSearchParams(fields),
      }),
  };
}

const formPath = (text: string): string =>
  (/action="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');
const field = (text: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
const password = rig.service.seed.password;

/** Returns a code for the browser with this cookie. */
async function getCodeOf(cookie: string): Promise<string> {
  const { headers } = await ask(rig.service, 'GET', authorizePath(), { headers: { cookie } });
  return new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
}

test('the service’s own page requires the second step before it issues a code', async () => {
  const browser = createBrowser();
  const first = await browser.get(authorizePath());
  const second = await browser.submit(formPath(first.text), { email: 'tom@example.com', password });
  assert.equal(second.status, 200);
  assert.match(second.text, /authenticator app/);
  assert.match(second.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
  const silent = await browser.get(authorizePath({ prompt: 'none' }));
  assert.match(silent.headers.get('location') ?? '', /login_required/);
  const send = (text: string, code: string): ReturnType<typeof browser.submit> =>
    browser.submit(formPath(text), {
      challenge_token: field(text, 'challenge_token'),
      action: 'answer',
      method: 'totp',
      code,
    });
  const wrong = await send(second.text, '000');
  assert.equal(wrong.status, 401);
  assert.match(wrong.text, /Incorrect/);
  const right = await send(wrong.text, await rig.service.people.totp('tom'));
  assert.equal(right.status, 303);
  const back = await browser.get(right.headers.get('location') ?? '');
  assert.ok(new URL(back.headers.get('location') ?? '').searchParams.get('code'));
});

test('the page offers each method that it supports', async () => {
  const browser = createBrowser();
  const first = await browser.get(authorizePath());
  const choose = await browser.submit(formPath(first.text), { email: 'mia@example.com', password });
  for (const name of ['Code by email', 'Code by SMS', 'Recovery code']) assert.ok(choose.text.includes(name));
  const started = await browser.submit(formPath(choose.text), {
    challenge_token: field(choose.text, 'challenge_token'),
    action: 'start',
    method: 'email',
  });
  assert.match(started.text, /m•••@example.com/);
  const done = await browser.submit(formPath(started.text), {
    challenge_token: field(started.text, 'challenge_token'),
    action: 'answer',
    method: 'email',
    code: (await rig.service.people.message('mia', 'email')) ?? '',
  });
  assert.equal(done.status, 303);
});

test('the sign-in page of another provider severs its window, and issues a code', async () => {
  const browser = createBrowser();
  const form = await browser.get(authorizePath({ idp_id: 'corp' }));
  assert.match(form.text, /Sign in at Corp/);
  const wrong = await browser.submit(formPath(form.text), { email: 'alice@example.com', password: 'wrong' });
  assert.equal(wrong.status, 401);
  for (const page of [form, wrong]) {
    assert.equal(page.headers.get('cross-origin-opener-policy'), 'same-origin');
    assert.match(page.text, /Sign in at Corp/);
  }
  const right = await browser.submit(formPath(wrong.text), { email: 'alice@example.com', password });
  const end = await browser.get(right.headers.get('location') ?? '');
  assert.ok(new URL(end.headers.get('location') ?? '').searchParams.get('code'));
});

test('another provider, too, requires the second step of a user who has one', async () => {
  const browser = createBrowser();
  const form = await browser.get(authorizePath({ idp_id: 'corp' }));
  const second = await browser.submit(formPath(form.text), { email: 'tom@example.com', password });
  assert.equal(second.status, 200);
  assert.match(second.text, /authenticator app/);
  for (const idp_id of ['corp', 'local', undefined]) {
    const silent = await browser.get(authorizePath({ idp_id, prompt: 'none' }));
    assert.match(silent.headers.get('location') ?? '', /login_required/);
  }
  const right = await browser.submit(formPath(second.text), {
    challenge_token: field(second.text, 'challenge_token'),
    action: 'answer',
    method: 'totp',
    code: await rig.service.people.totp('tom'),
  });
  const end = await browser.get(right.headers.get('location') ?? '');
  assert.ok(new URL(end.headers.get('location') ?? '').searchParams.get('code'));
});

test('a session of one provider is not valid for another', async () => {
  const cookie = await signedIn(rig.service);
  const { headers } = await ask(rig.service, 'GET', authorizePath({ idp_id: 'corp', prompt: 'none' }), {
    headers: { cookie },
  });
  assert.match(headers.get('location') ?? '', /login_required/);
  const unknown = await ask(rig.service, 'GET', authorizePath({ idp_id: 'nowhere' }));
  assert.match(unknown.headers.get('location') ?? '', /invalid_request/);
});

test('signing out ends the session and the tokens that came from it', async () => {
  const signIn = await login(rig.service, 'alice@example.com', password);
  const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const { body } = await redeem(rig.service, await getCodeOf(cookie));
  const list = (): Promise<Answer> =>
    ask(rig.service, 'GET', '/files?parent_id=folder-a', {
      headers: { authorization: `Bearer ${body.token}` },
    });
  assert.equal((await list()).status, 200);
  const foreign = { headers: { cookie, origin: 'http://evil.test' }, body: {} };
  assert.equal((await ask(rig.service, 'POST', '/auth/logout', foreign)).status, 403);
  const out = await ask(rig.service, 'POST', '/auth/logout', { headers: { cookie }, body: {} });
  assert.equal(out.status, 204);
  assert.match(out.headers.get('set-cookie') ?? '', /^su_session=;.*Max-Age=0/);
  assert.equal((await list()).status, 401);
  const silent = await ask(rig.service, 'GET', authorizePath({ prompt: 'none' }), { headers: { cookie } });
  assert.match(silent.headers.get('location') ?? '', /login_required/);
});

/** Signs in, with the cookie of an earlier sign-in if there is one. Returns the new cookie and a code. */
async function enter(user: string, earlier?: string): Promise<{ cookie: string; code: string }> {
  const { body, headers } = await ask(rig.service, 'POST', '/auth/login', {
    headers: earlier === undefined ? {} : { cookie: earlier },
    body: { idp_id: 'local', email: `${user}@example.com`, password, code_challenge: challenge },
  });
  return { cookie: headers.get('set-cookie')?.split(';')[0] ?? '', code: body.code };
}

/** Returns the status of a call with the token. */
async function use(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await ask(rig.service, 'GET', '/files?parent_id=folder-a', { headers })).status;
}

test('a code from before the sign-out gives no token after it', async () => {
  const { cookie, code } = await enter('alice');
  await ask(rig.service, 'POST', '/auth/logout', { headers: { cookie }, body: {} });
  const late = await redeem(rig.service, code);
  assert.deepEqual([late.status, late.body.error], [400, 'invalid_grant']);
});

test('signing in as another user in the same browser ends the tokens and codes of the first', async () => {
  const alice = await enter('alice');
  const { body } = await redeem(rig.service, alice.code);
  const unused = await getCodeOf(alice.cookie);
  assert.equal(await use(body.token), 200);
  await enter('vic', alice.cookie);
  assert.equal(await use(body.token), 401);
  assert.equal((await redeem(rig.service, unused)).status, 400);
});

test('signing in again as the same user keeps the tokens, and ends with the newest cookie', async () => {
  const first = await enter('alice');
  const { body } = await redeem(rig.service, first.code);
  const second = await enter('alice', first.cookie);
  assert.notEqual(second.cookie, first.cookie);
  assert.equal(await use(body.token), 200);
  const again = await redeem(rig.service, second.code);
  assert.equal(again.body.device_id, body.device_id);
  await ask(rig.service, 'POST', '/auth/logout', { headers: { cookie: second.cookie }, body: {} });
  assert.deepEqual([await use(body.token), await use(again.body.token)], [401, 401]);
});

test('a token ends no later than the sign-in that it came from', async (t) => {
  const short = await startRig({ loginLifetimeMs: 60_000 });
  t.after(() => short.end());
  const { body } = await redeem(short.service, await getCode(short.service));
  assert.ok(Date.parse(body.expires_at) - Date.now() <= 60_000);
  short.service.clock.shift(60_001);
  const headers = { authorization: `Bearer ${body.token}` };
  assert.equal((await ask(short.service, 'GET', '/files?parent_id=folder-a', { headers })).status, 401);
});

test('a sign-out ends the partitioned cookie of the same sign-in, too', async (t) => {
  const other = await startRig({ replant: true });
  t.after(() => other.end());
  const cookie = await signedIn(other.service);
  const { headers } = await ask(other.service, 'GET', authorizePath(), { headers: { cookie } });
  const code = new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
  const partitioned = (await redeem(other.service, code)).headers.get('set-cookie')?.split(';')[0] ?? '';
  assert.notEqual(partitioned, cookie);
  await ask(other.service, 'POST', '/auth/logout', { headers: { cookie }, body: {} });
  const path = authorizePath({ prompt: 'none' });
  const silent = await ask(other.service, 'GET', path, { headers: { cookie: partitioned } });
  assert.match(silent.headers.get('location') ?? '', /login_required/);
});

test('the token response sets a partitioned cookie if that is enabled', async () => {
  const other = await startRig({ replant: true });
  const { headers } = await redeem(other.service, await getCode(other.service));
  const set = headers.get('set-cookie') ?? '';
  assert.match(set, /Partitioned/);
  const cookie = set.split(';')[0] ?? '';
  const silent = await ask(other.service, 'GET', authorizePath({ prompt: 'none' }), { headers: { cookie } });
  assert.match(silent.headers.get('location') ?? '', /code=/);
  await other.end();
  const plain = await redeem(rig.service, await getCode(rig.service));
  assert.equal(plain.headers.get('set-cookie'), null);
});

test('the demo page of codes shows codes, and its phone approves by number', async () => {
  const started = await ask(rig.service, 'POST', '/auth/login', {
    body: { idp_id: 'local', email: 'paul@example.com', password },
  });
  const push = await ask(rig.service, 'POST', '/auth/challenge', {
    body: { challenge_token: started.body.challenge_token, action: 'start', method: 'push' },
  });
  const browser = createBrowser();
  const { text } = await browser.get('/_demo');
  assert.match(text, /tom@example\.com/);
  const fields = { id: field(text, 'id'), choice: String(push.body.challenge.number) };
  const foreign = await fetch(`${rig.service.baseUrl}/_demo/push`, {
    method: 'POST',
    headers: { origin: page },
    body: new URLSearchParams(fields),
  });
  assert.equal(foreign.status, 403);
  assert.equal((await browser.submit('/_demo/push', fields)).status, 303);
  const done = await ask(rig.service, 'POST', '/auth/challenge', {
    body: { challenge_token: push.body.challenge_token, action: 'poll', method: 'push' },
  });
  assert.equal(done.body.status, 'ok');
  const other = await startRig({ demo: false });
  assert.equal((await ask(other.service, 'GET', '/_demo')).status, 404);
  await other.end();
});

test('a page of tests can act as the users over HTTP, and change clock and lifetimes', async () => {
  const { body } = await ask(rig.service, 'GET', '/_test/people/tom');
  assert.match(body.totp, /^\d{6}$/);
  const passkey = await ask(rig.service, 'POST', '/_test/people/petra/passkey', { body: {} });
  assert.equal(passkey.body.rpId, '127.0.0.1');
  const push = { body: { decision: 'approved' } };
  assert.equal((await ask(rig.service, 'POST', '/_test/people/paul/push', push)).body.answered, false);
  await ask(rig.service, 'POST', '/_test/lifetimes', { body: { tokenLifetimeMs: 20_000 } });
  const { body: token } = await redeem(rig.service, await getCode(rig.service));
  assert.ok(Date.parse(token.expires_at) - rig.service.clock.now() <= 20_000);
  await ask(rig.service, 'POST', '/_test/clock', { body: { shiftMs: 3600_000 } });
  const { headers } = await ask(rig.service, 'GET', '/.well-known/jwks.json');
  assert.ok(Date.parse(headers.get('date') ?? '') - Date.now() > 3500_000);
});
