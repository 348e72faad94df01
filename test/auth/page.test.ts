// What sign-in reads from the page: activity, visibility, the sign-in mode, and whether frames see the cookies of the service.

import { expect } from '@open-wc/testing';
import type { FlowContext } from '../../src/auth/flows.ts';
import type { AuthModel } from '../../src/auth/machine-types.ts';
import { firstModel, isHosted, isInteractive, ownWay, watchPage, watchWork } from '../../src/auth/page.ts';
import { isSameSite, readReturn } from '../../src/auth/round-effects.ts';
import { AUTH_TIMES } from '../../src/auth/times.ts';
import { createSettings, type Settings, type SettingsInput } from '../../src/core/config.ts';
import { stopClock } from '../support/clock.ts';
import { settled } from '../support/collect.ts';

const settingsOf = (input: SettingsInput): Settings =>
  createSettings({ baseUrl: 'https://api.example', ...input });
const getToken = (): string => 'token';

describe('the activity monitor', () => {
  const times = { ...AUTH_TIMES, checkMs: 400, workMs: 1000 };

  it('checks in steps from the first call until no call was made for the duration of work, then not again', async () => {
    const clock = stopClock();
    try {
      let checkCount = 0;
      const watch = watchWork(times, new AbortController().signal, () => {
        checkCount += 1;
      });
      expect(watch.check(), 'before any call').to.equal(false);
      watch.note();
      watch.note();
      for (const expected of [1, 2, 2, 2]) {
        await clock.pass(400);
        expect(checkCount).to.equal(expected);
      }
      watch.note();
      await clock.pass(400);
      expect(checkCount, 'after the next call').to.equal(3);
    } finally {
      clock.restore();
    }
  });

  it('counts as work whatever is more recent than its duration', async () => {
    const clock = stopClock();
    try {
      const watch = watchWork({ ...times, checkMs: 1e9 }, new AbortController().signal, () => undefined);
      watch.note();
      await clock.pass(999);
      expect(watch.check()).to.equal(true);
      await clock.pass(1);
      expect(watch.check()).to.equal(false);
    } finally {
      clock.restore();
    }
  });

  it('ends with its signal', async () => {
    const clock = stopClock();
    try {
      const stop = new AbortController();
      let checkCount = 0;
      const watch = watchWork(times, stop.signal, () => {
        checkCount += 1;
      });
      watch.note();
      stop.abort();
      await clock.pass(400);
      await settled();
      expect(checkCount).to.equal(0);
    } finally {
      clock.restore();
    }
  });
});

it('reports a page that becomes visible, is restored, or is unloaded, until its signal ends', () => {
  const reported: string[] = [];
  const stop = new AbortController();
  const tell = (what: string) => (): unknown => reported.push(what);
  watchPage(stop.signal, tell('wake'), tell('leave'), tell('again'));
  const toldBy = (target: EventTarget, event: Event): string => {
    reported.length = 0;
    target.dispatchEvent(event);
    return reported.join(' ');
  };
  const events: readonly (readonly [EventTarget, Event, string])[] = [
    [document, new Event('visibilitychange'), 'wake'],
    [window, new Event('online'), 'wake'],
    [window, new PageTransitionEvent('pagehide', { persisted: true }), ''],
    [window, new PageTransitionEvent('pagehide', { persisted: false }), 'leave'],
    [window, new PageTransitionEvent('pageshow', { persisted: true }), 'again wake'],
    [window, new PageTransitionEvent('pageshow', { persisted: false }), 'wake'],
  ];
  for (const [target, event, expected] of events)
    expect(toldBy(target, event), event.type).to.equal(expected);
  stop.abort();
  for (const [target, event] of events) expect(toldBy(target, event), event.type).to.equal('');
});

