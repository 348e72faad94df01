// Tokens that must belong to `owner` (`authOptions.ownerField`), from the first one on.
import { expect } from '@open-wc/testing';
import { createTransaction } from '../../src/auth/pkce.ts';
import { createSettings } from '../../src/core/config.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { skipTime } from '../support/clock.ts';
import { settled } from '../support/collect.ts';
import { closeAll, failuresOf, forever, open } from './open-session.ts';
import { granted, openSilent, signInReaches } from './scripted.ts';

afterEach(closeAll);

const authOptions = { ownerField: 'sub' };
const input = { owner: 'ann', authOptions } as const;

/** Records the parameters of all requests in hidden frames. */
function watchFrames(): { readonly asked: URLSearchParams[]; stop(): void } {
  const asked: URLSearchParams[] = [];
  const observer = new MutationObserver((records) => {
    for (const node of records.flatMap(({ addedNodes }) => [...addedNodes]))
      if (node instanceof HTMLIFrameElement) asked.push(new URL(node.src).searchParams);
  });
  observer.observe(document.body, { childList: true });
  return { asked, stop: () => observer.disconnect() };
}

describe('a token of the service', () => {
  it('of the owner is used, and the sign-in page gets a hint who should sign in', async () => {
    const frames = watchFrames();
    const opened = openSilent([granted({ sub: 'ann' })], input);
    expect(await opened.session.withToken(async (token) => token, forever)).to.equal('service-token');
    expect(frames.asked.map((params) => params.get('login_hint'))).to.deep.equal(['ann']);
    frames.stop();
  });

  /** Asserts that no call gets the token of this response, and that the user has to sign in. */
  const expectRefused = (more: object, settings: SettingsInput = input): Promise<void> =>
    expectNoneUsed(openSilent([granted(more)], settings));

  async function expectNoneUsed(opened: ReturnType<typeof openSilent>): Promise<void> {
    const used: unknown[] = [];
    const stop = new AbortController();
    const call = opened.session.withToken(async (token) => used.push(token), stop.signal);
    await signInReaches(opened, 'prompt');
    expect(failuresOf(opened.changes)).to.deep.equal(['access-denied']);
    await settled();
    stop.abort();
    await call.catch(() => undefined);
    expect(used).to.deep.equal([]);
  }

  it('of another user is never used, although it is the first one', () => expectRefused({ sub: 'bob' }));

  it('that does not name its user is never used', () => expectRefused({ id: 'ann' }));

  for (const [what, more] of [
    ['of another user', { sub: 'bob' }],
    ['that does not name its user', {}],
  ] as const)
    it(`${what} is never used, although it renews one of the owner`, async () => {
      const renewed = granted({ token: 'renewed-token', ...more });
      const opened = openSilent([granted({ sub: 'ann', expires_in: 600 }), renewed], input);
      await opened.session.withToken(async () => undefined, forever);
      const undo = skipTime(601_000);
      try {
        await expectNoneUsed(opened);
      } finally {
        undo();
      }
    });

  it('is never used while the page has not named the owner', () =>
    expectRefused({ sub: 'bob' }, { authOptions }));
});

describe('a token of the page', () => {
  const tokenOf = async (answer: object | string): Promise<unknown> => {
    const opened = open({ ...input, getToken: () => answer as string });
    const stop = new AbortController();
    const call = opened.session.withToken(async (token) => token, stop.signal).catch(() => 'nothing');
    await Promise.race([call, signInReaches(opened, 'prompt')]);
    stop.abort();
    return call;
  };

  it('may omit the user, because the page knows its users', async () => {
    expect(await tokenOf('token')).to.equal('token');
    expect(await tokenOf({ token: 'token' })).to.equal('token');
    expect(await tokenOf({ token: 'token', sub: 'ann' })).to.equal('token');
  });

  it('is refused if it names another user', async () => {
    expect(await tokenOf({ token: 'token', sub: 'bob' })).to.equal('nothing');
  });
});

it('the parameters of the page do not replace the hint', async () => {
  const settings = createSettings({
    ...{ baseUrl: 'https://service.example', owner: 'ann' },
    authOptions: { ...authOptions, params: { login_hint: 'bob' } },
  });
  const { url } = await createTransaction(settings, 'https://page.example/callback.html');
  expect(new URL(url).searchParams.getAll('login_hint')).to.deep.equal(['ann']);
});
