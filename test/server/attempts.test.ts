// Many guessed passwords and codes, and many messages: limits also apply to parallel requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { login } from './sign-in-steps.ts';
import { type Answer, ask, type Rig, startRig } from './support.ts';

const MINUTE = 60_000;

const enter = (rig: Rig, user: string): Promise<Answer> =>
  login(rig.service, `${user}@example.com`, rig.service.seed.password);

const step = (rig: Rig, from: Answer, action: string, method: string, code?: string): Promise<Answer> =>
  ask(rig.service, 'POST', '/auth/challenge', {
    body: { challenge_token: from.body.challenge_token, action, method, ...(code !== undefined && { code }) },
  });

/** Enters the right password several times, one after the other: more than four at once would have to wait. */
async function enterTimes(
  rig: Rig,
  user: string,
  count: number,
): Promise<Awaited<ReturnType<typeof enter>>[]> {
  const started: Awaited<ReturnType<typeof enter>>[] = [];
  while (started.length < count) started.push(await enter(rig, user));
  return started;
}

test('of many codes that are sent at once, over as many sign-ins, five are checked', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  const started = await enterTimes(rig, 'tom', 25);
  const right = await rig.service.people.totp('tom');
  const answers = await Promise.all(
    started.map((from, index) => step(rig, from, 'answer', 'totp', index < 24 ? '000000' : right)),
  );
  const said = answers.map(({ body }) => body.status as string);
  assert.ok(said.filter((status) => status === 'challenge').length < 5, `wrong, and not locked yet: ${said}`);
  assert.equal(said.at(-1), 'locked', 'the right code comes too late');
  assert.equal(
    (await enter(rig, 'tom')).body.status,
    'locked',
    'one failure too many does not lift the lock',
  );
});

/** Enters a wrong code, in a new sign-in. Returns the status of the response. */
const guess = async (rig: Rig, user: string, method = 'totp'): Promise<string> => {
  const from = await enter(rig, user);
  if (from.body.status === 'locked') return 'locked';
  return (await step(rig, from, 'answer', method, '000')).body.status;
};

test('wrong recovery codes count like other codes', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  for (const method of ['recovery', 'totp', 'recovery', 'recovery'])
    assert.equal(await guess(rig, 'olga', method), 'challenge');
  assert.equal(await guess(rig, 'olga', 'recovery'), 'locked', 'this code is wrong');
  assert.equal((await enter(rig, 'olga')).body.status, 'locked');
});

test('a lock of the second step survives a restart, and ends after a minute', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  const started = await enterTimes(rig, 'tom', 9);
  await Promise.all(started.map((from) => step(rig, from, 'answer', 'totp', '000000')));
  await rig.restart();
  assert.equal((await enter(rig, 'tom')).body.status, 'locked');
  rig.service.clock.shift(MINUTE);
  const from = await enter(rig, 'tom');
  assert.equal(from.body.status, 'challenge');
  const code = await rig.service.people.totp('tom');
  assert.equal((await step(rig, from, 'answer', 'totp', code)).body.status, 'ok');
});

test('after five wrong codes, each further one doubles the wait, up to a quarter of an hour', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  for (let count = 1; count < 5; count += 1) assert.equal(await guess(rig, 'tom'), 'challenge');
  for (const minutes of [1, 2, 4, 8, 15, 15]) {
    assert.equal(await guess(rig, 'tom'), 'locked', 'this code is wrong');
    rig.service.clock.shift(minutes * MINUTE - 2000);
    assert.equal((await enter(rig, 'tom')).body.status, 'locked', `${minutes} minutes are not over`);
    rig.service.clock.shift(2000);
    assert.equal((await enter(rig, 'tom')).body.status, 'challenge');
  }
});

test('wrong codes and passwords are forgotten after an hour without another one', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  for (let round = 0; round < 3; round += 1) {
    for (let count = 0; count < 4; count += 1) {
      assert.equal(await guess(rig, 'tom'), 'challenge');
      assert.equal((await login(rig.service, 'alice@example.com', 'wrong')).body.status, 'denied');
    }
    rig.service.clock.shift(60 * MINUTE);
  }
  assert.equal((await enter(rig, 'alice')).status, 200);
});

