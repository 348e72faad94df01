// Responses of the sign-in page in the URL of the loaded page, and URLs that contain no response.
import { expect } from '@open-wc/testing';
import { isAnswer } from '../../src/auth/pkce.ts';
import { settled } from '../support/collect.ts';
import { closeAll, failuresOf, type Opened, open } from './open-session.ts';
import { fixtures, follow, granted, until } from './scripted.ts';

afterEach(closeAll);

/** Simulates a page load with the response `params` to an authorization request of the age `ageMs`, and opens a session. */
function comeBack(params: string, ageMs: number): Opened & ReturnType<typeof follow> {
  const stored = { verifier: 'v', returnTo: location.href, createdAtMs: Date.now() - ageMs };
  sessionStorage.setItem('secure-uploader:redirect:our-state', JSON.stringify(stored));
  history.replaceState(null, '', `#secure-uploader-answer?${params}`);
  const service = follow([granted()]);
  return { ...open({ auth: 'redirect' }, {}, service.post), ...service };
}

const MINUTE_MS = 60_000;

describe('a page that was loaded with a response', () => {
  // Must be the first test of the file: only the first test loads `round-effects.ts`, and loading takes longer than `close`.
  it('redeems nothing for an element that was removed meanwhile', async () => {
    const opened = comeBack('code=c&state=our-state', MINUTE_MS);
    opened.session.close();
    await import('../../src/auth/round-effects.ts');
    await settled();
    expect([opened.sent, opened.session.snapshot.state]).to.deep.equal([[], 'signed-out']);
  });

  it('exchanges its code, and removes it from its URL and storage', async () => {
    const before = location.href;
    const opened = comeBack('code=c&state=our-state', 9 * MINUTE_MS);
    expect(location.href).to.equal(before);
    expect(Object.keys(sessionStorage).filter((name) => name.startsWith('secure-uploader'))).to.deep.equal(
      [],
    );
    await until(opened, 'signed-in');
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

describe('a forged link', () => {
  const before = location.href;
  afterEach(() => history.replaceState(null, '', before));

  /** Simulates a page load with the URL `address`. Resolves with the URL of the page after the response was rejected. */
  async function addressAfter(address: string, redirectUri: string): Promise<string> {
    history.replaceState(null, '', address);
    const opened = open({ auth: 'redirect', redirectUri });
    await opened.next('auth-failed');
    expect(failuresOf(opened.changes)).to.deep.equal(['state-mismatch']);
    return location.href;
  }

  it('loses its response, and nothing else of the URL', async () => {
    const page = `${location.pathname}?folder=7&tab=2`;
    const answer = 'state=x&code=y&iss=z';
    const callback = '/secure-uploader-callback.html';
    const whole = location.origin + page;
    expect(await addressAfter(`${page}#secure-uploader-answer?${answer}`, callback)).to.equal(whole);
    expect(await addressAfter(`${page}#${answer}`, location.pathname)).to.equal(whole);
    expect(await addressAfter(`${page}&${answer}`, location.pathname)).to.equal(whole);
  });

  it('with a state and neither code nor error is ignored', async () => {
    const address = `${location.origin}${location.pathname}?state=open#top`;
    history.replaceState(null, '', address);
    const { session, changes } = open({ auth: 'redirect', redirectUri: location.pathname });
    await session.withToken(async () => undefined, AbortSignal.timeout(50)).catch(() => undefined);
    expect(location.href).to.equal(address);
    expect(failuresOf(changes)).to.deep.equal([]);
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
