// Sign-out: the token is deleted, silent sign-in stops, and the last calls have a few seconds.
import { expect } from '@open-wc/testing';
import { markSignedOut } from '../../src/auth/storage.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { WithToken } from '../../src/core/types.ts';
import { sleep } from '../../src/core/wait.ts';
import { stopClock } from '../support/clock.ts';
import { settled } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { inCache, signOutElsewhere, signOutUnnoticed } from '../support/other-page.ts';
import { closeAll, forever, namesOf, noPost, type Opened, open } from './open-session.ts';
import { granted, openSilent, type Script, signInReaches } from './scripted.ts';

afterEach(closeAll);

let count = 0;
const freshUrl = (): string => `https://sign-out-${++count}.example`;
const tokenOf = ({ session }: Pick<Opened, 'session'>): Promise<string | undefined> =>
  session.withToken(async (token) => token, forever);

/** Makes a call that needs a token, until sign-in requires the user. Resolves with all states of sign-in, in order. */
async function demand(opened: Opened): Promise<string[]> {
  const states: string[] = [];
  opened.session.subscribe(() => states.push(opened.session.snapshot.state));
  const stop = new AbortController();
  const call = opened.session.withToken(async (token) => token, stop.signal).catch(() => undefined);
  await Promise.race([signInReaches(opened, 'prompt'), call]);
  stop.abort();
  return states;
}

describe('after a sign-out there is no silent sign-in', () => {
  it('on this page, even if the service still has a session of the user', async () => {
    const opened = openSilent([granted()], { auth: 'auto' });
    await tokenOf(opened);
    await opened.session.signOut();
    expect(opened.session.snapshot.state).to.equal('signed-out');
    expect(opened.changes.at(-1)).to.deep.equal({ name: 'signed-out', detail: { reason: 'user' } });
    expect(await demand(opened)).to.deep.equal(['prompt', 'prompt']);
    expect(opened.sent.length).to.equal(1);
  });

  it('after a reload or a restart, until a click; the user is then asked to sign in again', async () => {
    const input = { auth: 'redirect', baseUrl: freshUrl() } as const;
    const before = openSilent([granted()], input);
    await tokenOf(before);
    await before.session.signOut();
    before.session.close();
    await sleep(10, forever);

    const reloaded = openSilent([granted()], input);
    expect(await demand(reloaded))
      .to.include('prompt')
      .and.not.include('silent');
    expect(reloaded.sent).to.deep.equal([]);
  });

  it('in another tab, whose user is notified', async () => {
    const baseUrl = freshUrl();
    const opened = openSilent([granted()], { baseUrl });
    await tokenOf(opened);
    const reported = opened.next('signed-out');
    signOutElsewhere();
    expect(await reported).to.deep.equal({ reason: 'other-tab' });
    expect(await demand(opened)).not.to.include('silent');
  });

  it('in another tab while this page was in the back/forward cache, where no message arrives', async () => {
    const opened = openSilent([granted()], { baseUrl: freshUrl() });
    await tokenOf(opened);
    inCache(() => undefined);
    expect(opened.session.snapshot.state).to.equal('signed-in');
    inCache(signOutUnnoticed);
    expect(opened.session.snapshot.state).to.equal('signed-out');
    expect(opened.changes.at(-1)).to.deep.equal({ name: 'signed-out', detail: { reason: 'other-tab' } });
    const told = opened.changes.length;
    inCache(() => undefined);
    expect(opened.changes.length).to.equal(told);
    expect(await demand(opened)).to.deep.equal(['prompt', 'prompt']);
  });

  it('in another tab while this page was in the back/forward cache, even if another user has signed in since', async () => {
    const baseUrl = freshUrl();
    const opened = openSilent([granted()], { baseUrl });
    await tokenOf(opened);
    inCache(() => {
      signOutUnnoticed();
      markSignedOut({ baseUrl, clientId: 'secure-uploader' }, false);
    });
    expect(opened.session.snapshot.state).to.equal('signed-out');
    expect(opened.changes.at(-1)).to.deep.equal({ name: 'signed-out', detail: { reason: 'other-tab' } });
  });

  it('in another tab while this page was in the back/forward cache, if the pages provide the tokens', async () => {
    let calls = 0;
    const opened = open({ auth: 'token', baseUrl: freshUrl(), getToken: () => `token-${++calls}` });
    await tokenOf(opened);
    inCache(signOutUnnoticed);
    expect(opened.session.snapshot.state).to.equal('signed-out');
    await demand(opened);
    expect(calls).to.equal(1);
  });

  it('of a page for another service, which has no token yet', async () => {
    const [left, other] = [openSilent([granted()], { baseUrl: freshUrl() }), openSilent([granted()])];
    await tokenOf(left);
    const reported = other.next('signed-out');
    await left.session.signOut();
    expect(await reported).to.deep.equal({ reason: 'user' });
    expect(await demand(other)).not.to.include('silent');
  });

  it('for another owner on the same page, who used the same service', async () => {
    const baseUrl = freshUrl();
    const [ann, bob] = ['ann', 'bob'].map((owner) => openSilent([granted()], { baseUrl, owner }));
    if (!ann || !bob) throw new Error('two were opened');
    await Promise.all([tokenOf(ann), tokenOf(bob)]);
    const reported = bob.next('signed-out');
    await ann.session.signOut();
    await reported;
    expect(await demand(bob)).not.to.include('silent');
  });
});

