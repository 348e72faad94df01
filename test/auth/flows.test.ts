// Effects of the sign-in table, and the events that they cause.

import { expect } from '@open-wc/testing';
import type { FlowContext } from '../../src/auth/types.ts';
import type { PostAnswer } from '../../src/core/auth-options.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { stopClock } from '../support/clock.ts';
import { settled, until } from '../support/collect.ts';
import { captureWarnings, explained } from '../support/console.ts';
import { answering, create, door, grantOf, stopFlows } from './scripted-flows.ts';

afterEach(stopFlows);

const setOnline = (isOnline: boolean): void => {
  Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => isOnline });
  if (isOnline) window.dispatchEvent(new Event('online'));
};

describe('a deadline', () => {
  for (const [of, ms] of [
    ['asking-host', 60_000],
    ['silent', 10_000],
    ['silent-early', 10_000],
    ['popup', 300_000],
    ['redirecting', 30_000],
    ['choose', 300_000],
    ['answer', 300_000],
    ['wait', 300_000],
    ['login', 30_000],
    ['start', 30_000],
    ['verify', 30_000],
    ['exchange', 30_000],
  ] as const)
    it(`of ${of} is ${ms / 1000} s`, () =>
      captureWarnings(async () => {
        const clock = stopClock();
        try {
          const { events, run, flows } = create();
          run({ type: 'deadline', of });
          // These also wait for the lock that all tabs share. The limit of that wait is a second timer.
          const needsLock = of === 'silent' || of === 'silent-early' || of === 'exchange';
          await until(() => clock.timerCount === (needsLock ? 2 : 1));
          await clock.pass(ms - 1);
          expect(events).to.deep.equal([]);
          await clock.pass(1);
          expect(events).to.deep.equal([{ type: 'deadline' }]);
          flows.unlock();
        } finally {
          clock.restore();
        }
      }));

  it("of a window or a frame tells the page's author what may be wrong; others do not", () =>
    captureWarnings(async (warnings) => {
      const clock = stopClock();
      try {
        const { run, flows } = create({ clientId: `client ${crypto.randomUUID()}` });
        for (const of of ['wait', 'exchange'] as const) run({ type: 'deadline', of });
        await until(() => clock.timerCount === 3);
        await clock.pass(300_000);
        expect(warnings).to.deep.equal([]);
        run({ type: 'deadline', of: 'popup' });
        await until(() => clock.timerCount > 0);
        await clock.pass(300_000);
        expect(warnings).to.have.length(1);
        expect(warnings[0]).to.contain('client-id').and.to.contain('/secure-uploader-callback.html');
        flows.unlock();
      } finally {
        clock.restore();
      }
    }));

  it('that is not awaited any more reports nothing', async () => {
    const clock = stopClock();
    try {
      const { events, run, stop } = create();
      run({ type: 'deadline', of: 'login' });
      stop();
      await clock.pass(30_000);
      expect([events, clock.timerCount]).to.deep.equal([[], 0]);
    } finally {
      clock.restore();
    }
  });
});

describe('a delay', () => {
  it('lasts as long as the table sets, then until the browser is online, at most 20 seconds', async () => {
    const clock = stopClock();
    try {
      setOnline(false);
      const { events, run } = create();
      run({ type: 'cool', ms: 500 });
      await clock.pass(499);
      await clock.pass(1);
      expect(events).to.deep.equal([]);
      setOnline(true);
      await settled();
      expect(events).to.deep.equal([{ type: 'elapsed' }]);
      setOnline(false);
      run({ type: 'cool', ms: 500 });
      await clock.pass(500);
      await clock.pass(19_999);
      expect(events).to.have.length(1);
      await clock.pass(1);
      expect(events).to.have.length(2);
    } finally {
      setOnline(true);
      clock.restore();
    }
  });
});

