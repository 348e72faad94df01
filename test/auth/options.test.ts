// Settings for services that differ from the default, tested by their effect on requests.
import { expect } from '@open-wc/testing';
import { createSettings } from '../../src/core/config.ts';
import { createSend } from '../../src/service/http.ts';
import { skipTime } from '../support/clock.ts';
import { closeAll, forever, open } from './open-session.ts';
import { granted, openSilent } from './scripted.ts';

afterEach(closeAll);

describe('a service that differs', () => {
  it('sends no expiry of its tokens, which the page sets', async () => {
    let count = 0;
    let renew = (): void => undefined;
    const renewed = new Promise<void>((resolve) => {
      renew = resolve;
    });
    const exchange = async () => {
      count += 1;
      if (count === 2) renew();
      return granted();
    };
    const { session } = openSilent([], {
      authOptions: { times: { assumedLifetimeMs: 20_000 }, adapter: { exchange } },
    });
    await session.withToken(async () => undefined, forever);
    const undo = skipTime(19_000);
    try {
      await session.withToken(async () => undefined, forever);
      await renewed;
    } finally {
      undo();
    }
  });

  it('needs the token in another header, in another scheme or in none', async () => {
    const own = globalThis.fetch;
    const seen: (readonly (string | null)[])[] = [];
    globalThis.fetch = (input, init) => {
      const { headers } = new Request(input, init);
      seen.push([headers.get('authorization'), headers.get('x-token')]);
      return own(input, init);
    };
    try {
      for (const more of [
        {},
        { authScheme: 'Token' },
        { authScheme: '' },
        { authHeader: 'X-Token', authScheme: '' },
      ]) {
        const send = createSend(createSettings({ baseUrl: `${location.origin}/nowhere`, ...more }));
        await send({ method: 'POST', path: '/files', token: 't', signal: forever });
      }
    } finally {
      globalThis.fetch = own;
    }
    expect(seen).to.deep.equal([
      ['Bearer t', null],
      ['Token t', null],
      ['t', null],
      [null, 't'],
    ]);
  });

  it('is notified of a sign-out by the adapter of the page, if there is one', async () => {
    const reported: unknown[] = [];
    const adapter = {
      logout: async (body: unknown) => ({ status: reported.push(body) && 204, body: undefined }),
    };
    const { session } = open({ getToken: () => 't', logoutPath: '/auth/logout', authOptions: { adapter } });
    await session.withToken(async () => undefined, forever);
    await session.signOut();
    expect(reported).to.deep.equal([{}]);
  });
});
