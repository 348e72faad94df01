// Each attribute sets the setting of the same name.

import { expect } from '@open-wc/testing';
import '../../src/define.ts';
import { createSettings } from '../../src/core/config.ts';
import type { Settings } from '../../src/core/settings-table.ts';
import { readSettings } from '../../src/ui/read-settings.ts';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import { captureWarnings } from '../support/console.ts';

const DAY_MS = 86_400_000;

/** Attributes, each with a text other than the default, a function that reads the setting, and the expected value. */
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
  'min-files': ['2', ({ minFiles }) => minFiles, 2],
  'max-files': ['7', ({ maxFiles }) => maxFiles, 7],
  'image-max-edge': ['2000', ({ imageMaxEdge }) => imageMaxEdge, 2000],
  'strip-location': ['', ({ stripLocation }) => stripLocation, true],
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
  'retry-minutes': ['2', ({ retryMs }) => retryMs, 120_000],
  'on-conflict': ['rename', ({ onConflict }) => onConflict, 'rename'],
  'worker-url': ['/worker.js', ({ workerUrl }) => workerUrl, '/worker.js'],
  'keeper-url': ['/file-keeper.js', ({ keeperUrl }) => keeperUrl, '/file-keeper.js'],
  'session-path': ['/a', ({ sessionPath }) => sessionPath, '/a'],
  'chunks-path': ['/b', ({ chunksPath }) => chunksPath, '/b'],
  'commit-path': ['/c', ({ commitPath }) => commitPath, '/c'],
  'cancel-path': ['/d', ({ cancelPath }) => cancelPath, '/d'],
  'batch-path': ['/h', ({ batchPath }) => batchPath, '/h'],
  'authorize-path': ['/e', ({ authorizePath }) => authorizePath, '/e'],
  'token-path': ['/f', ({ tokenPath }) => tokenPath, '/f'],
  'login-path': ['/g', ({ loginPath }) => loginPath, '/g'],
  'challenge-path': ['/h', ({ challengePath }) => challengePath, '/h'],
  'logout-path': ['/i', ({ logoutPath }) => logoutPath, '/i'],
};

/** Attributes that are not settings. */
const OWN = [
  'name',
  'required',
  'submit-when-done',
  'capture',
  'directory',
  'include-hidden',
  'disabled',
  'density',
  'layout',
  'chunk-events',
  'no-leave-warning',
  'wake-lock',
  'thumbnails',
  'persist-storage',
];

const settingsOf = (attributes: Readonly<Record<string, string>>): Settings => {
  const element = document.createElement('secure-uploader') as SecureUploader;
  element.setAttribute('base-url', 'https://files.test');
  for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
  return createSettings(readSettings(element));
};

describe('an attribute', () => {
  it('is in the table of this test', () => {
    const { observedAttributes } = customElements.get('secure-uploader') as typeof SecureUploader;
    expect([...Object.keys(TABLE), ...OWN]).to.have.members(observedAttributes);
  });

  for (const [name, [text, read, expected]] of Object.entries(TABLE))
    it(`${name} becomes a setting`, () => {
      expect(read(settingsOf({ [name]: text }))).to.deep.equal(expected);
      expect(read(settingsOf({})), 'is not so without it').not.to.deep.equal(expected);
    });

  const connect = async (...names: string[]): Promise<void> => {
    const element = document.createElement('secure-uploader');
    for (const name of names) element.setAttribute(name, '');
    document.body.append(element);
    await element.updateComplete;
    element.remove();
  };

  it('with a typo warns once, with the right name', () =>
    captureWarnings(async (warnings) => {
      await connect('baseurl', 'parent_id', 'chunksize', 'max--files');
      await connect('baseurl');
      expect(warnings).to.deep.equal([
        'secure-uploader: The attribute baseurl does not exist. Did you mean base-url?',
        'secure-uploader: The attribute parent_id does not exist. Did you mean parent-id?',
        'secure-uploader: The attribute chunksize does not exist. Did you mean chunk-size?',
        'secure-uploader: The attribute max--files does not exist. Did you mean max-files?',
      ]);
    }));

  it('with another ending, or of a property, warns with the nearest name', () =>
    captureWarnings(async (warnings) => {
      await connect('upload-origin', 'commit-paht', 'gettoken', 'parent-for', 'engine-options');
      expect(warnings).to.deep.equal([
        'secure-uploader: The attribute upload-origin does not exist. Did you mean upload-origins?',
        'secure-uploader: The attribute commit-paht does not exist. Did you mean commit-path?',
        'secure-uploader: The attribute gettoken does not exist. Did you mean the property getToken?',
        'secure-uploader: The attribute parent-for does not exist. Did you mean the property parentFor?',
        'secure-uploader: The attribute engine-options does not exist. Did you mean the property engineOptions?',
      ]);
    }));

  it('of the element, or of any other library, causes no warning', () =>
    captureWarnings(async (warnings) => {
      await connect(...Object.keys(TABLE), ...OWN, 'id', 'class', 'data-parent-id', 'title');
      await connect('hx-swap', 'v-cloak', 'x-data', 'ng-version', 'aria-label', 'client:load');
      await connect('on-click', 'no-print', 'layout-align', 'hash-x', 'max');
      expect(warnings).to.deep.equal([]);
    }));

  /** Resolves with the file rules that the drop zone shows. */
  const hintOf = async (attributes: Readonly<Record<string, string>>): Promise<string> => {
    const element = document.createElement('secure-uploader') as SecureUploader;
    for (const [name, text] of Object.entries({ multiple: '', ...attributes }))
      element.setAttribute(name, text);
    document.body.append(element);
    await element.updateComplete;
    const hint = element.renderRoot.querySelector('.hint')?.textContent ?? '';
    element.remove();
    return hint;
  };

  for (const base of [{}, { 'base-url': 'https://files.test' }] as Readonly<Record<string, string>>[]) {
    const when = base['base-url'] ? 'with an engine' : 'before there is a base URL';
    for (const [maxFiles, hint] of [
      ['3', 'At most 3 files'],
      ...['-3', '2.5', '0', 'auto', 'many'].map((text) => [text, '']),
    ] as const)
      it(`max-files="${maxFiles}" is shown as the engine reads it, ${when}`, () =>
        captureWarnings(async () => expect(await hintOf({ ...base, 'max-files': maxFiles })).to.equal(hint)));

    it(`all rules are shown, ${when}`, async () => {
      const rules = { accept: 'image/*,.pdf', 'max-file-size': '500MB', 'max-files': '20' };
      expect(await hintOf({ ...base, ...rules })).to.equal(
        'Images or PDF · up to 500 MB per file · at most 20 files',
      );
    });
  }
});
