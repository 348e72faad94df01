// Steps of the sign-in table after a page has failed to supply a token.

import { expect } from '@open-wc/testing';
import { reduce } from '../../src/auth/machine.ts';
import type { AuthEvent } from '../../src/auth/types.ts';
import { type Case, deadline, itMoves, required } from './cases.ts';
import { at, EVENTS, generation } from './sign-in-table.ts';

const CASES: readonly Case[] = [
  ...(
    [
      ['unknown', {}, 'host-token-failed'],
      ['unknown', {}, 'token-malformed'],
      ['up', {}, 'network'],
      ['up', { waitedMs: 2000 }, 'host-token-failed'],
      ['unknown', { waitedMs: 300_001 }, 'host-token-failed'],
      ['unknown', { waitedMs: 300_001 }, 'network'],
    ] as const
  ).map(
    ([service, patch, code]): Case => [
      `a page that fails is asked again after a second: ${code}, service ${service}, ${JSON.stringify(patch)}`,
      'asking-host',
      { service, nowMs: 100, ...patch },
      { type: 'failed', generation, error: { code } },
      { ...('waitedMs' in patch && { waitedMs: 0 }), triesEndAtMs: 5100 },
      [
        deadline('asking-host'),
        { type: 'ask-page', reason: 'first', afterMs: 1000 },
        { type: 'cool', ms: 5000 },
      ],
    ],
  ),
  ...(
    [
      ['down', {}, 'host-token-failed'],
      ['down', { triesEndAtMs: 200 }, 'token-malformed'],
      ['unknown', {}, 'network'],
    ] as const
  ).map(
    ([service, patch, code]): Case => [
      `during an outage, it is asked again with backoff: ${code}, service ${service}`,
      'asking-host',
      { service, ...patch },
      { type: 'failed', generation, error: { code } },
      {
        ...('triesEndAtMs' in patch && { triesEndAtMs: undefined }),
        ...{ state: 'cooling', waitedMs: 2000, cooledFrom: 'asking-host' },
        error: { code: 'network', retryAfterMs: 2000 },
      },
      [{ type: 'cool', ms: 2000 }],
    ],
  ),
  [
    'without a token, an outage lasts until something shows that the service is back',
    'asking-host',
    { waitedMs: 300_000 },
    { type: 'failed', generation, error: { code: 'host-token-failed' } },
    {
      ...{ state: 'cooling', waitedMs: 360_000, cooledFrom: 'asking-host' },
      error: { code: 'network', retryAfterMs: 60_000 },
    },
    [{ type: 'cool', ms: 60_000 }],
  ],
  [
    'the third try comes two seconds after the second one',
    'asking-host',
    { nowMs: 2400, triesEndAtMs: 5000 },
    { type: 'failed', generation, error: { code: 'host-token-failed' } },
    {},
    [
      deadline('asking-host'),
      { type: 'ask-page', reason: 'first', afterMs: 2000 },
      { type: 'cool', ms: 2600 },
    ],
  ],
  [
    'after the third try the user is asked, and the page once a minute, although the timers ended too early',
    'asking-host',
    { nowMs: 2998, triesEndAtMs: 5000, service: 'up' },
    EVENTS.failed,
    {
      ...{ state: 'prompt', background: 'cooling', renewableAtMs: 62_998 },
      error: { code: 'host-token-failed' },
    },
    [required(), { type: 'cool', ms: 60_000 }],
  ],
  [
    'a try that takes too long continues while the user is asked',
    'asking-host',
    { triesEndAtMs: 5000 },
    EVENTS.elapsed,
    { state: 'prompt', background: 'asking-host', error: { code: 'host-token-failed' } },
    [required()],
  ],
  ...[{ service: 'down' as const }, { isOffline: true }].map(
    (patch): Case => [
      `but not during an outage, which may end in five seconds: ${JSON.stringify(patch)}`,
      'asking-host',
      patch,
      EVENTS.elapsed,
      {},
      [{ type: 'cool', ms: 5000 }],
    ],
  ),
  [
    'a page that has not responded in time is not asked at once again: it may show a dialog',
    'asking-host',
    { nowMs: 60_000 },
    EVENTS.deadline,
    {
      ...{ state: 'prompt', background: 'cooling', renewableAtMs: 120_000 },
      error: { code: 'host-token-failed' },
    },
    [required(), { type: 'cool', ms: 60_000 }],
  ],
  [
    'a page without a listener that responds is not asked again',
    'asking-host',
    {},
    EVENTS.unanswered,
    { state: 'prompt', error: { code: 'host-token-failed' }, renewableAtMs: Number.POSITIVE_INFINITY },
    [required()],
  ],
  [
    'except while the old token can be used: its listener may be away for a moment',
    'renewing-host',
    { nowMs: 3000, triesEndAtMs: 5000 },
    EVENTS.unanswered,
    { background: undefined, renewableAtMs: 63_000 },
    [],
  ],
  [
    'while offline, the page is asked again after a second at least',
    'asking-host',
    { isOffline: true, triesEndAtMs: 5000 },
    EVENTS.deadline,
    {
      ...{ state: 'cooling', triesEndAtMs: undefined, cooledFrom: 'asking-host' },
      error: { code: 'offline' },
    },
    [{ type: 'cool', ms: 1000 }],
  ],
  [
    'the user, who was asked, stays asked while the page is asked again',
    'asking-later',
    {},
    EVENTS.elapsed,
    { background: 'asking-host' },
    [deadline('asking-host'), { type: 'ask-page', reason: 'first' }],
  ],
  ['but not for calls that have ended', 'asking-later', { hasWaiters: false }, EVENTS.elapsed, {}, []],
  [
    'the next call then asks it',
    'asking-later',
    { nowMs: 60_000, renewableAtMs: 60_000 },
    EVENTS['need-token'],
    { background: 'asking-host' },
    [deadline('asking-host'), { type: 'ask-page', reason: 'first' }],
  ],
  [
    'a call before the end of the delay does not',
    'asking-later',
    { nowMs: 59_999, renewableAtMs: 60_000 },
    EVENTS['need-token'],
    {},
    [required()],
  ],
  ...(
    [
      ['failed', { service: 'down' }],
      ['failed', { service: 'unknown' }],
      ['failed', { service: 'up' }],
      ['failed', { isOffline: true }],
      ['deadline', {}],
    ] as const
  ).map(
    ([name, patch]): Case => [
      `and fails, at most once a minute: ${name}, ${JSON.stringify(patch)}`,
      'asking-again',
      { nowMs: 100, ...patch },
      EVENTS[name],
      { background: 'cooling', renewableAtMs: 60_100 },
      [{ type: 'cool', ms: 60_000 }],
    ],
  ),
  [
    'a page that sets its token is asked after a second',
    'asking-later',
    { nowMs: 10_000, renewableAtMs: 60_000 },
    EVENTS.allowed,
    { waitedMs: 1000, renewableAtMs: 11_000 },
    [{ type: 'cool', ms: 1000 }],
  ],
  [
    'and later if it sets one again and again',
    'asking-later',
    { nowMs: 10_000, renewableAtMs: 60_000, waitedMs: 7000 },
    EVENTS.allowed,
    { waitedMs: 15_000, renewableAtMs: 18_000 },
    [{ type: 'cool', ms: 8000 }],
  ],
  [
    'but never later than without it',
    'asking-later',
    { nowMs: 10_000, renewableAtMs: 11_000 },
    EVENTS.allowed,
    {},
    [],
  ],
  [
    'a page that refuses in the background is not asked again',
    'asking-again',
    {},
    EVENTS.refused,
    { background: undefined },
    [],
  ],
  [
    'a click asks the page at once',
    'asking-later',
    {},
    { type: 'sign-in', via: 'page' },
    { state: 'asking-host', background: undefined, error: undefined, renewableAtMs: 0 },
    [deadline('asking-host'), { type: 'ask-page', reason: 'first' }],
  ],
  [
    'a page that fails while the old token can be used is asked by a call a minute later',
    'renewing-host',
    { nowMs: 3000, triesEndAtMs: 5000 },
    { type: 'failed', generation, error: { code: 'host-token-failed' } },
    { background: undefined, renewableAtMs: 63_000 },
    [],
  ],
  [
    'and the user is asked as soon as that token ends',
    'signed-in',
    { source: 'page', isAlive: false, nowMs: 13_000, renewableAtMs: 63_000, triesEndAtMs: 5000 },
    EVENTS['renew-due'],
    {
      ...{ state: 'prompt', background: 'cooling', reason: 'expired' },
      error: { code: 'host-token-failed' },
    },
    [required('expired'), { type: 'cool', ms: 50_000 }],
  ],
  ...[{ service: 'down' } as const, { isOffline: true }].map(
    (patch): Case => [
      `but not during an outage: ${JSON.stringify(patch)}`,
      'signed-in',
      {
        ...{ source: 'page', isAlive: false, nowMs: 13_000, renewableAtMs: 63_000, triesEndAtMs: 5000 },
        ...patch,
      },
      EVENTS['renew-due'],
      { background: 'cooling', cooledFrom: 'signed-in', reason: 'expired' },
      [{ type: 'cool', ms: 50_000 }],
    ],
  ),
  [
    'a page that still has not responded when the old token ends has five more seconds',
    'renewing-host',
    { isAlive: false },
    EVENTS['renew-due'],
    { isEarly: false },
    [{ type: 'cool', ms: 5000 }],
  ],
  [
    'and then the user is asked',
    'renewing-host',
    { isAlive: false, isEarly: false },
    EVENTS.elapsed,
    { state: 'prompt', error: { code: 'host-token-failed' } },
    [required()],
  ],
  [
    'a page that refuses while the old token can be used is not asked again when that token ends',
    'signed-in',
    { source: 'page', isAlive: false, renewableAtMs: Number.POSITIVE_INFINITY },
    EVENTS['renew-due'],
    { state: 'prompt', reason: 'expired', error: { code: 'host-token-failed' } },
    [required('expired')],
  ],
];

