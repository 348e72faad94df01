// Settings that protect users: a value that cannot be read is an error, and never the default, which allows more.

import { expect } from '@open-wc/testing';
import { createSettings, isUnfinished, PROTECTING, readFileRules } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { SETTING_CASES } from '../support/setting-cases.ts';

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

/** What a script computes by mistake, as in `auth={isProduction && 'token'}`. */
const FALSY = [false, 0, Number.NaN, {}];

/**
 * True for a setting that is no text and no number: frameworks write an empty text to unset it. And for `owner`, which may be
 * named late.
 */
const isUnsettable = (name: keyof typeof SETTING_CASES): boolean =>
  name === 'owner' ||
  name === 'authOptions' ||
  ['boolean', 'function'].includes(typeof SETTING_CASES[name].values[0]);

/** An adapter as a page may write it. */
class Adapter {
  readonly url = '/exchange';
  login(): Promise<never> {
    return Promise.reject(new Error(this.url));
  }
}

describe('a setting that protects users', () => {
  for (const name of PROTECTING)
    it(`is an error if it cannot be read: ${name}`, () => {
      const { initial, unreadable } = SETTING_CASES[name];
      expect(unreadable, 'has a row with values that cannot be read').to.be.an('array');
      const isInitial = (value: unknown): boolean => String(value) === String(initial);
      const blank = isUnsettable(name) ? [] : [''];
      const falsy = FALSY.filter((value) => !isInitial(value));
      for (const value of [...(unreadable ?? []), ...falsy, ...blank])
        expect(problemOf({ [name]: value }), `${name}: ${String(value)}`).to.be.a('string');
      const readable = FALSY.filter(isInitial);
      for (const value of [...readable, null, undefined, ...(isUnsettable(name) ? [''] : [])])
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
      expect(isUnfinished({ baseUrl, [name]: '' }), name).to.equal(!isUnsettable(name));
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
      maxFileSize: Number.POSITIVE_INFINITY,
      minFiles: 1,
    });
    expect(readFileRules({ minFiles: '' }).minFiles).to.equal(1);
    expect([readFileRules({}).minFiles, readFileRules({ minFiles: '3' }).minFiles]).to.deep.equal([0, 3]);
  });
});
