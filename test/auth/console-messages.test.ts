// Console messages for the author of a page whose own code prevents sign-in.
import { expect } from '@open-wc/testing';
import type { GetToken } from '../../src/core/config.ts';
import { speedUp } from '../support/clock.ts';
import { captureWarnings } from '../support/console.ts';
import { closeAll, forever, open } from './open-session.ts';
import { fixtures, granted, openSilent } from './scripted.ts';

afterEach(closeAll);

/** Requests a token and waits for `auth-failed`. Resolves with the error code, and with all reported changes as JSON. */
async function ask({ session, next, changes }: ReturnType<typeof open>): Promise<[string, string]> {
  const failed = next('auth-failed');
  const stop = new AbortController();
  session.withToken(async () => 'never', stop.signal).catch(() => undefined);
  const { code } = await failed;
  stop.abort();
  return [code, JSON.stringify(changes)];
}

describe('the console', () => {
  it('reports the kind and the place of an error of getToken, and neither it nor an event contains the error', async () => {
    speedUp(10);
    const ways: GetToken[] = [
      () => {
        throw new RangeError('secret-cookie ran out');
      },
      () => Promise.reject(new RangeError('secret-cookie ran out')),
    ];
    await captureWarnings(async (warnings) => {
      for (const getToken of ways) {
        const [code, events] = await ask(open({ auth: 'token', getToken }));
        expect(code).to.equal('host-token-failed');
        expect(events).not.to.contain('secret-cookie');
      }
      expect(warnings).to.have.length(2);
      const place = `${location.origin}/test/auth/console-messages.test.ts`;
      for (const warning of warnings) {
        expect(warning)
          .to.contain(`getToken failed (RangeError at ${place}:`)
          .and.not.contain('secret-cookie');
        expect(warning).to.match(/:\d+:\d+\)\.$/);
      }
    });
  });

  it('describes a token if the page returned something else, and not the returned value', () =>
    captureWarnings(async (warnings) => {
      speedUp(10);
      const [code] = await ask(open({ getToken: () => 'two words' }));
      expect(code).to.equal('token-malformed');
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.contain('Expected a token or an object').and.not.contain('two words');
    }));

  it('has no message about a getToken that works', () =>
    captureWarnings(async (warnings) => {
      const { session } = open({ getToken: () => ({ token: 'good' }) });
      expect(await session.withToken(async (token) => token, forever)).to.equal('good');
      expect(warnings).to.deep.equal([]);
    }));

  it('names client id, redirect URL and registration if no response arrived in time', () =>
    captureWarnings(async (warnings) => {
      const redirectUri = `${fixtures}no-such-page.html`;
      const input = { redirectUri, clientId: 'my-app' };
      const [code] = await ask(openSilent([granted()], input, { silentMs: 300 }));
      expect(code).to.equal('silent-timeout');
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.contain(redirectUri).and.contain('client-id "my-app"').and.contain('registered');
    }));
});
