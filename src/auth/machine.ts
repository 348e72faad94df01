// The sign-in state machine, as a table of states and events. All functions are pure, and the model contains no secrets. If the
// table does not list an event for a state, the event changes nothing.

import type { ErrorCode } from '../core/errors.ts';
import {
  canSilent,
  cool,
  delayOf,
  enter,
  fail,
  failure,
  failWith,
  inert,
  pause,
  prompt,
  silentOr,
} from './moves.ts';
import {
  askAgain,
  askLater,
  askPage,
  askSooner,
  behindPrompt,
  isAway,
  isEarlyRenewal,
  isPageLate,
  pageFailed,
  pageHung,
  pageIsSlow,
  promptAndAskPage,
  TRIES_MS,
} from './page-moves.ts';
import type { AuthEvent, AuthModel, Failure, Move, Row, Rows, StateRows } from './types.ts';

export function createModel(
  circumstances: Pick<AuthModel, 'frames' | 'times' | 'isSessionEnough' | 'signedOut'>,
): AuthModel {
  return {
    ...circumstances,
    state: 'signed-out',
    generation: 0,
    isAlive: false,
    isProven: false,
    isOffline: false,
    service: 'unknown',
    hasWaiters: false,
    nowMs: 0,
    jitter: 1,
    source: 'service',
    reason: 'first',
    waitedMs: 0,
    fruitless: 0,
    renewableAtMs: 0,
    isEarly: false,
  };
}

/** Value of `frames` after the user has signed in on the service's page or in the form. */
export const framesAfterSignIn = ({ frames }: AuthModel): AuthModel['frames'] =>
  frames === 'off' ? 'off' : 'expected';

/** After a delay, repeats the step that failed, or returns to the previous step. */
const resume: Row<'elapsed'> = (model) => {
  const { error, cooledFrom } = model;
  // The next call that waits renews the token.
  if (cooledFrom === 'signed-in') return inert({ ...model, state: cooledFrom, background: undefined });
  if (cooledFrom === 'exchange') return enter(model, 'exchange', {}, { type: 'redeem-again' });
  if (cooledFrom === 'silent')
    return error?.code === 'offline'
      ? enter(model, 'silent-early', {}, { type: 'try-silent' })
      : silentOr({ ...model, isOffline: false }, error);
  if (cooledFrom === 'asking-host') return askPage(model);
  if (cooledFrom === 'start') return enter(model, 'choose', { error });
  if (cooledFrom === 'verify') return enter(model, 'answer', { error });
  if (cooledFrom === 'wait') return enter(model, 'wait', {}, { type: 'poll', isSlower: true });
  return prompt(model, error);
};

/**
 * Requests another code, because the service may have used the current code. The first request has no delay; later requests use
 * backoff.
 */
function repeat(model: AuthModel, error: Failure): Move {
  const { waitedMs, times } = model;
  // The first request counts as the first delay.
  if (waitedMs === 0 || error.code === 'offline' || !canSilent(model))
    return silentOr(model, error, { waitedMs: waitedMs || times.coolBaseMs });
  // After a second malformed token in a row, another request will not help.
  return error.code === 'token-malformed' ? prompt(model, error) : pause(model, error, 'silent');
}

const RESET = {
  waitedMs: 0,
  fruitless: 0,
  renewableAtMs: 0,
  triesEndAtMs: undefined,
  isEarly: false,
  signedOut: 'no',
} as const;

const signIn: Row<'sign-in'> = (model, { via, isBlocked }) => {
  const fresh = { ...RESET, challenge: undefined };
  if (isBlocked) return prompt(model, failure('popup-blocked'), fresh);
  if (via === 'page') return askPage(model, fresh);
  if (via === 'popup') return enter(model, 'popup', fresh, { type: 'run-popup' });
  if (via === 'redirect') return enter(model, 'redirecting', fresh, { type: 'redirect' });
  return prompt(model, undefined, fresh);
};

const logIn: Row<'submit-login'> = (model) => enter(model, 'login', RESET, { type: 'login' });

export const takeCode: Row<'code' | 'returned'> = (model, { grant }) => {
  const frames = grant.via === 'silent' ? 'allowed' : framesAfterSignIn(model);
  return enter(model, 'exchange', { frames, challenge: undefined }, { type: 'redeem', grant });
};

const keep: Row<'token' | 'page-token'> = (model, { type, token }) => {
  const { reason, isProven, fruitless, nowMs, times } = model;
  const source = type === 'token' ? 'service' : 'page';
  // Keeps renewals apart, in case the service refuses each new token. Less so if tokens have a short lifetime.
  const renewed = reason !== 'first' && {
    fruitless: (isProven ? 0 : fruitless) + Number(reason === 'rejected'),
    renewableAtMs: nowMs + Math.min(times.renewalGapMs, token.lifetimeMs / 5),
  };
  const patch = { ...RESET, ...renewed, source, reason: 'expired' } as const;
  return enter(model, 'signed-in', patch, { type: 'keep', token });
};

