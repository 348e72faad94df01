// Moves of the sign-in table for tokens of the page: when a page that fails is asked again, and when the user is asked.

import type { ErrorCode } from '../core/errors.ts';
import { awaitNetwork, enter, failure, inert, pause, prompt } from './moves.ts';
import type { AuthModel, Effect, Failure, Move, Row } from './types.ts';

/** Time in which a page that fails is asked again, before the user is asked. */
export const TRIES_MS = 5_000;
/** Shortest delay before a page that fails is asked again. */
const TRY_MS = 1_000;

/** Asks the page for a token, after `afterMs`. */
export const askPage = (model: AuthModel, patch: Partial<AuthModel> = {}, afterMs?: number): Move =>
  enter(model, 'asking-host', patch, {
    type: 'ask-page',
    reason: model.reason,
    ...(afterMs !== undefined && { afterMs }),
  });

/** True if the step in the background renews a token that could still be used when the renewal started. */
export const isEarlyRenewal = ({ background, isEarly }: AuthModel): boolean =>
  background !== undefined && isEarly;

/** True if a renewal by the page started while the old token could be used, and still runs after its end. */
export const isPageLate = ({
  background,
  isEarly,
  isAlive,
}: Pick<AuthModel, 'background' | 'isEarly' | 'isAlive'>): boolean =>
  background === 'asking-host' && isEarly && !isAlive;

/**
 * True if a failure of the page is part of an outage: calls to the service fail, or the page has no network. Without a token, no
 * call shows how long the outage lasts. A series of delays then begins or continues, but not longer than `coolCapMs`: the code of
 * the page may have an error.
 */
function isOutage({ service, waitedMs, triesEndAtMs, times }: AuthModel, code: ErrorCode): boolean {
  const mayBe = triesEndAtMs === undefined && (code === 'network' || waitedMs > 0);
  return service === 'down' || (service === 'unknown' && mayBe && waitedMs <= times.coolCapMs);
}

/** True while the requests of the uploader fail, or the browser is offline. The user is then not asked. */
export const isAway = ({ service, isOffline }: AuthModel): boolean => isOffline || service === 'down';

/** Enters a step in the background of `prompt`: the button and its error stay. */
export const behindPrompt = (model: AuthModel, patch: Partial<AuthModel>, ...effects: Effect[]): Move =>
  enter(model, 'prompt', { error: model.error, ...patch }, ...effects);

export const askLater = (model: AuthModel, ms = model.times.coolMaxMs): Move =>
  behindPrompt(model, { background: 'cooling', renewableAtMs: model.nowMs + ms }, { type: 'cool', ms });

export const askAgain = (model: AuthModel): Move =>
  behindPrompt(
    model,
    { background: 'asking-host' },
    { type: 'deadline', of: 'asking-host' },
    { type: 'ask-page', reason: model.reason },
  );

/**
 * Asks the page sooner, because it may have a token now. Each time after a longer delay, for pages that set `getToken` again and
 * again.
 */
export function askSooner(model: AuthModel): Move {
  const { waitedMs, renewableAtMs, nowMs } = model;
  const ms = TRY_MS + waitedMs;
  return nowMs + ms < renewableAtMs ? askLater({ ...model, waitedMs: waitedMs + ms }, ms) : inert(model);
}

/** Asks the user, and in the background the page again after `ms`. */
export function promptAndAskPage(model: AuthModel, error: Failure, ms?: number): Move {
  const move = askLater({ ...model, error }, ms);
  return { ...move, effects: [{ type: 'require', reason: model.reason }, ...move.effects] };
}

/** Asks the page again: with backoff during an outage, otherwise up to three times in `TRIES_MS`, and then asks the user, too. */
export function pageFailed(model: AuthModel, { code }: Failure): Move {
  const { isOffline, nowMs, triesEndAtMs } = model;
  const untried = { triesEndAtMs: undefined };
  if (isOffline) return awaitNetwork(model, 'asking-host', untried, TRY_MS);
  if (isOutage(model, code)) return pause({ ...model, ...untried }, failure('network'), 'asking-host');
  const endAtMs = triesEndAtMs ?? nowMs + TRIES_MS;
  const afterMs = triesEndAtMs === undefined ? TRY_MS : 2 * TRY_MS;
  // Timers may end a little too early. There is no fourth try then.
  if (nowMs + afterMs > endAtMs - TRY_MS / 2)
    return promptAndAskPage(model, failure(code === 'network' ? 'host-token-failed' : code));
  const { model: next, effects } = askPage(model, { waitedMs: 0, triesEndAtMs: endAtMs }, afterMs);
  return { model: next, effects: [...effects, { type: 'cool', ms: endAtMs - nowMs }] };
}

/** The page has not answered in time. It may show a dialog, so the user is asked before it is called once more. */
export const pageHung: Row<'deadline'> = (model) => {
  const error = failure('host-token-failed');
  return isEarlyRenewal(model) || isAway(model) ? pageFailed(model, error) : promptAndAskPage(model, error);
};

/** The page's answer takes longer than `TRIES_MS`: asks the user, and keeps waiting for it. */
export const pageIsSlow: Row<'elapsed'> = (model) => {
  if (isEarlyRenewal(model)) return inert(model);
  if (isAway(model)) return { model, effects: [{ type: 'cool', ms: TRIES_MS }] };
  const { model: asked, effects } = prompt(model, failure('host-token-failed'), {
    background: 'asking-host',
  });
  return { model: { ...asked, generation: model.generation }, effects };
};
