// What uploads wait for in each state of sign-in, and how long.

import { expect } from '@open-wc/testing';
import { createSettings } from '../../src/core/config.ts';
import { keepDurationMs, retryDurationMs, waitsFor } from '../../src/engine/connection.ts';

const CASES = [
  [{ required: false, state: 'signed-in' }, undefined],
  [{ required: true, state: 'prompt' }, 'signed-out'],
  [{ required: true, state: 'popup' }, 'signed-out'],
  [{ required: true, state: 'popup-lost' }, 'signed-out'],
  [{ required: true, state: 'answer' }, 'challenge'],
  [{ required: true, state: 'choose' }, 'challenge'],
  [{ required: false, state: 'cooling', code: 'offline' }, 'offline'],
  [{ required: false, state: 'cooling', code: 'rate-limited' }, 'rate-limited'],
  [{ required: false, state: 'cooling', code: 'network' }, 'offline'],
  [{ required: false, state: 'silent', code: 'rate-limited' }, undefined],
] as const;

describe('uploads during sign-in', () => {
  for (const [{ required, state, ...rest }, reason] of CASES) {
    const code = 'code' in rest ? rest.code : undefined;
    it(`wait for ${reason ?? 'nothing'} if sign-in is ${[state, code].filter(Boolean).join(', ')}`, () => {
      const error = code && { error: { code, retryable: true } };
      expect(waitsFor({ required, state, ...error })).to.equal(reason);
    });
  }
});

describe('the durations of a connection', () => {
  it('are those of its settings, in milliseconds', () => {
    const settings = createSettings({ baseUrl: 'https://a.test', keepDays: 2, retryMinutes: 2 });
    expect([keepDurationMs({ settings }), retryDurationMs({ settings })]).to.deep.equal([
      172_800_000, 120_000,
    ]);
  });

  it('have no limit for requests by default', () => {
    const settings = createSettings({ baseUrl: 'https://a.test' });
    expect(retryDurationMs({ settings })).to.equal(Number.POSITIVE_INFINITY);
  });
});
