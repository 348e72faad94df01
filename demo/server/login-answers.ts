// Converts the outcome of a sign-in request to a response, and creates invalid responses for tests.
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Challenged } from './challenge.ts';
import type { Method } from './seed.ts';
import type { Outcome } from './sign-in.ts';

export interface LoginAnswer {
  status: string;
  next_step: string;
  challenge_token: string;
  available_methods: unknown[];
  error?: string;
  code?: string;
  challenge?: object;
}

const nothingMore = { challenge_token: '', available_methods: [] };

/** Returns body and status for an outcome. The caller adds the authorization code. */
export function describeOutcome(outcome: Outcome): [LoginAnswer, ContentfulStatusCode] {
  switch (outcome.kind) {
    case 'completed':
      return [{ status: 'ok', next_step: 'authorize', ...nothingMore }, 200];
    case 'refused':
      // The same response whether the user exists or not.
      return [{ status: 'denied', error: 'invalid_credentials', next_step: 'none', ...nothingMore }, 401];
    case 'locked':
      return [{ status: 'locked', error: 'locked', next_step: 'none', ...nothingMore }, 401];
    case 'expired':
      return [{ status: 'expired', error: 'challenge_expired', next_step: 'login', ...nothingMore }, 410];
    case 'unsupported':
      return [{ status: 'password_expired', next_step: 'change_password', ...nothingMore }, 200];
    default: {
      const answer: LoginAnswer = {
        ...statuses[outcome.kind],
        next_step: nextStep(outcome),
        challenge_token: outcome.token,
        available_methods: [...outcome.user.methods],
        challenge: outcome.details,
      };
      return [answer, outcome.kind === 'wrong' ? 401 : 200];
    }
  }
}

/** Returns an invalid response of the identity provider `broken`. The email address, up to the `@`, selects the response. */
export function brokenAnswer(email: string): { body: string; type: string; status: ContentfulStatusCode } {
  const json = (body: object): { body: string; type: string; status: 200 } => ({
    body: JSON.stringify(body),
    type: 'application/json',
    status: 200,
  });
  switch (email.split('@')[0]) {
    case 'truncated':
      return { ...json({}), body: '{"status":"ok","next_st' };
    case 'empty':
      return json({});
    case 'unknown':
      return json({ status: 'perhaps', next_step: 'juggle', challenge_token: '', available_methods: [] });
    case 'numbers':
      return json({ status: 1, next_step: 2, challenge_token: 3, available_methods: 4 });
    case 'contradiction':
      return json({
        status: 'SUCCESS',
        next_step: 'totp',
        challenge_token: 'x',
        available_methods: ['totp'],
      });
    case 'error':
      return { ...json({ error: 'server_error' }), status: 500 };
    default:
      return { body: '<!doctype html><p>Oops</p>', type: 'text/html', status: 200 };
  }
}

const statuses = {
  challenge: { status: 'challenge' },
  wrong: { status: 'challenge', error: 'invalid_code' },
  denied: { status: 'denied', error: 'denied' },
  waiting: { status: 'waiting' },
  'slow-down': { status: 'slow_down' },
};

function nextStep({ kind, user, details }: Challenged): string {
  if (kind === 'waiting' || kind === 'slow-down') return 'poll';
  if (details.method && kind !== 'denied') return 'answer';
  return user.methods.length === 1 ? (user.methods[0] ?? 'choose') : 'choose';
}

const METHODS: readonly Method[] = ['totp', 'email', 'sms', 'push', 'passkey', 'recovery'];

export const readMethod = (name: string): Method | undefined => METHODS.find((method) => method === name);