describe('the stored requests of redirect mode', () => {
  const names = (): string[] =>
    Object.keys(sessionStorage)
      .map((name) => name.replace(/^(secure-uploader:redirect:).*/, '$1'))
      .sort();
  const show = (): unknown => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  const STORED = 'secure-uploader:redirect:';
  const before = location.href;

  beforeEach(() => {
    const young = JSON.stringify({ createdAtMs: Date.now() });
    for (const name of ['of-the-page', `${STORED}one`, `${STORED}two`]) sessionStorage.setItem(name, young);
  });
  afterEach(() => {
    sessionStorage.clear();
    history.replaceState(null, '', before);
  });

  it('are deleted by a sign-out, and nothing else that the page stores', async () => {
    const { session } = open({ auth: 'redirect', baseUrl: freshUrl() });
    await session.signOut();
    expect(names()).to.deep.equal(['of-the-page']);
  });

  it('are deleted by a sign-out in another tab', async () => {
    const baseUrl = freshUrl();
    const opened = open({ auth: 'redirect', baseUrl });
    const reported = opened.next('signed-out');
    signOutElsewhere();
    await reported;
    expect(names()).to.deep.equal(['of-the-page']);
  });

  it('are replaced by the next request, which is deleted when the user comes back without a response', async () => {
    const address = `${location.href.replace(/#.*/, '')}#left`;
    const authOptions = { adapter: { authorizeUrl: () => address } };
    const opened = open({ auth: 'redirect', baseUrl: freshUrl(), authOptions });
    show();
    expect(names()).to.deep.equal(['of-the-page', STORED, STORED]);
    const left = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
    opened.session.signIn();
    await left;
    expect(opened.session.snapshot.state).to.equal('redirecting');
    expect(names()).to.deep.equal(['of-the-page', STORED]);
    show();
    expect(opened.session.snapshot.state).to.equal('prompt');
    expect(names()).to.deep.equal(['of-the-page']);
  });
});

describe('a page that provides tokens', () => {
  for (const auth of ['auto', 'token'] as const)
    it(`is not asked again after a sign-out until the page or the user acts (${auth})`, async () => {
      let calls = 0;
      const { session, ...rest } = open({ auth, getToken: () => `token-${++calls}` });
      const opened = { session, ...rest };
      await tokenOf(opened);
      await session.signOut();
      await demand(opened);
      expect(calls).to.equal(1);
      expect(namesOf(opened.changes)).not.to.include('auth-required');

      session.allow();
      expect(await tokenOf(opened)).to.equal('token-2');
      await session.signOut();
      const waiting = tokenOf(opened);
      await signInReaches(opened, 'prompt');
      session.signIn();
      expect(await waiting).to.equal('token-3');
    });

  it('is asked on the next load of the page', async () => {
    const baseUrl = freshUrl();
    const first = open({ baseUrl, getToken: () => 'one' });
    await tokenOf(first);
    await first.session.signOut();
    const loaded = open({ baseUrl, getToken: () => 'two' });
    expect(await tokenOf(loaded)).to.equal('two');
  });

  it('by responding to auth-required is not asked either', async () => {
    let answers = 0;
    const opened = open({}, {}, noPost, (change) => {
      if (change.name === 'auth-required') change.detail.respondWith(`token-${++answers}`);
    });
    expect(await tokenOf(opened)).to.equal('token-1');
    await opened.session.signOut();
    await demand(opened);
    expect(answers).to.equal(1);
  });

  it('is not asked when it acts, as long as no call needs a token', async () => {
    let calls = 0;
    const opened = open({ auth: 'token', getToken: () => `token-${++calls}` });
    await tokenOf(opened);
    await opened.session.signOut();
    opened.session.allow();
    await settled();
    expect([calls, opened.session.snapshot.state]).to.deep.equal([1, 'signed-out']);
    expect(await tokenOf(opened)).to.equal('token-2');
  });

  it('lets waiting calls continue when it acts', async () => {
    let calls = 0;
    const opened = open({ auth: 'token', getToken: () => `token-${++calls}` });
    await tokenOf(opened);
    await opened.session.signOut();
    const waiting = tokenOf(opened);
    await signInReaches(opened, 'prompt');
    opened.session.allow();
    expect(await waiting).to.equal('token-2');
  });
});

