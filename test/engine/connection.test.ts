// What uploads wait for in each state of sign-in.

import { expect } from '@open-wc/testing';
import { waitsFor } from '../../src/engine/connection.ts';

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
