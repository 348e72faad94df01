// Exchanges an authorization code for a token.

import type { Bearer } from './bearer.ts';
import type { Failure, Grant } from './machine-types.ts';
import { type CallContext, callService, isPause, type PostAnswer, record, toFailure } from './post.ts';

export type Outcome =
  | { readonly type: 'token'; readonly bearer: Bearer }
  | { readonly type: 'failed'; readonly error: Failure }
  | { readonly type: 'burnt'; readonly error: Failure }
  | { readonly type: 'rate-limited'; readonly retryAfterMs: number | undefined };

export interface ExchangeContext extends CallContext {
  /** Reads a token; `undefined` if there is none. */
  readonly read: (input: unknown) => Bearer | undefined;
}

/** Exchanges the code of `grant` for a token. Never rejects. */
export async function redeem({ code, verifier }: Grant, context: ExchangeContext): Promise<Outcome> {
  let answer: PostAnswer;
  try {
    answer = await callService('token', { code, code_verifier: verifier }, context);
  } catch (error) {
    const failure = toFailure(error, 'network');
    return { type: failure.code === 'bad-config' ? 'failed' : 'burnt', error: failure };
  }
  const { status, body, retryAfterMs } = answer;
  if (isPause(answer)) return { type: 'rate-limited', retryAfterMs };
  if (status >= 500 || status === 408) return { type: 'burnt', error: { code: 'service-failed', status } };
  if (status < 200 || status > 299) {
    const isRefused = [400, 401].includes(status) || record(body).error === 'invalid_grant';
    const known = isRefused ? 'code-rejected' : status === 403 ? 'forbidden' : 'service-failed';
    return { type: 'failed', error: { code: known, status } };
  }
  // `record` drops a response that is a string, because `read` would accept the string as a token.
  const bearer = context.read(record(body));
  return bearer ? { type: 'token', bearer } : { type: 'burnt', error: { code: 'token-malformed', status } };
}
