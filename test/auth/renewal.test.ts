// Renewal in a hidden frame while the service is temporarily unavailable.
import { expect } from '@open-wc/testing';
import { skipTime } from '../support/clock.ts';
import { closeAll, failuresOf, forever } from './open-session.ts';
import { granted, openSilent } from './scripted.ts';

afterEach(closeAll);

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
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      delete params.answer;
      let token: string | undefined;
      while (token !== 'second-token') {
        token = await session.withToken(async (token) => token, forever);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      watch.disconnect();
    } finally {
      undo();
    }
    expect(failuresOf(changes)).to.deep.equal([]);
  });
});
