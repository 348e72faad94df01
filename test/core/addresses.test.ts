// Valid values of `base-url`: https URLs, and URLs of this machine.

import { expect } from '@open-wc/testing';
import { createSettings } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { isLoopback } from '../../src/core/loopback.ts';

function refusedBaseUrl(value: string | undefined): UploaderError {
  try {
    createSettings({ baseUrl: value });
  } catch (error) {
    if (error instanceof UploaderError) return error;
  }
  throw new Error(`${value} was expected to be refused`);
}

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

  const refused: readonly (readonly [value: string | undefined, why: string])[] = [
    [undefined, 'is not set'],
    ['', 'is not set'],
    ['http://api.example', 'must use https (http on loopback only), not http:'],
    ['http://127.0.0.1.evil.example', 'must use https'],
    ['http://localhost.evil.example', 'must use https'],
    ['ftp://api.example', 'not ftp:'],
    ['ftp://localhost', 'not ftp:'],
    ['javascript:alert(1)', 'not javascript:'],
    ['blob:https://api.example/1', 'not blob:'],
    ['https://', 'is not a valid URL'],
    ['https://user@api.example', 'must not have a user name, query or fragment'],
    ['https://:secret@api.example', 'must not have a user name, query or fragment'],
    ['https://api.example/?key=1', 'must not have a user name, query or fragment'],
    ['https://api.example/#top', 'must not have a user name, query or fragment'],
  ];
  for (const [value, why] of refused) {
    it(`may not be ${JSON.stringify(value)}`, () => {
      const { code, message } = refusedBaseUrl(value);
      expect(code).to.equal('bad-config');
      expect(message).to.contain('base-url').and.to.contain(why);
    });
  }

  it('is loopback only if its host is', () => {
    const hosts = ['localhost', 'a.localhost', '127.0.0.1', '127.255.255.255', '[::1]'];
    expect(hosts.filter(isLoopback)).to.deep.equal(hosts);
    expect(
      [
        'localhost.example',
        '128.0.0.1',
        '127.0.0',
        '1127.0.0.1',
        '127.0.0.1.example',
        'notlocalhost',
        '',
      ].filter(isLoopback),
    ).to.deep.equal([]);
  });
});
