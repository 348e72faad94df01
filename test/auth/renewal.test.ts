// Renewal of a token in use: in the background, in a hidden frame while the service is temporarily unavailable, and its limits.
import { expect } from '@open-wc/testing';
import { reduce } from '../../src/auth/machine.ts';
import type { AuthEvent, AuthModel } from '../../src/auth/types.ts';
import { skipTime, stopClock } from '../support/clock.ts';
import { settled } from '../support/collect.ts';
import { closeAll, failuresOf, forever, open } from './open-session.ts';
import { granted, openSilent } from './scripted.ts';
import { at, EVENTS, generation } from './sign-in-table.ts';

afterEach(closeAll);

describe('a token in use', () => {
  it('is renewed by the first call in its last minute, which does not wait for the new token', async () => {
    let count = 0;
    const getToken = () => {
      count += 1;
      return { token: `token-${count}`, expires_at: Date.now() + 600_000 };
    };
    const { session } = open({ getToken });
    const call = (): Promise<string | undefined> => session.withToken(async (token) => token, forever);
    const clock = stopClock();
    try {
      expect(await call()).to.equal('token-1');
      await clock.pass(535_000);
      expect([await call(), count]).to.deep.equal(['token-1', 1]);
      await clock.pass(15_000);
      expect([await call(), count]).to.deep.equal(['token-1', 2]);
      await settled();
      expect(await call()).to.equal('token-2');
    } finally {
      clock.restore();
    }
  });
});

describe('a hidden frame that fails while the token is valid', () => {
  it('is retried until it works, and uploads continue without the user', async () => {
    const script = [granted({ expires_in: 600 }), granted({ token: 'second-token', expires_in: 900 })];
    // Parameters for the sign-in page of the tests; `answer` is the response of that page.
    const params: Record<string, string> = {};
    const opened = openSilent(script, { authOptions: { params } }, { coolBaseMs: 10 });
    const { session, changes } = opened;
    await session.withToken(async () => undefined, forever);
    params.answer = 'error=temporarily_unavailable';
    const undo = skipTime(548_000);
    try {
      const asked: string[] = [];
      const watch = new MutationObserver((records) => {
        for (const { addedNodes } of records)
          for (const node of addedNodes) if (node instanceof HTMLIFrameElement) asked.push(node.src);
      });
      watch.observe(document.body, { childList: true });
      while (asked.length < 3) {
        expect(await session.withToken(async (token) => token, forever)).to.equal('service-token');
        await settled();
      }
      delete params.answer;
      let token: string | undefined;
      while (token !== 'second-token') {
        token = await session.withToken(async (token) => token, forever);
        await settled();
      }
      watch.disconnect();
    } finally {
      undo();
    }
    expect(failuresOf(changes)).to.deep.equal([]);
  });
});

describe('the renewal limits', () => {
  /** Returns the model after a renewal that brings a token, in the background or not. */
  const renewed = (
    before: AuthModel,
    lifetimeMs: number,
    reason: AuthModel['reason'] = 'expired',
    where: Partial<AuthModel> = { state: 'signed-in', background: 'exchange' },
  ): AuthModel => {
    const model = { ...before, ...where, reason, generation };
    const bearer = { value: 't', lifetimeMs, isAssumed: false };
    const { model: after } = reduce(model, { type: 'token', generation, bearer });
    return { ...after, isAlive: false, isProven: false };
  };
  const asked = (model: AuthModel): unknown[] => {
    const { model: next, effects } = reduce(model, EVENTS['renew-due']);
    return [
      next.background ?? next.state,
      ...effects.map((effect) => ('ms' in effect ? effect.ms : effect.type)),
    ];
  };
  const started = ['silent', 'deadline', 'try-silent'];
  const ended = ['prompt', 'require'];

  it('keep renewals half a minute apart, less so for tokens with a short lifetime', () => {
    const first = at('signed-in', { isAlive: false, nowMs: 1000 });
    expect(asked(first)).to.deep.equal(started);
    for (const [lifetimeMs, ms] of [
      [900_000, 30_000],
      [50_000, 10_000],
    ] as const) {
      const next = renewed(first, lifetimeMs);
      expect(asked(next), 'waits in the background').to.deep.equal(['cooling', ms]);
      expect(asked({ ...next, nowMs: 1000 + ms - 1 })).to.deep.equal(['cooling', 1]);
      expect(asked({ ...next, nowMs: 1000 + ms })).to.deep.equal(started);
      expect(asked({ ...next, isAlive: true }), 'the token is still usable').to.deep.equal(['signed-in']);
    }
  });

  it('delay a renewal as the service requests, and require the user if that is too long', () => {
    const held = (ms: number): AuthModel => at('signed-in', { isAlive: false, renewableAtMs: ms });
    expect(asked(held(300_000))).to.deep.equal(['cooling', 300_000]);
    expect(asked(held(300_001))).to.deep.equal(ended);
  });

  it('delay failed renewals for longer each time, however many, until there is a new token', () => {
    let model = at('renewing-silent');
    const waits = Array.from({ length: 8 }, () => {
      const { model: next } = reduce(model, { ...EVENTS.failed, generation: model.generation } as AuthEvent);
      model = { ...next, background: 'silent' };
      return model.renewableAtMs;
    });
    expect(waits).to.deep.equal([2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(renewed(model, 900_000).waitedMs).to.equal(0);
  });

  for (const [title, where] of [
    ['', undefined],
    [', also if they had to wait', { state: 'exchange', background: undefined }],
  ] as const)
    it(`stop after three renewals of rejected tokens without a successful call${title}`, () => {
      const times = { ...at('signed-in').times, renewalGapMs: 0 };
      let model = at('signed-in', { isAlive: false, times });
      for (let count = 0; count < 3; count++) {
        expect(asked(model)).to.deep.equal(started);
        model = renewed(model, 900_000, 'rejected', where);
      }
      expect(asked(model)).to.deep.equal(ended);
      const proven = { ...model, isProven: true };
      expect(asked(proven)).to.deep.equal(started);
      expect(renewed(proven, 900_000, 'rejected').fruitless).to.equal(1);
      expect(renewed(model, 900_000).fruitless, 'an expired token changes nothing').to.equal(3);
      const signedIn = reduce({ ...model, state: 'prompt' }, EVENTS['sign-in']).model;
      expect(signedIn.fruitless, 'a sign-in by the user counts from zero').to.equal(0);
    });

  it('allow any number of renewals of expired tokens, because the service may be down for long', () => {
    const times = { ...at('signed-in').times, renewalGapMs: 0 };
    let model = at('signed-in', { isAlive: false, times });
    for (let count = 0; count < 20; count++) {
      expect(asked(model)).to.deep.equal(started);
      model = renewed(model, 900_000);
    }
  });
});
