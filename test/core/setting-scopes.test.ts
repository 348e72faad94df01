// Scope of each setting: a new value may require another sign-in session or service client, or may change the rules for files.

import { expect } from '@open-wc/testing';
import { createSettings, readFileRules, serviceKeyOf, signInKeyOf } from '../../src/core/config.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';

type Scope = 'upload' | 'service' | 'sign-in';

/** Settings, each with its scope, a value other than the default, and its name in `Settings` if that name differs. */
const SCOPES: { readonly [K in keyof SettingsInput]-?: readonly [Scope, SettingsInput[K], as?: string] } = {
  baseUrl: ['sign-in', 'https://other.test'],
  parentId: ['upload', 'folder'],
  auth: ['sign-in', 'popup'],
  clientId: ['sign-in', 'other'],
  redirectUri: ['sign-in', 'https://a.test/back'],
  responseMode: ['sign-in', 'fragment'],
  silent: ['sign-in', 'off'],
  issuer: ['sign-in', 'https://id.test'],
  idpId: ['sign-in', 'staff'],
  scope: ['sign-in', 'upload'],
  authHeader: ['sign-in', 'x-token'],
  authScheme: ['sign-in', 'Token'],
  allowFramedLogin: ['service', true],
  uploadOrigins: ['service', 'https://storage.test'],
  owner: ['sign-in', 'ann'],
  accept: ['upload', '.pdf'],
  multiple: ['upload', true],
  minFiles: ['upload', 2],
  maxFiles: ['upload', 3],
  maxFileSize: ['upload', 1000, 'maxFileSizeBytes'],
  chunkSize: ['upload', 1000, 'chunkSizeBytes'],
  concurrency: ['upload', 3],
  batchSize: ['upload', 3],
  throttle: ['upload', 1000, 'throttleBytesPerSecond'],
  hash: ['service', 'blake3'],
  manual: ['upload', true],
  noResume: ['upload', true],
  keepFiles: ['upload', true],
  keepDays: ['upload', 2, 'keepMs'],
  retryMinutes: ['upload', 2, 'retryMs'],
  onConflict: ['upload', 'rename'],
  workerUrl: ['service', '/worker.js'],
  keeperUrl: ['upload', '/file-keeper.js'],
  sessionPath: ['service', '/a'],
  chunksPath: ['service', '/b'],
  commitPath: ['service', '/c'],
  cancelPath: ['service', '/d'],
  batchPath: ['service', '/e'],
  authorizePath: ['sign-in', '/e'],
  tokenPath: ['sign-in', '/f'],
  loginPath: ['sign-in', '/g'],
  challengePath: ['sign-in', '/h'],
  logoutPath: ['sign-in', '/i'],
  getToken: ['sign-in', () => 'token'],
  parentFor: ['upload', () => 'folder'],
  imageMaxEdge: ['upload', 2000],
  stripLocation: ['upload', true],
  transformFile: ['upload', (file: File) => file],
  profile: ['service', { sendSizes: true }],
  authOptions: ['sign-in', { autoSubmitCode: true }],
};

const usual = createSettings({ baseUrl: 'https://a.test' });

describe('another value of a setting', () => {
  for (const [name, [scope, value, as = name]] of Object.entries(SCOPES))
    it(`${name} belongs to the scope ${scope}`, () => {
      const other = createSettings({ baseUrl: 'https://a.test', [name]: value });
      expect(other[as as keyof typeof other], 'it is not the default').not.to.deep.equal(
        usual[as as keyof typeof usual],
      );
      expect(signInKeyOf(other) === signInKeyOf(usual), 'the same sign-in').to.equal(scope !== 'sign-in');
      expect(serviceKeyOf(other) === serviceKeyOf(usual), 'the same service').to.equal(scope === 'upload');
      expect(as in readFileRules({ [name]: value }), 'a rule for files').to.equal(scope === 'upload');
    });
});
