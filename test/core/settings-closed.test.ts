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

const BOOLEAN = ['false', 'true', 0, 1];
const FUNCTION = ['abc', {}, 7];

/** For each setting, values that cannot be read. An empty text is one for all of them but `owner`. */
const UNREADABLE: Readonly<Record<string, readonly unknown[]>> = {
  auth: ['tokn', 'popups', 'token,popup', {}],
  responseMode: ['form_post', 'fragmnet'],
  silent: ['of', 'false'],
  issuer: [' '],
  scope: [' '],
  allowFramedLogin: BOOLEAN,
  uploadOrigins: [[], [''], ' ,', 'files.example'],
  owner: [{ id: 7 }, 'undefined', 'null', 'NaN', '[object Object]', true, () => 'ann'],
  accept: [' ', ',', ' , ', []],
  multiple: BOOLEAN,
  minFiles: ['two', -1, '1.5', Number.NaN],
  maxFiles: ['0', '2.5', '1O', 'undefined', -1, {}],
  maxFileSize: ['5OOMB', 'huge', '0', '5,5MB', '500 MBs', -1, 'undefinedMB'],
  manual: BOOLEAN,
  noResume: BOOLEAN,
  keepFiles: BOOLEAN,
  keepDays: [3651, '0', '1d'],
  commitPath: [' '],
  cancelPath: [' '],
  logoutPath: [' '],
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
    { credentialFields: {} },
    { times: 5 },
    { credentials: { token: 'none' } },
    { credentials: { tokn: 'omit' } },
    { credentials: 'omit' },
  ],
};

describe('a setting that protects users', () => {
  it('has a row in this test', () => {
    expect(Object.keys(UNREADABLE)).to.have.members([...PROTECTING]);
  });

  for (const [name, values] of Object.entries(UNREADABLE))
    it(`is an error if it cannot be read: ${name}`, () => {
      for (const value of name === 'owner' ? values : ['', ...values])
        expect(problemOf({ [name]: value }), `${name}: ${JSON.stringify(value)}`).to.be.a('string');
      for (const value of [null, undefined]) expect(problemOf({ [name]: value })).to.equal(undefined);
    });

  it('is named in the error, with its value, but a token is not', () => {
    expect(problemOf({ auth: 'tokn' })).to.equal(
      'auth="tokn" is not one of auto, token, popup, redirect, local, none',
    );
    expect(problemOf({ maxFileSize: '5OOMB' })).to.equal(
      'max-file-size="5OOMB" is not a size such as 8MiB or 500MB',
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
  });

  it('may be written in each way that can be read', () => {
    for (const input of [
      { owner: '' },
      { owner: 7 },
      { owner: 'nullable' },
      { auth: ' Token ' },
      { maxFiles: 'auto' },
      { minFiles: 0 },
      { accept: '*' },
      { accept: '.pdf, ' },
      { stripLocation: true },
      { allowFramedLogin: false },
      { authOptions: { ownerField: 'sub', sameUserField: '', promptAfterSignOut: '', rpId: undefined } },
      { authOptions: { credentials: { token: 'omit', logout: 'include' }, adapter: new (class {})() } },
    ])
      expect(problemOf(input), JSON.stringify(input)).to.equal(undefined);
  });
});

describe('settings of a template that is not filled in', () => {
  it('are unfinished, and others are not', () => {
    for (const name of PROTECTING)
      expect(isUnfinished({ baseUrl, [name]: '' }), name).to.equal(name !== 'owner');
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
