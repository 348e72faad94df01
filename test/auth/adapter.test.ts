// The example adapter of docs/authentication.md, with a service that uses other paths and field names.
import { expect } from '@open-wc/testing';
import { createLoginForm } from '../../src/auth/form.ts';
import type { AuthOptions } from '../../src/core/auth-options.ts';
import { closeAll, failuresOf, forever, noPost, open } from './open-session.ts';
import { fixtures, granted, openSilent, until } from './scripted.ts';

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
    '/v2/factor': () => ({ state: asked.length < 3 ? 'BAD_CODE' : 'SIGNED_IN', flow: 'two', factors: [] }),
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

  it('signs users in by its form, and recognizes a wrong code', async () => {
    const opened = open({ auth: 'local', authOptions: await readExample() }, {}, noPost);
    const form = opened.session.form(createLoginForm);
    opened.session.signIn();
    form.logIn({ email: 'tom@example.com', password: 'p' });
    await until(opened, 'choose');
    expect(form.challenge?.methods.map(({ id, family }) => [id, family])).to.deep.equal([
      ['app', 'totp'],
      ['backup', 'recovery'],
    ]);
    const [method] = form.challenge?.methods ?? [];
    if (!method) throw new Error('no method is offered');
    form.act({ type: 'pick', method });
    await until(opened, 'answer');
    form.answer('000000');
    const failed = opened.next('auth-failed');
    expect((await failed).code).to.equal('challenge-failed');
    expect(asked).to.deep.equal([
      ['/v2/sign-in', { user: 'tom@example.com', secret: 'p' }],
      ['/v2/factor', { flow: 'one', factor: 'app', step: 'answer', otp: '000000' }],
    ]);
    expect(failuresOf(opened.changes)).to.deep.equal(['challenge-failed']);
  });

  it('redeems codes', async () => {
    const authOptions = await readExample();
    const adapter = {
      ...authOptions.adapter,
      // URL of the sign-in page for tests, which requires the standard parameter names.
      authorizeUrl: (params: Readonly<Record<string, string>>) =>
        `${fixtures}authorize.html?${new URLSearchParams(params)}`,
    };
    const { session, sent } = openSilent([granted()], { authOptions: { ...authOptions, adapter } });
    expect(await session.withToken(async (token) => token, forever)).to.equal('adapted-token');
    expect(sent).to.deep.equal([]);
    expect(Object.keys(asked[0]?.[1] ?? {})).to.deep.equal(['grant', 'proof']);
    const url = authOptions.adapter?.authorizeUrl?.({ redirect_uri: 'https://app.example/cb', state: 's' });
    expect(url).to.equal('/v2/authorize?state=s&return_to=https%3A%2F%2Fapp.example%2Fcb');
  });
});
