// One row for each setting: what the tests of settings and attributes expect of it.

import type { Settings, SettingsInput } from '../../src/core/settings-table.ts';

interface SettingCase<K extends keyof Settings> {
  /** With another value, uploads need another sign-in session or service client, or apply other rules to files. */
  readonly scope: 'upload' | 'service' | 'sign-in';
  /** What the setting is if a page does not set it. `baseUrl` has none. */
  readonly initial: Settings[K];
  /** Values of a page that are not the default. */
  readonly values: readonly SettingsInput[K][];
  /** What the values become, if not themselves. */
  readonly results?: readonly Settings[K][];
  /** Values that cannot be read. */
  readonly unreadable?: readonly unknown[];
}

const NOT_BOOLEAN = ['false', 'true', 1, ' '];
const NO_FUNCTION = ['abc', true, 7, ' '];

/** What templates leave that were not rendered. */
const UNRENDERED = [`\${user.id}`, `user-\${id}`, '{{ user.id }}', '{{user}}', '<%= user.id %>'];

export const SETTING_CASES: { readonly [K in keyof Settings]: SettingCase<K> } = {
  baseUrl: {
    scope: 'sign-in',
    initial: '',
    values: ['https://other.test/v1/'],
    results: ['https://other.test/v1'],
  },
  parentId: { scope: 'upload', initial: '', values: ['folder'] },
  auth: {
    scope: 'sign-in',
    initial: 'auto',
    values: ['token', 'popup', 'redirect', 'local', 'none'],
    unreadable: ['tokn', 'popups', 'token,popup', ['token'], true, () => 'token'],
  },
  clientId: { scope: 'sign-in', initial: 'secure-uploader', values: ['app'] },
  redirectUri: { scope: 'sign-in', initial: undefined, values: ['/back'] },
  responseMode: {
    scope: 'sign-in',
    initial: undefined,
    values: ['query', 'fragment'],
    unreadable: ['form_post', 'fragmnet', ['query']],
  },
  silent: { scope: 'sign-in', initial: 'auto', values: ['off'], unreadable: ['of', 'false'] },
  issuer: {
    scope: 'sign-in',
    initial: undefined,
    values: ['https://issuer.example'],
    unreadable: [' ', 'undefined', ...UNRENDERED, true, 7],
  },
  idpId: { scope: 'sign-in', initial: undefined, values: ['staff'] },
  scope: {
    scope: 'sign-in',
    initial: undefined,
    values: ['files'],
    unreadable: [' ', ...UNRENDERED, true, 7],
  },
  authHeader: { scope: 'sign-in', initial: 'Authorization', values: ['X-Token'] },
  authScheme: { scope: 'sign-in', initial: 'Bearer', values: ['Token', ''] },
  allowFramedLogin: { scope: 'service', initial: false, values: [true], unreadable: NOT_BOOLEAN },
  uploadOrigins: {
    scope: 'service',
    initial: [],
    values: ['https://a.test https://b.test', ['https://a.example']],
    results: [['https://a.test', 'https://b.test'], ['https://a.example']],
    unreadable: [[], [''], [false], ' ,', 'files.example', true, 7, new Map()],
  },
  owner: {
    scope: 'sign-in',
    initial: '',
    values: ['ann'],
    unreadable: [{ id: 7 }, 'undefined', 'null', 'NaN', '[object Object]', ...UNRENDERED, true, () => 'ann'],
  },
  accept: {
    scope: 'upload',
    initial: '',
    values: ['.pdf', 'image/*'],
    unreadable: [' ', ',', ' , ', [], '; image/png', ';.pdf', ' ;,; a/b', ...UNRENDERED, true, 7],
  },
  multiple: { scope: 'upload', initial: false, values: [true], unreadable: NOT_BOOLEAN },
  minFiles: {
    scope: 'upload',
    initial: 0,
    values: ['2', 2],
    results: [2, 2],
    unreadable: ['two', -1, '1.5', Number.NaN],
  },
  maxFiles: {
    scope: 'upload',
    initial: Number.POSITIVE_INFINITY,
    values: ['7', 1],
    results: [7, 1],
    unreadable: ['0', '2.5', '1O', 'undefined', -1, true, [3], ['3'], Number.NEGATIVE_INFINITY],
  },
  maxFileSize: {
    scope: 'upload',
    initial: Number.POSITIVE_INFINITY,
    values: ['500MB', '1k', 1000],
    results: [500_000_000, 1024, 1000],
    unreadable: ['5OOMB', 'huge', '0', '5,5MB', '500 MBs', -1, 'undefinedMB'],
  },
  chunkSize: {
    scope: 'upload',
    initial: 'auto',
    values: ['8MiB', '1k', 1000],
    results: [8_388_608, 1024, 1000],
    unreadable: ['0', '8 mebibytes'],
  },
  concurrency: {
    scope: 'upload',
    initial: 'auto',
    values: ['3', 1, 64],
    results: [3, 1, 64],
    unreadable: ['many', 65, 0, true],
  },
  batchSize: {
    scope: 'upload',
    initial: 64,
    values: ['5', 10_000],
    results: [5, 10_000],
    unreadable: ['all', 10_001],
  },
  throttle: {
    scope: 'upload',
    initial: Number.POSITIVE_INFINITY,
    values: ['2MB', 1000],
    results: [2_000_000, 1000],
    unreadable: ['slow'],
  },
  hash: { scope: 'service', initial: 'sha-256', values: ['blake3'], unreadable: ['md5', false] },
  manual: { scope: 'upload', initial: false, values: [true], unreadable: NOT_BOOLEAN },
  noResume: { scope: 'upload', initial: false, values: [true], unreadable: NOT_BOOLEAN },
  keepFiles: { scope: 'upload', initial: false, values: [true], unreadable: NOT_BOOLEAN },
  keepDays: {
    scope: 'upload',
    initial: 7,
    values: ['2', 3650],
    results: [2, 3650],
    unreadable: [3651, '0', '1d'],
  },
  retryMinutes: {
    scope: 'upload',
    initial: Number.POSITIVE_INFINITY,
    values: ['2', 525_600],
    results: [2, 525_600],
    unreadable: [0],
  },
  onConflict: { scope: 'upload', initial: 'fail', values: ['rename'], unreadable: ['replace'] },
  workerUrl: { scope: 'service', initial: undefined, values: ['/worker.js'] },
  keeperUrl: { scope: 'upload', initial: undefined, values: ['/file-keeper.js'] },
  sessionPath: { scope: 'service', initial: '/files/uploadsession', values: ['/there'] },
  chunksPath: { scope: 'service', initial: '/files/uploadsession/chunks', values: ['/there'] },
  commitPath: {
    scope: 'service',
    initial: undefined,
    values: ['/there'],
    unreadable: [' ', `/\${path}`, true, 7],
  },
  cancelPath: { scope: 'service', initial: undefined, values: ['/there'], unreadable: [' ', true, 7] },
  batchPath: { scope: 'service', initial: undefined, values: ['/there'] },
  authorizePath: { scope: 'sign-in', initial: '/authorize', values: ['/there'] },
  tokenPath: { scope: 'sign-in', initial: '/auth/token', values: ['/there'] },
  loginPath: { scope: 'sign-in', initial: '/auth/login', values: ['/there'] },
  challengePath: { scope: 'sign-in', initial: '/auth/challenge', values: ['/there'] },
  logoutPath: { scope: 'sign-in', initial: undefined, values: ['/there'], unreadable: [' ', true, 7] },
  getToken: { scope: 'sign-in', initial: undefined, values: [() => 'token'], unreadable: NO_FUNCTION },
  parentFor: { scope: 'upload', initial: undefined, values: [() => 'folder'], unreadable: NO_FUNCTION },
  imageMaxEdge: {
    scope: 'upload',
    initial: Number.POSITIVE_INFINITY,
    values: ['2000', 65_535],
    results: [2000, 65_535],
    unreadable: ['2000px', 0, '65536'],
  },
  stripLocation: { scope: 'upload', initial: false, values: [true], unreadable: NOT_BOOLEAN },
  transformFile: {
    scope: 'upload',
    initial: undefined,
    values: [(file: File) => file],
    unreadable: NO_FUNCTION,
  },
  profile: { scope: 'service', initial: {}, values: [{ sendSizes: true }] },
  authOptions: {
    scope: 'sign-in',
    initial: {},
    values: [{ autoSubmitCode: true }],
    unreadable: [
      'ownerField',
      [],
      ...['', ' ', null, true, 7].map((ownerField) => ({ ownerField })),
      { ownerFeild: 'sub' },
      { constructor: 'sub' },
      { sameUserField: null },
      { rpId: '' },
      { promptAfterSignOut: null },
      { loginSendsChallenge: 'true' },
      { showServerMessages: 'false' },
      { autoSubmitCode: 1 },
      { params: 'a=b' },
      { adapter: 'x' },
      { adapter: { logIn: () => undefined } },
      { adapter: { login: 'POST' } },
      { adapter: { exchange: null } },
      { adapter: new Map() },
      { sameUserField: ' ' },
      { promptAfterSignOut: ' ' },
      { params: new Map() },
      new Map([['ownerField', 'sub']]),
      Promise.resolve({ ownerField: 'sub' }),
      { credentialFields: {} },
      { times: 5 },
      { credentials: { token: 'none' } },
      { credentials: { tokn: 'omit' } },
      { credentials: 'omit' },
    ],
  },
};

export const SETTING_NAMES = Object.keys(SETTING_CASES) as (keyof Settings)[];

/** A value of a page for a setting, and what it becomes. */
export interface SettingValue {
  readonly name: keyof Settings;
  readonly given: unknown;
  readonly result: unknown;
}

/** Returns the values of all rows. */
export const settingValues = (): SettingValue[] =>
  SETTING_NAMES.flatMap((name) => {
    const { values, results = values } = SETTING_CASES[name] as SettingCase<keyof Settings>;
    return values.map((given, at) => ({ name, given, result: results[at] }));
  });

/** The settings of a page that sets only a base URL. */
export const defaultsWith = (baseUrl: string): Settings =>
  ({
    ...Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTING_CASES[name].initial])),
    baseUrl,
  }) as Settings;
