// Silent sign-in in a hidden frame, and the exchange of the code for a token.
import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { skipTime, stopClock } from '../support/clock.ts';
import { settled, until } from '../support/collect.ts';
import { closeAll, failuresOf, forever, type Opened } from './open-session.ts';
import { fixtures, granted, openSilent, signInReaches } from './scripted.ts';

afterEach(closeAll);

const answering = (answer: string): SettingsInput => ({ authOptions: { params: { answer } } });

/** Requests a token, and resolves with the error code of `auth-failed`. */
async function failureOf(opened: Opened): Promise<string> {
  const stop = new AbortController();
  const failed = opened.next('auth-failed');
  const signedIn = opened.session.withToken(async () => 'signed in', stop.signal);
  const code = await Promise.race([failed.then((failure) => failure.code), signedIn]);
  stop.abort();
  return code;
}

describe('a silent sign-in', () => {
  it('gets a token, sends exactly code and verifier, and leaves no frame', async () => {
    const { session, sent } = openSilent([granted()]);
    expect(await session.withToken(async (token) => token, forever)).to.equal('service-token');
    expect(sent.map(({ path, credentials }) => [path, credentials])).to.deep.equal([
      ['/auth/token', 'same-origin'],
    ]);
    expect(Object.keys(sent[0]?.body ?? {})).to.deep.equal(['code', 'code_verifier']);
    expect(sent[0]?.body.code_verifier).to.match(/^[\w-]{43}$/);
    expect(document.querySelector('iframe')).to.equal(null);
  });

  it('uses S256 and exactly the documented parameters', async () => {
    const channel = new BroadcastChannel('authorize-fixture');
    const asked = new Promise<Record<string, string>>((resolve) => {
      channel.onmessage = ({ data }) => resolve(data);
    });
    const { session, sent } = openSilent([granted()], { scope: 'upload', idpId: 'corp' });
    await session.withToken(async () => undefined, forever);
    const { state, code_challenge, ...rest } = await asked;
    channel.close();
    expect(rest).to.deep.equal({
      response_type: 'code',
      client_id: 'secure-uploader',
      redirect_uri: `${fixtures}secure-uploader-callback.html`,
      code_challenge_method: 'S256',
      scope: 'upload',
      idp_id: 'corp',
      prompt: 'none',
    });
    const verifier = new TextEncoder().encode(String(sent[0]?.body.code_verifier));
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', verifier));
    const base64 = btoa(String.fromCharCode(...digest))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/=$/, '');
    expect(code_challenge).to.equal(base64);
    expect(state).to.match(/^[\w-]{43}$/);
  });

  it('uses other names and more parameters if the page sets them, but never less safely', async () => {
    const channel = new BroadcastChannel('authorize-fixture');
    const asked = new Promise<Record<string, string>>((resolve) => {
      channel.onmessage = ({ data }) => resolve(data);
    });
    const params = {
      audience: 'files',
      prompt: 'login',
      code_challenge_method: 'plain',
      code_challenge: 'x',
      empty: '',
    };
    const { session } = openSilent([granted()], {
      clientId: '',
      idpId: 'corp',
      authOptions: { params },
    });
    await session.withToken(async () => undefined, forever);
    const { code_challenge, state: _, ...rest } = await asked;
    channel.close();
    expect(code_challenge).to.match(/^[\w-]{43}$/);
    expect(rest).to.deep.equal({
      audience: 'files',
      prompt: 'none',
      code_challenge_method: 'S256',
      response_type: 'code',
      redirect_uri: `${fixtures}secure-uploader-callback.html`,
      idp_id: 'corp',
    });
  });

  it('leaves URL and exchange to an adapter if the page has one', async () => {
    const asked: unknown[] = [];
    const adapter = {
      authorizeUrl: (params: Record<string, string>) => {
        asked.push(Object.keys(params).sort());
        return `${fixtures}authorize.html?${new URLSearchParams(params)}`;
      },
      exchange: async (body: object) => {
        asked.push(Object.keys(body));
        return { status: 200, body: { token: 'adapted-token' } };
      },
    };
    const { session, sent } = openSilent([], { authOptions: { adapter } });
    expect(await session.withToken(async (token) => token, forever)).to.equal('adapted-token');
    expect(asked[1]).to.deep.equal(['code', 'code_verifier']);
    expect(sent).to.deep.equal([]);
  });

  it('without a session of the user requires the user, and shows no error', async () => {
    const opened = openSilent([granted()], answering('error=login_required'));
    const required = opened.next('auth-required');
    const stop = new AbortController();
    opened.session.withToken(async () => undefined, stop.signal).catch(() => undefined);
    expect((await required).reason).to.equal('first');
    expect(opened.session.snapshot).to.deep.equal({ state: 'prompt', mode: 'popup', required: true });
    expect(failuresOf(opened.changes)).to.deep.equal([]);
    expect(opened.sent).to.deep.equal([]);
    stop.abort();
  });

  it('shows exactly the error of the sign-in page, and exchanges nothing', async () => {
    const refused = openSilent([granted()], answering('error=access_denied'));
    expect(await failureOf(refused)).to.equal('access-denied');
    const broken = openSilent([granted()], answering('error=server_error'));
    expect(await failureOf(broken)).to.equal('authorize-failed');
    const foreign = openSilent([granted()], {
      ...answering('code=c&iss=https://evil.example'),
      issuer: 'https://service.example',
    });
    expect(await failureOf(foreign)).to.equal('issuer-mismatch');
    expect([refused, broken, foreign].flatMap(({ sent }) => sent)).to.deep.equal([]);
  });

  it('accepts only a response of the configured issuer; without one, of the service or the sign-in page only', async () => {
    const baseUrl = 'https://own.example';
    const tokenFor = (iss: string, issuer?: string): Promise<string | undefined> => {
      const params = `code=c${iss && `&iss=${iss}`}`;
      const input = {
        ...answering(params),
        ...(issuer && { issuer }),
        baseUrl,
        clientId: crypto.randomUUID(),
      };
      const opened = openSilent([granted()], input);
      const stop = new AbortController();
      const token = opened.session.withToken(async (token) => token, stop.signal).catch(() => undefined);
      return Promise.race([token, failureOf(opened)]).finally(() => stop.abort());
    };
    const issuer = 'https://issuer.example/tenant';
    expect(await tokenFor(issuer, issuer)).to.equal('service-token');
    expect(await tokenFor('', issuer)).to.equal('issuer-mismatch');
    expect(await tokenFor('https://issuer.example/other', issuer)).to.equal('issuer-mismatch');
    expect(await tokenFor('')).to.equal('service-token');
    expect(await tokenFor(`${baseUrl}/tenant`)).to.equal('service-token');
    expect(await tokenFor(location.origin), 'the sign-in page of these tests').to.equal('service-token');
    expect(await tokenFor('https://evil.example')).to.equal('issuer-mismatch');
    expect(await tokenFor('no address')).to.equal('issuer-mismatch');
  });

  it('ignores a response with a wrong state or a code twice, and times out', async () => {
    const clock = stopClock();
    try {
      for (const answer of ['code=c&state=wrong', 'code=c&code=d', 'silence=1']) {
        const sent = new Promise((resolve) => addEventListener('message', resolve, { once: true }));
        const opened = openSilent([granted()], answering(answer), { silentMs: 10_000 });
        const failure = failureOf(opened);
        await until(() => document.querySelector('iframe') !== null);
        if (answer !== 'silence=1') await sent;
        await settled();
        await clock.pass(10_000);
        expect(await failure, answer).to.equal('silent-timeout');
        expect(opened.sent).to.deep.equal([]);
      }
    } finally {
      clock.restore();
    }
  });

  it('whose frame loads when the browser is online, but its connections do not work yet, is tried once more', async () => {
    let frameCount = 0;
    const watcher = new MutationObserver(() => {
      const frame = document.querySelector('iframe');
      if (!frame || frame.dataset.seen) return;
      frame.dataset.seen = 'yes';
      frameCount += 1;
      // The frame shows an error page of the browser, which cannot respond.
      if (frameCount === 1) frame.src = 'about:blank';
    });
    watcher.observe(document.body, { childList: true });
    Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => false });
    const opened = openSilent([granted()], {}, { silentMs: 10_000 });
    const token = opened.session.withToken(async (value) => value, forever);
    await signInReaches(opened, 'cooling');
    const clock = stopClock();
    try {
      Reflect.deleteProperty(navigator, 'onLine');
      window.dispatchEvent(new Event('online'));
      await until(() => frameCount === 1);
      await settled();
      const asksUser = opened.next('auth-required').then(() => 'the user is asked');
      await clock.pass(10_000);
      expect(await Promise.race([token, asksUser])).to.equal('service-token');
      expect(frameCount).to.equal(2);
      expect(failuresOf(opened.changes)).to.deep.equal(['offline']);
    } finally {
      clock.restore();
      watcher.disconnect();
      Reflect.deleteProperty(navigator, 'onLine');
    }
  });

  it('rejects a callback page of another origin', async () => {
    const opened = openSilent([granted()], { redirectUri: 'https://elsewhere.example/callback.html' });
    expect(await failureOf(opened)).to.equal('bad-config');
  });
});

