// Settings that protect users: a value that cannot be read is an error, and never the default, which allows more.

import { expect } from '@open-wc/testing';
import { createSettings, isUnfinished, PROTECTING, readFileRules } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';

const baseUrl = 'https://service.example';

/** Returns the message of the error; `undefined` if the settings can be read. */
function problemOf(input: object): string | undefined {
  try {
    createSettings({ baseUrl, ...input });
    return undefined;
  } catch (error) {
    expect(error).to.be.instanceOf(UploaderError).with.property('code', 'bad-config');
    return (error as Error).message;
  }
}

const BOOLEAN = ['false', 'true', 1, ' '];
const FUNCTION = ['abc', true, 7, ' '];

/** Settings that are no text and no number: frameworks write an empty text to unset them. And `owner`, which may be named late. */
const UNSETTABLE = [
  ...['owner', 'allowFramedLogin', 'multiple', 'manual', 'noResume', 'keepFiles', 'stripLocation'],
  ...['getToken', 'parentFor', 'transformFile', 'authOptions'],
];

/** What templates leave that were not rendered. */
const UNRENDERED = [`\${user.id}`, `user-\${id}`, '{{ user.id }}', '{{user}}', '<%= user.id %>'];

/** What a script computes by mistake, as in `auth={isProduction && 'token'}`. */
const FALSY = [false, 0, Number.NaN, {}];

/** The values of `FALSY` that a setting can have. */
const READABLE: Readonly<Record<string, readonly unknown[]>> = {
  ...Object.fromEntries(
    ['allowFramedLogin', 'multiple', 'manual', 'noResume', 'keepFiles', 'stripLocation'].map((name) => [
      name,
      [false],
    ]),
  ),
  minFiles: [0],
  authOptions: [{}],
};