describe('a token request to the page', () => {
  const askedBy = async (input: SettingsInput, more: Partial<FlowContext> = {}): Promise<unknown> => {
    const { events, run } = create(input, more);
    run({ type: 'ask-page', reason: 'expired' });
    await until(() => events.length > 0);
    const [event] = events;
    if (event?.type !== 'page-token') return event;
    const { token } = event;
    return [event.type, door.takeToken(token)?.value, token.lifetimeMs];
  };
  const failed = (code: string): object => ({ type: 'failed', error: { code } });

  it('gets a token from getToken, with the reason, or from a response to the event', async () => {
    const reasons: unknown[] = [];
    const getToken = (reason: string): string => {
      reasons.push(reason);
      return 'one';
    };
    expect(await askedBy({ getToken })).to.deep.equal(['page-token', 'one', 300_000]);
    const ask = (reason: string): boolean => reasons.push(reason) > 0;
    const take = (): Promise<string> | undefined => (reasons.length > 1 ? Promise.resolve('two') : undefined);
    expect(await askedBy({}, { offer: { ask, take } })).to.deep.equal(['page-token', 'two', 300_000]);
    expect(reasons).to.deep.equal(['expired', 'expired']);
  });

  const throwing = (error: unknown) => (): never => {
    throw error;
  };

  it('that throws, or returns no valid token, fails, and warns its author without the text of the error', () =>
    captureWarnings(async (warnings) => {
      const thrown = throwing(new SyntaxError('a secret'));
      expect(await askedBy({ getToken: thrown })).to.deep.equal(failed('host-token-failed'));
      expect(await askedBy({ getToken: throwing(new TypeError('a secret')) })).to.deep.equal(
        failed('network'),
      );
      expect(await askedBy({ getToken: throwing('a secret') })).to.deep.equal(failed('host-token-failed'));
      expect(await askedBy({ getToken: () => ({}) as never })).to.deep.equal(failed('token-malformed'));
      await explained();
      expect(warnings.map((warning) => warning.replace(/ at http.*:\d+:\d+/, ''))).to.deep.equal([
        'secure-uploader: No valid token from the page: getToken failed (SyntaxError).',
        'secure-uploader: No valid token from the page: getToken failed (TypeError).',
        'secure-uploader: No valid token from the page: getToken failed (string).',
        'secure-uploader: No valid token from the page: Got an object without a valid token in token or access_token.',
      ]);
    }));

  it('that fails in a way of its own fails like the others', () =>
    captureWarnings(async (warnings) => {
      const frame = document.createElement('iframe');
      document.body.append(frame);
      const { TypeError: FrameTypeError } = frame.contentWindow as unknown as typeof globalThis;
      frame.remove();
      expect(await askedBy({ getToken: throwing(new FrameTypeError('a secret')) })).to.deep.equal(
        failed('network'),
      );
      const unreadable = new Proxy({}, { get: throwing(new RangeError('a secret')) });
      expect(await askedBy({ getToken: throwing(unreadable) })).to.deep.equal(failed('host-token-failed'));
      const token = { get: throwing(new RangeError('a secret')) };
      const holder = Object.defineProperty({}, 'token', token) as never;
      expect(await askedBy({ getToken: () => holder })).to.deep.equal(failed('host-token-failed'));
      await explained();
      expect(warnings.join()).not.to.contain('secret');
    }));

  it('uses a token that a listener of auth-required has offered first', async () => {
    const offers = ['offered', undefined];
    const take = (): Promise<string> | undefined => {
      const offer = offers.shift();
      return offer === undefined ? undefined : Promise.resolve(offer);
    };
    for (const token of ['offered', 'own'])
      expect(await askedBy({ getToken: () => 'own' }, { offer: { ask: () => false, take } })).to.deep.equal([
        'page-token',
        token,
        300_000,
      ]);
  });

  it('that has no token until the user acts is refused', () =>
    captureWarnings(async (warnings) => {
      const refused = { type: 'refused', error: { code: 'host-token-failed' } };
      expect(await askedBy({ getToken: () => null })).to.deep.equal(refused);
      expect(warnings, 'documented').to.deep.equal([]);
      for (const name of ['AbortError', 'NotAllowedError'])
        expect(await askedBy({ getToken: throwing(new DOMException('a secret', name)) })).to.deep.equal(
          refused,
        );
      await explained();
      expect(warnings.map((warning) => warning.replace(/ at http.*:\d+:\d+/, ''))).to.deep.equal([
        'secure-uploader: No valid token from the page: getToken failed (AbortError).',
        'secure-uploader: No valid token from the page: getToken failed (NotAllowedError).',
      ]);
    }));

  it('that returns nothing has failed, and one without a listener that responds is unanswered', () =>
    captureWarnings(async (warnings) => {
      expect(await askedBy({ getToken: async () => undefined as never })).to.deep.equal({
        type: 'failed',
        error: { code: 'token-malformed' },
      });
      expect(await askedBy({})).to.deep.equal({ type: 'unanswered', error: { code: 'host-token-failed' } });
      await explained();
      expect(warnings).to.have.members([
        'secure-uploader: No valid token from the page: Got undefined: getToken must return the token.',
        'secure-uploader: No valid token from the page: No token was provided.',
      ]);
    }));

  it('is made immediately, or after a delay', async () => {
    const clock = stopClock();
    try {
      let calls = 0;
      const { run } = create({ getToken: () => `token-${++calls}` });
      run({ type: 'ask-page', reason: 'first' });
      expect(calls).to.equal(1);
      run({ type: 'ask-page', reason: 'first', afterMs: 1000 });
      await clock.pass(999);
      expect(calls).to.equal(1);
      await clock.pass(1);
      expect(calls).to.equal(2);
    } finally {
      clock.restore();
    }
  });

  it('that gets the token of another user rejects it', async () => {
    expect(await askedBy({ getToken: () => 't' }, { token: { isSameUser: () => false } })).to.deep.equal({
      type: 'other-user',
    });
  });
});

