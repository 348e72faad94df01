// Responses of the sign-in page that the callback page has stored, and entries that are no response.
import { expect } from '@open-wc/testing';
import { isAnswer } from '../../src/auth/pkce.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { CurrentUser, endPeriod, type Mark } from '../../src/core/user.ts';
import { quietFor, rest, settled, until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { signOutUnnoticed } from '../support/other-page.ts';
import { closeAll, failuresOf, type Opened, open } from './open-session.ts';
import { fixtures, follow, granted, signInReaches } from './scripted.ts';

afterEach(closeAll);

let number = 0;

/** Stores an authorization request as for a session of `input`. `callback.ts` adds `params`. */
function store(
  state: string,
  { baseUrl, clientId = '' }: SettingsInput,
  params?: string,
  ageMs = 0,
  answeredAtMs = Date.now(),
  mark?: Mark,
  page = 1,
): void {
  const sessionKey = [baseUrl, clientId, '', 'redirect', '', ''].join(' ');
  const stored = {
    verifier: 'v',
    createdAtMs: Date.now() - ageMs,
    sessionKey,
    params,
    page,
    answeredAtMs,
    mark,
  };
  sessionStorage.setItem(`secure-uploader:redirect:${state}`, JSON.stringify(stored));
}

function createInput(): SettingsInput & { auth: 'redirect' } {
  number += 1;
  return { auth: 'redirect', baseUrl: `https://back-${number}.example`, clientId: 'client' };
}

/** Simulates a page load with the response `params` to an authorization request of the age `ageMs`, and opens a session. */
function comeBack(
  params: string,
  ageMs: number,
  more: SettingsInput = {},
): Opened & ReturnType<typeof follow> {
  const input = { ...createInput(), ...more };
  store('our-state', input, params, ageMs);
  const service = follow([granted()]);
  return { ...open(input, {}, service.post), ...service };
}

const storedKeys = (): string[] =>
  Object.keys(sessionStorage).filter((name) => name.startsWith('secure-uploader:redirect:'));

const leaveAndClear = (): void => {
  endPeriod();
  localStorage.clear();
};

const MINUTE_MS = 60_000;
const ago = (seconds: number): number => Date.now() - 1000 * seconds;

describe('a page that was loaded with a response', () => {
  // Must be the first test of the file: only the first test loads `authorize.ts`, and loading takes longer than `close`.
  it('redeems nothing for an element that was removed meanwhile', async () => {
    const opened = comeBack('code=c&state=our-state', MINUTE_MS);
    opened.session.close();
    await import('../../src/auth/authorize.ts');
    await settled();
    expect([opened.sent, opened.session.snapshot.state]).to.deep.equal([[], 'signed-out']);
  });

  it('exchanges its code, and removes it from storage', async () => {
    const opened = comeBack('code=c&state=our-state', 9 * MINUTE_MS);
    expect(storedKeys()).to.deep.equal([]);
    await signInReaches(opened, 'signed-in');
    expect(opened.sent.map(({ body }) => body)).to.deep.equal([{ code: 'c', code_verifier: 'v' }]);
  });

  const issuer = 'https://issuer.example';
  for (const [what, params, ageMs, code, state, input] of [
    ['is too late', 'code=c&state=our-state', 11 * MINUTE_MS, 'state-mismatch', 'signed-out', {}],
    ['has a code twice', 'code=c&code=d&state=our-state', MINUTE_MS, 'state-mismatch', 'signed-out', {}],
    [
      'has a code and an error',
      'code=c&error=access_denied&state=our-state',
      0,
      'state-mismatch',
      'signed-out',
      {},
    ],
    [
      'is from another issuer',
      'code=c&state=our-state&iss=https://other.example',
      0,
      'issuer-mismatch',
      'prompt',
      {},
    ],
    [
      'has not the issuer',
      `code=c&state=our-state&iss=${issuer}/`,
      0,
      'issuer-mismatch',
      'prompt',
      { issuer },
    ],
    ['has no issuer', 'code=c&state=our-state', 0, 'issuer-mismatch', 'prompt', { issuer }],
    ['denies access', 'error=access_denied&state=our-state', 0, 'access-denied', 'prompt', {}],
  ] as const) {
    it(`that ${what} reports ${code}, exchanges nothing, and is removed from storage`, async () => {
      const opened = comeBack(params, ageMs, input);
      await opened.next('auth-failed');
      expect(failuresOf(opened.changes)).to.deep.equal([code]);
      expect(opened.session.snapshot.state).to.equal(state);
      expect([opened.sent, storedKeys()]).to.deep.equal([[], []]);
    });
  }
});

describe('a stored entry', () => {
  afterEach(() => sessionStorage.clear());

  it('that has no response yet, is for another session or of the callback page itself, stays and is ignored', async () => {
    const input = createInput();
    store('waiting', input);
    store('other', { ...input, clientId: 'other' }, 'code=c&state=other', 0, ago(1));
    // The callback page stores its own time, and is being left.
    store('here', input, 'code=c&state=here', 0, ago(1), undefined, performance.timeOrigin);
    const service = follow([granted()]);
    const opened = { ...open(input, {}, service.post), ...service };
    await settled();
    expect([opened.sent, failuresOf(opened.changes)]).to.deep.equal([[], []]);
    expect(storedKeys().length).to.equal(3);
    opened.session.signOut();
    expect(storedKeys()).to.deep.equal([]);
  });

  const other = { baseUrl: 'https://left.example', clientId: 'client' };
  for (const [what, save, isLeft] of [
    ['has a response since less than a minute', () => store('s', other, 'code=c&state=s', 0, ago(59)), true],
    ['has a response since a minute', () => store('s', other, 'code=c&state=s', 0, ago(60)), false],
    ['has a response of the future', () => store('s', other, 'code=c&state=s', 0, ago(-61)), false],
    ['has no response since less than ten minutes', () => store('s', other, undefined, 599_000), true],
    ['has no response since ten minutes', () => store('s', other, undefined, 600_000), false],
    ['cannot be read', () => sessionStorage.setItem('secure-uploader:redirect:s', '{'), false],
  ] as const)
    for (const auth of ['redirect', 'popup', 'token', 'none'] as const)
      it(`that ${what} ${isLeft ? 'stays' : 'is removed'} when any other session starts (${auth})`, async () => {
        save();
        open({ auth, baseUrl: 'https://starts.example' });
        await settled();
        expect(storedKeys()).to.have.length(isLeft ? 1 : 0);
      });

  for (const [age, atMs, isUsed] of [
    ['less than a minute', () => ago(59), true],
    ['a minute', () => ago(60), false],
    ['no time that is known', () => Number.NaN, false],
  ] as const)
    it(`of this session with a response since ${age} is removed, and ${isUsed ? 'used' : 'not used'}`, async () => {
      const input = createInput();
      store('our-state', input, 'code=c&state=our-state', MINUTE_MS, atMs());
      const service = follow([granted()]);
      const opened = { ...open(input, {}, service.post), ...service };
      expect(storedKeys()).to.deep.equal([]);
      if (isUsed) await signInReaches(opened, 'signed-in');
      await until(quietFor(50, () => opened.sent.length));
      expect(opened.sent).to.have.length(isUsed ? 1 : 0);
      expect(opened.session.snapshot.state).to.equal(isUsed ? 'signed-in' : 'signed-out');
    });

  for (const [when, leave, isUsed] of [
    ['no user has signed out since', () => undefined, true],
    ['a user has signed out since, in another tab', signOutUnnoticed, false],
    ['a user has signed out since, and the page has cleared the storage', leaveAndClear, false],
    ['the page has cleared the storage since', () => localStorage.clear(), true],
  ] as const)
    it(`with a response is removed, and ${isUsed ? 'used' : 'not used'} if ${when}`, async () => {
      // The session of the test before is closed in a later task. While it is open, it removes the responses of who signs out.
      await rest(1);
      const input = createInput();
      const before = new CurrentUser();
      before.connect();
      store('our-state', input, 'code=c&state=our-state', MINUTE_MS, ago(1), before.mark());
      leave();
      before.disconnect();
      const service = follow([granted()]);
      const opened = { ...open(input, {}, service.post), ...service };
      expect(storedKeys()).to.deep.equal([]);
      if (isUsed) await signInReaches(opened, 'signed-in');
      await until(quietFor(50, () => opened.sent.length));
      expect(opened.sent).to.have.length(isUsed ? 1 : 0);
    });
});

describe('a response', () => {
  it('has a code or an error, of our state, each once and of a limited length', () => {
    for (const params of ['code=c&state=s', 'error=access_denied&state=s&iss=x'])
      expect(isAnswer(params, 's'), params).to.equal(true);
    const others = [
      'state=s',
      'code=c',
      'code=c&state=t',
      'code=c&error=e&state=s',
      'code=c&state=s&iss=x&iss=y',
    ];
    for (const params of [...others, undefined, 7, `code=${'c'.repeat(8192)}&state=s`])
      expect(isAnswer(params, 's'), String(params).slice(0, 40)).to.equal(false);
  });
});

describe('a page that signs in by leaving', () => {
  it('goes to the sign-in page, and stores what its next load needs', async () => {
    const clientId = crypto.randomUUID();
    const channel = new BroadcastChannel('authorize-fixture');
    const asked = new Promise<Record<string, string>>((resolve) => {
      channel.onmessage = ({ data }) => data.client_id === clientId && resolve(data);
    });
    const input = {
      baseUrl: 'https://service.example',
      auth: 'redirect',
      clientId,
      authorizePath: `${fixtures}authorize.html`,
      authOptions: { params: { answer: 'silence' } },
    };
    const frame = document.createElement('iframe');
    frame.src = `${fixtures}redirecting.html?settings=${encodeURIComponent(JSON.stringify(input))}`;
    const address = frame.src;
    document.body.append(frame);
    const { response_type, code_challenge_method, state } = await asked;
    expect([response_type, code_challenge_method]).to.deep.equal(['code', 'S256']);
    const key = `secure-uploader:redirect:${state}`;
    const storage = frame.contentWindow?.sessionStorage;
    expect(JSON.parse(storage?.getItem(key) ?? '{}').returnTo).to.equal(address);
    storage?.removeItem(key);
    channel.close();
    frame.remove();
  });
});

describe('a page whose callback page is missing', () => {
  it('is not left, says where it was looked for, and stores no request', () =>
    captureWarnings(async (warnings) => {
      const redirectUri = `${fixtures}no-such-page.html`;
      const opened = open({ ...createInput(), redirectUri });
      const failed = opened.next('auth-failed');
      opened.session.signIn('redirect');
      expect((await failed).code).to.equal('bad-config');
      expect(opened.session.snapshot.state).to.equal('prompt');
      expect(storedKeys()).to.deep.equal([]);
      expect(warnings).to.deep.equal([
        `secure-uploader: There is no callback page at ${redirectUri} (404). Copy it there, or set redirect-uri.`,
      ]);
    }));

  it('is left in time if the callback page gives no answer', async () => {
    const { fetch } = globalThis;
    const { digest } = crypto.subtle;
    const asked: string[] = [];
    globalThis.fetch = (_url, init) =>
      new Promise((_resolve, reject) => {
        asked.push(init?.method ?? 'GET');
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    // Ends the sign-in at its next step, so that this page stays.
    crypto.subtle.digest = () => {
      asked.push('digest');
      return Promise.reject(new DOMException('no digest', 'OperationError'));
    };
    try {
      const opened = open({ ...createInput(), authOptions: { times: { silentMs: 50, requestMs: 5000 } } });
      const failed = opened.next('auth-failed');
      opened.session.signIn('redirect');
      expect((await failed).code).to.equal('authorize-failed');
      expect(asked).to.deep.equal(['HEAD', 'digest']);
    } finally {
      globalThis.fetch = fetch;
      crypto.subtle.digest = digest;
    }
  });
});
