// Settings that would switch a check off, or be ignored, without a word: they are errors or warnings.

import { expect } from '@open-wc/testing';
import { createSettings } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { Settings, SettingsInput } from '../../src/core/settings-table.ts';

const getToken = (): string => 'token';

function read(input: SettingsInput): { settings: Settings; warnings: string[] } {
  const warnings: string[] = [];
  const given = { baseUrl: 'https://service.example', ...input };
  return { settings: createSettings(given, (message) => warnings.push(message)), warnings };
}

describe('the settings', () => {
  it('reject an empty list of origins and an empty issuer, which would switch a check off', () => {
    for (const input of [
      { uploadOrigins: '' },
      { uploadOrigins: ' ,' },
      { uploadOrigins: [] },
      { issuer: '' },
    ])
      expect(() => read(input), JSON.stringify(input))
        .to.throw(UploaderError)
        .with.property('code', 'bad-config');
  });

  it('treat `null` as unset', () => {
    const names = ['profile', 'authOptions', 'issuer', 'uploadOrigins', 'owner'];
    const nothing = Object.fromEntries(names.map((name) => [name, null])) as SettingsInput;
    expect(read(nothing)).to.deep.equal(read({}));
  });

  it('warn about templates that were not rendered, where no user depends on it', () => {
    for (const parentId of [
      '{{ folder }}',
      `\${folder}`,
      '<%= folder %>',
      'undefined',
      'null',
      '[object Object]',
    ])
      expect(read({ parentId }).warnings).to.deep.equal([
        `parent-id="${parentId}" looks like a template that was not rendered.`,
      ]);
    for (const parentId of ['folder {1}', '$5', 'undefined-1', 'a<b'])
      expect(read({ parentId }).warnings).to.deep.equal([]);
    expect(read({ hash: '{{ hash }}' as never }).warnings).to.have.length(1);
  });

  it('warn about settings that would be ignored', () => {
    const warningsOf = (input: object): string[] => read(input).warnings;
    expect(warningsOf({ owner: '' })).to.deep.equal(['owner="" is empty, so all users count as one.']);
    expect(warningsOf({ profile: { sendSize: true, sendSizes: true } })).to.deep.equal([
      'profile.sendSize is unknown.',
    ]);
    const times = { popupMs: 5, hostMs: '7', pollMS: 5, pollMs: '10s', silentMs: 0 };
    expect(warningsOf({ authOptions: { times } })).to.deep.equal([
      'authOptions.times.pollMS is unknown.',
      'authOptions.times.pollMs is invalid.',
      'authOptions.times.silentMs is invalid.',
    ]);
    const statuses = { 418: 'retry', 423: 'wait' };
    expect(warningsOf({ profile: { statuses, putStatuses: { 200: 'stored', 409: 'gone' } } })).to.deep.equal([
      'profile.statuses[423] is "wait", which is not one of retry, slow-down, full, token, forbidden, gone, refused, too-large.',
      'profile.putStatuses[409] is "gone", which is not one of stored, retry, slow-down, full, refused.',
    ]);
    const list = read({ accept: ['.pdf', 'image/*'] as never });
    expect(list.warnings).to.deep.equal([
      'accept is no text. Write the types with commas, as in ".pdf,image/*".',
    ]);
    expect(list.settings.accept).to.equal('.pdf,image/*');
    for (const auth of ['popup', 'redirect', 'local', 'none'] as const) {
      const { settings, warnings } = read({ auth, getToken });
      expect(warnings).to.deep.equal([`getToken is not used with auth="${auth}".`]);
      expect(settings.getToken).to.equal(undefined);
    }
    expect(warningsOf({ auth: 'token', getToken })).to.deep.equal([]);
  });
});
