// Reading of tokens and their expiry, and stored tokens.
import { expect } from '@open-wc/testing';
import { CurrentToken, readBearer } from '../../src/auth/token.ts';
import type { Bearer } from '../../src/auth/types.ts';
import { skipTime } from '../support/clock.ts';

const nowMs = Date.parse('2030-06-01T12:00:00Z');
const realNow = Date.now;
beforeEach(() => {
  Date.now = () => nowMs;
});
afterEach(() => {
  Date.now = realNow;
});

const read = (input: unknown, options?: Readonly<Record<string, unknown>>): Bearer | undefined =>
  readBearer(input, 300_000, options);
const lifetimeOf = (expiry: object): number | undefined => read({ token: 't', ...expiry })?.lifetimeMs;

describe('reading a token', () => {
  it('takes a string, `token` and `access_token`', () => {
    for (const input of ['t', { token: 't' }, { access_token: 't' }]) {
      expect(read(input)?.value).to.equal('t');
    }
  });

  it('rejects values that are no token, or not allowed in a header', () => {
    for (const input of [
      '',
      {},
      { token: '' },
      { token: 5 },
      { token: null },
      null,
      undefined,
      7,
      [],
      'a b',
      'a\r\nb: c',
      'ä',
    ]) {
      expect(read(input), JSON.stringify(input)).to.equal(undefined);
    }
  });

  it('reads every documented form of its expiry', () => {
    const inTenMinutes = nowMs + 600_000;
    for (const expires_at of [
      '2030-06-01T12:10:00Z',
      '2030-06-01T14:10:00+02:00',
      '2030-06-01T14:10:00+0200',
      '2030-06-01T12:10:00',
      '2030-06-01 12:10:00',
      '2030-06-01T12:10:00.000Z',
      inTenMinutes,
      inTenMinutes / 1000,
      String(inTenMinutes / 1000),
    ]) {
      expect(lifetimeOf({ expires_at }), String(expires_at)).to.equal(600_000);
    }
    expect(lifetimeOf({ expires_in: 600 })).to.equal(600_000);
  });

  it('assumes five minutes if the expiry is missing or invalid', () => {
    for (const expiry of [
      {},
      { expires_at: 'soon' },
      { expires_at: {} },
      { expires_at: Number.NaN },
      { expires_at: -1 },
      { expires_in: -1 },
      { expires_in: 'a while' },
      { expires_in: Number.POSITIVE_INFINITY },
      { expires_at: Number.MAX_SAFE_INTEGER },
      { expires_at: '9223372036854775807' },
      { expires_at: nowMs * 1e6 },
      { expires_at: '+275760-09-14T00:00:00Z' },
    ]) {
      const bearer = read({ token: 't', ...expiry });
      expect([bearer?.lifetimeMs, bearer?.isAssumed], JSON.stringify(expiry)).to.deep.equal([300_000, true]);
    }
  });

  it('assumes a wrong clock, not an expired token, if a token arrives expired', () => {
    for (const expires_at of ['2030-06-01T10:15:00Z', '2030-06-01T12:00:04Z']) {
      expect(read({ token: 't', expires_at })?.isAssumed).to.equal(true);
    }
  });

  it('accepts no lifetime above 30 days', () => {
    const thirtyDaysMs = 30 * 24 * 3_600_000;
    for (const expiry of [
      { expires_at: '9999-12-31T23:59:59Z' },
      { expires_at: 8.64e15 },
      { expires_in: 1e13 },
      { expires_in: 31 * 24 * 3600 },
    ])
      expect(lifetimeOf(expiry), JSON.stringify(expiry)).to.equal(thirtyDaysMs);
    expect(lifetimeOf({ expires_in: 29 * 24 * 3600 })).to.be.below(thirtyDaysMs);
  });
});

describe('a stored token', () => {
  const keep = (lifetimeMs: number, isAssumed = false): CurrentToken => {
    const current = new CurrentToken();
    current.keep({ value: 't', lifetimeMs, isAssumed });
    return current;
  };
  let undo: () => void = () => undefined;
  const wait = (ms: number): void => {
    undo = skipTime(ms);
  };
  afterEach(() => undo());

  it('is returned while it is valid, and is due before its expiry', () => {
    expect([keep(600_000).value, keep(600_000).isDue]).to.deep.equal(['t', false]);
    const ending = keep(600_000);
    wait(550_000);
    expect([ending.value, ending.isDue]).to.deep.equal(['t', true]);
  });

  it('is not returned after its expiry, unless that was assumed', () => {
    const [known, assumed] = [keep(1000), keep(1000, true)];
    wait(2000);
    expect(known.value).to.equal(undefined);
    expect([assumed.value, assumed.isDue]).to.deep.equal(['t', true]);
  });

  it('is expired once it was refused, but only if it was this one', () => {
    const current = keep(600_000);
    current.reject('another');
    expect(current.value).to.equal('t');
    current.reject('t');
    expect([current.value, current.isDue]).to.deep.equal([undefined, true]);
  });

  it('is not visible in its holder', () => {
    const current = new CurrentToken();
    current.keep({ value: 'secret-token', lifetimeMs: 1e6, isAssumed: false });
    expect(
      JSON.stringify(current) + String(current) + JSON.stringify(Object.entries(current)),
    ).not.to.contain('secret');
  });
});
