// The snapshot after a step of sign-in, and the reported changes.

import { expect } from '@open-wc/testing';
import { changesBetween, createSnapshot } from '../../src/auth/snapshot.ts';
import { hasSignedOut, markSignedOut } from '../../src/auth/storage.ts';
import type { AuthEvent, AuthModel } from '../../src/auth/types.ts';
import type { AuthState } from '../../src/core/types.ts';
import { at, challenge, EVENTS } from './sign-in-table.ts';

describe('the snapshot of sign-in', () => {
  it('requires the user if a call waits and nothing continues automatically', () => {
    const alone: readonly AuthState[] = [
      ...(['asking-host', 'silent', 'silent-early'] as const),
      ...(['exchange', 'signed-in', 'cooling'] as const),
    ];
    const states: readonly AuthState[] = [
      ...alone,
      ...(['signed-out', 'prompt', 'popup', 'popup-lost', 'redirecting'] as const),
      ...(['login', 'choose', 'start', 'answer', 'verify', 'wait'] as const),
    ];
    for (const state of states) {
      const snapshot = createSnapshot(at(state), 'popup', true);
      expect(snapshot).to.deep.equal({ state, mode: 'popup', required: !alone.includes(state) });
      expect(Object.isFrozen(snapshot)).to.equal(true);
      expect(createSnapshot(at(state), 'popup', false).required).to.equal(false);
    }
  });

  it('has the error, whether a retry can help, and when it continues automatically', () => {
    const { now } = Date;
    Date.now = () => 1000;
    try {
      const seen = (error: AuthModel['error']): object =>
        createSnapshot(at('prompt', { error }), 'auto', false);
      const usual = { state: 'prompt', mode: 'auto', required: false };
      expect(seen({ code: 'network', status: 500 })).to.deep.equal({
        ...usual,
        error: { code: 'network', status: 500, retryable: true },
      });
      expect(seen({ code: 'bad-config' })).to.deep.equal({
        ...usual,
        error: { code: 'bad-config', retryable: false },
      });
      expect(seen({ code: 'rate-limited', retryAfterMs: 0 })).to.deep.equal({
        ...usual,
        error: { code: 'rate-limited', retryAfterMs: 0, retryable: true },
        retryAtMs: 1000,
      });
      expect(seen({ code: 'rate-limited', retryAfterMs: 7 })).to.deep.include({ retryAtMs: 1007 });
      expect(Object.isFrozen((seen({ code: 'network' }) as { error: object }).error)).to.equal(true);
    } finally {
      Date.now = now;
    }
  });

  it('stays the same object if nothing in it changes', () => {
    const error = { code: 'rate-limited', retryAfterMs: 7 } as const;
    const before = createSnapshot(at('prompt', { error }), 'auto', true);
    const next = (patch: Partial<AuthModel>, hasWaiters = true): boolean =>
      createSnapshot(at('prompt', { error, ...patch }), 'auto', hasWaiters, before) === before;
    expect(next({})).to.equal(true);
    expect(next({ error: { ...error } })).to.equal(true);
    expect(next({ error: { ...error, retryAfterMs: 8 } })).to.equal(false);
    expect(next({ error: { code: 'network', retryAfterMs: 7 } })).to.equal(false);
    expect(next({ error: undefined })).to.equal(false);
    expect(next({}, false)).to.equal(false);
    expect(createSnapshot(at('popup', { error }), 'auto', true, before)).not.to.equal(before);
    const plain = createSnapshot(at('prompt'), 'auto', true);
    expect(createSnapshot(at('prompt'), 'auto', true, plain)).to.equal(plain);
  });
});