const needToken: Row<'need-token'> = (model, { isFromPage }) => {
  const { signedOut } = model;
  if (isFromPage && signedOut !== 'now') return askPage(model);
  // After a sign-out, the service's session may still exist. Silent sign-in would use this session.
  return signedOut === 'no' ? silentOr(model, undefined) : prompt(model);
};

/**
 * Asks the user to sign in after silent sign-in failed. A missing session is not an error. But if the user has just signed in, the
 * browser keeps the cookies of frames separate, or the page blocks frames: they are not tried again until the next sign-in. While
 * the old token can be used, only a missing session shows that. Otherwise, the provider may be away.
 */
function silentFailed(model: AuthModel, error: Failure): Move {
  const { cause, frames } = model;
  const hasNoSession = error.code === 'sign-in-required';
  if (model.isOffline && !hasNoSession) return silentOr(model, cause);
  const isBlind = frames === 'expected' && (hasNoSession || !isEarlyRenewal(model));
  return prompt(model, hasNoSession ? cause : error, isBlind ? { frames: 'blind' } : {});
}

/**
 * Keeps a renewal in the background: the state stays `signed-in`. A renewal that fails delays the next one, and is shown only if
 * the old token was no longer usable when this renewal started.
 */
function inBackground(before: AuthModel, { model, effects }: Move): Move {
  const { state, error, waitedMs } = model;
  if (state === 'signed-in') return { model, effects };
  if (state === 'asking-host' || state === 'silent' || state === 'exchange')
    return { model: { ...model, state: 'signed-in', background: state }, effects };
  if (!before.isEarly) return { model, effects };
  const waitMs = error?.retryAfterMs;
  const delay = waitMs === undefined ? delayOf(model) : { waitMs, waitedMs };
  // A page that fails sets this time itself.
  const delayed = model.renewableAtMs === before.renewableAtMs && {
    waitedMs: delay.waitedMs,
    renewableAtMs: before.nowMs + delay.waitMs,
    isEarly: error?.code !== 'rate-limited',
  };
  return inert({ ...model, ...delayed, state: 'signed-in', background: undefined, error: undefined });
}

/** Renews the token. If a renewal is not possible, or has brought no usable token too often, the user has to sign in. */
const renew: Row<'renew-due'> = (signedIn, { reason }) => {
  const { isAlive, isProven, isEarly, fruitless, source, times, nowMs, renewableAtMs } = signedIn;
  // Calls wait now, so the page has no more time than in other tries.
  if (isPageLate(signedIn))
    return { model: { ...signedIn, isEarly: false }, effects: [{ type: 'cool', ms: TRIES_MS }] };
  if (signedIn.background) return inert(signedIn);
  const model = { ...signedIn, reason, isEarly: isAlive };
  const isSpent = fruitless >= times.renewalLimit && !isProven;
  const isLastTry = isEarly && !isAlive && source === 'service';
  const ms = isLastTry ? 0 : renewableAtMs - nowMs;
  const canRenew = !isSpent && ms <= times.coolCapMs && (source === 'page' || canSilent(model));
  if (isAlive && (ms > 0 || !canRenew)) return inert(signedIn);
  // The page has refused a token while the old one could be used.
  if (renewableAtMs === Number.POSITIVE_INFINITY)
    return prompt(model, failure('host-token-failed'), { renewableAtMs });
  if (!canRenew) return prompt(model);
  // The page has failed while the old token could be used.
  if (ms > 0 && model.triesEndAtMs !== undefined && !isAway(model))
    return promptAndAskPage(model, failure('host-token-failed'), ms);
  if (ms > 0) {
    const waiting = { background: 'cooling', cooledFrom: 'signed-in' } as const;
    return enter(model, 'signed-in', waiting, { type: 'cool', ms });
  }
  return inBackground(model, source === 'service' ? silentOr(model, undefined) : askPage(model));
};

function promptWithout(type: 'drop' | 'forget', model: AuthModel, code: ErrorCode): Move {
  const move = prompt(model, failure(code));
  return { ...move, effects: [{ type }, ...move.effects] };
}

/** Asks the user. Only the user can ask the page again. */
const refuse: Row<'refused' | 'unanswered'> = (model, { error }) =>
  prompt(model, error, { renewableAtMs: Number.POSITIVE_INFINITY });

const cancel = failWith('canceled');
const begin: StateRows = {
  'need-token': needToken,
  'sign-in': signIn,
  'submit-login': logIn,
  returned: takeCode,
};
const inWindow: StateRows = {
  code: takeCode,
  failed: fail,
  'sign-in': signIn,
  deadline: failWith('popup-closed'),
  cancel: failWith('popup-closed'),
};

const inFrame: StateRows = {
  code: takeCode,
  failed: (model, { error }) => silentFailed(model, error),
  // A click takes precedence over silent sign-in.
  'sign-in': signIn,
  returned: takeCode,
  cancel,
};

