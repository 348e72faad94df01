// When a stored token is deleted, and when the page is asked for a token before the user has to sign in.

import { expect } from '@open-wc/testing';
import type { Change } from '../../src/core/changes.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { GetToken, SettingsInput } from '../../src/core/settings-table.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { settled } from '../support/collect.ts';
import { closeAll, failuresOf, forever, namesOf, open, refused } from './open-session.ts';
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

/** Runs `work` with a clock that stands still. */
async function inStoppedTime(work: (clock: Clock) => Promise<void>): Promise<void> {
  const clock = stopClock();
  try {
    await work(clock);
  } finally {
    clock.restore();
  }
}

/** Lets `ms` pass in steps that are short enough for each timer to run in time. */
async function passTime(clock: Clock, ms: number): Promise<void> {
  await settled();
  for (let leftMs = ms; leftMs > 0; leftMs -= 250) await clock.pass(Math.min(250, leftMs));
}

const noToken = (): never => {
  throw new Error('no token');
};
const away = (): UploaderError => new UploaderError('network', 'no response');

/** Opens a session whose page notes the time of each call, in seconds, and answers with `answer`. */
function openPage(answer: GetToken, more: SettingsInput = {}) {
  const calledAtS: number[] = [];
  const states: string[] = [];
  const getToken: GetToken = (reason, signal) => {
    calledAtS.push(Math.round(performance.now() / 100) / 10);
    return answer(reason, signal);
  };
  const onChange = (change: Change): void => {
    if (change.name === 'auth-changed') states.push(change.detail.state);
  };
  const opened = open({ auth: 'token', getToken, ...more }, {}, undefined, onChange);
  const call = (): Promise<string | undefined> => opened.session.withToken(async (token) => token, forever);
  return { ...opened, calledAtS, states, call };
}

