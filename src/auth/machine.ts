// Sign-in as a table: what each event means in each of the sixteen states. Pure: it opens no window, sends nothing and
// holds no secret in its model. A pair of state and event that has no row here changes nothing.

import type { ErrorCode } from '../core/errors.ts';
import type { AuthState } from '../core/types.ts';
import type { AuthEvent, AuthModel, Effect, Failure, Move, Row, Rows } from './machine-types.ts';
import { enter, failure, prompt, silentOr } from './moves.ts';

/** The model before anything happened. */
export function createModel(known: Pick<AuthModel, 'canSilent' | 'silentAfterWindow' | 'limits'>): AuthModel {
  return {
    ...known,
    state: 'signed-out',
    generation: 0,
    isAlive: false,
    source: 'service',
    reason: 'first',
    silentWorked: false,
    sessionMade: false,
    isFreshTry: false,
    hasLeft: false,
    coolings: 0,
    cooledMs: 0,
  };
}

const inert = (model: AuthModel): Move => ({ model, effects: [] });

const signIn: Row<'sign-in'> = (model, { via, isBlocked }) => {
  const fresh = {
    isFreshTry: false,
    coolings: 0,
    cooledMs: 0,
    hasLeft: false,
    challenge: undefined,
    sessionMade: false,
  };
  if (isBlocked) return prompt(model, failure('popup-blocked'), fresh);
  if (via === 'host') return enter(model, 'asking-host', fresh, { type: 'ask-host', reason: model.reason });
  if (via === 'popup') return enter(model, 'popup', fresh, { type: 'run-popup' });
  if (via === 'redirect') return enter(model, 'redirecting', fresh, { type: 'redirect' });
  return prompt(model, undefined, fresh);
};

const logIn: Row<'submit-login'> = (model) => enter(model, 'login', { hasLeft: false }, { type: 'login' });

const takeCode: Row<'code'> = (model, { grant }) => {
  // A window on another site has a cookie jar of its own, which a hidden frame cannot see.
  const canSilent =
    model.canSilent && (grant.via === 'silent' || grant.via === 'form' || model.silentAfterWindow);
  const patch = { canSilent, silentWorked: model.silentWorked || grant.via === 'silent' };
  return enter(model, 'exchange', patch, { type: 'redeem', grant });
};

const returned: Row<'returned'> = (model, { grant }) =>
  takeCode(model, { type: 'code', generation: model.generation, grant });

/** Row 36: whether the code was used cannot be known, so it is burnt; one fresh silent try, then the person. */
const burnt = (model: AuthModel, error: Failure): Move =>
  model.isFreshTry ? prompt(model, error) : silentOr(model, error, { isFreshTry: true });

/** Row 37: remember where to go back, unless the waiting has become too long to be called waiting. */
const cool: Row<'rate-limited'> = (model, { waitMs }) => {
  const error: Failure = { code: 'rate-limited', retryAfterMs: waitMs };
  const cooledMs = model.cooledMs + waitMs;
  if (cooledMs > model.limits.coolCapMs) return prompt(model, error, { coolings: 0, cooledMs: 0 });
  const from = model.renewing === 'exchange' ? 'exchange' : model.state;
  const canResend = from === 'exchange' && model.coolings === 0 && waitMs <= model.limits.resendMs;
  const patch: Partial<AuthModel> = {
    error,
    cooledMs,
    coolings: model.coolings + 1,
    cooledFrom: from,
    canResend,
  };
  return enter(model, 'cooling', patch, { type: 'cool', ms: waitMs });
};

/** Rows 38 and 39. */
const goOn: Row<'elapsed'> = (model) => {
  const error = failure('rate-limited');
  switch (model.cooledFrom) {
    case 'exchange':
      if (!model.canResend) return silentOr(model, error);
      return enter(model, 'exchange', { canResend: false }, { type: 'redeem-again' });
    case 'start':
      return model.challenge ? enter(model, 'choose', { error }) : prompt(model, error);
    case 'verify':
      return enter(model, 'answer', { error });
    case 'wait':
      return enter(model, 'wait', {}, { type: 'poll', isSlower: true });
    default:
      return prompt(model, error);
  }
};

