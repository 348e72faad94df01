// What a page may set where its service differs: each setting by what it changes on the wire.
import { expect } from '@open-wc/testing';
import { createSettings } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { createSend } from '../../src/service/http.ts';
import { closeAll, forever, open } from './open-session.ts';
import { challenged, granted, openForm, openSilent, until } from './scripted.ts';

afterEach(closeAll);

describe('a service that differs', () => {
  it('G6: redeems codes at another path, in another form', async () => {
    const tokenBody = ({ code, code_verifier }: Record<string, string>) => ({ code, proof: code_verifier });
    const { session, sent } = openSilent([granted()], { tokenPath: '/v2/token', authOptions: { tokenBody } });
    await session.withToken(async () => undefined, forever);
    expect(sent.map(({ path, body }) => [path, Object.keys(body)])).to.deep.equal([
      ['/v2/token', ['code', 'proof']],
    ]);
    expect(sent[0]?.body.proof).to.match(/^[\w-]{43}$/);
  });

  it('G8: says nothing of the end of its tokens, which the page knows', async () => {
    let count = 0;
    let renew = (): void => undefined;
    const renewed = new Promise<void>((resolve) => {
      renew = resolve;
    });
    const exchange = async () => {
      count += 1;
      if (count === 2) renew();
      return granted();
    };
    const { session } = openSilent([], { authOptions: { assumedLifetime: 20, adapter: { exchange } } });
    await session.withToken(async () => undefined, forever);
    const real = Date.now;
    Date.now = () => real() + 19_000;
    try {
      await session.withToken(async () => undefined, forever);
      await renewed;
    } finally {
      Date.now = real;
    }
  });

  it('G11: wants the token in another header, in another scheme or in none', async () => {
    const own = globalThis.fetch;
    const seen: (readonly (string | null)[])[] = [];
    globalThis.fetch = (input, init) => {
      const { headers } = new Request(input, init);
      seen.push([headers.get('authorization'), headers.get('x-token')]);
      return own(input, init);
    };
    try {
      for (const more of [
        {},
        { authScheme: 'Token' },
        { authScheme: '' },
        { authHeader: 'X-Token', authScheme: '' },
      ]) {
        const send = createSend(createSettings({ baseUrl: `${location.origin}/nowhere`, ...more }));
        await send({ method: 'POST', path: '/files', token: 't', signal: forever });
      }
    } finally {
      globalThis.fetch = own;
    }
    expect(seen).to.deep.equal([
      ['Bearer t', null],
      ['Token t', null],
      ['t', null],
      [null, 't'],
    ]);
  });

  it('G15: wants headers with credentials and challenges, and gets them with nothing else', async () => {
    const headers = { 'x-csrf': 'no' };
    const form = openForm([challenged('one', { available_methods: ['totp'] }), { status: 410, body: {} }], {
      authOptions: { headers },
    });
    form.session.signIn();
    form.form.logIn({ email: 'tom@example.com', password: 'p' });
    await until(form, 'answer');
    form.form.answer('123456');
    await until(form, 'prompt');
    expect(form.sent.map(({ path, headers }) => [path, headers])).to.deep.equal([
      ['/auth/login', headers],
      ['/auth/challenge', headers],
    ]);
    const silent = openSilent([granted()], { authOptions: { headers } });
    await silent.session.withToken(async () => undefined, forever);
    expect(silent.sent.map(({ headers }) => headers)).to.deep.equal([undefined]);
  });

  it('G17: has a method that nobody knows, and takes codes of it', async () => {
    const script = [challenged('one', { available_methods: ['retina'] }), { status: 410, body: {} }];
    const { form, sent, session } = openForm(script, { authOptions: { unknownMethod: 'code' } });
    session.signIn();
    form.logIn({ email: 'tom@example.com', password: 'p' });
    await until({ session }, 'answer');
    form.answer('12-34');
    await until({ session }, 'prompt');
    expect(sent[1]?.body).to.deep.equal({
      challenge_token: 'one',
      method: 'retina',
      action: 'answer',
      code: '1234',
    });
  });

  it('G25: is told of a sign-out by the adapter of the page, where there is one', async () => {
    const told: unknown[] = [];
    const adapter = {
      logout: async (body: unknown) => ({ status: told.push(body) && 204, body: undefined }),
    };
    const { session } = open({ getToken: () => 't', logoutPath: '/auth/logout', authOptions: { adapter } });
    await session.withToken(async () => undefined, forever);
    await session.signOut();
    expect(told).to.deep.equal([{}]);
  });

  it('G26: tells of a dead token by another status', async () => {
    let count = 0;
    const getToken = (): string => `token-${++count}`;
    const { session } = open({ getToken, authOptions: { expiredStatuses: [401, 419] } });
    const seen: unknown[] = [];
    await session.withToken(async (token) => {
      seen.push(token);
      if (seen.length < 2) throw new UploaderError('upload-refused', 'no', { status: 419 });
    }, forever);
    expect(seen).to.deep.equal(['token-1', 'token-2']);
  });
});
