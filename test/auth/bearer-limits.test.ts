// Limits of tokens, tested to the millisecond with a stopped clock.

import { expect } from '@open-wc/testing';
import { timesOf } from '../../src/auth/settings.ts';
import { CurrentToken, readBearer } from '../../src/auth/token.ts';
import { AUTH_TIMES } from '../../src/core/auth-times.ts';
import { createSettings } from '../../src/core/config.ts';
import { readTimeMs } from '../../src/core/read-time.ts';
import { type Clock, stopClock } from '../support/clock.ts';

let clock: Clock;
const { random } = Math;
beforeEach(() => {
  clock = stopClock();
  Math.random = () => 0;
});
afterEach(() => {
  clock.restore();
  Math.random = random;
});

describe('the expiry of a token', () => {
  it('is read in seconds or milliseconds, as a number or a text of one', () => {
    const rows: readonly (readonly [unknown, number | undefined])[] = [
      [0, undefined],
      [-1, undefined],
      [1, 1000],
      [99_999_999_999, 99_999_999_999_000],
      [1e11, 1e11],
      [8.64e15, 8.64e15],
      [8.64e15 + 1, undefined],
      [' 1.5 ', 1500],
      ['1.', undefined],
      ['2030-06-01T12:00:00Z', 1_906_545_600_000],
      ['2030-06-01T12:00:00', 1_906_545_600_000],
      ['2030-06-01 12:00:00', 1_906_545_600_000],
      [' 2030-06-01T14:00:00+0200 ', 1_906_545_600_000],
      [true, undefined],
      [undefined, undefined],
      [{ valueOf: () => 1 }, undefined],
    ];
    for (const [value, expected] of rows) {
      const found = readTimeMs(value);
      // Browsers parse "1." differently. The result must not be a date after 2001.
      if (value === '1.') expect(found ?? 0).to.be.below(1e12);
      else expect(found, String(value)).to.equal(expected);
    }
  });

  it('is accepted from five seconds on, or from the assumed lifetime if that is less', () => {
    const read = (ms: number, assumedMs: number) =>
      readBearer({ token: 't', expires_in: ms / 1000 }, assumedMs);
    expect(read(5000, 300_000)).to.deep.equal({ value: 't', lifetimeMs: 5000, isAssumed: false });
    expect(read(4999, 300_000)).to.deep.equal({ value: 't', lifetimeMs: 300_000, isAssumed: true });
    expect(read(1000, 1000)).to.deep.equal({ value: 't', lifetimeMs: 1000, isAssumed: false });
    expect(read(999, 1000)).to.deep.equal({ value: 't', lifetimeMs: 1000, isAssumed: true });
    for (const expires_in of [true, [1], { valueOf: () => 1 }, Symbol('1')])
      expect(readBearer({ token: 't', expires_in }, 1000)?.isAssumed, typeof expires_in).to.equal(true);
  });

  it('is read as a point in time before it is read as a duration', () => {
    const expires_at = Date.now() + 60_000;
    for (const body of [{ expires_at, expires_in: 7 }, { expires_in: '60' }])
      expect(readBearer({ token: 't', ...body }, 1e6)?.lifetimeMs, JSON.stringify(body)).to.equal(60_000);
  });
});

describe('a token', () => {
  it('is up to 16,384 characters long, and has a user if the page sets the field', () => {
    const longest = 'x'.repeat(16_384);
    expect(readBearer(longest, 1)?.value).to.equal(longest);
    expect(readBearer(`${longest}x`, 1)).to.equal(undefined);
    const userOf = (sub: unknown) => readBearer({ token: 't', sub }, 1, { sameUserField: 'sub' });
    expect([userOf('ann')?.user, userOf(7)?.user]).to.deep.equal(['ann', '7']);
    for (const sub of [undefined, null, {}, true]) expect(userOf(sub)).not.to.have.property('user');
    expect(readBearer({ token: 't', sub: 'ann' }, 1)).not.to.have.property('user');
  });

  const keep = (lifetimeMs: number, more: { isAssumed?: boolean; user?: string } = {}): CurrentToken => {
    const current = new CurrentToken();
    current.keep({ value: 't', lifetimeMs, isAssumed: false, ...more });
    return current;
  };

  for (const [lifetimeMs, lastMs] of [
    [600_000, 595_000],
    [100_000, 95_000],
    [20_000, 19_000],
  ] as const)
    it(`of ${lifetimeMs / 1000} s is used for ${lastMs / 1000} s`, async () => {
      const [known, assumed] = [keep(lifetimeMs), keep(lifetimeMs, { isAssumed: true })];
      await clock.pass(lastMs - 1);
      expect(known.value).to.equal('t');
      await clock.pass(1);
      expect([known.value, assumed.value]).to.deep.equal([undefined, 't']);
    });

  for (const [lifetimeMs, jitter, dueMs] of [
    [600_000, 0, 540_000],
    [600_000, 1, 546_000],
    [300_000, 0, 240_000],
    [100_000, 0, 80_000],
  ] as const)
    it(`of ${lifetimeMs / 1000} s is renewed after ${dueMs / 1000} s with a jitter of ${jitter}`, async () => {
      Math.random = () => jitter;
      const current = keep(lifetimeMs);
      await clock.pass(dueMs - 1);
      expect(current.isDue).to.equal(false);
      await clock.pass(1);
      expect(current.isDue).to.equal(true);
    });

  it('is kept with its expiry and its user until it is deleted', () => {
    const current = new CurrentToken();
    const nothing = {
      value: undefined,
      isDue: false,
      isRejected: false,
      expiresAt: undefined,
    };
    const seen = (): object => {
      const { value, isDue, isRejected, expiresAt } = current;
      return { value, isDue, isRejected, expiresAt };
    };
    const bearer = (user?: string) => ({
      value: 't',
      lifetimeMs: 60_000,
      isAssumed: false,
      ...(user && { user }),
    });
    expect(seen()).to.deep.equal(nothing);
    current.reject('t');
    expect(current.isRejected).to.equal(false);
    expect(current.isSameUser(bearer('ann'), false)).to.equal(true);
    current.keep(bearer('ann'));
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    expect(seen()).to.deep.equal({ ...nothing, value: 't', expiresAt });
    expect(
      [bearer('ann'), bearer(), bearer('bob')].map((one) => current.isSameUser(one, false)),
    ).to.deep.equal([true, true, false]);
    current.reject('t');
    expect(current.isRejected).to.equal(true);
    current.keep(bearer());
    expect(current.isRejected).to.equal(false);
    expect(current.isSameUser(bearer('bob'), false), 'the user of before still counts').to.equal(false);
    current.keep({ ...bearer(), isAssumed: true });
    expect(current.expiresAt).to.equal(undefined);
    current.forget();
    expect(seen()).to.deep.equal(nothing);
    expect(current.isSameUser(bearer('bob'), false)).to.equal(true);
  });
});

describe('the times of sign-in', () => {
  it('are the defaults with the valid times of the page in their place', () => {
    const of = (authOptions: Readonly<Record<string, unknown>>) =>
      timesOf(createSettings({ baseUrl: 'https://api.example', authOptions }));
    expect(of({})).to.deep.equal(AUTH_TIMES);
    expect(of({ times: { popupMs: '7', pollMs: 0, hostMs: -1, silentMs: 'x', other: 5 } })).to.deep.equal({
      ...AUTH_TIMES,
      popupMs: 7,
    });
    expect(of({ times: { assumedLifetimeMs: 5 } })).to.deep.equal({ ...AUTH_TIMES, assumedLifetimeMs: 5 });
  });
});