const signedIn = (model: AuthModel, source: AuthModel['source'], effect: Effect): Move => {
  const patch = {
    source,
    coolings: 0,
    cooledMs: 0,
    isFreshTry: false,
    challenge: undefined,
    reason: 'expired' as const,
  };
  // A session of the service exists from now on: a frame that does not see it is in the other jar.
  return enter(model, 'signed-in', { ...patch, sessionMade: source === 'service', hasLeft: false }, effect);
};

const keepHostToken: Row<'host-token'> = (model, { bearer }) =>
  signedIn(model, 'host', { type: 'keep', bearer });
const keepToken: Row<'token'> = (model, { bearer }) => signedIn(model, 'service', { type: 'keep', bearer });
const cancel: Row<'cancel'> = (model) => prompt(model, failure('canceled'));
const fail: Row<'failed'> = (model, { error }) => prompt(model, error);
const failWith =
  (code: ErrorCode) =>
  (model: AuthModel): Move =>
    prompt(model, failure(code));
/** The window's round is over, so whatever it still shows would lead nowhere. */
const leavePopup =
  (code: ErrorCode) =>
  (model: AuthModel): Move => {
    const { model: next, effects } = prompt(model, failure(code));
    return { model: next, effects: [{ type: 'close-popup' }, ...effects] };
  };

const needToken: Row<'need-token'> = (model, { isHosted }) => {
  if (isHosted) return enter(model, 'asking-host', {}, { type: 'ask-host', reason: model.reason });
  // After a sign-out the session of the service may still be there: only the person may go back in.
  return model.hasLeft ? prompt(model) : silentOr(model, undefined);
};

/** Row 7 says nothing to the person at first use; only a session that must exist and is not seen rules the frame out. */
const silentFailed: Row<'failed'> = (model, { error }) => {
  if (error.code !== 'sign-in-required')
    return prompt(model, error, { canSilent: false, sessionMade: false });
  const isOtherJar = model.sessionMade && !model.silentWorked;
  return prompt(model, isOtherJar ? error : undefined, { canSilent: !isOtherJar, sessionMade: false });
};

const ROWS: Rows = {
  'signed-out': {
    'need-token': needToken,
    'sign-in': signIn,
    'submit-login': logIn,
    returned,
    unable: (model, { error }) =>
      error.code === 'state-mismatch' ? enter(model, 'signed-out', { error }) : prompt(model, error),
  },
  'asking-host': {
    'host-token': keepHostToken,
    failed: fail,
    deadline: failWith('host-token-failed'),
    cancel,
  },
  silent: {
    code: takeCode,
    failed: silentFailed,
    deadline: (model) => prompt(model, failure('silent-timeout'), { canSilent: false, sessionMade: false }),
    // A person's click beats a try that the person cannot see, and so does what came of one.
    'sign-in': signIn,
    returned,
    cancel,
  },
  prompt: {
    'need-token': (model) => ({ model, effects: [{ type: 'require', reason: model.reason }] }),
    'sign-in': signIn,
    returned,
    unable: (model, { error }) => prompt(model, error),
    'submit-login': logIn,
  },
  popup: {
    code: takeCode,
    'closed-reading': (model) => ({ model: { ...model, state: 'popup-lost' }, effects: [] }),
    failed: fail,
    deadline: leavePopup('popup-timeout'),
    'sign-in': signIn,
    cancel: leavePopup('popup-closed'),
  },
  // It shares generation and deadline with `popup`: the same window may still answer.
  'popup-lost': {
    code: takeCode,
    failed: fail,
    deadline: leavePopup('popup-closed'),
    'sign-in': signIn,
    cancel: leavePopup('popup-closed'),
  },
  redirecting: {
    failed: fail,
    deadline: failWith('authorize-failed'),
    'shown-again': (model) => prompt(model),
    cancel,
  },
  exchange: {
    token: keepToken,
    failed: fail,
    burnt: (model, { error }) => burnt(model, error),
    'rate-limited': cool,
    deadline: (model) => burnt(model, failure('timeout')),
    cancel,
  },
  'signed-in': {
    'renew-due': (model, { reason, isSpent }) => {
      const next = { ...model, reason };
      if (!isSpent && model.source === 'host')
        return renew(next, 'asking-host', { type: 'ask-host', reason });
      if (!isSpent && model.canSilent) return renew(next, 'silent', { type: 'try-silent' });
      return model.isAlive ? inert(model) : prompt(next);
    },
    // Only the person can prove more; a page that gives tokens is asked for a better one instead, as after any refusal.
    'step-up': (model) => (model.source === 'host' ? inert(model) : prompt({ ...model, reason: 'rejected' })),
  },
  cooling: { elapsed: goOn, cancel },
};

