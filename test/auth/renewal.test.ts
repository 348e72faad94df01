// Renewal of a token in use: in the background, and in a hidden frame while the service is temporarily unavailable.
import { expect } from '@open-wc/testing';
import { skipTime, stopClock } from '../support/clock.ts';
import { settled } from '../support/collect.ts';
import { closeAll, failuresOf, forever, open } from './open-session.ts';
import { granted, openSilent } from './scripted.ts';

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
