// Deadlines and delays of sign-in, as documented in docs/authentication.md, and how a page overrides them.

import { expect } from '@open-wc/testing';
import { timesOf } from '../../src/auth/settings.ts';
import type { AuthOptions } from '../../src/core/auth-options.ts';
import { AUTH_TIMES } from '../../src/core/auth-times.ts';
import { createSettings } from '../../src/core/config.ts';

const MINUTE_MS = 60_000;
const USUAL = {
  hostMs: MINUTE_MS,
  silentMs: 10_000,
  popupMs: 5 * MINUTE_MS,
  closedGraceMs: 1500,
  requestMs: 30_000,
  challengeMs: 5 * MINUTE_MS,
  pollMs: 4000,
  assumedLifetimeMs: 5 * MINUTE_MS,
  renewalGapMs: 30_000,
  renewalLimit: 3,
  coolCapMs: 5 * MINUTE_MS,
  coolBaseMs: 2000,
  coolMaxMs: MINUTE_MS,
  lastCallsMs: 5000,
};

const timesWith = (authOptions: object): object =>
  timesOf(createSettings({ baseUrl: 'https://a.test', authOptions: authOptions as AuthOptions }));

describe('the times of sign-in', () => {
  for (const [name, ms] of Object.entries(USUAL))
    it(`${name} is ${ms} unless the page sets another one`, () => {
      expect(timesWith({})).to.deep.equal(USUAL);
      expect(timesWith({ times: { [name]: 7 } })).to.deep.equal({ ...USUAL, [name]: 7 });
      for (const wrong of [0, -1, Number.NaN, 'soon'])
        expect(timesWith({ times: { [name]: wrong } }), String(wrong)).to.deep.equal(USUAL);
    });

  it('are complete', () => {
    expect(AUTH_TIMES).to.deep.equal(USUAL);
    expect(timesWith({ times: { otherMs: 7 } })).to.deep.equal(USUAL);
  });
});
