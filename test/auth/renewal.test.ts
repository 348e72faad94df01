// Renewal of a token in use: without a call, and in a hidden frame while the service is temporarily unavailable.
import { expect } from '@open-wc/testing';
import { skipTime, stopClock } from '../support/clock.ts';
import { settled } from '../support/collect.ts';
import { closeAll, failuresOf, forever, open } from './open-session.ts';
import { granted, openSilent } from './scripted.ts';

afterEach(closeAll);

describe('a token in use', () => {
  /** Opens a session whose tokens live for ten minutes, and makes one call. */
  async function use(checkMs: number) {
    const asked = { count: 0 };
    const getToken = () => {
      asked.count += 1;
      return { token: `token-${asked.count}`, expires_at: Date.now() + 600_000 };
    };
    const { session } = open({ getToken }, { checkMs, workMs: 1e9 });
    await session.withToken(async () => undefined, forever);
    return asked;
  }

  it('is renewed in its last minute, even if no call is made', async () => {
    const clock = stopClock();
    try {
      const asked = await use(15_000);
      for (let ms = 0; ms < 525_000; ms += 15_000) await clock.pass(15_000);
      expect(asked.count).to.equal(1);
      for (let ms = 0; ms < 30_000; ms += 15_000) await clock.pass(15_000);
      expect(asked.count).to.equal(2);
    } finally {
      clock.restore();
    }
  });

  it('is renewed as soon as the page becomes visible, because timers are slow in a hidden page', async () => {
    const clock = stopClock();
    try {
      const asked = await use(1e8);
      await clock.pass(550_000);
      expect(asked.count).to.equal(1);
      document.dispatchEvent(new Event('visibilitychange'));
      await settled();
      expect(asked.count).to.equal(2);
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
    const opened = openSilent(script, { authOptions: { params } }, { coolBaseMs: 10, checkMs: 20 });
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