const ROWS: Rows = {
  'signed-out': {
    ...begin,
    unable: (model, { error }) =>
      error.code === 'state-mismatch' ? enter(model, 'signed-out', { error }) : prompt(model, error),
  },
  prompt: {
    ...begin,
    'need-token': (model) =>
      model.background === 'cooling' && model.nowMs >= model.renewableAtMs
        ? askAgain(model)
        : { model, effects: [{ type: 'require', reason: model.reason }] },
    unable: fail,
  },
  'asking-host': {
    'page-token': keep,
    failed: (model, { error }) => pageFailed(model, error),
    deadline: pageHung,
    elapsed: pageIsSlow,
    refused: refuse,
    // Without a token, the page may be about to set one, and says so. During a renewal, its listener may be away for a moment.
    unanswered: (model, event) =>
      isEarlyRenewal(model) ? pageFailed(model, event.error) : refuse(model, event),
    cancel,
  },
  silent: { ...inFrame, deadline: (model) => silentFailed(model, failure('silent-timeout')) },
  // Browsers say that they are online before their connections work. A frame that cannot be loaded then never responds.
  'silent-early': { ...inFrame, deadline: (model) => silentOr(model, model.cause) },
  popup: {
    ...inWindow,
    'closed-reading': (model) => ({ model: { ...model, state: 'popup-lost' }, effects: [] }),
    deadline: failWith('popup-timeout'),
  },
  // Keeps the generation and deadline of `popup`. A window may still respond although its `closed` property is true.
  'popup-lost': inWindow,
  redirecting: {
    failed: fail,
    deadline: failWith('authorize-failed'),
    'shown-again': (model) => prompt(model),
    cancel,
  },
  exchange: {
    token: keep,
    failed: fail,
    'code-spent': (model, { error }) => repeat(model, error),
    deadline: (model) => repeat(model, failure('timeout')),
    'rate-limited': cool,
    cancel,
  },
  'signed-in': {
    'renew-due': renew,
    // If the page supplies the tokens, the page is asked for another token, as after any 401.
    'step-up': (model) => (model.source === 'page' ? inert(model) : prompt({ ...model, reason: 'rejected' })),
  },
  cooling: {
    elapsed: resume,
    cancel,
    'sign-in': (model, event) => (canSignIn(model) ? signIn(model, event) : inert(model)),
  },
};

/** Rows of the steps in the background of `prompt`. */
const BEHIND_PROMPT: Rows = {
  'asking-host': {
    'page-token': keep,
    failed: (model) => askLater(model),
    deadline: (model) => askLater(model),
    refused: (model) => behindPrompt(model, {}),
    unanswered: (model) => behindPrompt(model, {}),
  },
  // If no call waits, the next one asks the page.
  cooling: { elapsed: (model) => (model.hasWaiters ? askAgain(model) : inert(model)) },
};

/** True if the user may sign in now. While offline, too, because browsers may be wrong about that. */
export const canSignIn = ({ state, error }: Pick<AuthModel, 'state' | 'error'>): boolean =>
  state === 'cooling' ? error?.code === 'offline' : ROWS[state]?.['sign-in'] !== undefined;

/** Events with the same effect in every state. */
const ALWAYS: StateRows = {
  'other-user': (model) => promptWithout('drop', model, 'access-denied'),
  fault: (model) => promptWithout('forget', model, 'authorize-failed'),
  'sign-out': (model) => {
    const gone = { ...RESET, signedOut: 'now', challenge: undefined, reason: 'first' } as const;
    return enter(model, 'signed-out', gone, { type: 'forget' });
  },
  allowed: (model) => {
    const { state, background, signedOut } = model;
    if (signedOut === 'now') return enter(model, 'signed-out', { signedOut: 'no' });
    return state === 'prompt' && background === 'cooling' ? askSooner(model) : inert(model);
  },
  disconnected: (model) => enter(model, 'signed-out', { challenge: undefined }),
};

/**
 * Returns the next model and the effects to run. An event changes nothing if the state does not handle it, or if its generation has
 * ended. `more` has the rows for the states of the form.
 */
export function reduce(model: AuthModel, event: AuthEvent, more: Rows = {}): Move {
  const isLate = 'generation' in event;
  if (isLate && event.generation !== model.generation) return inert(model);
  const always = ALWAYS[event.type] as Row<typeof event.type> | undefined;
  if (always) return always(model, event as never);
  const background = isLate ? model.background : undefined;
  const state = background ?? model.state;
  const isBehindPrompt = background !== undefined && model.state === 'prompt';
  const rows = (isBehindPrompt ? BEHIND_PROMPT : ROWS)[state] ?? more[state];
  const row = rows?.[event.type] as Row<typeof event.type> | undefined;
  if (!row) return inert(model);
  return background && !isBehindPrompt
    ? inBackground(model, row({ ...model, state }, event as never))
    : row(model, event as never);
}