describe('a page that fails to supply a token', () => {
  const { random } = Math;
  beforeEach(() => {
    // The factor of the delays is then 1.
    Math.random = () => 0.5;
  });
  afterEach(() => {
    Math.random = random;
  });

  for (const [what, answer] of [
    ['throws', noToken],
    ['rejects', () => Promise.reject('text')],
    ['returns no valid token', () => 'two words'],
    ['returns nothing', () => undefined as never],
  ] as const)
    it(`and ${what} is asked three times in five seconds, then the user, and the page once a minute`, () =>
      inStoppedTime(async (clock) => {
        let given: GetToken = answer;
        const page = openPage((reason, signal) => given(reason, signal));
        const { session, changes, calledAtS, states } = page;
        const waiting = page.call();
        await passTime(clock, 2750);
        expect([calledAtS, states]).to.deep.equal([[0, 1], ['asking-host']]);
        await passTime(clock, 250);
        expect(states).to.deep.equal(['asking-host', 'prompt']);
        const { snapshot } = session;
        expect(snapshot).to.deep.include({ state: 'prompt', required: true });
        await passTime(clock, 180_000);
        expect(calledAtS).to.deep.equal([0, 1, 3, 63, 123, 183]);
        expect(session.snapshot, 'nothing is shown while the page is asked').to.equal(snapshot);
        expect(failuresOf(changes)).to.have.length(1);
        expect(namesOf(changes).filter((name) => name === 'auth-required')).to.have.length(1);
        given = () => 'token';
        await passTime(clock, 60_000);
        expect(await waiting).to.equal('token');
        expect(states.at(-1)).to.equal('signed-in');
      }));

  it('is asked at once when the user clicks, and then three times again', () =>
    inStoppedTime(async (clock) => {
      const { session, call, calledAtS } = openPage(noToken);
      call().catch(() => undefined);
      await passTime(clock, 20_000);
      session.signIn();
      await passTime(clock, 70_000);
      expect(calledAtS).to.deep.equal([0, 1, 3, 20, 21, 23, 83]);
    }));

  for (const [what, answer] of [
    ['returns null', () => null],
    ['throws an AbortError', () => Promise.reject(new DOMException('', 'AbortError'))],
    ['throws a NotAllowedError', () => Promise.reject(new DOMException('', 'NotAllowedError'))],
  ] as const)
    it(`because the user has to act (${what}) is asked again by the user only`, () =>
      inStoppedTime(async (clock) => {
        const { session, call, calledAtS, states } = openPage(answer);
        call().catch(() => undefined);
        await passTime(clock, 600_000);
        expect([calledAtS, states]).to.deep.equal([[0], ['asking-host', 'prompt']]);
        session.signIn();
        await settled();
        expect(calledAtS).to.deep.equal([0, 600]);
      }));

  it('is asked with backoff while calls fail, and after that, without a click', () =>
    inStoppedTime(async (clock) => {
      let answer: GetToken = () => ({ token: 'first', expires_at: Date.now() + 100_000 });
      const page = openPage((reason, signal) => answer(reason, signal));
      const { session, changes, calledAtS, states } = page;
      await page.call();
      answer = noToken;
      for (let count = 0; count < 2; count += 1)
        await session.withToken(() => Promise.reject(away()), forever).catch(() => undefined);
      await passTime(clock, 50_000);
      await session.withToken(() => Promise.reject(away()), forever).catch(() => undefined);
      await passTime(clock, 50_000);
      const waiting = page.call();
      await passTime(clock, 200_000);
      expect(calledAtS).to.deep.equal([0, 100, 102, 106, 114, 130, 162, 222, 282]);
      expect(new Set(states)).to.deep.equal(new Set(['asking-host', 'signed-in', 'cooling']));
      expect(new Set(failuresOf(changes))).to.deep.equal(new Set(['network']));
      answer = () => 'second';
      await passTime(clock, 60_000);
      expect(await waiting).to.equal('second');
    }));

  it('is not taken for a page without a network while the service responds, whatever it throws', () =>
    inStoppedTime(async (clock) => {
      let answer: GetToken = () => 'first';
      const { session, calledAtS, changes } = openPage((reason, signal) => answer(reason, signal));
      let isRefused = false;
      const waiting = session.withToken(async (token) => {
        answer = () => Promise.reject(new TypeError('Failed to fetch'));
        if (token !== 'first') return token;
        isRefused = true;
        throw refused();
      }, forever);
      await passTime(clock, 4000);
      expect([isRefused, calledAtS]).to.deep.equal([true, [0, 0, 1, 3]]);
      expect(session.snapshot).to.include({ state: 'prompt', required: true });
      expect(failuresOf(changes)).to.deep.equal(['host-token-failed']);
      // Later, nothing is known about the service any more.
      await passTime(clock, 180_000);
      expect(calledAtS).to.deep.equal([0, 0, 1, 3, 63, 123, 183]);
      answer = () => 'second';
      await passTime(clock, 60_000);
      expect(await waiting).to.equal('second');
    }));

  it('by no response is asked again a minute after the user, so not while it shows a dialog', () =>
    inStoppedTime(async (clock) => {
      const hanging: ((token: string) => void)[] = [];
      const { call, calledAtS, states } = openPage(() => new Promise((resolve) => hanging.push(resolve)));
      const waiting = call();
      await passTime(clock, 59_750);
      expect(states).to.deep.equal(['asking-host']);
      await passTime(clock, 250);
      expect([calledAtS, states]).to.deep.equal([[0], ['asking-host', 'prompt']]);
      await passTime(clock, 61_000);
      expect(calledAtS).to.deep.equal([0, 120]);
      hanging[1]?.('late');
      expect(await waiting).to.equal('late');
    }));

  it('is asked in the background while the old token can be used, and the user when it ends', () =>
    inStoppedTime(async (clock) => {
      let answer: GetToken = () => ({ token: 'first', expires_at: Date.now() + 600_000 });
      const { session, call, calledAtS, changes } = openPage((reason, signal) => answer(reason, signal));
      await call();
      answer = noToken;
      await passTime(clock, 550_000);
      const { snapshot } = session;
      for (let count = 0; count < 40; count += 1) {
        expect(await call()).to.equal('first');
        await passTime(clock, 1000);
      }
      expect([calledAtS, failuresOf(changes)]).to.deep.equal([[0, 550, 551, 553], []]);
      expect(session.snapshot).to.equal(snapshot);
      await passTime(clock, 8000);
      const waiting = call();
      await settled();
      expect(session.snapshot).to.include({ state: 'prompt', required: true });
      answer = () => 'second';
      await passTime(clock, 20_000);
      expect([await waiting, calledAtS.at(-1)]).to.deep.equal(['second', 613]);
    }));

  it('by no response to a renewal shows the button five seconds after a call waits, and its late token is used', () =>
    inStoppedTime(async (clock) => {
      let answer: GetToken = () => ({ token: 'first', expires_at: Date.now() + 600_000 });
      const { session, call, calledAtS, changes } = openPage((reason, signal) => answer(reason, signal));
      await call();
      let respond = (_token: string): void => undefined;
      answer = () =>
        new Promise((resolve) => {
          respond = resolve;
        });
      await passTime(clock, 580_000);
      expect(await call()).to.equal('first');
      await passTime(clock, 16_000);
      const waiting = call();
      await passTime(clock, 4750);
      expect([session.snapshot.state, namesOf(changes)]).to.deep.equal([
        'signed-in',
        ['auth-changed', 'auth-changed', 'signed-in'],
      ]);
      await passTime(clock, 250);
      expect(session.snapshot).to.include({ state: 'prompt', required: true });
      expect(namesOf(changes).at(-1)).to.equal('auth-required');
      respond('second');
      expect([await waiting, calledAtS]).to.deep.equal(['second', [0, 580]]);
    }));

  it('is asked a second after it has set a token, but less and less often', () =>
    inStoppedTime(async (clock) => {
      let answer: GetToken = noToken;
      const { session, call, calledAtS } = openPage((reason, signal) => answer(reason, signal));
      const waiting = call();
      await passTime(clock, 10_000);
      for (let count = 0; count < 100; count += 1) {
        session.allow();
        await passTime(clock, 500);
      }
      expect(calledAtS).to.deep.equal([0, 1, 3, 11, 13, 17, 25, 41]);
      answer = () => 'token';
      await passTime(clock, 60_000);
      expect(await waiting).to.equal('token');
    }));

  it('is not asked while no call waits; the next call asks it', () =>
    inStoppedTime(async (clock) => {
      let answer: GetToken = noToken;
      const { session, call, calledAtS } = openPage((reason, signal) => answer(reason, signal));
      const leaving = new AbortController();
      const left = session.withToken(async () => undefined, leaving.signal).catch(() => 'left');
      await passTime(clock, 70_000);
      leaving.abort();
      expect(await left).to.equal('left');
      await passTime(clock, 600_000);
      expect(calledAtS).to.deep.equal([0, 1, 3, 63]);
      answer = () => 'token';
      expect(await call()).to.equal('token');
      expect(calledAtS.at(-1)).to.equal(670);
    }));

  it('is not asked again for its null if a listener of auth-required has a token', async () => {
    let callCount = 0;
    const getToken = (): null => {
      callCount += 1;
      return null;
    };
    const { session } = open({ auth: 'token', getToken }, {}, undefined, (change) => {
      if (change.name === 'auth-required') change.detail.respondWith('offered');
    });
    expect(await session.withToken(async (token) => token, forever)).to.equal('offered');
    expect(callCount).to.equal(1);
  });

  it('by a rejected promise for auth-required gets that event again, until no listener responds', () =>
    inStoppedTime(async (clock) => {
      const askedAtS: number[] = [];
      let responds = true;
      const { session } = open({ auth: 'token' }, {}, undefined, (change) => {
        if (change.name !== 'auth-required') return;
        askedAtS.push(Math.round(performance.now() / 1000));
        if (responds) change.detail.respondWith(Promise.reject(new Error('no token')));
      });
      session.withToken(async () => undefined, forever).catch(() => undefined);
      await passTime(clock, 70_000);
      expect(askedAtS).to.deep.equal([0, 1, 3, 63]);
      responds = false;
      await passTime(clock, 600_000);
      expect(askedAtS).to.deep.equal([0, 1, 3, 63, 123]);
    }));
});

describe('a page that has no network when its token is needed', () => {
  it('is asked again after delays, without a click for five minutes, and in the background after that', () =>
    inStoppedTime(async (clock) => {
      const { random } = Math;
      Math.random = () => 0.5;
      try {
        let answer: GetToken = () => Promise.reject(new TypeError('Failed to fetch'));
        const { call, calledAtS, changes, states } = openPage((...asked) => answer(...asked));
        const waiting = call();
        await passTime(clock, 290_000);
        expect(new Set(states)).to.deep.equal(new Set(['asking-host', 'cooling']));
        expect(new Set(failuresOf(changes))).to.deep.equal(new Set(['network']));
        await passTime(clock, 80_000);
        expect(calledAtS).to.deep.equal([0, 2, 6, 14, 30, 62, 122, 182, 242, 302, 303, 305, 365]);
        expect(states.at(-1)).to.equal('prompt');
        answer = () => 'token';
        await passTime(clock, 60_000);
        expect(await waiting).to.equal('token');
      } finally {
        Math.random = random;
      }
    }));

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