describe('a page that fails', () => {
  for (const each of CASES) itMoves(each);

  it('is asked again after a second at least, and after a minute while the user is asked, whatever is known about the service and the network', () => {
    // Numbers that look random, and are the same each time.
    let seed = 1;
    const random = (count: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % count;
    };
    const any = <T>(...values: readonly T[]): T => values[random(values.length)] as T;
    let nowMs = 0;
    let askedAtMs = 0;
    let { model, effects } = reduce(at('signed-out'), { type: 'need-token', isFromPage: true });
    const gaps: number[] = [];
    const gapsOfPrompt: number[] = [];
    for (let count = 0; count < 2000; count += 1) {
      const asked = effects.find(({ type }) => type === 'ask-page');
      const delay = effects.find(({ type }) => type === 'cool');
      let event: AuthEvent;
      if (asked && 'reason' in asked) {
        nowMs += 'afterMs' in asked ? Number(asked.afterMs) : 0;
        if (count > 0) (model.state === 'prompt' ? gapsOfPrompt : gaps).push(nowMs - askedAtMs);
        askedAtMs = nowMs;
        nowMs += any(0, 0, 10, 1500);
        const error = { code: any('network', 'host-token-failed', 'token-malformed') } as const;
        event = { type: 'failed', generation: model.generation, error };
      } else {
        nowMs += delay && 'ms' in delay ? delay.ms : 0;
        event = { type: 'elapsed', generation: model.generation };
      }
      const facts = {
        nowMs,
        service: any('up', 'down', 'unknown'),
        isOffline: random(5) === 0,
        hasWaiters: true,
        jitter: 0.8,
      } as const;
      const isClick = model.state === 'prompt' && random(20) === 0;
      const next = isClick ? ({ type: 'sign-in', via: 'page' } as const) : event;
      ({ model, effects } = reduce({ ...model, ...facts }, next));
      // A click may come at any time.
      if (isClick) askedAtMs = Number.NEGATIVE_INFINITY;
    }
    expect(gaps.length).to.be.above(500);
    expect(Math.min(...gaps)).to.equal(1000);
    expect(gapsOfPrompt.length).to.be.above(50);
    expect(Math.min(...gapsOfPrompt)).to.be.at.least(60_000);
  });
});
