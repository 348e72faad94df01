// The second step of sign-in over `/auth/challenge`. Each method uses its real secret.
import assert from 'node:assert/strict';
import { createHash, createPrivateKey, sign } from 'node:crypto';
import { after, beforeEach, test } from 'node:test';
import { challenge as codeChallenge, login, redeem } from './sign-in-steps.ts';
import { type Answer, ask, page, type Rig, startRig } from './support.ts';

const rig: Rig = await startRig({ host: 'localhost' });
after(() => rig.end());
beforeEach(() => rig.service.clock.shift(31_000));

const begin = async (user: string, idp = 'local'): Promise<Answer> =>
  ask(rig.service, 'POST', '/auth/login', {
    body: { idp_id: idp, email: `${user}@example.com`, password: rig.service.seed.password },
  });

const step = (
  from: Answer,
  action: string,
  method: string,
  more: Record<string, unknown> = {},
  origin = page,
): Promise<Answer> =>
  ask(rig.service, 'POST', '/auth/challenge', {
    headers: { origin },
    body: { challenge_token: from.body.challenge_token, action, method, ...more },
  });

function assertEstablished(answer: Answer): void {
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.equal(answer.body.status, 'ok');
  assert.equal(answer.body.next_step, 'authorize');
  assert.equal(answer.body.challenge_token, '');
  assert.match(answer.headers.get('set-cookie') ?? '', /^su_session=/);
}

test('a user with a second step gets a challenge and no session', async () => {
  const { status, body, headers } = await begin('mia');
  assert.equal(status, 200);
  assert.equal(body.status, 'challenge');
  assert.equal(body.next_step, 'choose');
  assert.deepEqual(body.available_methods, ['email', 'sms', 'recovery']);
  assert.ok(body.challenge_token.length >= 43);
  assert.equal(headers.get('set-cookie'), null);
});

test('an authenticator code signs in, once', async () => {
  const code = await rig.service.people.totp('tom');
  const first = await begin('tom');
  assert.equal(first.body.next_step, 'totp');
  assertEstablished(await step(first, 'answer', 'totp', { code: `${code.slice(0, 3)} ${code.slice(3)}` }));
  const again = await step(await begin('tom'), 'answer', 'totp', { code });
  assert.equal(again.status, 401);
  assert.equal(again.body.error, 'invalid_code');
});

test('codes by mail and SMS are sent on request, with a masked address', async () => {
  for (const method of ['email', 'sms'] as const) {
    const started = await step(await begin('mia'), 'start', method);
    assert.equal(started.body.next_step, 'answer');
    const { delivery, code_length, code_kind, resend_after } = started.body.challenge;
    assert.match(delivery, /•••/);
    assert.ok(!delivery.includes('mia@'));
    assert.deepEqual([code_length, code_kind], [6, 'numeric']);
    assert.ok(resend_after > 0 && resend_after <= 30);
    const code = await rig.service.people.message('mia', method);
    assertEstablished(await step(started, 'answer', method, { code }));
    rig.service.clock.shift(31_000);
  }
});

test('a second request at once sends nothing new; a later one does', async () => {
  const first = await step(await begin('mia'), 'start', 'email');
  const code = await rig.service.people.message('mia', 'email');
  const second = await step(first, 'start', 'email');
  assert.equal(await rig.service.people.message('mia', 'email'), code);
  rig.service.clock.shift(31_000);
  const third = await step(second, 'start', 'email');
  const newer = await rig.service.people.message('mia', 'email');
  assert.notEqual(newer, code);
  assertEstablished(await step(third, 'answer', 'email', { code: newer }));
});

test('a code that was sent one way is not accepted another way', async () => {
  const started = await step(await begin('mia'), 'start', 'email');
  const code = await rig.service.people.message('mia', 'email');
  const wrong = await step(started, 'answer', 'sms', { code });
  assert.equal(wrong.status, 401);
  assertEstablished(await step(wrong, 'answer', 'email', { code }));
});

