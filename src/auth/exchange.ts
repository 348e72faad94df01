// Redeems a code, once, and says what came of it in the words of the sign-in table. It decides nothing.

import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import { type Clock, readBearer } from './bearer.ts';
import type { Failure, Grant, Late } from './machine-types.ts';
import { credentialsOf, isPause, type Post, type PostAnswer } from './post.ts';

/** What a call came to; `retryAfterMs` is absent where the service did not say how long. */
export type Outcome =
  | { readonly type: 'token'; readonly bearer: Late['token']['bearer'] }
  | { readonly type: 'failed' | 'burnt'; readonly error: Failure }
  | { readonly type: 'rate-limited'; readonly retryAfterMs: number | undefined };

export interface ExchangeContext {
  readonly settings: Settings;
  readonly post: Post;
  readonly clock: Clock;
  readonly assumedLifetimeMs: number;
  readonly signal: AbortSignal;
}

const inFlight = new Map<string, Promise<Outcome>>();

/** Redeems the code. Asked twice for the same one while it is on its way, both get the one answer. Never rejects. */
export function redeem(grant: Grant, context: ExchangeContext): Promise<Outcome> {
  const running = inFlight.get(grant.code);
  if (running !== undefined) return running;
  const outcome = send(grant, context).finally(() => inFlight.delete(grant.code));
  inFlight.set(grant.code, outcome);
  return outcome;
}

async function send(
  grant: Grant,
  { settings, post, clock, assumedLifetimeMs, signal }: ExchangeContext,
): Promise<Outcome> {
  const startMs = Date.now();
  let answer: PostAnswer;
  try {
    const body = tokenBody(grant, settings);
    const { exchange } = (settings.authOptions.adapter ?? {}) as {
      exchange?: (body: unknown, signal: AbortSignal) => Promise<PostAnswer>;
    };
    const options = { credentials: credentialsOf(settings, 'token'), signal };
    answer = exchange ? await exchange(body, signal) : await post(settings.paths.token, body, options);
  } catch (error) {
    return { type: 'burnt', error: { code: error instanceof UploaderError ? error.code : 'network' } };
  }
  const { status, body, retryAfterMs, dateMs } = answer;
  if (isPause(answer)) return { type: 'rate-limited', retryAfterMs };
  if (status >= 500) return { type: 'burnt', error: { code: 'service-failed', status } };
  if (status < 200 || status > 299) {
    const isRefused = status === 400 || status === 401 || isInvalidGrant(body);
    const code = isRefused ? 'code-rejected' : status === 403 ? 'forbidden' : 'service-failed';
    return { type: 'failed', error: { code, status } };
  }
  const nowMs = Date.now();
  clock.learn(dateMs, startMs, nowMs);
  const fields = settings.authOptions.fields as Record<string, unknown> | undefined;
  // A page may give a bare string; from the service that would be a page of text taken for a token.
  const input = typeof body === 'object' ? body : undefined;
  const bearer = readBearer(input, { nowMs, offsetMs: clock.offsetMs, assumedLifetimeMs }, fields);
  return bearer ? { type: 'token', bearer } : { type: 'burnt', error: { code: 'token-malformed', status } };
}

function tokenBody({ code, verifier }: Grant, settings: Settings): unknown {
  const body = { code, code_verifier: verifier };
  const { tokenBody: change } = settings.authOptions;
  return typeof change === 'function' ? change(body) : body;
}

function isInvalidGrant(body: unknown): boolean {
  const { error, code } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  return error === 'invalid_grant' || code === 'invalid_grant';
}