describe('the last calls', () => {
  /**
   * Signs in and starts to sign out. Resolves with `last`, which makes the last calls, and `left`, which resolves after the
   * sign-out.
   */
  async function leave(script: Script = [granted()]) {
    let last: WithToken | undefined;
    const onSignOut = (withToken: WithToken): Promise<void> => {
      last = withToken;
      return Promise.resolve();
    };
    const input = { logoutPath: '/logout', baseUrl: freshUrl() };
    const opened = openSilent(script, input, {}, onSignOut);
    await tokenOf(opened);
    const left = opened.session.signOut();
    if (!last) throw new Error('the event is missing');
    return { ...opened, last, left };
  }

  it('have the previous token, and no other call has it', async () => {
    const { last, left, session } = await leave();
    const stop = new AbortController();
    const other = session.withToken(async (token) => token, stop.signal).catch(() => 'nothing');
    expect(await last(async (token) => token, forever)).to.equal('service-token');
    stop.abort();
    expect(await other).to.equal('nothing');
    await left;
    const late = await last(async (token) => token, forever).catch((error: UploaderError) => error.code);
    expect(late).to.equal('sign-in-required');
  });

  it('have it for five seconds at most; then logout-path is called even if they have not ended', async () => {
    let last: WithToken | undefined;
    const onSignOut = (withToken: WithToken): Promise<void> => {
      last = withToken;
      return new Promise(() => undefined);
    };
    const input = { logoutPath: '/logout', baseUrl: freshUrl() };
    const opened = openSilent([granted(), { status: 204, body: undefined }], input, {}, onSignOut);
    await tokenOf(opened);
    const clock = stopClock();
    try {
      const left = opened.session.signOut();
      const lastToken = () => last?.(async (token) => token, forever).catch(({ code }) => code);
      await clock.pass(4_900);
      expect(await lastToken()).to.equal('service-token');
      expect(opened.sent.length).to.equal(1);
      await clock.pass(100);
      expect(await lastToken()).to.equal('sign-in-required');
      await left;
      expect(opened.sent.slice(1).map(({ path }) => path)).to.deep.equal(['/logout']);
    } finally {
      clock.restore();
    }
  });

  it('end with the one to logout-path, with the cookie and without the token, once for all callers', async () => {
    const opened = await leave([granted(), { status: 204, body: undefined }]);
    await Promise.all([opened.left, opened.session.signOut()]);
    expect(opened.sent.slice(1)).to.deep.equal([{ path: '/logout', body: {}, credentials: 'include' }]);
  });

  it('of one sign-out do not delay the next: a token of a sign-in between them is deleted at once', async () => {
    let calls = 0;
    const never = (): Promise<never> => new Promise(() => undefined);
    const opened = open({ auth: 'token', getToken: () => `token-${++calls}` }, {}, noPost, undefined, never);
    await tokenOf(opened);
    void opened.session.signOut();
    opened.session.allow();
    expect(await tokenOf(opened)).to.equal('token-2');
    void opened.session.signOut();
    expect(opened.session.snapshot.state).to.equal('signed-out');
    expect(namesOf(opened.changes).filter((name) => name === 'signed-out')).to.have.length(2);
  });

  for (const [index, line] of [
    new UploaderError('network', 'no'),
    { status: 500, body: undefined },
  ].entries())
    it(`leave no user signed in if that call fails: the console reports it, once (${index})`, () =>
      captureWarnings(async (warnings) => {
        const opened = await leave([granted(), line]);
        await opened.left;
        expect(opened.session.snapshot.state).to.equal('signed-out');
        expect(warnings).to.have.length(index === 0 ? 1 : 0);
      }));

  for (const [what, logout] of [
    ['never settles', () => new Promise<never>(() => undefined)],
    [
      'throws',
      () => {
        throw new Error('of the page');
      },
    ],
    ['returns nothing', () => undefined as never],
  ] as const)
    it(`end although the adapter of the page ${what}, and the next sign-out works`, () =>
      captureWarnings(async () => {
        const input = { logoutPath: '/logout', baseUrl: freshUrl(), authOptions: { adapter: { logout } } };
        const opened = open({ ...input, getToken: () => 't' }, { lastCallsMs: 20 });
        for (let count = 0; count < 2; count += 1) {
          await tokenOf(opened);
          await opened.session.signOut();
          expect(opened.session.snapshot.state).to.equal('signed-out');
          opened.session.allow();
        }
      }));
});

describe('the next sign-in by the user', () => {
  it('requests a fresh login from the service, until a user has signed in', async () => {
    const baseUrl = freshUrl();
    const opened = openSilent([granted()], { baseUrl, auth: 'popup' });
    await tokenOf(opened);
    const promptOf = async (): Promise<string | null> => {
      const own = window.open;
      let asked = '';
      const gone = { closed: false, close: () => undefined, focus: () => undefined };
      const replace = (url: string): void => {
        asked = url;
      };
      window.open = () => ({ ...gone, location: { replace } }) as never;
      try {
        opened.session.signIn();
        while (asked === '') await sleep(5, forever);
      } finally {
        window.open = own;
      }
      opened.session.cancel();
      return new URL(asked).searchParams.get('prompt');
    };
    await opened.session.signOut();
    expect(await promptOf()).to.equal('login');
    expect(await promptOf(), 'no user has signed in yet').to.equal('login');
  });
});
