// Deadlines and delays of sign-in, as documented in docs/authentication.md, and how a page overrides them.

import { expect } from '@open-wc/testing';
import { AUTH_TIMES, coolMs, timesOf } from '../../src/auth/times.ts';
import type { AuthOptions } from '../../src/core/auth-options.ts';
import { createSettings } from '../../src/core/config.ts';

const MINUTE_MS = 60_000;
const USUAL = {
  hostMs: MINUTE_MS,
  silentMs: 10_000,
  popupMs: 5 * MINUTE_MS,
  closedPollMs: 200,
  closedGraceMs: 1500,
  redirectMs: 30_000,
  transactionMs: 10 * MINUTE_MS,
  requestMs: 30_000,
  challengeMs: 5 * MINUTE_MS,
  pollMs: 4000,
  lockMs: 15_000,
  assumedLifetimeMs: 5 * MINUTE_MS,
  leadMs: MINUTE_MS,
  brakeMs: 30_000,
  brakeWindowMs: 5 * MINUTE_MS,
  brakeCount: 3,
  resendMs: 30_000,
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

describe('a delay', () => {
  const { random } = Math;
  const pauses = (share: number, toldMs?: number): number[] => {
    Math.random = () => share;
    return [0, 1, 4, 5, 9].map((count) => coolMs(toldMs, count, AUTH_TIMES));
  };
  afterEach(() => {
    Math.random = random;
  });

  it('doubles up to its maximum, and is a fifth shorter or longer', () => {
    expect(pauses(0.5)).to.deep.equal([2000, 4000, 32_000, 60_000, 60_000]);
    expect(pauses(0)).to.deep.equal([1600, 3200, 25_600, 48_000, 48_000]);
    expect(pauses(1).map(Math.round)).to.deep.equal([2400, 4800, 38_400, 72_000, 72_000]);
  });

  it('is as long as the service requests', () => {
    expect(pauses(0, 0)).to.deep.equal([0, 0, 0, 0, 0]);
    expect(pauses(1, 123_456)).to.deep.equal(Array.from({ length: 5 }, () => 123_456));
  });
});