describe('the changes of a step', () => {
  const reported = (
    before: AuthModel,
    after: AuthModel,
    event: AuthEvent = EVENTS.cancel,
    expiresAt?: string,
  ): unknown[] => {
    const changes = changesBetween(before, after, event, expiresAt);
    for (const change of changes)
      expect([Object.isFrozen(change), Object.isFrozen(change.detail)]).to.deep.equal([true, true]);
    return changes.map(({ name, detail }) => [name, detail]);
  };
  const changed = (state: AuthState, previous: AuthState): unknown => ['auth-changed', { state, previous }];

  it('are none if nothing changed', () => {
    expect(reported(at('prompt'), at('prompt'))).to.deep.equal([]);
    const error = { code: 'network' } as const;
    expect(reported(at('prompt', { error }), at('prompt', { error }))).to.deep.equal([]);
    expect(reported(at('signed-in'), at('signed-in'))).to.deep.equal([]);
  });

  it('are the state, the challenge, the failure, and the sign-in, in this order', () => {
    const model = at('signed-in', { challenge, error: { code: 'network' } });
    expect(reported(at('prompt'), model, EVENTS.challenged, 'soon')).to.deep.equal([
      changed('signed-in', 'prompt'),
      ['auth-challenged', { methods: ['totp', 'sms'] }],
      ['auth-failed', { code: 'network', retryable: true }],
      ['signed-in', { expiresAt: 'soon' }],
    ]);
    expect(reported(at('exchange'), at('signed-in'))).to.deep.equal([
      changed('signed-in', 'exchange'),
      ['signed-in', {}],
    ]);
  });

  it('have a challenge only when a new one was issued', () => {
    expect(reported(at('answer'), at('answer', { challenge: undefined }), EVENTS.challenged)).to.deep.equal(
      [],
    );
    const model = at('answer');
    expect(reported(model, { ...model }, EVENTS.challenged)).to.deep.equal([]);
    expect(reported(at('answer', { challenge: undefined }), at('answer'), EVENTS.wrong)).to.deep.equal([]);
  });

  it('include who signed out, or that the token has expired', () => {
    const out = (reason: 'user' | 'other-tab'): unknown[] =>
      reported(at('signed-in'), at('signed-out'), { type: 'sign-out', reason });
    for (const reason of ['user', 'other-tab'] as const)
      expect(out(reason)).to.deep.equal([changed('signed-out', 'signed-in'), ['signed-out', { reason }]]);
    expect(reported(at('signed-in'), at('prompt'))).to.deep.equal([
      changed('prompt', 'signed-in'),
      ['signed-out', { reason: 'expired' }],
    ]);
    expect(reported(at('popup'), at('prompt'))).to.deep.equal([changed('prompt', 'popup')]);
    expect(reported(at('signed-in'), at('cooling'))).to.deep.equal([changed('cooling', 'signed-in')]);
  });
});

describe('the sign-out flag', () => {
  const service = { baseUrl: `https://${crypto.randomUUID()}.test`, clientId: 'a' };
  afterEach(() => localStorage.clear());

  it('applies to one client of one service, until a user signs in', () => {
    // Other test files may use the same `localStorage` at this time, so the test reads only keys of its own service.
    const ownKeys = (): string[] => Object.keys(localStorage).filter((key) => key.includes(service.baseUrl));
    const others = [
      { ...service, clientId: 'b' },
      { ...service, baseUrl: 'https://other.test' },
    ];
    expect(hasSignedOut(service)).to.equal(false);
    markSignedOut(service, true);
    expect(hasSignedOut(service)).to.equal(true);
    expect(ownKeys()).to.have.length(1);
    for (const other of others) expect(hasSignedOut(other)).to.equal(false);
    for (const other of others) markSignedOut(other, false);
    expect(hasSignedOut(service)).to.equal(true);
    markSignedOut(service, false);
    expect([hasSignedOut(service), ownKeys().length]).to.deep.equal([false, 0]);
  });

  it('may be a number of an earlier release: even after a sign-in', () => {
    const old = { ...service, clientId: 'old' };
    for (const [value, isOut] of [
      ['1', true],
      ['2', false],
      ['3', true],
    ] as const) {
      localStorage.setItem(`secure-uploader:signed-out:${old.baseUrl} old`, value);
      expect(hasSignedOut(old), value).to.equal(isOut);
    }
  });

  it('is not stored for a user who signs in before any sign-out', () => {
    markSignedOut({ ...service, clientId: 'c' }, false);
    expect(Object.keys(localStorage).filter((key) => key.includes(service.baseUrl))).to.deep.equal([]);
  });

  it('lasts as long as the page if the browser has no storage', () => {
    const storage = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');
    Object.defineProperty(globalThis, 'localStorage', {
      configurable: true,
      get: () => {
        throw new DOMException('no', 'SecurityError');
      },
    });
    try {
      markSignedOut(service, true);
      expect(hasSignedOut(service)).to.equal(true);
      markSignedOut(service, false);
      expect(hasSignedOut(service)).to.equal(false);
    } finally {
      if (storage) Object.defineProperty(globalThis, 'localStorage', storage);
      else Reflect.deleteProperty(globalThis, 'localStorage');
    }
  });
});
