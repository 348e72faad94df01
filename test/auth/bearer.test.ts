// What is read as a token and as its end, and how far the clock is trusted.
import { expect } from '@open-wc/testing';
import { Brakes, Clock, Keeper, readBearer } from '../../src/auth/bearer.ts';
import { AUTH_TIMES } from '../../src/auth/times.ts';

const nowMs = Date.parse('2030-06-01T12:00:00Z');
const clock = { nowMs, offsetMs: 0, assumedLifetimeMs: 300_000 };
const lifetimeOf = (expiry: object): number | undefined =>
  readBearer({ token: 't', ...expiry }, clock)?.lifetimeMs;

describe('reading a token', () => {
  it('takes a string, `token`, `access_token` and `accessToken`', () => {
    for (const input of ['t', { token: 't' }, { access_token: 't' }, { accessToken: 't' }]) {
      expect(readBearer(input, clock)?.value).to.equal('t');
    }
  });

  it('takes nothing that is no token, or could not stand in a header', () => {
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
      expect(readBearer(input, clock), JSON.stringify(input)).to.equal(undefined);
    }
  });

  it('reads every documented form of its end', () => {
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

  it('assumes five minutes where the end is missing or garbage', () => {
    for (const expiry of [
      {},
      { expires_at: 'soon' },
      { expires_at: {} },
      { expires_at: Number.NaN },
      { expires_at: -1 },
    ]) {
      const bearer = readBearer({ token: 't', ...expiry }, clock);
      expect([bearer?.lifetimeMs, bearer?.isAssumed]).to.deep.equal([300_000, true]);
    }
  });

  it('suspects the clock, not the token, when a token arrives dead', () => {
    for (const expires_at of ['2030-06-01T10:15:00Z', '2030-06-01T12:00:04Z']) {
      expect(readBearer({ token: 't', expires_at }, clock)?.isAssumed).to.equal(true);
    }
  });

  it('reads the end by the clock of the service where that is known', () => {
    const ahead = { ...clock, offsetMs: -7_200_000 };
    expect(readBearer({ token: 't', expires_at: '2030-06-01T10:15:00Z' }, ahead)?.lifetimeMs).to.equal(
      900_000,
    );
  });

  it('reads fields by the names that the page set', () => {
    const fields = { token: 'jwt', expires_at: 'until' };
    const bearer = readBearer({ jwt: 't', until: nowMs + 60_000 }, clock, { fields });
    expect([bearer?.value, bearer?.lifetimeMs]).to.deep.equal(['t', 60_000]);
  });
});

describe('the clock of the service', () => {
  it('is compared with the middle of the request, and small differences count as none', () => {
    const near = new Clock();
    near.learn(nowMs, nowMs - 100, nowMs + 900);
    expect(near.offsetMs).to.equal(0);
    const far = new Clock();
    far.learn(nowMs + 7_200_000, nowMs, nowMs + 1000);
    expect(far.offsetMs).to.equal(7_200_000);
    far.learn(undefined, nowMs, nowMs);
    expect(far.offsetMs).to.equal(7_200_000);
  });
});

describe('a token that is kept', () => {
  const keep = (lifetimeMs: number, isAssumed = false): Keeper => {
    const keeper = new Keeper(AUTH_TIMES);
    keeper.keep({ value: 't', lifetimeMs, expiresAtMs: Date.now() + lifetimeMs, isAssumed });
    return keeper;
  };

  it('is handed out while it lives, and is due before its end', () => {
    expect([keep(600_000).value, keep(600_000).isDue]).to.deep.equal(['t', false]);
    const ending = new Keeper(AUTH_TIMES);
    ending.keep({ value: 't', lifetimeMs: 600_000, expiresAtMs: Date.now() + 50_000, isAssumed: false });
    expect([ending.value, ending.isDue]).to.deep.equal(['t', true]);
  });

  it('is not handed out after its end, unless that was a guess', () => {
    expect(keep(-1000).value).to.equal(undefined);
    expect(keep(-1000, true).value).to.equal('t');
    expect(keep(-1000, true).isDue).to.equal(true);
  });

  it('is dead once it was refused, but only if it was this one', () => {
    const keeper = keep(600_000);
    keeper.reject('another');
    expect(keeper.value).to.equal('t');
    keeper.reject('t');
    expect([keeper.value, keeper.isDue]).to.deep.equal([undefined, true]);
  });

  it('is not in what can be seen of its keeper', () => {
    const keeper = new Keeper(AUTH_TIMES);
    keeper.keep({ value: 'secret-token', lifetimeMs: 1e6, expiresAtMs: Date.now() + 1e6, isAssumed: false });
    expect(JSON.stringify(keeper) + String(keeper) + JSON.stringify(Object.entries(keeper))).not.to.contain(
      'secret',
    );
  });
});

describe('the brakes', () => {
  it('keep renewals apart, less so where tokens live shortly', () => {
    const real = Date.now;
    const at = real();
    Date.now = () => at;
    try {
      const brakes = new Brakes(AUTH_TIMES);
      expect(brakes.waitMs(900_000)).to.equal(0);
      brakes.count();
      expect(brakes.waitMs(900_000)).to.equal(30_000);
      expect(brakes.waitMs(20_000)).to.equal(4_000);
    } finally {
      Date.now = real;
    }
  });

  it('hold a renewal for as long as the service wants, and ask the person where that is too long', () => {
    const brakes = new Brakes(AUTH_TIMES);
    brakes.hold(200_000);
    expect(brakes.waitMs(900_000)).to.be.within(190_000, 200_000);
    brakes.hold(3_600_000);
    expect(brakes.waitMs(900_000)).to.equal(Number.POSITIVE_INFINITY);
  });

  it('end it after three renewals that no call profited from', () => {
    const brakes = new Brakes({ ...AUTH_TIMES, brakeMs: 0 });
    for (let count = 0; count < 3; count++) {
      expect(brakes.waitMs(900_000)).to.equal(0);
      brakes.count();
    }
    expect(brakes.waitMs(900_000)).to.equal(Number.POSITIVE_INFINITY);
    brakes.release();
    expect(brakes.waitMs(900_000)).to.equal(0);
  });
});
