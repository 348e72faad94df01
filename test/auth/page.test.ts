// What the settings and the page allow: the sign-in mode, hidden frames, and whose tokens count.

import { expect } from '@open-wc/testing';
import { firstModel, hasPageTokens, isInteractive, ownerToMatch, ownWay } from '../../src/auth/settings.ts';
import type { AuthModel } from '../../src/auth/types.ts';
import { AUTH_TIMES } from '../../src/core/auth-times.ts';
import { createSettings } from '../../src/core/config.ts';
import type { Settings, SettingsInput } from '../../src/core/settings-table.ts';

const settingsOf = (input: SettingsInput): Settings =>
  createSettings({ baseUrl: 'https://api.example', ...input });
const getToken = (): string => 'token';

describe('the way a user signs in', () => {
  const rows: readonly (readonly [
    input: SettingsInput,
    source: AuthModel['source'],
    way: string,
    isFromPage: boolean,
    isInteractive: boolean,
  ])[] = [
    [{}, 'service', 'popup', false, true],
    [{}, 'page', 'page', false, true],
    [{ getToken }, 'service', 'page', true, true],
    [{ auth: 'token' }, 'service', 'page', true, false],
    [{ auth: 'none' }, 'service', 'popup', false, false],
    [{ auth: 'popup' }, 'service', 'popup', false, true],
    [{ auth: 'popup' }, 'page', 'popup', false, true],
    [{ auth: 'popup', getToken }, 'service', 'popup', false, true],
    [{ auth: 'redirect' }, 'service', 'redirect', false, true],
    [{ auth: 'local' }, 'service', 'form', false, true],
  ];
  for (const [input, source, way, hosted, interactive] of rows) {
    const { auth = 'auto' } = input;
    it(`is ${way} with ${auth}${input.getToken ? ' and getToken' : ''} if the ${source} provided the last token`, () => {
      const settings = settingsOf(input);
      expect(ownWay(settings, source)).to.equal(way);
      expect(hasPageTokens(settings)).to.equal(hosted);
      expect(isInteractive(settings)).to.equal(interactive);
    });
  }
});

describe('a session starts', () => {
  const begin = (input: SettingsInput): AuthModel => firstModel(settingsOf(input), AUTH_TIMES, false);

  it('with a silent attempt only if a user may sign in, and the page allows it', () => {
    expect(begin({}).frames).to.equal('allowed');
    expect(begin({ silent: 'off' }).frames).to.equal('off');
    expect(begin({ auth: 'none' }).frames).to.equal('off');
    expect(begin({ auth: 'token', getToken }).frames).to.equal('off');
  });

  it('with no frames if the page is cross-origin isolated, since it may not show frames of others', () => {
    const { crossOriginIsolated } = globalThis;
    const set = (value: boolean): unknown =>
      Object.defineProperty(globalThis, 'crossOriginIsolated', { value, configurable: true });
    try {
      set(true);
      expect(begin({ baseUrl: '/api' }).frames).to.equal('off');
    } finally {
      set(crossOriginIsolated);
    }
  });

  it('signed out, with its times', () => {
    const times = { ...AUTH_TIMES, coolCapMs: 1 };
    const model = firstModel(settingsOf({}), times, true);
    expect(model).to.include({ state: 'signed-out', isSessionEnough: true, isAlive: false, signedOut: 'no' });
    expect(model.times).to.equal(times);
  });
});

it('tokens must belong to `owner` only if the page names the field', () => {
  const authOptions = { ownerField: 'sub' };
  expect(ownerToMatch(settingsOf({ owner: 'ann', authOptions }))).to.equal('ann');
  expect(ownerToMatch(settingsOf({ owner: 'ann' }))).to.equal(undefined);
  expect(ownerToMatch(settingsOf({ authOptions })), 'nobody yet').to.equal('');
});
