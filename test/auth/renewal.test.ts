// Renewal of a token in use: in the background, in a hidden frame while the service is temporarily unavailable, and its limits.
import { expect } from '@open-wc/testing';
import { reduce } from '../../src/auth/machine.ts';
import type { AuthEvent, AuthModel } from '../../src/auth/types.ts';
import type { AuthTimes } from '../../src/core/auth-times.ts';
import { skipTime, stopClock } from '../support/clock.ts';
import { settled, until } from '../support/collect.ts';
import { closeAll, failuresOf, forever, open } from './open-session.ts';
import { granted, openSilent, signInReaches } from './scripted.ts';
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

describe('a hidden frame that finds the provider away, after the user has signed in', () => {
  const { open: ownOpen } = window;
  const undos: (() => void)[] = [];
  afterEach(() => {
    window.open = ownOpen;
    for (const undo of undos.splice(0)) undo();
  });

  /** Opens a session, and signs in by a window. No frame has worked yet. `provider.answer` is the response of the sign-in page. */
  async function signIn(times: Partial<AuthTimes> = {}) {
    const provider: Record<string, string> = {};
    const tokens = ['first', 'second'].map((token) => granted({ token, expires_in: 600 }));
    const input = { clientId: crypto.randomUUID(), authOptions: { params: provider } };
    const opened = openSilent(tokens, input, { coolBaseMs: 10, ...times });
    const { session } = opened;
    window.open = () => {
      const replace = (url: string): void => {
        const state = new URL(url).searchParams.get('state');
        const channel = new BroadcastChannel(`secure-uploader:${state}`);
        channel.postMessage({ type: 'secure-uploader:answer', version: 1, params: `code=c&state=${state}` });
        channel.close();
      };
      return { closed: false, close: () => undefined, location: { replace } } as unknown as Window;
    };
    session.signIn();
    await signInReaches({ session }, 'signed-in');
    const frames: string[] = [];
    const watch = new MutationObserver((records) => {
      for (const { addedNodes } of records)
        for (const node of addedNodes) if (node instanceof HTMLIFrameElement) frames.push(node.src);
    });
    watch.observe(document.body, { childList: true });
    undos.push(() => watch.disconnect());
    const call = (): Promise<string | undefined> => session.withToken(async (token) => token, forever);
    const skip = (ms: number): unknown => undos.unshift(skipTime(ms));
    /** Makes the provider respond with an error, and renews the token in its last minute. */
    const failOnce = async (): Promise<void> => {
      provider.answer = 'error=temporarily_unavailable';
      skip(548_000);
      expect(await call()).to.equal('first');
      await until(() => frames.length === 1 && !document.querySelector('iframe'));
      await settled();
    };
    return { ...opened, provider, frames, call, skip, failOnce };
  }

  it('is tried again while the old token can be used', async () => {
    const { changes, provider, frames, call, skip, failOnce } = await signIn();
    await failOnce();
    delete provider.answer;
    skip(3000);
    expect(await call()).to.equal('first');
    await until(() => frames.length === 2);
    let token: string | undefined;
    while (token !== 'second') {
      token = await call();
      await settled();
    }
    expect(failuresOf(changes)).to.deep.equal([]);
  });

  it('is tried once more when that token has ended, even if no call came in between', async () => {
    const { changes, provider, frames, call, skip, failOnce } = await signIn();
    await failOnce();
    delete provider.answer;
    skip(60_000);
    expect([await call(), frames.length, failuresOf(changes)]).to.deep.equal(['second', 2, []]);
  });

  it('is tried once more as soon as that token ends, even if the delay after the failure is longer', async () => {
    const { provider, frames, call, skip, failOnce } = await signIn({
      coolBaseMs: 200_000,
      coolMaxMs: 200_000,
    });
    await failOnce();
    delete provider.answer;
    skip(60_000);
    expect([await call(), frames.length]).to.deep.equal(['second', 2]);
  });

  it('asks the user if that fails, too', async () => {
    const { session, changes, frames, call, skip, failOnce } = await signIn();
    await failOnce();
    skip(60_000);
    call().catch(() => undefined);
    await signInReaches({ session }, 'prompt');
    expect([frames.length, failuresOf(changes)]).to.deep.equal([2, ['authorize-failed']]);
  });

  it('is tried once more if it started before the token ended, and had no response until then', async () => {
    const { changes, provider, frames, call, skip } = await signIn({ silentMs: 3000 });
    provider.answer = 'silence=1';
    skip(548_000);
    expect(await call()).to.equal('first');
    await until(() => frames.length === 1);
    delete provider.answer;
    skip(60_000);
    expect([await call(), frames.length, failuresOf(changes)]).to.deep.equal(['second', 2, []]);
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
    const { model: after } = reduce(model, { type: 'token', generation, token: { lifetimeMs } });
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
