// Valid and invalid settings of a page.

import { expect } from '@open-wc/testing';
import { createSettings } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { parseBytes } from '../../src/core/readers.ts';
import type { Settings, SettingsInput } from '../../src/core/settings-table.ts';

const baseUrl = 'https://api.example';

function read(input: SettingsInput): { settings: Settings; warnings: string[] } {
  const warnings: string[] = [];
  const settings = createSettings({ baseUrl, ...input }, (message) => warnings.push(message));
  return { settings, warnings };
}

/** Settings of a page that sets only a base URL. */
const DEFAULTS: Settings = {
  baseUrl,
  parentId: '',
  auth: 'auto',
  clientId: 'secure-uploader',
  redirectUri: undefined,
  responseMode: undefined,
  silent: 'auto',
  issuer: undefined,
  idpId: undefined,
  scope: undefined,
  authHeader: 'Authorization',
  authScheme: 'Bearer',
  allowFramedLogin: false,
  uploadOrigins: [],
  owner: '',
  accept: '',
  multiple: false,
  minFiles: 0,
  maxFiles: Number.POSITIVE_INFINITY,
  maxFileSizeBytes: Number.POSITIVE_INFINITY,
  chunkSizeBytes: 'auto',
  concurrency: 'auto',
  batchSize: 64,
  throttleBytesPerSecond: Number.POSITIVE_INFINITY,
  hash: 'sha-256',
  manual: false,
  noResume: false,
  keepFiles: false,
  keepMs: 7 * 24 * 3_600_000,
  retryMs: Number.POSITIVE_INFINITY,
  onConflict: 'fail',
  workerUrl: undefined,
  keeperUrl: undefined,
  sessionPath: '/files/uploadsession',
  chunksPath: '/files/uploadsession/chunks',
  commitPath: undefined,
  cancelPath: undefined,
  batchPath: undefined,
  authorizePath: '/authorize',
  tokenPath: '/auth/token',
  loginPath: '/auth/login',
  challengePath: '/auth/challenge',
  logoutPath: undefined,
  getToken: undefined,
  parentFor: undefined,
  imageMaxEdge: Number.POSITIVE_INFINITY,
  stripLocation: false,
  transformFile: undefined,
  profile: {},
  authOptions: {},
};