/** Rows 41 to 44: the same steps in the background, while the old token is handed out for as long as it lives. */
function renew(model: AuthModel, renewing: NonNullable<AuthModel['renewing']>, effect: Effect): Move {
  const { model: next, effects } = enter(model, 'signed-in', { renewing }, effect);
  return { model: next, effects: [{ type: 'deadline', of: renewing }, ...effects] };
}

function renewalFailed(model: AuthModel, error: Failure | undefined, patch: Partial<AuthModel> = {}): Move {
  return model.isAlive ? enter(model, 'signed-in', patch) : prompt(model, error, patch);
}

const RENEWAL_ROWS: { readonly [S in NonNullable<AuthModel['renewing']>]: NonNullable<Rows[AuthState]> } = {
  'asking-host': {
    'host-token': keepHostToken,
    failed: (model, { error }) => renewalFailed(model, error),
    deadline: (model) => renewalFailed(model, failure('host-token-failed')),
  },
  silent: {
    code: (model, { grant }) =>
      renew({ ...model, silentWorked: true }, 'exchange', { type: 'redeem', grant }),
    failed: (model, { error }) => {
      if (error.code !== 'sign-in-required') return renewalFailed(model, error, { canSilent: false });
      return renewalFailed(model, undefined, { canSilent: model.silentWorked });
    },
    deadline: (model) => renewalFailed(model, failure('silent-timeout'), { canSilent: false }),
  },
  exchange: {
    token: keepToken,
    failed: (model, { error }) => renewalFailed(model, error),
    burnt: (model, { error }) => renewalFailed(model, error),
    'rate-limited': (model, event) => {
      if (!model.isAlive) return cool(model, event);
      const { model: next, effects } = enter(model, 'signed-in', {});
      return { model: next, effects: [...effects, { type: 'hold', ms: event.waitMs }] };
    },
    deadline: (model) => renewalFailed(model, failure('timeout')),
  },
};

/**
 * The next model and what is to be done for it. The same model and no effects where the event means nothing in this state,
 * or comes from a generation that is over. `more` has the rows of states that only a form brings about.
 */
export function reduce(model: AuthModel, event: AuthEvent, more: Rows = {}): Move {
  if ('generation' in event && event.generation !== model.generation) return inert(model);
  if (event.type === 'sign-out') {
    const patch = { hasLeft: true, challenge: undefined, reason: 'first' as const };
    return enter(
      model,
      'signed-out',
      patch,
      { type: 'close-popup' },
      { type: 'forget', reason: event.reason },
    );
  }
  if (event.type === 'disconnected') return enter(model, 'signed-out', { challenge: undefined });
  const rows =
    (model.renewing ? RENEWAL_ROWS[model.renewing] : (ROWS[model.state] ?? more[model.state])) ?? {};
  const row = rows[event.type] as Row<typeof event.type> | undefined;
  return row ? row(model, event as never) : inert(model);
}