/** For each setting, values that cannot be read. */
const UNREADABLE: Readonly<Record<string, readonly unknown[]>> = {
  auth: ['tokn', 'popups', 'token,popup', ['token'], true, () => 'token'],
  responseMode: ['form_post', 'fragmnet', ['query']],
  silent: ['of', 'false'],
  issuer: [' ', 'undefined', ...UNRENDERED, true, 7],
  scope: [' ', ...UNRENDERED, true, 7],
  allowFramedLogin: BOOLEAN,
  uploadOrigins: [[], [''], [false], ' ,', 'files.example', true, 7, new Map()],
  owner: [{ id: 7 }, 'undefined', 'null', 'NaN', '[object Object]', ...UNRENDERED, true, () => 'ann'],
  accept: [' ', ',', ' , ', [], '; image/png', ';.pdf', ' ;,; a/b', ...UNRENDERED, true, 7],
  multiple: BOOLEAN,
  minFiles: ['two', -1, '1.5', Number.NaN],
  maxFiles: ['0', '2.5', '1O', 'undefined', -1, true, [3], ['3'], Number.NEGATIVE_INFINITY],
  maxFileSize: ['5OOMB', 'huge', '0', '5,5MB', '500 MBs', -1, 'undefinedMB'],
  manual: BOOLEAN,
  noResume: BOOLEAN,
  keepFiles: BOOLEAN,
  keepDays: [3651, '0', '1d'],
  commitPath: [' ', `/\${path}`, true, 7],
  cancelPath: [' ', true, 7],
  logoutPath: [' ', true, 7],
  getToken: FUNCTION,
  parentFor: FUNCTION,
  imageMaxEdge: ['2000px', 0, '65536'],
  stripLocation: BOOLEAN,
  transformFile: FUNCTION,
  authOptions: [
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
};

/** An adapter as a page may write it. */
class Adapter {
  readonly url = '/exchange';
  login(): Promise<never> {
    return Promise.reject(new Error(this.url));
  }
}

describe('a setting that protects users', () => {
  it('has a row in this test', () => {
    expect(Object.keys(UNREADABLE)).to.have.members([...PROTECTING]);
  });

  for (const [name, values] of Object.entries(UNREADABLE))
    it(`is an error if it cannot be read: ${name}`, () => {
      const readable = READABLE[name] ?? [];
      const falsy = FALSY.filter(
        (value) => !readable.some((each) => JSON.stringify(each) === JSON.stringify(value)),
      );
      for (const value of [...values, ...falsy, ...(UNSETTABLE.includes(name) ? [] : [''])])
        expect(problemOf({ [name]: value }), `${name}: ${String(value)}`).to.be.a('string');
      for (const value of [...readable, null, undefined, ...(UNSETTABLE.includes(name) ? [''] : [])])
        expect(problemOf({ [name]: value }), `${name}: ${String(value)}`).to.equal(undefined);
    });

  it('is named in the error, with its value, but a token is not', () => {
    expect(problemOf({ auth: 'tokn' })).to.equal(
      'auth="tokn" is not one of auto, token, popup, redirect, local, none',
    );
    expect(problemOf({ maxFileSize: '5OOMB' })).to.equal(
      'max-file-size="5OOMB" is not a size such as 8MiB or 500MB',
    );
    expect(problemOf({ owner: '{{ user.id }}' })).to.equal('owner="{{ user.id }}" is not the id of a user');
    expect(problemOf({ scope: '<%= scope %>' })).to.equal(
      'scope="<%= scope %>" looks like a template that was not rendered',
    );
    expect(problemOf({ logoutPath: '' })).to.equal('logout-path="" is empty');
    expect(problemOf({ authOptions: { ownerField: '' } })).to.equal(
      'authOptions has a field that cannot be read: ownerField',
    );
    expect(problemOf({ authOptions: { ownerFeild: 'sub' } })).to.equal(
      'authOptions has an unknown field: ownerFeild',
    );
    expect(problemOf({ getToken: 'secret' })).to.equal(
      'getToken is no function. A token itself is the property `token`',
    );
    expect(problemOf({ owner: () => 'secret' })).to.equal('owner is not the id of a user');
    expect(problemOf({ auth: 'x'.repeat(41) })).to.equal(
      `auth="${'x'.repeat(40)}…" is not one of auto, token, popup, redirect, local, none`,
    );
  });

  it('may be written in each way that can be read', () => {
    for (const input of [
      { owner: '' },
      { owner: 7 },
      { owner: ' ' },
      { maxFiles: Number.POSITIVE_INFINITY, maxFileSize: 'Infinity' },
      { maxFiles: ' auto ', keepDays: 'AUTO' },
      { accept: ['.pdf', 'image/*'] },
      { accept: '.pdf, ; image/png' },
      { owner: 'nullable' },
      { owner: '{ann} $5 <b>' },
      { auth: ' Token ' },
      { maxFiles: 'auto' },
      { minFiles: 0 },
      { accept: '*' },
      { accept: '.pdf, ' },
      { stripLocation: true },
      { allowFramedLogin: false },
      { authOptions: { ownerField: 'sub', sameUserField: '', promptAfterSignOut: '', rpId: undefined } },
      { authOptions: { credentials: { token: 'omit', logout: 'include' }, adapter: new (class {})() } },
      { authOptions: { adapter: new Adapter() } },
      { authOptions: Object.assign(Object.create(null), { ownerField: 'sub' }) },
    ])
      expect(problemOf(input), JSON.stringify(input)).to.equal(undefined);
  });
});

describe('an owner', () => {
  it('that is blank is no user', () => {
    for (const owner of ['', ' ', '\t\n', '\u00a0'])
      expect(createSettings({ baseUrl, owner }).owner, JSON.stringify(owner)).to.equal('');
    expect(createSettings({ baseUrl, owner: ' ann ' }).owner).to.equal(' ann ');
    expect(createSettings({ baseUrl, owner: '0' }).owner).to.equal('0');
  });
});

describe('settings of a template that is not filled in', () => {
  it('are unfinished, and others are not', () => {
    for (const name of PROTECTING)
      expect(isUnfinished({ baseUrl, [name]: '' }), name).to.equal(!UNSETTABLE.includes(name));
    for (const input of [{ uploadOrigins: [] }, { maxFiles: ' ' }, { authOptions: { ownerField: '' } }])
      expect(isUnfinished({ baseUrl, ...input }), JSON.stringify(input)).to.equal(true);
    for (const input of [
      {},
      { auth: 'tokn' },
      { maxFiles: undefined },
      { idpId: '' },
      { authOptions: { sameUserField: '' } },
      { authOptions: { ownerFeild: '' } },
    ])
      expect(isUnfinished({ baseUrl, ...input } as never), JSON.stringify(input)).to.equal(false);
    expect([isUnfinished({}), isUnfinished({ baseUrl: '' })]).to.deep.equal([true, true]);
  });

  it('show no limit, but a form needs a file while the number that it needs cannot be read', () => {
    const rules = readFileRules({ maxFiles: '', maxFileSize: 'x', minFiles: 'two' });
    expect(rules).to.include({
      maxFiles: Number.POSITIVE_INFINITY,
      maxFileSizeBytes: Number.POSITIVE_INFINITY,
      minFiles: 1,
    });
    expect(readFileRules({ minFiles: '' }).minFiles).to.equal(1);
    expect([readFileRules({}).minFiles, readFileRules({ minFiles: '3' }).minFiles]).to.deep.equal([0, 3]);
  });
});