describe('a code', () => {
  const redeemed = async (answer: PostAnswer, more: Partial<FlowContext> = {}): Promise<unknown> => {
    const { events, run, flows } = create({}, { ...answering(answer), ...more });
    run({ type: 'redeem', grant: grantOf() });
    await until(() => events.length > 0);
    flows.unlock();
    const [event] = events;
    return event?.type === 'token' ? [event.type, door.takeToken(event.token)?.value] : event;
  };

  it('results in a token', async () => {
    expect(await redeemed({ status: 200, body: { token: 't' } })).to.deep.equal(['token', 't']);
  });

  it('results in no token of another user, for which the next request requires the user', async () => {
    const { events, run, flows } = create(
      { clientId: crypto.randomUUID() },
      { ...answering({ status: 200, body: { token: 't' } }), token: { isSameUser: () => false } },
    );
    run({ type: 'redeem', grant: grantOf() });
    await until(() => events.length > 0);
    expect(events).to.deep.equal([{ type: 'other-user' }]);
    expect(new URL((await flows.begin()).url).searchParams.get('prompt')).to.equal('login');
    flows.unlock();
  });

  it('fails, is spent, or is delayed, as the service responds', async () => {
    expect(await redeemed({ status: 400 })).to.deep.equal({
      type: 'failed',
      error: { code: 'code-rejected', status: 400 },
    });
    expect(await redeemed({ status: 500 })).to.deep.equal({
      type: 'code-spent',
      error: { code: 'service-failed', status: 500 },
    });
    expect(await redeemed({ status: 429 })).to.deep.equal({ type: 'rate-limited', waitMs: undefined });
    expect(await redeemed({ status: 429, retryAfterMs: 7 })).to.deep.equal({
      type: 'rate-limited',
      waitMs: 7,
    });
  });

  it('is sent once more after a delay, and not if its outcome is known', async () => {
    const answers: PostAnswer[] = [{ status: 429 }, { status: 400 }, { status: 200, body: { token: 't' } }];
    const { events, run, flows } = create({}, { post: async () => answers.shift() as PostAnswer });
    run({ type: 'redeem', grant: grantOf() });
    await until(() => events.length === 1);
    run({ type: 'redeem-again' });
    await until(() => events.length === 2);
    run({ type: 'redeem-again' });
    await settled();
    expect(events.map(({ type }) => type)).to.deep.equal(['rate-limited', 'failed']);
    flows.unlock();
  });

  it('is not sent again after the token and all that leads to one were forgotten', async () => {
    let postCount = 0;
    const post = async (): Promise<PostAnswer> => {
      postCount += 1;
      return { status: 429 };
    };
    const { events, run, flows } = create({}, { post });
    run({ type: 'redeem', grant: grantOf() });
    await until(() => events.length === 1);
    flows.forget();
    run({ type: 'redeem-again' });
    await settled();
    expect(postCount).to.equal(1);
    flows.unlock();
  });
});
