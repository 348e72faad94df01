// Valid and invalid settings of a page.

import { expect } from '@open-wc/testing';
import {
  attributeOf,
  createSettings,
  PROTECTING,
  readFileRules,
  serviceKeyOf,
  signInKeyOf,
} from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { parseBytes } from '../../src/core/readers.ts';
import type { Settings, SettingsInput } from '../../src/core/settings-table.ts';
import { defaultsWith, SETTING_CASES, SETTING_NAMES, settingValues } from '../support/setting-cases.ts';

const baseUrl = 'https://api.example';

function read(input: SettingsInput): { settings: Settings; warnings: string[] } {
  const warnings: string[] = [];
  const settings = createSettings({ baseUrl, ...input }, (message) => warnings.push(message));
  return { settings, warnings };
}

const DEFAULTS = defaultsWith(baseUrl);

const PATHS = SETTING_NAMES.filter((name) => name.endsWith('Path'));

describe('parseBytes', () => {
  const sizes: readonly [string | number, number][] = [
    ['8MiB', 8 * 2 ** 20],
    ['8 MB', 8e6],
    [' 1.5 GiB ', 1.5 * 2 ** 30],
    ['64k', 65_536],
    ['10tib', 10 * 2 ** 40],
    ['500', 500],
    ['500B', 500],
    [8_388_608, 8_388_608],
    ['1.9', 1],
    ['2b', 2],
    ['1kb', 1000],
    ['1g', 2 ** 30],
    ['1tb', 1e12],
    ['8191TiB', 8191 * 2 ** 40],
  ];
  for (const [text, bytes] of sizes) {
    it(`reads ${JSON.stringify(text)} as ${bytes} bytes`, () => expect(parseBytes(text)).to.equal(bytes));
  }

  for (const text of ['', '0', '-5', '0.4', '8 MiBs', 'eight', '1e3', '5constructor', 'NaN', '8192TiB']) {
    it(`rejects ${JSON.stringify(text)} as a size`, () => expect(parseBytes(text)).to.equal(undefined));
  }

  for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60]) {
    it(`rejects the number ${value} as a size`, () => expect(parseBytes(value)).to.equal(undefined));
  }
});

