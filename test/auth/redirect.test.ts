// Responses of the sign-in page that the callback page has stored, and entries that are no response.
import { expect } from '@open-wc/testing';
import { isAnswer } from '../../src/auth/pkce.ts';
import type { SettingsInput } from '../../src/core/config.ts';
import { settled } from '../support/collect.ts';
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
  page = 1,
): void {
  const sessionKey = [baseUrl, clientId, '', 'redirect', '', ''].join(' ');
  const stored = { verifier: 'v', createdAtMs: Date.now() - ageMs, sessionKey, params, page };
  sessionStorage.setItem(`secure-uploader:redirect:${state}`, JSON.stringify(stored));
}

function createInput(): SettingsInput & { auth: 'redirect' } {
  number += 1;
  return { auth: 'redirect', baseUrl: `https://back-${number}.example`, clientId: 'client' };
}

/** Simulates a page load with the response `params` to an authorization request of the age `ageMs`, and opens a session. */
function comeBack(params: string, ageMs: number): Opened & ReturnType<typeof follow> {
  const input = createInput();
  store('our-state', input, params, ageMs);
  const service = follow([granted()]);
  return { ...open(input, {}, service.post), ...service };
}

const storedKeys = (): string[] =>
  Object.keys(sessionStorage).filter((name) => name.startsWith('secure-uploader'));

const MINUTE_MS = 60_000;

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

  for (const [what, params, ageMs] of [
    ['is too late', 'code=c&state=our-state', 11 * MINUTE_MS],
    ['has a code twice', 'code=c&code=d&state=our-state', MINUTE_MS],
    ['has a code and an error', 'code=c&error=access_denied&state=our-state', MINUTE_MS],
  ] as const) {
    it(`that ${what} reports state-mismatch, and exchanges nothing`, async () => {
      const opened = comeBack(params, ageMs);
      await opened.next('auth-failed');
      expect(failuresOf(opened.changes)).to.deep.equal(['state-mismatch']);
      expect(opened.session.snapshot.state).to.equal('signed-out');
      expect(opened.sent).to.deep.equal([]);
    });
  }
});

describe('a stored entry', () => {
  afterEach(() => sessionStorage.clear());

  it('that cannot be read, has no response yet, is for another session or of the callback page itself, stays and is ignored', async () => {
    const input = createInput();
    sessionStorage.setItem('secure-uploader:redirect:damaged', '{');
    store('waiting', input);
    store('other', { ...input, clientId: 'other' }, 'code=c&state=other');
    // The callback page stores its own time, and is being left.
    store('here', input, 'code=c&state=here', 0, performance.timeOrigin);
    const service = follow([granted()]);
    const opened = { ...open(input, {}, service.post), ...service };
    await settled();
    expect([opened.sent, failuresOf(opened.changes)]).to.deep.equal([[], []]);
    expect(storedKeys().length).to.equal(4);
    opened.session.signOut();
    expect(storedKeys()).to.deep.equal([]);
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