test('a recovery code signs in, once', async () => {
  const [code = ''] = await rig.service.people.recoveryCodes('mia');
  assertEstablished(await step(await begin('mia'), 'answer', 'recovery', { code: code.toUpperCase() }));
  assert.equal((await step(await begin('mia'), 'answer', 'recovery', { code })).status, 401);
  assert.ok(!(await rig.service.people.recoveryCodes('mia')).includes(code));
});

test('the challenge token rotates with every response, and the old one ends the sign-in', async () => {
  const first = await begin('mia');
  const second = await step(first, 'start', 'email');
  assert.notEqual(second.body.challenge_token, first.body.challenge_token);
  const old = await step(first, 'start', 'sms');
  assert.equal(old.status, 410);
  assert.equal(old.body.status, 'expired');
  assert.equal((await step(second, 'start', 'sms')).status, 200);
});

test('a challenge ends after five minutes, and is invalid on another origin', async () => {
  const late = await begin('mia');
  rig.service.clock.shift(5 * 60_000);
  assert.equal((await step(late, 'start', 'email')).status, 410);
  rig.service.allowOrigin('http://other.test');
  const stolen = await step(await begin('mia'), 'start', 'email', {}, 'http://other.test');
  assert.equal(stolen.status, 410);
});

test('five wrong codes lock the second step, over all sign-ins', async () => {
  const other = await startRig();
  const ask1 = (path: string, body: object): Promise<Answer> => ask(other.service, 'POST', path, { body });
  const enter = (): Promise<Answer> => login(other.service, 'tom@example.com', other.service.seed.password);
  let now = await enter();
  for (const left of [4, 3, 2]) {
    const challenge_token = now.body.challenge_token;
    now = await ask1('/auth/challenge', { challenge_token, action: 'answer', method: 'totp', code: '000' });
    assert.equal(now.status, 401);
    assert.equal(now.body.challenge.attempts_left, left);
  }
  now = await enter();
  for (const status of ['challenge', 'locked']) {
    const challenge_token = now.body.challenge_token;
    now = await ask1('/auth/challenge', { challenge_token, action: 'answer', method: 'totp', code: '000' });
    assert.equal(now.body.status, status);
  }
  assert.equal((await enter()).body.status, 'locked');
  other.service.clock.shift(60_000);
  assert.equal((await enter()).body.status, 'challenge');
  await other.end();
});

test('a push shows a number, waits, and follows the phone', async () => {
  let now = await step(await begin('paul'), 'start', 'push');
  assert.equal(now.body.next_step, 'poll');
  assert.ok(now.body.challenge.number >= 10 && now.body.challenge.number < 100);
  assert.equal(now.body.challenge.poll_after, 4);
  rig.service.clock.shift(4000);
  now = await step(now, 'poll', 'push');
  assert.equal(now.body.status, 'waiting');
  now = await step(now, 'poll', 'push');
  assert.equal(now.body.status, 'slow_down');
  assert.equal(await rig.service.people.answerPush('paul', 'approved'), true);
  assertEstablished(await step(now, 'poll', 'push'));
  now = await step(await begin('paul'), 'start', 'push');
  await rig.service.people.answerPush('paul', 'denied');
  const denied = await step(now, 'poll', 'push');
  assert.equal(denied.body.status, 'denied');
  assert.equal((await step(denied, 'start', 'push')).body.next_step, 'poll');
});