describe('the way a user signs in', () => {
  const rows: readonly (readonly [
    input: SettingsInput,
    source: AuthModel['source'],
    way: string,
    isHosted: boolean,
    isInteractive: boolean,
  ])[] = [
    [{}, 'service', 'popup', false, true],
    [{}, 'host', 'host', false, true],
    [{ getToken }, 'service', 'host', true, true],
    [{ auth: 'token' }, 'service', 'host', true, false],
    [{ auth: 'none' }, 'service', 'popup', false, false],
    [{ auth: 'popup' }, 'service', 'popup', false, true],
    [{ auth: 'popup' }, 'host', 'popup', false, true],
    [{ auth: 'popup', getToken }, 'service', 'popup', false, true],
    [{ auth: 'redirect' }, 'service', 'redirect', false, true],
    [{ auth: 'local' }, 'service', 'form', false, true],
  ];
  for (const [input, source, way, hosted, interactive] of rows) {
    const { auth = 'auto' } = input;
    it(`is ${way} with ${auth}${input.getToken ? ' and getToken' : ''} if the ${source} provided the last token`, () => {
      const settings = settingsOf(input);
      expect(ownWay(settings, source)).to.equal(way);
      expect(isHosted(settings)).to.equal(hosted);
      expect(isInteractive(settings)).to.equal(interactive);
    });
  }
});

describe('a session starts', () => {
  const begin = (input: SettingsInput): AuthModel => firstModel(settingsOf(input), AUTH_TIMES, false);

  it('with a silent attempt only if a user may sign in, and the page allows it', () => {
    expect(begin({}).canSilent).to.equal(true);
    expect(begin({ silent: 'off' }).canSilent).to.equal(false);
    expect(begin({ auth: 'none' }).canSilent).to.equal(false);
    expect(begin({ auth: 'token', getToken }).canSilent).to.equal(false);
  });

  it('with no frames if the page is cross-origin isolated, since it may not show frames of others', () => {
    const { crossOriginIsolated } = globalThis;
    const set = (value: boolean): unknown =>
      Object.defineProperty(globalThis, 'crossOriginIsolated', { value, configurable: true });
    try {
      set(true);
      expect(begin({ baseUrl: '/api' })).to.include({ canSilent: false, mayTryFrames: false });
      expect(begin({ authOptions: { silentAfterPopup: true } }).mayTryFrames).to.equal(false);
    } finally {
      set(crossOriginIsolated);
    }
  });

  it('signed out, with the limits of its times', () => {
    const model = firstModel(settingsOf({}), { ...AUTH_TIMES, coolCapMs: 1, resendMs: 2 }, true);
    expect(model).to.include({ state: 'signed-out', isSessionEnough: true, isAlive: false, signedOut: 'no' });
    expect(model.limits).to.deep.equal({ coolCapMs: 1, resendMs: 2 });
  });
});

describe('the service is same-site with the page', () => {
  const rows: readonly (readonly [baseUrl: string, page: string, isSame: boolean])[] = [
    ['https://app.example', 'https://app.example', true],
    ['https://api.app.example/v1', 'https://www.app.example', true],
    ['https://app.example:8443', 'https://app.example', true],
    ['https://app.example', 'https://other.example', false],
    ['https://app.example', 'http://app.example', false],
    ['http://localhost:1', 'http://localhost:2', true],
    ['http://127.0.0.1:1', 'http://127.0.0.1:2', true],
    ['http://127.0.0.1', 'http://126.0.0.1', false],
    ['http://[::1]:1', 'http://[::1]:2', true],
    ['http://[::1]', 'http://[::2]', false],
    ['http://127.0.0.1', 'http://localhost', false],
  ];
  for (const [baseUrl, page, isSame] of rows)
    it(`${isSame ? 'if' : 'not if'} one is ${baseUrl} and the other ${page}`, () => {
      expect(isSameSite(baseUrl, new URL(page))).to.equal(isSame);
    });
});

it('a frame sees the session behind a code only if page and service are on one site, or the page enables it', () => {
  const isSeen = (input: SettingsInput): boolean | undefined => {
    const settings = settingsOf(input);
    const params = 'code=c&state=s';
    const stored = { verifier: 'v', origin: 'https://api.example', createdAtMs: Date.now(), params };
    const context = { settings, times: AUTH_TIMES } as FlowContext;
    return readReturn({ state: 's', stored }, context).isSeen;
  };
  expect(isSeen({})).to.equal(false);
  expect(isSeen({ baseUrl: '/api' })).to.equal(true);
  expect(isSeen({ authOptions: { silentAfterPopup: true } })).to.equal(true);
  expect(isSeen({ authOptions: { silentAfterPopup: false } })).to.equal(false);
});
