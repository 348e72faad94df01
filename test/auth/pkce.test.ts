// Secrets of an authorization request, and checks of the sign-in page's response: state, issuer, code and error.

import { expect } from '@open-wc/testing';
import { challengeOf, createTransaction, readGrant } from '../../src/auth/pkce.ts';
import { createSettings } from '../../src/core/config.ts';
import type { UploaderError } from '../../src/core/errors.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';

const round = { state: 'our-state', verifier: 'v', origin: 'https://login.example' };

function read(params: string, input: SettingsInput = {}): unknown {
  const settings = createSettings({ baseUrl: 'https://api.example/v1', ...input });
  try {
    return readGrant(settings, params, round, 'popup');
  } catch (error) {
    return (error as UploaderError).code;
  }
}

const grant = { code: 'c', verifier: 'v', via: 'popup' };

describe('an authorization request', () => {
  it('has the code challenge of RFC 7636, appendix B', async () => {
    expect(await challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).to.equal(
      'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    );
  });

  it('has a verifier and a state of 256 bits, which never repeat', async () => {
    const settings = createSettings({ baseUrl: 'https://api.example/v1' });
    const seen = new Set<string>();
    for (let count = 0; count < 100; count += 1) {
      const { state, verifier, challenge, url } = await createTransaction(settings, 'https://page.example/');
      for (const secret of [state, verifier]) expect(secret).to.match(/^[\w-]{43}$/);
      expect(challenge).to.equal(await challengeOf(verifier));
      expect(url).to.include(state).and.include(challenge).and.not.include(verifier);
      seen.add(state).add(verifier);
    }
    expect(seen.size).to.equal(200);
  });
});

describe('a response of the sign-in page', () => {
  const good = 'code=c&state=our-state';
  const rows: readonly (readonly [string, SettingsInput, unknown])[] = [
    [good, {}, grant],
    [good, { clientId: '' }, grant],
    [`${good}&iss=https://api.example`, {}, grant],
    [`${good}&iss=https://login.example/tenant`, {}, grant],
    [`${good}&iss=https://evil.example`, {}, 'issuer-mismatch'],
    [`${good}&iss=none`, {}, 'issuer-mismatch'],
    [`${good}&iss=https://id.example`, { issuer: 'https://id.example' }, grant],
    [`${good}&iss=https://api.example`, { issuer: 'https://id.example' }, 'issuer-mismatch'],
    [good, { issuer: 'https://id.example' }, 'issuer-mismatch'],
    ['code=c&state=another', {}, 'authorize-failed'],
    ['code=c', {}, 'authorize-failed'],
    ['state=our-state', {}, 'authorize-failed'],
    ['code=&state=our-state', {}, 'authorize-failed'],
    ['error=&state=our-state', {}, 'authorize-failed'],
    [`${good}&state=our-state`, {}, 'authorize-failed'],
    [`${good}&code=d`, {}, 'authorize-failed'],
    [`${good}&error=access_denied`, {}, 'authorize-failed'],
    [`${good}&iss=https://api.example&iss=https://evil.example`, {}, 'authorize-failed'],
    [`${good}&iss=https://evil.example&iss=https://api.example`, {}, 'issuer-mismatch'],
    [`${good}&x=1&x=2`, {}, 'authorize-failed'],
    ['error=access_denied&state=our-state', {}, 'access-denied'],
    ['error=login_required&state=our-state', {}, 'sign-in-required'],
    ['error=interaction_required&state=our-state', {}, 'sign-in-required'],
    ['error=consent_required&state=our-state', {}, 'sign-in-required'],
    ['error=account_selection_required&state=our-state', {}, 'sign-in-required'],
    ['error=xlogin_required&state=our-state', {}, 'authorize-failed'],
    ['error=server_error&state=our-state', {}, 'authorize-failed'],
    ['error=access_denied&state=another', {}, 'authorize-failed'],
    ['error=access_denied&state=our-state&iss=https://evil.example', {}, 'issuer-mismatch'],
  ];
  for (const [params, input, expected] of rows)
    it(`${params} ${JSON.stringify(input)} is ${typeof expected === 'string' ? expected : 'a code'}`, () => {
      expect(read(params, input)).to.deep.equal(expected);
    });
});
