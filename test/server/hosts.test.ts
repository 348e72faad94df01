// Which host names the service accepts, which data it shows in production, and requests while it starts.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { type ServiceOptions, startService } from '../../demo/server/server.ts';
import { login, signedIn } from './sign-in-steps.ts';
import { type Answer, ask, page, type Rig, startRig } from './support.ts';

async function start(t: TestContext, options: Partial<ServiceOptions> = {}): Promise<Rig> {
  const rig = await startRig(options);
  t.after(() => rig.end());
  return rig;
}

function get(port: number, path: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers: { host } }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}

test('a foreign host name that resolves to the service is refused, on any port', async (t) => {
  const { service } = await start(t);
  const ports = [
    [service.servicePort, '/_demo'],
    [service.storagePort, '/'],
  ] as const;
  for (const [port, path] of ports) {
    for (const host of ['rebind.test', `rebind.test:${port}`, `127.0.0.1.rebind.test:${port}`, 'localhost']) {
      assert.equal(await get(port, path, host), 421, `${host} on ${port}`);
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `LOCALHOST:${port}`]) {
      assert.notEqual(await get(port, path, host), 421, `${host} on ${port}`);
    }
  }
});

test('codes and phones of demo users are shown in test mode, and elsewhere only if that is enabled', async (t) => {
  const plain = await start(t, { test: false });
  assert.equal((await ask(plain.service, 'GET', '/_demo')).status, 404);
  const broken = { idp_id: 'broken', email: 'error@example.com', password: 'x' };
  assert.equal((await ask(plain.service, 'POST', '/auth/login', { body: broken })).status, 400);
  const shown = await start(t, { test: false, demo: true });
  const answer = await ask(shown.service, 'GET', '/_demo');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('access-control-allow-origin'), null, 'no page may read them');
});

test('with TLS in production, the session cookie is bound to its host, and URLs are the public ones', async (t) => {
  const publicUrls = {
    service: 'https://uploads.test',
    storage: 'https://storage.test',
  };
  const { service } = await start(t, { publicUrls });
  assert.equal(service.baseUrl, publicUrls.service);
  assert.equal(service.storageUrl, publicUrls.storage);
  const behindProxy = { ...service, baseUrl: `http://127.0.0.1:${service.servicePort}` };
  const { headers } = await login(behindProxy, 'alice@example.com', service.seed.password);
  const set = headers.get('set-cookie') ?? '';
  assert.match(set, /^__Host-su_session=[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  const silent = async (cookie: string): Promise<Answer> => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'secure-uploader',
      redirect_uri: `${page}/secure-uploader-callback.html`,
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
      state: 'x',
      prompt: 'none',
    });
    return ask(behindProxy, 'GET', `/authorize?${query}`, { headers: { cookie } });
  };
  const [cookie = ''] = set.split(';');
  assert.match(
    (await silent(cookie)).headers.get('location') ?? '',
    /code=.*iss=https%3A%2F%2Fuploads\.test/,
  );
  const unbound = cookie.replace('__Host-', '');
  assert.match(
    (await silent(unbound)).headers.get('location') ?? '',
    /login_required/,
    'a subdomain could set this one',
  );
  assert.equal(await get(service.servicePort, '/.well-known/jwks.json', 'uploads.test'), 200);
});

test('without TLS the cookie has no prefix, since browsers would refuse it', async (t) => {
  const { service } = await start(t);
  assert.match(await signedIn(service), /^su_session=/);
});

test('invalid URLs are refused at the start', async () => {
  const wrong: Partial<ServiceOptions>[] = [
    { publicUrls: { service: 'https://uploads.test/path' } },
    { redirectUris: ['/secure-uploader-callback.html'] },
    { trustedProxies: ['proxy.test'] },
  ];
  for (const options of wrong) {
    await assert.rejects(
      startService({ dataDir: '/nowhere', appOrigins: [page], ...options }),
      JSON.stringify(options),
    );
  }
});

test('invalid input at the routes for tests is refused like any other', async (t) => {
  const { service } = await start(t);
  const cases: [string, object, number][] = [
    ['/_test/people/nobody/push', { decision: 'approved' }, 404],
    ['/_test/people/nobody/passkey', {}, 404],
    ['/_test/token', { user: 'alice', lifetimeMs: 1e300 }, 400],
    ['/_test/clock', { shiftMs: 1e300 }, 400],
    ['/_test/clock', {}, 400],
    ['/_test/lifetimes', { tokenLifetimeMs: -1e300 }, 400],
  ];
  for (const [path, body, status] of cases) {
    assert.equal((await ask(service, 'POST', path, { body })).status, status, path);
  }
});

test('another site cannot call the routes for tests, since they take nothing but JSON', async (t) => {
  const { service } = await start(t);
  const paths = [
    'faults',
    'network',
    'token',
    'lifetimes',
    'clock',
    'people/petra/push',
    'people/petra/passkey',
  ];
  for (const path of paths)
    for (const body of ['', '{"user":"alice","decision":"approved","shiftMs":1}']) {
      const headers = { origin: 'https://evil.example', 'content-type': 'text/plain' };
      const { status } = await fetch(`${service.baseUrl}/_test/${path}`, { method: 'POST', headers, body });
      assert.equal(status, 415, path);
    }
  // A DELETE needs a preflight, to which only listed pages get permission.
  for (const path of ['faults', 'log'])
    for (const [origin, allowed] of [
      ['https://evil.example', null],
      ['null', null],
      [page, page],
    ] as const) {
      const headers = { origin, 'access-control-request-method': 'DELETE' };
      const answer = await ask(service, 'OPTIONS', `/_test/${path}`, { headers });
      assert.equal(answer.headers.get('access-control-allow-origin'), allowed, `${path} from ${origin}`);
    }
});

test('a request that arrives while the service starts gets a response', async (t) => {
  const rig = await start(t);
  const { servicePort, storagePort, baseUrl } = rig.service;
  const restarting = rig.restart();
  const asked = [
    [servicePort, '/.well-known/jwks.json', 200],
    [storagePort, '/', 405],
  ] as const;
  const answers = asked.map(async ([port, path, status]) => {
    const { host } = new URL(baseUrl);
    let answer: number | undefined;
    // Without a pause between two requests: the service listens only for a moment before it is ready.
    while (answer === undefined)
      answer = await get(port, path, host.replace(/\d+$/, `${port}`)).catch(() => undefined);
    assert.equal(answer, status, path);
  });
  await Promise.all([restarting, ...answers]);
});
