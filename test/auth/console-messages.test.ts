// Console messages for the author of a page whose own code prevents sign-in.
import { expect } from '@open-wc/testing';
import { callService } from '../../src/auth/calls.ts';
import { createSettings } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { GetToken } from '../../src/core/settings-table.ts';
import { speedUp } from '../support/clock.ts';
import { captureWarnings, explained } from '../support/console.ts';
import { closeAll, forever, open } from './open-session.ts';
import { fixtures, granted, openSilent } from './scripted.ts';

afterEach(closeAll);

/** Messages that this page has shown. Each comes once. */
const said = new Set<string>();

/** Requests a token and waits for `auth-failed`. Resolves with the error code, and with all reported changes as JSON. */
async function ask({ session, next, changes }: ReturnType<typeof open>): Promise<[string, string]> {
  const failed = next('auth-failed');
  const stop = new AbortController();
  session.withToken(async () => 'never', stop.signal).catch(() => undefined);
  const { code } = await failed;
  stop.abort();
  await explained();
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

  for (const [name, returned, message] of [
    [
      'a Response',
      () => new Response('{"token":"secret-a"}'),
      'Got a Response: return response.json() or response.text()',
    ],
    [
      'a login page',
      () => '\n <!doctype html><p>secret-b',
      'Got an HTML page: the session of your site may have ended',
    ],
    ['JSON as a text', () => ' {"token":"secret-c"}', 'Got JSON as a text: return the object'],
    ['a header', () => 'Bearer secret-d', 'Got a text that begins with "Bearer": return the token alone'],
    ['an empty text', () => ' \n', 'Got an empty text'],
    ['two words', () => 'secret e', 'Got a text that is no token'],
    ['nothing', () => undefined, 'Got undefined: getToken must return the token'],
    ['a number', () => 12_345, 'Got number: getToken must return the token'],
    [
      'another name',
      () => ({ accessToken: 'secret-f' }),
      'Got accessToken: return { token: result.accessToken }',
    ],
    [
      'an error object',
      () => ({ secret: 'g' }),
      'Got an object without a valid token in token or access_token',
    ],
    ['a list', () => ['secret-h'], 'Got an object without a valid token in token or access_token'],
    [
      'a token of two words',
      () => ({ token: 'secret i' }),
      'Got an object without a valid token in token or access_token',
    ],
  ] as const)
    it(`says what came if the page returned ${name} instead of a token, and nothing of it`, () =>
      captureWarnings(async (warnings) => {
        speedUp(10);
        const [code] = await ask(open({ getToken: returned as () => never }));
        expect(code).to.equal('token-malformed');
        const expected = `secure-uploader: No valid token from the page: ${message}.`;
        expect(warnings.filter((warning) => warning !== expected)).to.deep.equal([]);
        expect(said.has(message) || warnings.length === 1).to.equal(true);
        said.add(message);
      }));

  it('says that a new token was refused, too, and says it once', () =>
    captureWarnings(async (warnings) => {
      const { session } = open({ getToken: () => ({ access_token: 'secret-j' }) });
      const refused = new UploaderError('token-rejected', 'no', { status: 401 });
      const call = () => session.withToken(() => Promise.reject(refused), forever).catch(() => undefined);
      await call();
      await call();
      expect(warnings).to.deep.equal([
        'secure-uploader: The service refused a new token, too (401). Has it expired, or is it for another service?',
      ]);
    }));

  it('names the attribute of a sign-in call whose path may be wrong, once, and not a challenge that is gone', () =>
    captureWarnings(async (warnings) => {
      const settings = createSettings({ baseUrl: 'https://service.example' });
      const answers = [
        ['token', 404],
        ['token', 404],
        ['token', 400],
        ['login', 405],
        ['challenge', 404],
        ['challenge', 410],
        ['challenge', 405],
      ] as const;
      for (const [name, status] of answers)
        await callService(name, {}, { settings, post: async () => ({ status, body: {} }), signal: forever });
      const warning = 'secure-uploader: The service responded with';
      expect(warnings).to.deep.equal([
        `${warning} 404 to token. Check base-url and token-path.`,
        `${warning} 405 to login. Check base-url and login-path.`,
        `${warning} 405 to challenge. Check base-url and challenge-path.`,
      ]);
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