test('a passkey signs only its own challenge', async () => {
  const passkey = await rig.service.people.addPasskey('petra');
  const key = createPrivateKey({
    key: Buffer.from(passkey.privateKey, 'base64url'),
    format: 'der',
    type: 'pkcs8',
  });
  let counter = 0;
  const assertion = (challenge: string, origin = page): object => {
    const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge, origin }));
    counter += 1;
    const authenticatorData = Buffer.concat([
      createHash('sha256').update(passkey.rpId).digest(),
      Buffer.from([0x05, 0, 0, 0, counter]),
    ]);
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()]);
    return {
      id: passkey.credentialId,
      rawId: passkey.credentialId,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authenticatorData.toString('base64url'),
        signature: sign('sha256', signed, key).toString('base64url'),
      },
    };
  };
  const started = await step(await begin('petra'), 'start', 'passkey');
  const { rpId, challenge, allowCredentials } = started.body.challenge.public_key;
  assert.equal(rpId, 'localhost');
  assert.deepEqual(allowCredentials[0].id, passkey.credentialId);
  const foreign = await step(started, 'answer', 'passkey', {
    credential: assertion(challenge, 'http://evil.test'),
  });
  assert.equal(foreign.status, 401);
  const other = await step(foreign, 'answer', 'passkey', { credential: assertion('AAAA') });
  assert.equal(other.status, 401);
  const junk = await step(other, 'answer', 'passkey', { credential: { id: passkey.credentialId } });
  assert.equal(junk.status, 401);
  const again = await step(junk, 'start', 'passkey');
  const credential = assertion(again.body.challenge.public_key.challenge);
  assertEstablished(await step(again, 'answer', 'passkey', { credential }));
  const replay = await step(await step(await begin('petra'), 'start', 'passkey'), 'answer', 'passkey', {
    credential,
  });
  assert.equal(replay.status, 401);
});

test('users who cannot continue are informed in the form of the login response', async () => {
  assert.equal((await begin('lou')).body.status, 'locked');
  const nina = await begin('nina');
  assert.deepEqual([nina.body.status, nina.body.next_step], ['password_expired', 'change_password']);
  assert.equal(nina.headers.get('set-cookie'), null);
  const uma = await begin('uma');
  assert.deepEqual(uma.body.available_methods, ['retina']);
  assert.equal((await step(uma, 'answer', 'retina', { code: '1' })).body.status, 'challenge');
});

test('the broken provider returns invalid responses on demand', async () => {
  const answer = (name: string): Promise<Answer> => begin(name, 'broken').catch((error) => error);
  assert.match((await answer('html')).body, /<p>/);
  assert.deepEqual((await answer('empty')).body, {});
  assert.equal((await answer('contradiction')).body.challenge_token, 'x');
  assert.ok((await answer('truncated')) instanceof SyntaxError);
  assert.equal((await answer('error')).status, 500);
});

test('a client that sent a code challenge gets its code with the response', async () => {
  const body = { idp_id: 'local', password: rig.service.seed.password, code_challenge: codeChallenge };
  const direct = await ask(rig.service, 'POST', '/auth/login', {
    body: { ...body, email: 'alice@example.com' },
  });
  assert.equal((await redeem(rig.service, direct.body.code)).status, 200);
  const first = await ask(rig.service, 'POST', '/auth/login', {
    body: { ...body, email: 'tom@example.com' },
  });
  const second = await step(first, 'answer', 'totp', { code: await rig.service.people.totp('tom') });
  assert.equal((await redeem(rig.service, second.body.code)).status, 200);
  const wrong = { ...body, email: 'alice@example.com', code_challenge: 'plain' };
  assert.equal((await ask(rig.service, 'POST', '/auth/login', { body: wrong })).status, 400);
});

test('invalid input at the challenge is refused, and other sites may not call it', async () => {
  for (const body of [
    {},
    { challenge_token: 5 },
    { challenge_token: 'x', method: 'totp', action: 'hack' },
    '[]',
    '{',
  ]) {
    assert.equal((await ask(rig.service, 'POST', '/auth/challenge', { body })).status, 400);
  }
  const made = { body: { challenge_token: 'made-up' } } as Answer;
  assert.equal((await step(made, 'answer', 'totp', { code: '1' })).status, 410);
  assert.equal((await step(await begin('mia'), 'start', 'email', {}, 'http://evil.test')).status, 403);
});
