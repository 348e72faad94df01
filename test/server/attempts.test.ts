// Many guessed codes or messages at the second step of sign-in: limits also apply to parallel requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { login } from './sign-in-steps.ts';
import { type Answer, ask, type Rig, startRig } from './support.ts';

const enter = (rig: Rig, user: string): Promise<Answer> =>
  login(rig.service, `${user}@example.com`, rig.service.seed.password);

const step = (rig: Rig, from: Answer, action: string, method: string, code?: string): Promise<Answer> =>
  ask(rig.service, 'POST', '/auth/challenge', {
    body: { challenge_token: from.body.challenge_token, action, method, ...(code !== undefined && { code }) },
  });

test('of many codes that are sent at once, over as many sign-ins, five are checked', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  const started = await Promise.all(Array.from({ length: 25 }, () => enter(rig, 'tom')));
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

test('a lock of the second step survives a restart, and ends after a quarter of an hour', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  const started = await Promise.all(Array.from({ length: 9 }, () => enter(rig, 'tom')));
  await Promise.all(started.map((from) => step(rig, from, 'answer', 'totp', '000000')));
  await rig.restart();
  assert.equal((await enter(rig, 'tom')).body.status, 'locked');
  rig.service.clock.shift(15 * 60_000 + 1000);
  const from = await enter(rig, 'tom');
  assert.equal(from.body.status, 'challenge');
  const code = await rig.service.people.totp('tom');
  assert.equal((await step(rig, from, 'answer', 'totp', code)).body.status, 'ok');
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

for (const [user, method] of [
  ['mia', 'email'],
  ['paul', 'push'],
] as const) {
  test(`a user is sent five messages by ${method} in ten minutes, over all sign-ins`, async (t) => {
    const rig = await startRig({ messageLimit: { requests: 5, windowMs: 600_000 } });
    t.after(() => rig.end());
    for (let count = 0; count < 5; count += 1) {
      assert.equal((await step(rig, await enter(rig, user), 'start', method)).status, 200);
    }
    const from = await enter(rig, user);
    const refused = await step(rig, from, 'start', method);
    assert.equal(refused.status, 429);
    const waitS = Number(refused.headers.get('retry-after'));
    assert.ok(waitS > 0 && waitS <= 600);
    const other = await step(rig, await enter(rig, 'olga'), 'start', 'email');
    assert.equal(other.status, 200, 'others are not affected');
    // Uses `from` before the clock is shifted, because the challenge of `from` expires before the limit ends.
    assert.equal((await step(rig, from, 'start', method)).status, 429);
    rig.service.clock.shift(waitS * 1000);
    assert.equal((await step(rig, await enter(rig, user), 'start', method)).status, 200);
  });
}
