// Steps of the sign-in state machine from models that docs/sign-in-states.md does not show: all changes, and all effects.

import { expect } from '@open-wc/testing';
import { canSignIn } from '../../src/auth/machine.ts';
import type { AuthEvent, AuthModel } from '../../src/auth/types.ts';
import { type Case, deadline, itMoves, required } from './cases.ts';
import { at, challenge, EVENTS, generation } from './sign-in-table.ts';

const token = { lifetimeMs: 1 };
const grant = { code: 'code', verifier: 'verifier', via: 'popup' } as const;
const limited = (waitMs: number): AuthEvent => ({ type: 'rate-limited', generation, waitMs });

/** Values of an earlier step. Tests start with these values to check which of them a step clears. */
const used = {
  waitedMs: 5,
  fruitless: 3,
  signedOut: 'now',
  error: { code: 'network' },
} as const;
const cleared = { waitedMs: 0, fruitless: 0, signedOut: 'no', error: undefined };
const network = { code: 'network' } as const;

const CASES: readonly Case[] = [
  [
    'a window starts without earlier values',
    'prompt',
    { ...used, challenge },
    EVENTS['sign-in'],
    { ...cleared, challenge: undefined, state: 'popup' },
    [deadline('popup'), { type: 'run-popup' }],
  ],
  [
    'leaving the page does so too',
    'prompt',
    used,
    { type: 'sign-in', via: 'redirect' },
    { ...cleared, state: 'redirecting' },
    [deadline('redirecting'), { type: 'redirect' }],
  ],
  [
    'asking the page does so too, with the reason',
    'prompt',
    { ...used, reason: 'rejected' },
    { type: 'sign-in', via: 'page' },
    { ...cleared, state: 'asking-host' },
    [deadline('asking-host'), { type: 'ask-page', reason: 'rejected' }],
  ],
  ['the form does so too', 'prompt', used, { type: 'sign-in', via: 'form' }, cleared, [required()]],
  [
    'a blocked window starts nothing',
    'prompt',
    used,
    { type: 'sign-in', via: 'popup', isBlocked: true },
    { ...cleared, error: { code: 'popup-blocked' } },
    [required()],
  ],
  [
    'credentials clear a sign-out and the delays before them',
    'prompt',
    used,
    EVENTS['submit-login'],
    { ...cleared, state: 'login' },
    [deadline('login'), { type: 'login' }],
  ],
  [
    'a token of the service is stored',
    'exchange',
    { waitedMs: 9, fruitless: 2, renewableAtMs: 7, signedOut: 'before', source: 'page' },
    EVENTS.token,
    {
      ...{ state: 'signed-in', waitedMs: 0, fruitless: 0, renewableAtMs: 0, signedOut: 'no' },
      ...{ source: 'service', reason: 'expired' },
    },
    [{ type: 'keep', token }],
  ],
  [
    'a token of the page is stored, and says nothing about frames',
    'asking-host',
    { frames: 'blind' },
    EVENTS['page-token'],
    { state: 'signed-in', source: 'page', reason: 'expired' },
    [{ type: 'keep', token }],
  ],
  [
    'a sign-out clears everything',
    'answer',
    { reason: 'rejected' },
    EVENTS['sign-out'],
    { state: 'signed-out', signedOut: 'now', challenge: undefined, reason: 'first' },
    [{ type: 'forget' }],
  ],
  [
    'the page provides tokens again',
    'signed-out',
    { signedOut: 'now' },
    EVENTS.allowed,
    { signedOut: 'no' },
    [],
  ],
  [
    'an exchange without a response leaves the outcome of its code unknown',
    'exchange',
    { waitedMs: 2000 },
    EVENTS.deadline,
    {
      ...{ state: 'cooling', waitedMs: 6000, cooledFrom: 'silent' },
      error: { code: 'timeout', retryAfterMs: 4000 },
    },
    [{ type: 'cool', ms: 4000 }],
  ],
  [
    'a code that was spent requires the user if no frame can work',
    'exchange',
    { frames: 'blind' },
    EVENTS['code-spent'],
    { state: 'prompt', waitedMs: 2000, error: network },
    [required()],
  ],
  [
    'a code that was spent again waits',
    'exchange',
    { waitedMs: 2000, jitter: 1.1 },
    EVENTS['code-spent'],
    {
      ...{ state: 'cooling', waitedMs: 6000, cooledFrom: 'silent' },
      error: { code: 'network', retryAfterMs: 4400 },
    },
    [{ type: 'cool', ms: 4400 }],
  ],
  [
    'a code that was refused temporarily is sent again after that',
    'exchange',
    {},
    limited(30_000),
    {
      ...{ state: 'cooling', waitedMs: 30_000, cooledFrom: 'exchange' },
      error: { code: 'rate-limited', retryAfterMs: 30_000 },
    },
    [{ type: 'cool', ms: 30_000 }],
  ],
  ...[0, Number.NaN, -1000].map(
    (waitMs): Case => [
      `a delay of ${waitMs} ms is replaced by the usual one, so that it ends`,
      'exchange',
      { waitedMs: 1000 },
      limited(waitMs),
      {
        ...{ state: 'cooling', waitedMs: 4000, cooledFrom: 'silent' },
        error: { code: 'rate-limited', retryAfterMs: 3000 },
      },
      [{ type: 'cool', ms: 3000 }],
    ],
  ),
  [
    'delays that became too long are cleared',
    'exchange',
    { waitedMs: 299_001 },
    limited(1000),
    { state: 'prompt', waitedMs: 0, error: { code: 'rate-limited', retryAfterMs: 1000 } },
    [required()],
  ],
  [
    'after the delay the code is sent once more, and only once',
    'cooling',
    { error: network } as Partial<AuthModel>,
    EVENTS.elapsed,
    { state: 'exchange', error: undefined },
    [deadline('exchange'), { type: 'redeem-again' }],
  ],
  [
    'after the delay of a poll the next one is slower',
    'cooling',
    { cooledFrom: 'wait' },
    EVENTS.elapsed,
    { state: 'wait' },
    [deadline('wait'), { type: 'poll', isSlower: true }],
  ],
  [
    'a silent attempt waits for the network',
    'signed-out',
    { isOffline: true },
    EVENTS['need-token'],
    { state: 'cooling', cooledFrom: 'silent', error: { code: 'offline' } },
    [{ type: 'cool', ms: 0 }],
  ],
  [
    'a frame without a signed-in user shows no error',
    'silent',
    {},
    { type: 'failed', generation, error: { code: 'sign-in-required' } },
    { state: 'prompt' },
    [required()],
  ],
  [
    'a frame that does not see an existing session is not used again',
    'silent',
    { frames: 'expected', cause: network },
    { type: 'failed', generation, error: { code: 'sign-in-required' } },
    { state: 'prompt', frames: 'blind', error: network },
    [required()],
  ],
  [
    'a code of a frame shows that frames work',
    'silent',
    { frames: 'expected' },
    { type: 'code', generation, grant: { ...grant, via: 'silent' } },
    { state: 'exchange', frames: 'allowed' },
    [deadline('exchange'), { type: 'redeem', grant: { ...grant, via: 'silent' } }],
  ],
  [
    'frames get another try after each sign-in of the user',
    'verify',
    { frames: 'blind' },
    { type: 'code', generation, grant: { ...grant, via: 'form' } },
    { state: 'exchange', frames: 'expected', challenge: undefined },
    [deadline('exchange'), { type: 'redeem', grant: { ...grant, via: 'form' } }],
  ],
  [
    'a token of the page is renewed by the page, in the background',
    'signed-in',
    { source: 'page' },
    { type: 'renew-due', reason: 'rejected' },
    { background: 'asking-host', isEarly: true, reason: 'rejected' },
    [deadline('asking-host'), { type: 'ask-page', reason: 'rejected' }],
  ],
  [
    'a token of the service is renewed by a frame, in the background',
    'signed-in',
    { reason: 'expired' },
    EVENTS['renew-due'],
    { background: 'silent', isEarly: true },
    [deadline('silent'), { type: 'try-silent' }],
  ],
  [
    'an expired token that may not be renewed again requires the user',
    'signed-in',
    { isAlive: false, fruitless: 3 },
    { type: 'renew-due', reason: 'rejected' },
    { state: 'prompt', reason: 'rejected' },
    [required('rejected')],
  ],
  [
    'a renewal that failed while the token is valid is delayed',
    'renewing-silent',
    { nowMs: 500, waitedMs: 2000, jitter: 0.8 },
    EVENTS.failed,
    { background: undefined, waitedMs: 6000, renewableAtMs: 3700 },
    [],
  ],
  [
    'a renewal that is refused for a while is delayed as long as the service requests',
    'renewing-exchange',
    { nowMs: 500, jitter: 0.8 },
    limited(9000),
    {
      ...{ background: undefined, waitedMs: 9000, cooledFrom: 'exchange', renewableAtMs: 9500 },
      isEarly: false,
    },
    [],
  ],
  [
    'a renewal in a frame that failed while the old token could be used is tried once more when that token ends',
    'signed-in',
    { isAlive: false, isEarly: true, renewableAtMs: 60_000 },
    EVENTS['renew-due'],
    { background: 'silent', isEarly: false, reason: 'expired' },
    [deadline('silent'), { type: 'try-silent' }],
  ],
  [
    'a renewal that failed with an expired token requires the user',
    'renewing-silent',
    { isAlive: false, isEarly: false },
    EVENTS.failed,
    { state: 'prompt', background: undefined, error: network },
    [required()],
  ],
  [
    'that no user is signed in any more is no failure',
    'renewing-silent',
    { isAlive: false, isEarly: false, frames: 'expected' },
    { type: 'failed', generation, error: { code: 'sign-in-required' } },
    { state: 'prompt', background: undefined, frames: 'blind' },
    [required()],
  ],
];

describe('a transition of sign-in', () => {
  for (const each of CASES) itMoves(each);

  it('lets the user start to sign in only in these states', () => {
    const may = (
      [
        'signed-out',
        'asking-host',
        'silent',
        'silent-early',
        'prompt',
        'popup',
        'popup-lost',
        'redirecting',
        'exchange',
        'signed-in',
        'cooling',
      ] as const
    ).filter((where) => canSignIn(at(where)));
    expect(may).to.deep.equal(['signed-out', 'silent', 'silent-early', 'prompt', 'popup', 'popup-lost']);
  });
});
