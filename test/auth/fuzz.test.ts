// Random responses to the exchange of a code: each results in a valid token, a delay, or a known error.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import { redeem } from '../../src/auth/authorize.ts';
import { readBearer, TokenDoor } from '../../src/auth/token.ts';
import type { Bearer, FlowEvent } from '../../src/auth/types.ts';
import { createSettings } from '../../src/core/config.ts';
import { ERROR_CODES } from '../../src/core/error-codes.ts';
import { body, leaf, status } from '../support/junk-answers.ts';
import { runs } from '../support/scope.ts';

const settings = createSettings({ baseUrl: 'https://api.test' });
const forever = new AbortController().signal;
const door = new TokenDoor();

function isTrue(outcome: FlowEvent, status: number): boolean {
  if (outcome.type === 'token') {
    const { value, lifetimeMs } = door.takeToken(outcome.token) as Bearer;
    new Headers({ authorization: `Bearer ${value}` });
    return status >= 200 && status <= 299 && value !== '' && lifetimeMs > 0;
  }
  if (outcome.type === 'rate-limited') return status === 429 || status === 503;
  return 'error' in outcome && ERROR_CODES.includes(outcome.error.code);
}

it('random invalid responses result in a token, or are classified', async () => {
  let count = 0;
  let tokenCount = 0;
  const tokens = fc.record(
    { token: fc.oneof(fc.stringMatching(/^[\x20-\x7e]{1,20}$/), body), expires_at: leaf, expires_in: leaf },
    { requiredKeys: ['token'] },
  );
  const pause = fc.option(fc.integer({ min: 0, max: 300_000 }), { nil: undefined });
  const check = async (status: number, body: unknown, retryAfterMs: number | undefined): Promise<void> => {
    count += 1;
    const answer = { status, body, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    const grant = { code: `code-${count}`, verifier: 'v', via: 'silent' as const };
    const call = { settings, post: async () => answer, signal: forever };
    const outcome = await redeem(grant, call, (type, body) => {
      const bearer = readBearer(body, 1000);
      return bearer && { type, token: door.seal(bearer) };
    });
    if (outcome.type === 'token') tokenCount += 1;
    if (!isTrue(outcome, status)) throw new Error(`${status} came to ${JSON.stringify(outcome)}`);
  };
  const answers = fc.oneof(body, tokens);
  await fc.assert(fc.asyncProperty(status, answers, pause, check), runs(10_000));
  expect(tokenCount).to.be.greaterThan(runs(10_000).numRuns / 1000);
});