test('of many passwords that are sent at once, five are checked', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  const answers = await Promise.all(
    Array.from({ length: 25 }, (_, index) =>
      login(rig.service, 'alice@example.com', index < 24 ? 'wrong' : rig.service.seed.password),
    ),
  );
  const said = answers.map(({ body }) => body.status as string);
  assert.equal(said.filter((status) => status === 'denied').length, 5);
  assert.equal(said.at(-1), 'locked', 'the right password comes too late');
});

test('wrong passwords from one address lock the account for this address only', async (t) => {
  const rig = await startRig({ trustedProxies: ['127.0.0.1'] });
  t.after(() => rig.end());
  const { password } = rig.service.seed;
  const enterFrom = async (address: string, said: string): Promise<string> =>
    (await login(rig.service, 'alice@example.com', said, { 'x-forwarded-for': address })).body.status;
  for (let count = 0; count < 6; count += 1) await enterFrom('198.51.100.7', 'wrong');
  assert.equal(await enterFrom('198.51.100.7', password), 'locked');
  assert.equal(await enterFrom('203.0.113.5', password), 'ok');
  assert.equal(await enterFrom('198.51.100.7', password), 'locked', 'a sign-in elsewhere lifts no lock');
  for (const host of ['1', '2', '3', '4', '5']) await enterFrom(`2001:db8:0:1::${host}`, 'wrong');
  assert.equal(await enterFrom('2001:db8:0:1::6', password), 'locked', 'one network is one address');
});

test('changing between email and SMS sends one code each, and both stay valid', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  let at = await enter(rig, 'mia');
  const codes = new Set<string | undefined>();
  for (const method of ['email', 'sms', 'email', 'sms', 'email'] as const) {
    at = await step(rig, at, 'start', method);
    assert.equal(at.status, 200);
    codes.add(await rig.service.people.message('mia', method));
  }
  assert.equal(codes.size, 2);
  const code = await rig.service.people.message('mia', 'email');
  assert.equal((await step(rig, at, 'answer', 'email', code)).body.status, 'ok');
});

test('a push that is requested again at once is the same one', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  const first = await step(rig, await enter(rig, 'paul'), 'start', 'push');
  const second = await step(rig, first, 'start', 'push');
  assert.equal(second.body.challenge.number, first.body.challenge.number);
  rig.service.clock.shift(31_000);
  await step(rig, second, 'start', 'push');
  assert.ok(await rig.service.people.answerPush('paul', 'approved'));
});

for (const [user, method, other] of [
  ['mia', 'email', 'email'],
  ['mia', 'email', 'sms'],
  ['paul', 'push', 'push'],
] as const) {
  const by = method === other ? method : `${method} and ${other}`;
  test(`a user is sent five messages by ${by} in ten minutes, over all sign-ins`, async (t) => {
    const rig = await startRig({ messageLimit: { requests: 5, windowMs: 600_000 } });
    t.after(() => rig.end());
    for (let count = 0; count < 5; count += 1) {
      const next = count % 2 === 0 ? method : other;
      assert.equal((await step(rig, await enter(rig, user), 'start', next)).status, 200);
    }
    const from = await enter(rig, user);
    const refused = await step(rig, from, 'start', other);
    assert.equal(refused.status, 429);
    const waitS = Number(refused.headers.get('retry-after'));
    assert.ok(waitS > 0 && waitS <= 600);
    const ofOlga = await step(rig, await enter(rig, 'olga'), 'start', 'email');
    assert.equal(ofOlga.status, 200, 'others are not affected');
    // Uses `from` before the clock is shifted, because the challenge of `from` expires before the limit ends.
    assert.equal((await step(rig, from, 'start', method)).status, 429);
    rig.service.clock.shift(waitS * 1000);
    assert.equal((await step(rig, await enter(rig, user), 'start', method)).status, 200);
  });
}
