// Checks of the sign-in page's response: state, issuer, code and error.

import { expect } from '@open-wc/testing';
import { readAnswer } from '../../src/auth/pkce.ts';
import { createSettings, type SettingsInput } from '../../src/core/config.ts';
import type { UploaderError } from '../../src/core/errors.ts';

const round = { state: 'our-state', verifier: 'v', origin: 'https://login.example' };

function read(params: string, input: SettingsInput = {}): unknown {
  const settings = createSettings({ baseUrl: 'https://api.example/v1', ...input });
  try {
    return readAnswer(settings, params, round, 'popup');
  } catch (error) {
    return (error as UploaderError).code;
  }
}

const grant = { code: 'c', verifier: 'v', via: 'popup' };

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
