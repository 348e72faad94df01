// The example adapter of docs/authentication.md, with a service that uses other paths and field names.
import { expect } from '@open-wc/testing';
import { FormRequests } from '../../src/auth/form.ts';
import type { AdapterAnswer, AuthOptions } from '../../src/core/auth-options.ts';
import { closeAll, failuresOf, forever } from './open-session.ts';
import { fixtures, openSilent, signInReaches } from './scripted.ts';

afterEach(closeAll);

/** Runs the example of the documentation, and returns its `authOptions`. */
async function readExample(): Promise<AuthOptions> {
  const text = await (await fetch('/docs/authentication.md')).text();
  const [, code = ''] = text.split('### A service with other names')[1]?.match(/```js\n([\s\S]*?)```/) ?? [];
  const uploader: { authOptions?: AuthOptions } = {};
  new Function('uploader', code)(uploader);
  if (!uploader.authOptions) throw new Error('the example sets no authOptions');
  return uploader.authOptions;
}

describe('a service with other names', () => {
  const own = globalThis.fetch;
  const asked: [string, Record<string, unknown>][] = [];
  const answers: Record<string, () => object> = {
    '/v2/sign-in': () => ({ state: 'NEXT_FACTOR', flow: 'one', factors: ['app', 'retina', 'backup'] }),
    '/v2/factor': () =>
      asked.length < 3 ? { state: 'BAD_CODE', flow: 'two', factors: [] } : { state: 'SIGNED_IN' },
    '/v2/token': () => ({ jwt: 'adapted-token', until: '2099-01-01T00:00:00Z' }),
  };
  beforeEach(() => {
    asked.length = 0;
    globalThis.fetch = async (input, init) => {
      const { pathname, origin } = new URL(String(input), location.href);
      if (origin !== 'https://files.example') return own(input, init);
      asked.push([pathname, JSON.parse(String(init?.body))]);
      return Response.json(answers[pathname]?.() ?? {});
    };
  });
  afterEach(() => {
    globalThis.fetch = own;
  });

  it('signs users in by its form, recognizes a wrong code, exchanges codes, and signs users out', async () => {
    const authOptions = await readExample();
    const adapter = {
      ...authOptions.adapter,
      // URL of the sign-in page for tests, which requires the standard parameter names.
      authorizeUrl: (params: Readonly<Record<string, string>>) =>
        `${fixtures}authorize.html?${new URLSearchParams(params)}`,
    };
    const input = {
      auth: 'local',
      logoutPath: '/sign-out',
      authOptions: { ...authOptions, adapter },
    } as const;
    const opened = openSilent([], input);
    const form = opened.session.form((host) => new FormRequests(host));
    opened.session.signIn();
    form.logIn({ email: 'tom@example.com', password: 'p' });
    await signInReaches(opened, 'choose');
    expect(form.challenge?.methods.map(({ id, family }) => [id, family])).to.deep.equal([
      ['app', 'totp'],
      ['backup', 'recovery'],
    ]);
    const [method] = form.challenge?.methods ?? [];
    if (!method) throw new Error('no method is offered');
    form.act({ type: 'pick', method });
    await signInReaches(opened, 'answer');
    const failed = opened.next('auth-failed');
    form.answer('000000');
    expect((await failed).code).to.equal('challenge-failed');
    form.answer('123456');
    expect(await opened.session.withToken(async (token) => token, forever)).to.equal('adapted-token');
    await opened.session.signOut();
    const [, , , [, exchanged] = []] = asked;
    expect(Object.keys(exchanged ?? {})).to.deep.equal(['grant', 'proof']);
    expect(asked).to.deep.equal([
      ['/v2/sign-in', { user: 'tom@example.com', secret: 'p' }],
      ['/v2/factor', { flow: 'one', factor: 'app', step: 'answer', otp: '000000' }],
      ['/v2/factor', { flow: 'two', factor: 'app', step: 'answer', otp: '123456' }],
      ['/v2/token', exchanged],
      ['/v2/sign-out', {}],
    ]);
    expect(failuresOf(opened.changes)).to.deep.equal(['challenge-failed']);
    expect(opened.sent).to.deep.equal([]);
  });

  it('has a sign-in page with its own parameters', async () => {
    const { adapter } = await readExample();
    const url = adapter?.authorizeUrl?.({ redirect_uri: 'https://app.example/cb', state: 's' });
    expect(url).to.equal('/v2/authorize?state=s&return_to=https%3A%2F%2Fapp.example%2Fcb');
  });
});

describe('an adapter that is an instance of a class', () => {
  class Adapter {
    readonly #token: string;
    constructor(token: string) {
      this.#token = token;
    }
    authorizeUrl(params: Readonly<Record<string, string>>): string {
      return `${fixtures}authorize.html?${new URLSearchParams(params)}`;
    }
    async exchange(): Promise<AdapterAnswer> {
      return { status: 200, body: { token: this.#token } };
    }
  }

  it('keeps its fields, and its sessions apart from those of another instance', async () => {
    for (const token of ['token-a', 'token-b']) {
      const opened = openSilent([], { authOptions: { adapter: new Adapter(token) } });
      expect(await opened.session.withToken(async (token) => token, forever)).to.equal(token);
    }
  });
});
