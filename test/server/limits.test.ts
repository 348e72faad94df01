// Limits on requests: which clients are limited, and what refused requests cost.
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createReadClient } from '../../demo/server/limits.ts';
import type { ServiceOptions } from '../../demo/server/options.ts';
import { authorizePath, challenge, signedIn } from './sign-in-steps.ts';
import { type Answer, ask, page, type Rig, startRig } from './support.ts';

const few = { rateLimit: { requests: 10, windowMs: 60_000 } };

async function start(t: TestContext, options: Partial<ServiceOptions>): Promise<Rig> {
  const rig = await startRig(options);
  t.after(() => rig.end());
  return rig;
}

/** Returns the status of a token request. `fetch` is not used, because it would not send some of these headers. */
function redeemAs(rig: Rig, headers: Record<string, string>): Promise<number> {
  const body = JSON.stringify({ code: 'x', code_verifier: 'y' });
  return new Promise((resolve, reject) => {
    const { servicePort: port } = rig.service;
    const sent = { origin: page, 'content-type': 'application/json', ...headers };
    const asked = request(
      { host: '127.0.0.1', port, method: 'POST', path: '/auth/token', headers: sent },
      (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

const repeat = async <T>(times: number, run: (index: number) => Promise<T>): Promise<T[]> => {
  const results: T[] = [];
  for (let index = 0; index < times; index += 1) results.push(await run(index));
  return results;
};

test('refused requests are not written to disk', async (t) => {
  const rig = await start(t, few);
  const size = async (): Promise<number> => (await stat(join(rig.dataDir, 'state.jsonl'))).size;
  const before = await size();
  const foreign = await repeat(50, (index) =>
    redeemAs(rig, { origin: `http://${'x'.repeat(2000)}${index}` }),
  );
  assert.deepEqual(new Set(foreign), new Set([403]));
  const limited = await repeat(50, () => redeemAs(rig, {}));
  assert.ok(limited.includes(429));
  assert.equal(await size(), before);
});

test('a user gets sixty codes a minute, over all sign-ins, and refused requests are not stored', async (t) => {
  const rig = await start(t, few);
  const size = async (): Promise<number> => (await stat(join(rig.dataDir, 'state.jsonl'))).size;
  const authorize = (cookie: string): Promise<Answer> =>
    ask(rig.service, 'GET', authorizePath(), { headers: { cookie } });
  const cookies = [await signedIn(rig.service), await signedIn(rig.service)];
  const statuses = await repeat(60, async (index) => (await authorize(cookies[index % 2] ?? '')).status);
  assert.deepEqual(new Set(statuses), new Set([303]));
  const before = await size();
  const refused = await authorize(cookies[0] ?? '');
  assert.equal(refused.status, 429);
  assert.equal(await size(), before);
  assert.equal((await authorize(await signedIn(rig.service, 'vic'))).status, 303, 'others are not affected');
  const { password } = rig.service.seed;
  const body = { idp_id: 'local', email: 'alice@example.com', password, code_challenge: challenge };
  assert.equal((await ask(rig.service, 'POST', '/auth/login', { body })).status, 429);
  rig.service.clock.shift(Number(refused.headers.get('retry-after')) * 1000);
  assert.equal((await authorize(cookies[0] ?? '')).status, 303);
});

test('origins that are not trusted use no limit of others', async (t) => {
  const rig = await start(t, few);
  await repeat(20, (index) => redeemAs(rig, { origin: `http://evil-${index}.test` }));
  assert.equal(await redeemAs(rig, {}), 400);
});

test('without trusted proxies, forwarding headers of clients are ignored', async (t) => {
  const rig = await start(t, few);
  const statuses = await repeat(12, (index) => redeemAs(rig, { 'x-forwarded-for': `198.51.100.${index}` }));
  assert.deepEqual(statuses.slice(-2), [429, 429]);
});

test('behind a trusted proxy each client has a separate limit', async (t) => {
  const rig = await start(t, { ...few, trustedProxies: ['127.0.0.1'] });
  const many = await repeat(12, (index) => redeemAs(rig, { 'x-forwarded-for': `198.51.100.${index}` }));
  assert.deepEqual(new Set(many), new Set([400]));
  const one = await repeat(11, (index) =>
    redeemAs(rig, { 'x-forwarded-for': `203.0.113.${index}, 198.51.100.99` }),
  );
  assert.equal(one.at(-1), 429, 'addresses that the client wrote itself do not count');
});

test('a client’s address is the last one that does not belong to a trusted proxy', () => {
  const read = createReadClient(['127.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32']);
  const cases: [string | undefined, string | undefined, string][] = [
    ['127.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['::ffff:127.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['127.0.0.1', '1.1.1.1, 198.51.100.7, 10.1.2.3', '198.51.100.7'],
    ['127.0.0.1', '1.1.1.1,  ::ffff:198.51.100.7 ,10.1.2.3', '198.51.100.7'],
    ['198.51.100.7', '1.1.1.1', '198.51.100.7'],
    ['127.0.0.1', undefined, '127.0.0.1'],
    ['127.0.0.1', '', '127.0.0.1'],
    ['127.0.0.1', '1.1.1.1, unknown', '127.0.0.1'],
    ['127.0.0.1', `${'x'.repeat(9000)}`, '127.0.0.1'],
    ['127.0.0.1', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    [undefined, '1.1.1.1', ''],
    ['2001:db9:1:2:3:4:5:6', undefined, '2001:db9:1:2::/64'],
    ['2001:db9:1:2::1', undefined, '2001:db9:1:2::/64'],
    ['2001:0DB9:1::9', undefined, '2001:db9:1:0::/64'],
    ['::1', '2001:db8::5, 2001:db9::5', '2001:db9:0:0::/64'],
    ['::1', '2001:db9::7, 2001:db8::5', '2001:db9:0:0::/64'],
  ];
  for (const [remote, forwarded, client] of cases) assert.equal(read(remote, forwarded), client);
  for (const wrong of ['proxy.test', '10.0.0.0/8/8', '10.0.0.0/99', '']) {
    assert.throws(() => createReadClient([wrong]), /./, wrong);
  }
});
