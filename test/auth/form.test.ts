// Sign-in by a form in an uploader: form and uploads use the same session.
import { expect } from '@open-wc/testing';
import { FormRequests } from '../../src/auth/form.ts';
import type { PostAnswer } from '../../src/core/auth-options.ts';
import { createSettings } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { sleep } from '../../src/core/wait.ts';
import { openSignIn } from '../../src/engine/sign-in.ts';
import { createPost } from '../../src/service/client.ts';
import { findReference } from '../service/reference.ts';
import { stopClock } from '../support/clock.ts';
import { settled } from '../support/collect.ts';
import { closeAll, forever, open } from './open-session.ts';
import { password, readUser } from './people.ts';
import { challenged, fixtures, openForm, signInReaches, type WithForm } from './scripted.ts';

afterEach(closeAll);

const local = { auth: 'local', authOptions: { loginSendsChallenge: true } } as const;

async function openReal(input: SettingsInput): Promise<WithForm> {
  const { baseUrl } = await findReference();
  const opened = open({ baseUrl, ...input }, {}, createPost(createSettings({ baseUrl })));
  return { ...opened, form: opened.session.form((host) => new FormRequests(host)) };
}

describe('a form within an uploader', () => {
  it('signs in waiting uploads, by password alone', async () => {
    const opened = await openReal(local);
    const waiting = opened.session.withToken(async (token) => token, forever);
    await signInReaches(opened, 'prompt');
    expect(opened.session.snapshot.required).to.equal(true);
    opened.form.logIn({ email: 'alice@example.com', password: await password() });
    expect(await waiting).to.match(/^[\w-]{20,}/);
    expect(opened.session.snapshot.state).to.equal('signed-in');
  });

  it('signs in waiting uploads, by password and a code', async () => {
    const opened = await openReal(local);
    const waiting = opened.session.withToken(async (token) => token, forever);
    await signInReaches(opened, 'prompt');
    opened.form.logIn({ email: 'mia@example.com', password: await password() });
    await signInReaches(opened, 'choose');
    const recovery = opened.form.challenge?.methods.find(({ family }) => family === 'recovery');
    if (!recovery) throw new Error('no recovery codes are offered');
    opened.form.act({ type: 'pick', method: recovery });
    await signInReaches(opened, 'answer');
    opened.form.answer((await readUser('mia')).recovery_codes[0] ?? '');
    expect(await waiting).to.match(/^[\w-]{20,}/);
    expect(JSON.stringify(opened.changes)).not.to.contain('mia@');
  });

  it('is shared by all elements with the same settings', async () => {
    const { baseUrl } = await findReference();
    const settings = createSettings({ baseUrl, ...local, clientId: 'shared-form' });
    const [one, two] = [openSignIn(settings), openSignIn(settings)];
    expect(one.form).to.equal(two.form);
    one.session.close();
    two.session.close();
  });

  it('reports that the browser isolates its session if no code results, and offers the window', async () => {
    const opened = await openReal({
      auth: 'local',
      silent: 'auto',
      authorizePath: `${fixtures}authorize.html`,
      redirectUri: `${fixtures}secure-uploader-callback.html`,
      authOptions: { params: { answer: 'error=login_required' }, times: { silentMs: 1e8 } },
    });
    const stop = new AbortController();
    opened.session.withToken(async () => undefined, stop.signal).catch(() => undefined);
    await signInReaches(opened, 'prompt');
    expect(opened.session.snapshot.error).to.equal(undefined);
    const failed = opened.next('auth-failed');
    opened.form.logIn({ email: 'alice@example.com', password: await password() });
    expect((await failed).code).to.equal('sign-in-required');
    stop.abort();
  });

  it('keeps nothing of a challenge after Cancel, and no credentials after they were sent', async () => {
    const { session, form, sent, ...opened } = openForm([challenged('secret-challenge')]);
    session.signIn();
    form.logIn({ email: 'tom@example.com', password: 'secret-password' });
    await signInReaches({ session }, 'choose');
    session.cancel();
    expect(session.snapshot.state).to.equal('prompt');
    expect(form.challenge).to.equal(undefined);
    const seen = JSON.stringify([session, form, opened.changes]);
    expect(seen).not.to.match(/secret-|tom@/);
    expect(sent.length).to.equal(1);
  });

  it('sends no credentials if sign-in was canceled before, and none to another step', async () => {
    const seen: unknown[] = [];
    let answer = (): void => undefined;
    const adapter = {
      login: async (body: object) => {
        seen.push(['login', Object.keys(body)]);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return challenged('first', { available_methods: ['sms'] });
      },
      challenge: async (body: object) => {
        seen.push(['challenge', Object.keys(body)]);
        return { status: 200, body: { challenge_token: 'second' } };
      },
    };
    const canceled = openForm([], { authOptions: { adapter, loginSendsChallenge: true } });
    canceled.form.logIn({ email: 'a', password: 'b' });
    canceled.session.cancel();
    await signInReaches(canceled, 'prompt');
    const opened = openForm([], { authOptions: { adapter } });
    opened.form.logIn({ email: 'a', password: 'b' });
    await settled();
    opened.form.logIn({ email: 'a', password: 'b' });
    answer();
    await signInReaches(opened, 'answer');
    expect(seen).to.deep.equal([
      ['login', ['idp_id', 'email', 'password']],
      ['challenge', ['challenge_token', 'method', 'action']],
    ]);
  });

  it('answers a challenge without a token with none, and not with that of a canceled one', async () => {
    const fresh = { status: 200, body: { available_methods: ['totp'] } };
    const opened = openForm([challenged('old'), fresh, { status: 410, body: {} }]);
    opened.session.signIn();
    opened.form.logIn({ email: 'tom@example.com', password: 'p' });
    await signInReaches(opened, 'choose');
    opened.session.cancel();
    opened.form.logIn({ email: 'tom@example.com', password: 'p' });
    await signInReaches(opened, 'answer');
    opened.form.answer('1');
    await signInReaches(opened, 'prompt');
    expect(JSON.stringify(opened.sent.at(-1)?.body)).to.equal(
      '{"method":"totp","action":"answer","code":"1"}',
    );
  });

  it('answers a challenge without a token with none, and not with that of one that has succeeded', async () => {
    const opened = openForm([
      challenged('old', { available_methods: ['totp'] }),
      { status: 200, body: { status: 'ok' } },
      { status: 200, body: { available_methods: ['totp'] } },
      { status: 410, body: {} },
    ]);
    for (const code of ['1', '2']) {
      opened.session.signIn();
      opened.form.logIn({ email: 'tom@example.com', password: 'p' });
      await signInReaches(opened, 'answer');
      opened.form.answer(code);
      await signInReaches(opened, 'prompt');
    }
    expect(JSON.stringify(opened.sent.at(-1)?.body)).to.equal(
      '{"method":"totp","action":"answer","code":"2"}',
    );
  });

  it('sends the challenge of an authorization request beside the credentials only with `loginSendsChallenge`', async () => {
    for (const [input, extra] of [
      [local, ['code_challenge', 'code_challenge_method']],
      [{}, []],
    ] as const) {
      const opened = openForm([{ status: 401, body: { error: 'denied' } }], input);
      opened.session.signIn();
      opened.form.logIn({ email: 'tom@example.com', password: 'p' });
      await signInReaches(opened, 'prompt');
      const { code_challenge, code_challenge_method, ...own } = opened.sent[0]?.body ?? {};
      expect(own).to.deep.equal({ idp_id: 'local', email: 'tom@example.com', password: 'p' });
      expect(Object.keys(opened.sent[0]?.body ?? {}).slice(3)).to.deep.equal(extra);
      if (extra.length === 0) continue;
      expect(code_challenge).to.match(/^[\w-]{43}$/);
      expect(code_challenge_method).to.equal('S256');
    }
  });

  it('sends the newest challenge token in every request of a challenge, and exactly the documented fields', async () => {
    const script = [
      challenged('one'),
      challenged('two', { challenge: { delivery: '••• 42' } }),
      { ...challenged('three', { error: 'invalid_code' }), status: 401 },
      challenged('four', { error: 'invalid_code' }),
    ];
    const opened = openForm(script);
    const { session, form, sent } = opened;
    session.signIn();
    form.logIn({ email: 'tom@example.com', password: 'p' });
    await signInReaches(opened, 'choose');
    const sms = form.challenge?.methods.find(({ family }) => family === 'sms');
    if (sms) form.act({ type: 'pick', method: sms });
    await signInReaches(opened, 'answer');
    form.answer(' 012-345 ');
    await signInReaches(opened, 'verify');
    await signInReaches(opened, 'answer');
    form.answer('6');
    await signInReaches(opened, 'verify');
    await signInReaches(opened, 'answer');
    expect(sent.map(({ path, body }) => [path, body])).to.deep.equal([
      ['/auth/login', { idp_id: 'local', email: 'tom@example.com', password: 'p' }],
      ['/auth/challenge', { challenge_token: 'one', method: 'sms', action: 'start' }],
      ['/auth/challenge', { challenge_token: 'two', method: 'sms', action: 'answer', code: '012345' }],
      ['/auth/challenge', { challenge_token: 'three', method: 'sms', action: 'answer', code: '6' }],
    ]);
    expect(sent.every(({ credentials }) => credentials === 'include')).to.equal(true);
  });

  it('polls for a push while the page is visible, and not while it is hidden', async () => {
    const waiting = (status: string): PostAnswer => ({
      status: 200,
      body: {
        status,
        challenge_token: 't',
        available_methods: ['push'],
        challenge: { number: 42 },
      },
    });
    let isHidden = true;
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
    const script = [
      waiting('challenge'),
      waiting('waiting'),
      waiting('waiting'),
      { status: 200, body: { status: 'denied' } },
    ];
    const opened = openForm(script, { authOptions: { times: { pollMs: 20 } } });
    opened.session.signIn();
    opened.form.logIn({ email: 'paul@example.com', password: 'p' });
    await signInReaches(opened, 'wait');
    expect(opened.form.challenge?.number).to.equal('42');
    await sleep(150, forever);
    expect(opened.sent.length, 'nothing was polled').to.equal(2);
    isHidden = false;
    document.dispatchEvent(new Event('visibilitychange'));
    await signInReaches(opened, 'choose');
    Reflect.deleteProperty(document, 'hidden');
    expect(opened.sent.slice(1).map(({ body }) => body.action)).to.deep.equal(['start', 'poll', 'poll']);
    expect(opened.session.snapshot.error?.code).to.equal('challenge-denied');
  });

  it('polls every four seconds, and five seconds later each time after the service asked to slow down', async () => {
    const pushed = (status: string): PostAnswer => ({
      status: 200,
      body: { status, challenge_token: 't', available_methods: ['push'] },
    });
    const words = ['challenge', 'waiting', 'waiting', 'slow_down', 'waiting', 'waiting', 'denied'];
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => false });
    const clock = stopClock();
    try {
      const opened = openForm(words.map(pushed));
      opened.session.signIn();
      opened.form.logIn({ email: 'paul@example.com', password: 'p' });
      await signInReaches(opened, 'wait');
      for (const [delayMs, pollCount] of [
        [4000, 1],
        [4000, 2],
        [9000, 3],
        [9000, 4],
      ] as const) {
        await clock.pass(delayMs - 1);
        expect(opened.sent).to.have.length(1 + pollCount);
        await clock.pass(1);
        expect(opened.sent).to.have.length(2 + pollCount);
      }
    } finally {
      clock.restore();
      Reflect.deleteProperty(document, 'hidden');
    }
  });

  it('starts over when the challenge is too old', async () => {
    const opened = openForm([
      challenged('one', { available_methods: ['totp'] }),
      { status: 410, body: { status: 'expired' } },
    ]);
    opened.session.signIn();
    opened.form.logIn({ email: 'tom@example.com', password: 'p' });
    await signInReaches(opened, 'answer');
    const failed = opened.next('auth-failed');
    opened.form.answer('123456');
    expect((await failed).code).to.equal('challenge-expired');
    expect(opened.session.snapshot.state).to.equal('prompt');
  });

  it('goes back a step when the service cannot be reached, and repeats nothing automatically', async () => {
    const gone = new UploaderError('network', 'gone');
    const opened = openForm([challenged('one', { available_methods: ['totp'] }), gone]);
    opened.session.signIn();
    opened.form.logIn({ email: 'tom@example.com', password: 'p' });
    await signInReaches(opened, 'answer');
    const failed = opened.next('auth-failed');
    opened.form.answer('123456');
    expect((await failed).code).to.equal('network');
    expect([opened.session.snapshot.state, opened.sent.length]).to.deep.equal(['answer', 2]);
  });

  it('waits for the Retry-After after too many attempts', async () => {
    const opened = openForm([{ status: 429, body: {}, retryAfterMs: 30 }]);
    opened.session.signIn();
    opened.form.logIn({ email: 'tom@example.com', password: 'p' });
    await signInReaches(opened, 'cooling');
    expect(opened.session.snapshot.error).to.deep.include({ code: 'rate-limited', retryAfterMs: 30 });
    await signInReaches(opened, 'prompt');
    expect(opened.sent.length).to.equal(1);
  });

  it('uses other requests if the page sets them', async () => {
    const opened = openForm([challenged('one', { available_methods: ['totp'] }), { status: 401, body: {} }], {
      idpId: 'corp-ldap',
      loginPath: '/v2/sign-in',
      challengePath: '/v2/second',
      authOptions: {
        credentials: { login: 'same-origin' },
      },
    });
    opened.session.signIn();
    opened.form.logIn({ email: 'tom@example.com', pin: '1' });
    await signInReaches(opened, 'answer');
    opened.form.answer('123456');
    await signInReaches(opened, 'verify');
    await signInReaches(opened, 'answer');
    expect(opened.sent).to.deep.equal([
      {
        path: '/v2/sign-in',
        credentials: 'same-origin',
        body: { idp_id: 'corp-ldap', email: 'tom@example.com', pin: '1' },
      },
      {
        path: '/v2/second',
        credentials: 'include',
        body: { challenge_token: 'one', method: 'totp', action: 'answer', code: '123456' },
      },
    ]);
  });

  it('leaves requests to an adapter if the page has one', async () => {
    const asked: unknown[] = [];
    const adapter = {
      login: async (body: unknown) => {
        asked.push(body);
        return challenged('one', { available_methods: ['totp'] });
      },
      challenge: async (body: unknown) => {
        asked.push(body);
        return { status: 410, body: {} };
      },
    };
    const opened = openForm([], { authOptions: { adapter } });
    opened.session.signIn();
    opened.form.logIn({ email: 'tom@example.com', password: 'p' });
    await signInReaches(opened, 'answer');
    opened.form.answer('1');
    await signInReaches(opened, 'prompt');
    expect([asked.length, opened.sent.length]).to.deep.equal([2, 0]);
  });

  it("hides the service's messages unless the page enables them", async () => {
    const refusal = { status: 401, body: { status: 'denied', message: 'Ask Ms \u202eMiller,\0 room 7.' } };
    for (const showServerMessages of [false, true]) {
      const opened = openForm([refusal], { authOptions: { showServerMessages } });
      opened.session.signIn();
      const failed = opened.next('auth-failed');
      opened.form.logIn({ email: 'tom@example.com', password: 'p' });
      expect(Object.values(await failed)).not.to.include('Ask Ms Miller, room 7.');
      expect(opened.form.said).to.equal(showServerMessages ? 'Ask Ms Miller, room 7.' : undefined);
      opened.session.signIn();
      expect(opened.form.said, 'gone with the next step').to.equal(undefined);
    }
  });
});
