// What HTML says, as the engine gets it: every attribute, as text, becomes the setting that it is called after.

import { expect } from '@open-wc/testing';
import '../../src/define.ts';
import { createSettings, type Settings } from '../../src/core/config.ts';
import { readSettings } from '../../src/ui/read-settings.ts';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import { hearing } from '../support/console.ts';

const DAY_MS = 86_400_000;

/** Text that is not the default, and what becomes of it. */
const TABLE: Readonly<Record<string, readonly [text: string, (settings: Settings) => unknown, unknown]>> = {
  'base-url': ['https://files.test/v1/', ({ baseUrl }) => baseUrl, 'https://files.test/v1'],
  'parent-id': ['folder-b', ({ parentId }) => parentId, 'folder-b'],
  auth: ['popup', ({ auth }) => auth, 'popup'],
  'client-id': ['a-page', ({ clientId }) => clientId, 'a-page'],
  'redirect-uri': ['https://a.test/back', ({ redirectUri }) => redirectUri, 'https://a.test/back'],
  'response-mode': ['fragment', ({ responseMode }) => responseMode, 'fragment'],
  silent: ['off', ({ silent }) => silent, 'off'],
  issuer: ['https://id.test', ({ issuer }) => issuer, 'https://id.test'],
  'idp-id': ['staff', ({ idpId }) => idpId, 'staff'],
  scope: ['upload', ({ scope }) => scope, 'upload'],
  'auth-header': ['x-token', ({ authHeader }) => authHeader, 'x-token'],
  'auth-scheme': ['Token', ({ authScheme }) => authScheme, 'Token'],
  'allow-framed-login': ['', ({ allowFramedLogin }) => allowFramedLogin, true],
  'upload-origins': [
    'https://a.test https://b.test',
    ({ uploadOrigins }) => uploadOrigins,
    ['https://a.test', 'https://b.test'],
  ],
  owner: ['alice', ({ owner }) => owner, 'alice'],
  accept: ['image/*', ({ accept }) => accept, 'image/*'],
  multiple: ['', ({ multiple }) => multiple, true],
  'max-files': ['7', ({ maxFiles }) => maxFiles, 7],
  'max-file-size': ['500MB', ({ maxFileSizeBytes }) => maxFileSizeBytes, 500_000_000],
  'chunk-size': ['8MiB', ({ chunkSizeBytes }) => chunkSizeBytes, 8_388_608],
  concurrency: ['3', ({ concurrency }) => concurrency, 3],
  'batch-size': ['5', ({ batchSize }) => batchSize, 5],
  throttle: ['2MB', ({ throttleBytesPerSecond }) => throttleBytesPerSecond, 2_000_000],
  hash: ['blake3', ({ hash }) => hash, 'blake3'],
  manual: ['', ({ manual }) => manual, true],
  'no-resume': ['', ({ noResume }) => noResume, true],
  'keep-files': ['', ({ keepFiles }) => keepFiles, true],
  'keep-days': ['2', ({ keepMs }) => keepMs, 2 * DAY_MS],
  'on-conflict': ['rename', ({ onConflict }) => onConflict, 'rename'],
  'worker-url': ['/worker.js', ({ workerUrl }) => workerUrl, '/worker.js'],
  'session-path': ['/a', ({ paths }) => paths.session, '/a'],
  'chunks-path': ['/b', ({ paths }) => paths.chunks, '/b'],
  'commit-path': ['/c', ({ paths }) => paths.commit, '/c'],
  'cancel-path': ['/d', ({ paths }) => paths.cancel, '/d'],
  'authorize-path': ['/e', ({ paths }) => paths.authorize, '/e'],
  'token-path': ['/f', ({ paths }) => paths.token, '/f'],
  'login-path': ['/g', ({ paths }) => paths.login, '/g'],
  'challenge-path': ['/h', ({ paths }) => paths.challenge, '/h'],
  'logout-path': ['/i', ({ paths }) => paths.logout, '/i'],
};

/** Those that are the element's own. */
const OWN = ['directory', 'disabled', 'chunk-events'];

const settingsOf = (attributes: Readonly<Record<string, string>>): Settings => {
  const element = document.createElement('secure-uploader') as SecureUploader;
  element.setAttribute('base-url', 'https://files.test');
  for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
  return createSettings(readSettings(element));
};

describe('an attribute', () => {
  it('has its place in the table of this test', () => {
    const { observedAttributes } = customElements.get('secure-uploader') as typeof SecureUploader;
    expect([...Object.keys(TABLE), ...OWN]).to.have.members(observedAttributes);
  });

  for (const [name, [text, read, expected]] of Object.entries(TABLE))
    it(`${name} becomes a setting`, () => {
      expect(read(settingsOf({ [name]: text }))).to.deep.equal(expected);
      expect(read(settingsOf({})), 'is not so without it').not.to.deep.equal(expected);
    });

  const connect = (...names: string[]): void => {
    const element = document.createElement('secure-uploader');
    for (const name of names) element.setAttribute(name, '');
    document.body.append(element);
    element.remove();
  };

  it('that is nearly one of ours is told once, with the right name', () =>
    hearing((told) => {
      connect('baseurl', 'parent_id', 'chunksize', 'max--files');
      connect('baseurl');
      expect(told).to.deep.equal([
        'secure-uploader: baseurl is not known: write base-url.',
        'secure-uploader: parent_id is not known: write parent-id.',
        'secure-uploader: chunksize is not known: write chunk-size.',
        'secure-uploader: max--files is not known: write max-files.',
      ]);
    }));

  it('that is one of ours, or of anybody else, is not told', () =>
    hearing((told) => {
      connect(...Object.keys(TABLE), ...OWN, 'id', 'class', 'data-parent-id', 'title');
      expect(told).to.deep.equal([]);
    }));
});
