// `GET /authorize` and its sign-in page: codes and errors are sent only to registered URLs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { authorizePath, login, signedIn } from './sign-in-steps.ts';
import { type Answer, ask, callback, page, type Rig, startRig } from './support.ts';

let rig: Rig;
before(async () => {
  rig = await startRig();
});
after(() => rig.end());

test('a signed-in browser gets a code, its state and the issuer on its callback page', async () => {
  const cookie = await signedIn(rig.service);
  const { status, headers } = await ask(rig.service, 'GET', authorizePath(), { headers: { cookie } });
  assert.equal(status, 303);
  const location = new URL(headers.get('location') ?? '');
  assert.equal(location.origin + location.pathname, callback);
  assert.equal(location.searchParams.get('state'), 'the-state');
  assert.equal(location.searchParams.get('iss'), rig.service.baseUrl);
  assert.ok((location.searchParams.get('code') ?? '').length >= 43);
});

test('the response is in the fragment on request', async () => {
  const cookie = await signedIn(rig.service);
  const path = authorizePath({ response_mode: 'fragment' });
  const { headers } = await ask(rig.service, 'GET', path, { headers: { cookie } });
  const location = new URL(headers.get('location') ?? '');
  assert.equal(location.search, '');
  assert.equal(new URLSearchParams(location.hash.slice(1)).get('state'), 'the-state');
});

test('without a session, prompt=none responds with login_required and shows nothing', async () => {
  const { status, headers } = await ask(rig.service, 'GET', authorizePath({ prompt: 'none' }));
  assert.equal(status, 303);
  const location = new URL(headers.get('location') ?? '');
  assert.equal(location.searchParams.get('error'), 'login_required');
  assert.equal(location.searchParams.get('state'), 'the-state');
});

test('errors of a request are reported to a registered callback page only', async () => {
  const reported: [Record<string, string | undefined>, string][] = [
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: undefined }, 'unsupported_response_type'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ state: undefined }, 'invalid_request'],
    [{ response_mode: 'web_message' }, 'invalid_request'],
  ];
  for (const [changes, error] of reported) {
    const { status, headers } = await ask(rig.service, 'GET', authorizePath(changes));
    assert.equal(status, 303);
    const location = new URL(headers.get('location') ?? '');
    assert.equal(location.origin, page);
    assert.equal(location.searchParams.get('error'), error);
  }
  const silent = [
    { client_id: 'stranger' },
    { client_id: undefined },
    { redirect_uri: undefined },
    { redirect_uri: 'http://evil.test/secure-uploader-callback.html' },
    { redirect_uri: `${page}/other.html` },
    { redirect_uri: `${page}/uploads-of-strangers/secure-uploader-callback.html` },
    { redirect_uri: `${page}//evil.test/secure-uploader-callback.html` },
    { redirect_uri: `${page}/x/../secure-uploader-callback.html` },
    { redirect_uri: callback.replace('app.test', 'APP.test') },
    { redirect_uri: `${callback}?x=1` },
    { redirect_uri: `${callback}#x` },
    { redirect_uri: `http://user@app.test:5173/secure-uploader-callback.html` },
    { redirect_uri: 'javascript:alert(1)' },
  ];
  for (const changes of silent) {
    const { status, headers, body } = await ask(rig.service, 'GET', authorizePath(changes));
    assert.equal(status, 400, JSON.stringify(changes));
    assert.equal(headers.get('location'), null);
    assert.match(body, /not registered/);
  }
  const twice = await ask(rig.service, 'GET', `${authorizePath()}&state=other`);
  assert.equal(twice.status, 400);
});

test('registered URLs are compared exactly', async () => {
  const other = await startRig({ redirectUris: [`${page}/back`] });
  const cookie = await signedIn(other.service);
  const ask1 = (redirect_uri: string): Promise<Answer> =>
    ask(other.service, 'GET', authorizePath({ redirect_uri }), { headers: { cookie } });
  assert.equal((await ask1(`${page}/back`)).status, 303);
  for (const uri of [callback, `${page}/back/`, `${page}/back?`, `${page}/BACK`]) {
    assert.equal((await ask1(uri)).status, 400);
  }
  await other.end();
});

test('the sign-in page is a form without scripts that cannot be framed', async () => {
  const { status, headers, body } = await ask(rig.service, 'GET', authorizePath());
  assert.equal(status, 200);
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.doesNotMatch(body, /<script|<style|style=| on[a-z]+=/i);
  assert.match(body, /autocomplete="username"/);
  assert.match(body, /autocomplete="current-password"/);
  const sheet = await ask(rig.service, 'GET', '/authorize/style.css');
  assert.match(sheet.headers.get('content-type') ?? '', /text\/css/);
});

test('unknown values in the URL or the form are shown as text', async () => {
  const { body } = await ask(rig.service, 'GET', authorizePath({ state: '"><script>alert(1)</script>' }));
  assert.doesNotMatch(body, /<script/);
  const answer = await submit(authorizePath(), { email: '"><b>x', password: 'no' });
  assert.equal(answer.status, 401);
  assert.doesNotMatch(answer.body, /<b>x/);
});

function submit(path: string, fields: Record<string, string>): Promise<Answer> {
  return ask(rig.service, 'POST', path.replace('/authorize?', '/authorize/sign-in?'), {
    headers: {
      origin: rig.service.baseUrl,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams(fields).toString(),
  });
}

test('the form signs in and returns, with a code at the end', async () => {
  const email = 'Alice@Example.com ';
  const wrong = await submit(authorizePath(), { email, password: 'wrong' });
  assert.equal(wrong.status, 401);
  assert.match(wrong.body, /Incorrect/);
  assert.doesNotMatch(wrong.body, /wrong/);
  const { status, headers } = await submit(authorizePath({ prompt: 'login' }), {
    email,
    password: rig.service.seed.password,
  });
  assert.equal(status, 303);
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  const next = await ask(rig.service, 'GET', headers.get('location') ?? '', { headers: { cookie } });
  assert.equal(next.status, 303);
  assert.ok(new URL(next.headers.get('location') ?? '').searchParams.get('code'));
});

test('the form of another site signs no user in, nor one without an origin, in either step', async () => {
  const fields = { email: 'alice@example.com', password: rig.service.seed.password };
  for (const form of ['sign-in', 'challenge'])
    for (const origin of ['http://evil.test', 'null', page, undefined]) {
      const path = authorizePath().replace('?', `/${form}?`);
      const { status } = await fetch(rig.service.baseUrl + path, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          ...(origin !== undefined && { origin }),
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams(fields).toString(),
      });
      assert.equal(status, 403, `${form} from ${origin}`);
    }
});

test('five wrong passwords in the form lock an email address, known or not, for every way to sign in', async () => {
  const { password } = rig.service.seed;
  for (const email of ['vic@example.com', 'nobody@example.com']) {
    for (let count = 0; count < 5; count += 1)
      assert.match((await submit(authorizePath(), { email, password: 'wrong' })).body, /Incorrect/);
    const locked = await submit(authorizePath(), { email, password });
    assert.equal(locked.status, 401);
    assert.match(locked.body, /Too many attempts/);
    assert.equal((await login(rig.service, email, password)).body.status, 'locked');
  }
});
