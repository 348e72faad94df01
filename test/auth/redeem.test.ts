// Meaning of the response to the exchange of a code, for each status.

import { expect } from '@open-wc/testing';
import { redeem } from '../../src/auth/authorize.ts';
import { readBearer, TokenDoor } from '../../src/auth/token.ts';
import type { FlowEvent } from '../../src/auth/types.ts';
import type { PostAnswer } from '../../src/core/auth-options.ts';
import { createSettings } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { forever } from './open-session.ts';

const settings = createSettings({ baseUrl: 'https://service.example' });
const door = new TokenDoor();
let count = 0;

async function outcomeOf(answer: PostAnswer | Error): Promise<unknown> {
  count += 1;
  const post = async (): Promise<PostAnswer> => {
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const grant = { code: `code ${count}`, verifier: 'v', via: 'popup' } as const;
  const accept = (type: 'token', body: unknown): FlowEvent | undefined => {
    const bearer = readBearer(body, 5000);
    return bearer && { type, token: door.seal(bearer) };
  };
  const event = await redeem(grant, { settings, post, signal: forever }, accept);
  return event.type === 'token' ? [event.type, door.takeToken(event.token)?.value] : event;
}

const failed = (code: string, status: number) => ({ type: 'failed', error: { code, status } });
const spent = (code: string, status?: number) => ({
  type: 'code-spent',
  error: { code, ...(status && { status }) },
});

describe('the response to a code', () => {
  for (const [status, expected] of [
    [199, failed('service-failed', 199)],
    [200, ['token', 't']],
    [201, ['token', 't']],
    [299, ['token', 't']],
    [300, failed('service-failed', 300)],
    [400, failed('code-rejected', 400)],
    [401, failed('code-rejected', 401)],
    [402, failed('service-failed', 402)],
    [403, failed('forbidden', 403)],
    [404, failed('service-failed', 404)],
    [407, failed('service-failed', 407)],
    [408, spent('service-failed', 408)],
    [409, failed('service-failed', 409)],
    [429, { type: 'rate-limited', waitMs: undefined }],
    [499, failed('service-failed', 499)],
    [500, spent('service-failed', 500)],
    [503, spent('service-failed', 503)],
  ] as const)
    it(`with status ${status} means ${'type' in expected ? expected.type : expected[0]}`, async () => {
      expect(await outcomeOf({ status, body: { token: 't' } })).to.deep.equal(expected);
    });

  it('that the policy of the page blocks is final', async () => {
    expect(await outcomeOf(new UploaderError('bad-config', 'blocked'))).to.deep.equal({
      type: 'failed',
      error: { code: 'bad-config' },
    });
  });

  it('requests a delay by 503 only with Retry-After', async () => {
    for (const status of [429, 503])
      expect(await outcomeOf({ status, retryAfterMs: 0 })).to.deep.equal({
        type: 'rate-limited',
        waitMs: 0,
      });
    expect(await outcomeOf({ status: 500, retryAfterMs: 1 })).to.deep.equal(spent('service-failed', 500));
  });

  it('refuses the code if it says so with any status', async () => {
    for (const body of [{ error: 'invalid_grant' }])
      expect(await outcomeOf({ status: 409, body })).to.deep.equal(failed('code-rejected', 409));
    for (const body of [{ error: 'other' }, { code: 'invalid_grant' }, 'invalid_grant', undefined])
      expect(await outcomeOf({ status: 409, body })).to.deep.equal(failed('service-failed', 409));
  });

  it('without a token in an object leaves the outcome of the code unknown', async () => {
    for (const body of [undefined, 'a page of text', {}, { token: 7 }, []])
      expect(await outcomeOf({ status: 200, body })).to.deep.equal(spent('token-malformed', 200));
  });

  it('that never arrived leaves that unknown too', async () => {
    expect(await outcomeOf(new UploaderError('timeout', 'late'))).to.deep.equal(spent('timeout'));
    expect(await outcomeOf(new TypeError('no line'))).to.deep.equal(spent('network'));
  });
});