describe('settings', () => {
  it('require only a base URL, and have a default for everything else', () => {
    const { settings, warnings } = read({});
    expect(warnings).to.deep.equal([]);
    expect(settings).to.deep.equal(DEFAULTS);
  });

  it('have the values that the page sets', () => {
    for (const { name, given, result } of settingValues()) {
      expect(read({ [name]: given }), `${name}: ${JSON.stringify(given)}`).to.deep.equal({
        settings: { ...DEFAULTS, [name]: result },
        warnings: [],
      });
      expect(result, `${name} is not the default`).not.to.deep.equal(DEFAULTS[name]);
    }
  });

  it('are deeply frozen', () => {
    const { settings } = read({ uploadOrigins: 'https://files.example' });
    expect(Object.isFrozen(settings)).to.equal(true);
    expect(Object.isFrozen(settings.uploadOrigins)).to.equal(true);
  });

  it('mean the same as attribute text and as a script value', () => {
    const text = read({
      maxFiles: '3',
      maxFileSize: '5MB',
      chunkSize: '8MiB',
      concurrency: '4',
      batchSize: '16',
    });
    const values = read({
      maxFiles: 3,
      maxFileSize: 5e6,
      chunkSize: 8 * 2 ** 20,
      concurrency: 4,
      batchSize: 16,
    });
    expect(text.settings).to.deep.equal(values.settings);
    expect([...text.warnings, ...values.warnings]).to.deep.equal([]);
  });

  it('treat an empty attribute and `auto` as unset, without a warning, if they protect no user', () => {
    const lists = ['hash', 'onConflict'];
    const texts = ['redirectUri', 'idpId', 'authHeader', 'workerUrl', 'keeperUrl'];
    const numbers = ['concurrency', 'batchSize', 'retryMinutes', 'chunkSize', 'throttle'];
    const limits = ['minFiles', 'maxFiles', 'keepDays', 'maxFileSize'];
    const paths = PATHS.filter((name) => !/^(commit|cancel|logout)/.test(name));
    const empty = [...lists, ...texts, ...numbers, ...paths].map((name) => [name, '']);
    const auto = [...numbers, ...limits].map((name) => [name, 'auto']);
    for (const [name, value] of [...empty, ...auto] as [string, string][])
      expect(read({ [name]: value }), `${name}="${value}"`).to.deep.equal({
        settings: DEFAULTS,
        warnings: [],
      });
  });

  /** Expected end of the warning about each setting that protects no user. */
  const HINTS: Readonly<Record<string, string>> = {
    hash: 'is not one of sha-256, blake3; using sha-256.',
    onConflict: 'is not one of fail, rename; using fail.',
    concurrency: 'is not a whole number from 1 to 64; using the default.',
    batchSize: 'is not a whole number from 1 to 10000; using the default.',
    retryMinutes: 'is not a whole number from 1 to 525600; using the default.',
    chunkSize: 'is not a size such as 8MiB or 500MB; using the default.',
    throttle: 'is not a size such as 8MiB or 500MB; using the default.',
  };
  const unprotected = SETTING_NAMES.filter(
    (name) => SETTING_CASES[name].unreadable && !PROTECTING.includes(name),
  );
  it('that protect no user each have an expected warning', () =>
    expect(Object.keys(HINTS)).to.have.members(unprotected));
  for (const name of unprotected)
    for (const value of SETTING_CASES[name].unreadable ?? []) {
      it(`warn once that ${name} cannot be ${JSON.stringify(value)}, and fall back to ${DEFAULTS[name]}`, () =>
        expect(read({ [name]: value })).to.deep.equal({
          settings: DEFAULTS,
          warnings: [`${attributeOf(name)}="${value}" ${HINTS[name]}`],
        }));
    }

  it('read a list of origins, and reject a list with an entry that is more or less than an origin', () => {
    for (const uploadOrigins of [
      'https://a.example/, https://b.example:8443',
      ' HTTPS://A.example:443\nhttps://b.example:8443,',
      ['https://a.example', '', 'https://b.example:8443'],
    ])
      expect(read({ uploadOrigins }).settings.uploadOrigins).to.deep.equal([
        'https://a.example',
        'https://b.example:8443',
      ]);
    for (const bad of [
      'files.example',
      'data:x',
      'https://s3.example/bucket',
      'https://a.example?x',
      'https://a.example#x',
      'https://u@a.example',
      'blob:https://a.example/x',
    ])
      expect(() => read({ uploadOrigins: `https://a.example ${bad}` }))
        .to.throw(UploaderError, `"${bad}" is not a valid origin such as https://files.example`)
        .with.property('code', 'bad-config');
  });

  it('reject an origin that no upload URL may have, with the reason', () => {
    const local = ['http://localhost:9000', 'http://[::1]:9000', 'http://s3.localhost'];
    expect(read({ uploadOrigins: local }).settings.uploadOrigins).to.deep.equal(local);
    for (const [bad, why] of [
      ['http://files.example', 'must use https (http on loopback only)'],
      ['http://localhost.files.example', 'must use https (http on loopback only)'],
      ['ftp://localhost', 'must use https (http on loopback only)'],
      ['https://*.files.example', 'has a wildcard. Name each origin'],
      ['https://files.example:*', 'has a wildcard. Name each origin'],
      ['*.files.example', 'has a wildcard. Name each origin'],
      ['*', 'has a wildcard. Name each origin'],
    ])
      expect(() => read({ uploadOrigins: `https://a.example ${bad}` }), bad)
        .to.throw(UploaderError, `upload-origins: "${bad}" ${why}`)
        .with.property('code', 'bad-config');
  });
});

describe('another value of a setting', () => {
  for (const name of SETTING_NAMES) {
    const { scope, values } = SETTING_CASES[name];
    it(`${name} belongs to the scope ${scope}`, () => {
      const other = read({ [name]: values[0] }).settings;
      expect(signInKeyOf(other) === signInKeyOf(DEFAULTS), 'the same sign-in').to.equal(scope !== 'sign-in');
      expect(serviceKeyOf(other) === serviceKeyOf(DEFAULTS), 'the same service').to.equal(scope === 'upload');
      expect(name in readFileRules({ [name]: values[0] }), 'a rule for files').to.equal(scope === 'upload');
    });
  }
});
