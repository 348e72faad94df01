// Settings as a page gives them, good and bad.

import { expect } from '@open-wc/testing';
import {
  createSettings,
  isLoopback,
  parseBytes,
  type Settings,
  type SettingsInput,
} from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';

const baseUrl = 'https://api.example';

function read(input: SettingsInput): { settings: Settings; warnings: string[] } {
  const warnings: string[] = [];
  const settings = createSettings({ baseUrl, ...input }, (message) => warnings.push(message));
  return { settings, warnings };
}

function refusedBaseUrl(value: string | undefined): UploaderError {
  try {
    createSettings({ baseUrl: value });
  } catch (error) {
    if (error instanceof UploaderError) return error;
  }
  throw new Error(`${value} was expected to be refused`);
}

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
  ];
  for (const [text, bytes] of sizes) {
    it(`reads ${JSON.stringify(text)} as ${bytes} bytes`, () => expect(parseBytes(text)).to.equal(bytes));
  }

  for (const text of ['', '0', '-5', '0.4', '8 MiBs', 'eight', '1e3', '5constructor', 'NaN', '99999999TiB']) {
    it(`does not take ${JSON.stringify(text)} for a size`, () =>
      expect(parseBytes(text)).to.equal(undefined));
  }

  for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60]) {
    it(`does not take the number ${value} for a size`, () => expect(parseBytes(value)).to.equal(undefined));
  }
});

describe('settings', () => {
  it('need no more than a base URL, and have a default for all else', () => {
    const { settings, warnings } = read({});
    expect(warnings).to.deep.equal([]);
    expect(settings).to.include({
      baseUrl,
      auth: 'auto',
      authHeader: 'Authorization',
      authScheme: 'Bearer',
      chunkSizeBytes: 'auto',
      concurrency: 'auto',
      batchSize: 64,
      hash: 'sha-256',
      multiple: false,
      manual: false,
      maxFiles: Number.POSITIVE_INFINITY,
      maxFileSizeBytes: Number.POSITIVE_INFINITY,
    });
    expect(settings.paths).to.deep.equal({
      session: '/files/uploadsession',
      chunks: '/files/uploadsession/chunks',
      commit: undefined,
      cancel: undefined,
      authorize: '/authorize',
      token: '/auth/token',
      login: '/auth/login',
      challenge: '/auth/challenge',
      logout: undefined,
    });
  });

  it('are frozen, all the way down to what is read often', () => {
    const { settings } = read({ uploadOrigins: 'https://files.example' });
    expect(Object.isFrozen(settings)).to.equal(true);
    expect(Object.isFrozen(settings.paths)).to.equal(true);
    expect(Object.isFrozen(settings.uploadOrigins)).to.equal(true);
  });

  it('mean the same as text of an attribute and as a value of a script', () => {
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

  it('take an empty attribute and `auto` for unset, without a word', () => {
    const input = {
      auth: '',
      maxFiles: '',
      chunkSize: 'auto',
      concurrency: 'auto',
      batchSize: '',
      hash: '',
      silent: '',
    };
    const { settings, warnings } = read(input as SettingsInput);
    expect(settings).to.deep.equal(read({}).settings);
    expect(warnings).to.deep.equal([]);
  });

  const bad: readonly (readonly [keyof SettingsInput, unknown, keyof Settings, unknown])[] = [
    ['auth', 'popups', 'auth', 'auto'],
    ['responseMode', 'form_post', 'responseMode', 'query'],
    ['silent', 'yes', 'silent', 'auto'],
    ['hash', 'md5', 'hash', 'sha-256'],
    ['maxFiles', '0', 'maxFiles', Number.POSITIVE_INFINITY],
    ['maxFiles', '2.5', 'maxFiles', Number.POSITIVE_INFINITY],
    ['maxFileSize', 'huge', 'maxFileSizeBytes', Number.POSITIVE_INFINITY],
    ['maxFileSize', -1, 'maxFileSizeBytes', Number.POSITIVE_INFINITY],
    ['chunkSize', '0', 'chunkSizeBytes', 'auto'],
    ['chunkSize', '8 mebibytes', 'chunkSizeBytes', 'auto'],
    ['concurrency', 'many', 'concurrency', 'auto'],
    ['concurrency', 65, 'concurrency', 'auto'],
    ['concurrency', 0, 'concurrency', 'auto'],
    ['batchSize', 'all', 'batchSize', 64],
    ['batchSize', 10_001, 'batchSize', 64],
  ];
  for (const [name, value, key, fallback] of bad) {
    it(`tell once that ${name} cannot be ${JSON.stringify(value)}, and fall back to ${fallback}`, () => {
      const { settings, warnings } = read({ [name]: value });
      expect(settings[key]).to.equal(fallback);
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.contain(String(value));
    });
  }

  it('tell of an entry of `accept` that no file fits, and of no other', () => {
    for (const wrong of ['pdf', '*.txt', 'image']) {
      const { settings, warnings } = read({ accept: `.doc, ${wrong}` });
      expect(settings.accept).to.equal(`.doc, ${wrong}`);
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.contain(`${wrong}" is no extension`);
    }
    expect(read({ accept: '.pdf, image/*,application/pdf, */*, *,' }).warnings).to.deep.equal([]);
  });

  it('take the origins of a list of addresses, and refuse a list with one that has none', () => {
    const { settings } = read({ uploadOrigins: 'https://a.example/path, https://b.example:8443' });
    expect(settings.uploadOrigins).to.deep.equal(['https://a.example', 'https://b.example:8443']);
    for (const bad of ['files.example', 'data:x'])
      expect(() => read({ uploadOrigins: `https://a.example ${bad}` })).to.throw(UploaderError, bad);
  });
});

describe('base-url', () => {
  const good: readonly [string, string][] = [
    ['https://api.example', 'https://api.example'],
    ['https://api.example/v1//', 'https://api.example/v1'],
    ['http://localhost:8080/', 'http://localhost:8080'],
    ['http://127.0.0.1:1', 'http://127.0.0.1:1'],
    ['http://[::1]:1', 'http://[::1]:1'],
    ['http://app.localhost', 'http://app.localhost'],
  ];
  for (const [value, expected] of good) {
    it(`may be ${value}`, () => expect(createSettings({ baseUrl: value }).baseUrl).to.equal(expected));
  }

  it('may be a path of the page’s own origin', () => {
    expect(createSettings({ baseUrl: '/api/' }).baseUrl).to.equal(`${location.origin}/api`);
  });

  const refused = [
    undefined,
    '',
    'http://api.example',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
    'ftp://api.example',
    'javascript:alert(1)',
    'blob:https://api.example/1',
    'https://',
    'https://user@api.example',
    'https://user:secret@api.example',
    'https://api.example/?key=1',
    'https://api.example/#top',
  ];
  for (const value of refused) {
    it(`may not be ${JSON.stringify(value)}`, () => {
      expect(refusedBaseUrl(value).code).to.equal('bad-config');
    });
  }

  it('is on loopback only where its host really is', () => {
    const hosts = ['localhost', 'a.localhost', '127.0.0.1', '127.9.9.9', '[::1]'];
    expect(hosts.filter(isLoopback)).to.deep.equal(hosts);
    expect(
      ['localhost.example', '128.0.0.1', '127.0.0.1.example', 'notlocalhost', ''].filter(isLoopback),
    ).to.deep.equal([]);
  });
});
