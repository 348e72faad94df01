// When a stored token is deleted, and when the page is asked for a token before the user has to sign in.

import { expect } from '@open-wc/testing';
import type { Change } from '../../src/core/changes.ts';
import { settled } from '../support/collect.ts';
import { closeAll, failuresOf, forever, open, refused } from './open-session.ts';
import { fixtures, follow, granted } from './scripted.ts';

afterEach(closeAll);

it('a token is deleted when the page is unloaded, and kept if the page may come back', async () => {
  let count = 0;
  const { session } = open({
    getToken: () => {
      count += 1;
      return `token-${count}`;
    },
  });
  const token = (): Promise<unknown> => session.withToken(async (value) => value, forever);
  expect(await token()).to.equal('token-1');
  window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
  expect(await token()).to.equal('token-1');
  window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: false }));
  expect(await token()).to.equal('token-2');
});

describe('a page that has no network when its token is needed', () => {
  it('is asked again after delays, without a click and without an end', async () => {
    const states: string[] = [];
    let calls = 0;
    const getToken = async (): Promise<string> => {
      calls += 1;
      if (calls < 6) throw new TypeError('Failed to fetch');
      return 'token';
    };
    const onChange = (change: Change): void => {
      if (change.name === 'auth-changed') states.push(change.detail.state);
    };
    const times = { coolBaseMs: 1, coolMaxMs: 2, coolCapMs: 3 };
    const { session, changes } = open({ getToken }, times, undefined, onChange);
    expect(await session.withToken(async (token) => token, forever)).to.equal('token');
    expect(failuresOf(changes)).to.deep.equal(Array(5).fill('network'));
    expect(new Set(states)).to.deep.equal(new Set(['asking-host', 'cooling', 'signed-in']));
  });

  it('is asked again as soon as the browser is online, whatever getToken throws', async () => {
    Object.defineProperty(navigator, 'onLine', { configurable: true, value: false });
    try {
      let calls = 0;
      const getToken = (): string => {
        calls += 1;
        if (calls === 1) throw new Error('ERR_NETWORK');
        return 'token';
      };
      const { session, next } = open({ getToken });
      const failed = next('auth-failed');
      const waiting = session.withToken(async (token) => token, forever);
      expect((await failed).code).to.equal('offline');
      expect(session.snapshot).to.include({ state: 'cooling', required: false });
      await settled();
      expect(calls).to.equal(1);
      Reflect.deleteProperty(navigator, 'onLine');
      dispatchEvent(new Event('online'));
      expect(await waiting).to.equal('token');
    } finally {
      Reflect.deleteProperty(navigator, 'onLine');
    }
  });
});

it('a page that responds to auth-required is asked before the user when the service refuses the next code', async () => {
  const { post, sent } = follow([granted(), { status: 400, body: {} }]);
  const reasons: string[] = [];
  const states: string[] = [];
  const onChange = (change: Change): void => {
    if (change.name === 'auth-changed') states.push(change.detail.state);
    if (change.name !== 'auth-required') return;
    reasons.push(change.detail.reason);
    if (change.detail.reason !== 'first') change.detail.respondWith('page-token');
  };
  const { session } = open(
    {
      // Another test file may have set the sign-out flag of the default client, which prevents silent sign-in.
      clientId: crypto.randomUUID(),
      auth: 'auto',
      silent: 'auto',
      authorizePath: `${fixtures}authorize.html`,
      redirectUri: `${fixtures}secure-uploader-callback.html`,
    },
    // Prevents a timeout on a slow machine: the frame always responds.
    { silentMs: 1e8 },
    post,
    onChange,
  );
  const seen: unknown[] = [];
  const call = async (token: string | undefined): Promise<unknown> => {
    seen.push(token);
    if (token === 'service-token') throw refused();
    return token;
  };
  expect(await session.withToken(call, forever)).to.equal('page-token');
  expect(seen).to.deep.equal(['service-token', 'page-token']);
  expect(reasons).to.deep.equal(['first', 'rejected']);
  expect(sent).to.have.length(2);
  expect(states.slice(-3)).to.deep.equal(['prompt', 'asking-host', 'signed-in']);
});

it('a session that is closed and opened again in one task is the same one', async () => {
  const input = { baseUrl: `https://${crypto.randomUUID()}.test`, getToken: () => 't' };
  const one = open(input);
  await one.session.withToken(async () => undefined, forever);
  one.session.close();
  const two = open(input);
  expect(two.session.snapshot.state).to.equal('signed-in');
  await settled();
  expect(await two.session.withToken(async (token) => token, forever)).to.equal('t');
});