describe('exchanging a code', () => {
  const network = new UploaderError('network', 'cut off');

  it('never sends a code again if its outcome is unknown: a fresh code is requested, once', async () => {
    for (const line of [network, { status: 502, body: undefined }, { status: 200, body: {} }]) {
      const { session, sent } = openSilent([line, granted()]);
      expect(await session.withToken(async (token) => token, forever)).to.equal('service-token');
      expect(sent.length).to.equal(2);
      expect(sent[0]?.body.code).not.to.equal(sent[1]?.body.code);
    }
    const lost = openSilent([network]);
    expect(await failureOf(lost)).to.equal('network');
    expect(lost.sent.length).to.equal(2);
  });

  it('distinguishes invalid responses from a token, whatever the service returns', async () => {
    for (const [body, code] of [
      [{}, 'token-malformed'],
      [{ token: '' }, 'token-malformed'],
      [{ token: ['x'] }, 'token-malformed'],
      ['<html>', 'token-malformed'],
      [undefined, 'token-malformed'],
    ] as const) {
      const opened = openSilent([{ status: 200, body }]);
      expect(await failureOf(opened), JSON.stringify(body)).to.equal(code);
    }
  });

  it('is refused permanently by 400 and 401, with their own error', async () => {
    for (const status of [400, 401]) {
      const opened = openSilent([{ status, body: { error: 'invalid_grant' } }]);
      expect(await failureOf(opened)).to.equal('code-rejected');
      expect(opened.sent.length).to.equal(1);
    }
  });

  for (const status of [429, 503]) {
    it(`waits for the Retry-After of ${status}, then sends the same code once more`, async () => {
      const pause = { status, body: {}, retryAfterMs: 150 };
      const { session, sent, sentAtMs, changes } = openSilent([pause, granted()]);
      expect(await session.withToken(async (token) => token, forever)).to.equal('service-token');
      expect(sent[1]?.body.code).to.equal(sent[0]?.body.code);
      const [first = 0, second = 0] = sentAtMs;
      expect(second - first).to.be.at.least(149);
      const [cooled] = changes.filter(({ name }) => name === 'auth-failed');
      expect(cooled?.detail).to.deep.include({ code: 'rate-limited', retryAfterMs: 150 });
    });
  }

  it('requires the user immediately if the Retry-After is too long', async () => {
    const opened = openSilent([{ status: 429, body: {}, retryAfterMs: 3_600_000 }]);
    expect(await failureOf(opened)).to.equal('rate-limited');
    expect(opened.session.snapshot.state).to.equal('prompt');
    expect(opened.sent.length).to.equal(1);
  });

  it('waits longer each time without Retry-After, and in the end requires the user', async () => {
    const times = { coolBaseMs: 20, coolMaxMs: 500, coolCapMs: 250 };
    const opened = openSilent([{ status: 429, body: {} }], {}, times);
    const stop = new AbortController();
    opened.session.withToken(async () => undefined, stop.signal).catch(() => undefined);
    await signInReaches(opened, 'prompt');
    stop.abort();
    expect(opened.session.snapshot.error?.code).to.equal('rate-limited');
    const waits = opened.changes.flatMap((change) =>
      change.name === 'auth-failed' ? [change.detail.retryAfterMs ?? 0] : [],
    );
    expect(waits.length).to.be.within(3, 5);
    for (const [index, wait] of waits.entries())
      expect(wait).to.be.within(0.8 * 20 * 2 ** index, 1.2 * 20 * 2 ** index);
    const gaps = opened.sentAtMs.slice(1).map((atMs, index) => atMs - (opened.sentAtMs[index] ?? 0));
    for (const [index, gap] of gaps.entries()) expect(gap).to.be.at.least((waits[index] ?? 0) - 2);
  });

  it('replaces an expired token, for all waiting calls, without a message', async () => {
    const script = [granted({ expires_in: 6 }), granted({ token: 'second-token' })];
    const { session, sent, changes } = openSilent(script);
    await session.withToken(async () => undefined, forever);
    const undo = skipTime(10_000);
    try {
      const calls = Array.from({ length: 8 }, () => session.withToken(async (token) => token, forever));
      expect(new Set(await Promise.all(calls))).to.deep.equal(new Set(['second-token']));
    } finally {
      undo();
    }
    expect(sent.length).to.equal(2);
    expect(failuresOf(changes)).to.deep.equal([]);
  });

  it('accepts a token that seems expired on arrival, and leaves the decision to the service', async () => {
    for (const shift of [-7_200_000, 7_200_000]) {
      const expires_at = new Date(Date.now() + shift + 900_000).toISOString();
      const { session, sent } = openSilent([granted({ expires_at })]);
      for (let count = 0; count < 3; count++) await session.withToken(async () => undefined, forever);
      expect(sent.length).to.equal(1);
    }
  });
});