const PATHS = Object.keys(DEFAULTS).filter((name) => name.endsWith('Path'));

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
    const getToken = (): string => 'token';
    const parentFor = (): string => 'folder';
    const profile = { sendSizes: true };
    const authOptions = { autoSubmitCode: true };
    const given: readonly (readonly [SettingsInput, Partial<Settings>])[] = [
      [{ parentId: 'folder' }, { parentId: 'folder' }],
      ...(['token', 'popup', 'redirect', 'local', 'none'] as const).map(
        (auth): [SettingsInput, Partial<Settings>] => [{ auth }, { auth }],
      ),
      [{ clientId: 'app' }, { clientId: 'app' }],
      [{ redirectUri: '/back' }, { redirectUri: '/back' }],
      [{ responseMode: 'query' }, { responseMode: 'query' }],
      [{ responseMode: 'fragment' }, { responseMode: 'fragment' }],
      [{ silent: 'off' }, { silent: 'off' }],
      [{ issuer: 'https://issuer.example' }, { issuer: 'https://issuer.example' }],
      [{ idpId: 'idp' }, { idpId: 'idp' }],
      [{ scope: 'files' }, { scope: 'files' }],
      [{ authHeader: 'X-Token' }, { authHeader: 'X-Token' }],
      [{ authScheme: '' }, { authScheme: '' }],
      [{ allowFramedLogin: true }, { allowFramedLogin: true }],
      [{ uploadOrigins: ['https://a.example'] }, { uploadOrigins: ['https://a.example'] }],
      [{ owner: 'ann' }, { owner: 'ann' }],
      [{ accept: '.pdf' }, { accept: '.pdf' }],
      [{ multiple: true }, { multiple: true }],
      [{ maxFiles: 1 }, { maxFiles: 1 }],
      [{ maxFileSize: '1k' }, { maxFileSizeBytes: 1024 }],
      [{ chunkSize: '1k' }, { chunkSizeBytes: 1024 }],
      [{ concurrency: 1 }, { concurrency: 1 }],
      [{ concurrency: 64 }, { concurrency: 64 }],
      [{ batchSize: 10_000 }, { batchSize: 10_000 }],
      [{ throttle: '2MB' }, { throttleBytesPerSecond: 2_000_000 }],
      [{ hash: 'blake3' }, { hash: 'blake3' }],
      [{ manual: true }, { manual: true }],
      [{ noResume: true }, { noResume: true }],
      [{ keepFiles: true }, { keepFiles: true }],
      [{ keepDays: '2' }, { keepMs: 172_800_000 }],
      [{ retryMinutes: '2' }, { retryMs: 120_000 }],
      [{ retryMinutes: 525_600 }, { retryMs: 31_536_000_000 }],
      [{ keepDays: 3650 }, { keepMs: 315_360_000_000 }],
      [{ onConflict: 'rename' }, { onConflict: 'rename' }],
      [{ onConflict: 'fail' }, { onConflict: 'fail' }],
      [{ workerUrl: '/worker.js' }, { workerUrl: '/worker.js' }],
      [{ keeperUrl: '/file-keeper.js' }, { keeperUrl: '/file-keeper.js' }],
      ...PATHS.map((name): [SettingsInput, Partial<Settings>] => [
        { [name]: '/there' },
        { [name]: '/there' },
      ]),
      [{ getToken }, { getToken }],
      [{ parentFor }, { parentFor }],
      [{ profile }, { profile }],
      [{ authOptions }, { authOptions }],
    ];
    for (const [input, changed] of given) {
      const { settings, warnings } = read(input);
      expect(settings, JSON.stringify(input)).to.deep.equal({ ...DEFAULTS, ...changed });
      expect(warnings, JSON.stringify(input)).to.deep.equal([]);
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

  const bad: readonly (readonly [keyof SettingsInput, unknown, keyof Settings, unknown])[] = [
    ['hash', 'md5', 'hash', 'sha-256'],
    ['chunkSize', '0', 'chunkSizeBytes', 'auto'],
    ['chunkSize', '8 mebibytes', 'chunkSizeBytes', 'auto'],
    ['concurrency', 'many', 'concurrency', 'auto'],
    ['concurrency', 65, 'concurrency', 'auto'],
    ['concurrency', 0, 'concurrency', 'auto'],
    ['concurrency', true, 'concurrency', 'auto'],
    ['hash', false, 'hash', 'sha-256'],
    ['batchSize', 'all', 'batchSize', 64],
    ['batchSize', 10_001, 'batchSize', 64],
    ['throttle', 'slow', 'throttleBytesPerSecond', Number.POSITIVE_INFINITY],
    ['retryMinutes', 0, 'retryMs', DEFAULTS.retryMs],
    ['onConflict', 'replace', 'onConflict', 'fail'],
  ];
  /** Expected end of the warning about each attribute. */
  const HINTS: Readonly<Record<string, string>> = {
    hash: 'is not one of sha-256, blake3; using sha-256.',
    'on-conflict': 'is not one of fail, rename; using fail.',
    concurrency: 'is not a whole number from 1 to 64; using the default.',
    'batch-size': 'is not a whole number from 1 to 10000; using the default.',
    'retry-minutes': 'is not a whole number from 1 to 525600; using the default.',
    'chunk-size': 'is not a size such as 8MiB or 500MB; using the default.',
    throttle: 'is not a size such as 8MiB or 500MB; using the default.',
  };
  for (const [name, value, key, fallback] of bad) {
    it(`warn once that ${name} cannot be ${JSON.stringify(value)}, and fall back to ${fallback}`, () => {
      const { settings, warnings } = read({ [name]: value });
      expect(settings[key]).to.equal(fallback);
      const attribute = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      expect(warnings).to.deep.equal([`${attribute}="${value}" ${HINTS[attribute]}`]);
    });
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
