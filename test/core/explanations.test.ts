// The kind and the place of an error of the page, without its text, in the stacks of all engines.

import { expect } from '@open-wc/testing';
import { kindOf, placeOf } from '../../src/core/explanations.ts';

const APP = 'https://page.test/app.js';
const errorWith = (stack: unknown, message: unknown = 'no token'): unknown => ({
  name: 'Error',
  message,
  stack,
});

describe('the kind of what was thrown', () => {
  for (const [thrown, kind] of [
    [new RangeError('a secret'), 'RangeError'],
    [new DOMException('a secret', 'NotAllowedError'), 'NotAllowedError'],
    [{ name: 'HttpError' }, 'HttpError'],
    [{ name: 'a secret' }, 'object'],
    [{ name: 'x'.repeat(33) }, 'object'],
    [{ name: 'token1' }, 'object'],
    ['a secret', 'string'],
    [undefined, 'undefined'],
    [null, 'object'],
  ] as const)
    it(`is ${kind}`, () => {
      expect(kindOf(thrown)).to.equal(kind);
    });
});

describe('the place of an error', () => {
  const V8: Readonly<Record<string, readonly [stack: string, place: string | undefined, message?: string]>> =
    {
      'of a function': [`Error: no token\n    at getToken (${APP}:3:9)\n    at ${APP}:9:1`, `${APP}:3:9`],
      'without a function': [`Error: no token\n    at ${APP}:3:9`, `${APP}:3:9`],
      'after built-in code': [
        `TypeError: no token\n    at JSON.parse (<anonymous>)\n    at async getToken (${APP}:3:9)`,
        `${APP}:3:9`,
      ],
      'without a function, asynchronous': [`Error: no token\n    at async ${APP}:3:9`, `${APP}:3:9`],
      'without its query and fragment': [
        'Error: no token\n    at f (https://page.test/app.js?key=secret#secret:3:9)',
        `${APP}:3:9`,
      ],
      'without a user and a password': [
        'Error: no token\n    at https://me:secret@page.test/app.js:3:9',
        `${APP}:3:9`,
      ],
      'of an error without a text': [`Error\n    at ${APP}:3:9`, `${APP}:3:9`, ''],
      'not in evaluated code': [
        `Error: no token\n    at eval (eval at f (${APP}:1:2), <anonymous>:1:1)\n    at ${APP}:3:9`,
        `${APP}:3:9`,
      ],
      'not in a text that looks like a line': [
        `Error: a\n    at https://evil.test/secret:1:1\n    at ${APP}:3:9`,
        undefined,
        'a\n    at https://evil.test/secret:1:1',
      ],
      'not in a text of several lines': [`Error: a\nb\n    at ${APP}:3:9`, undefined, 'a\nb'],
      'not if the text was changed': [`Error: secret\n    at ${APP}:3:9`, undefined, 'no token'],
      'not in a text with a URL': [
        `Error: x@https://evil.test/secret:1:1\n    at ${APP}:3:9`,
        `${APP}:3:9`,
        'x@https://evil.test/secret:1:1',
      ],
      'not in a name that looks like a URL': [
        `Error: no token\n    at Object.x (https://evil.test/secret:1:1) (${APP}:3:9)`,
        `${APP}:3:9`,
      ],
      'not after another text': [
        `Error: no token\nCaused by: https://evil.test/secret:1:1\n    at ${APP}:3:9`,
        undefined,
      ],
      'not if there is none': ['Error: no token', undefined],
    };
  for (const [title, [stack, place, message = 'no token']] of Object.entries(V8))
    it(`in V8: ${title}`, () => {
      expect(placeOf(errorWith(stack, message), true)).to.equal(place);
    });

  const OTHERS: typeof V8 = {
    'in Gecko': [`getToken@${APP}:3:9\n@${APP}:9:1\n`, `${APP}:3:9`],
    'in Gecko, asynchronous': [`async*getToken@${APP}:3:9\n`, `${APP}:3:9`],
    'in WebKit': [`parse@[native code]\ngetToken@${APP}:3:9\nmodule code@${APP}:9:1`, `${APP}:3:9`],
    'with a package in the URL': [
      'f@https://cdn.test/npm/@scope/app.js:3:9',
      'https://cdn.test/npm/@scope/app.js:3:9',
    ],
    'without its query and fragment': ['f@https://page.test/app.js?key=secret#secret:3:9', `${APP}:3:9`],
    'not in evaluated code': [`f@${APP} line 3 > eval:1:1\n@${APP}:3:9`, `${APP}:3:9`],
    'not in a name that looks like a URL': [`x@https://evil.test/secret:1:1@${APP}:3:9`, `${APP}:3:9`],
    'not if a library has added the text': [
      `Error: x@https://evil.test/secret:1:1\n@${APP}:3:9`,
      undefined,
      'x@https://evil.test/secret:1:1',
    ],
    'not in a file': ['f@file:///home/me/app.js:3:9', undefined],
  };
  for (const [title, [stack, place, message = 'no token']] of Object.entries(OTHERS))
    it(`${title}`, () => {
      expect(placeOf(errorWith(stack, message), false)).to.equal(place);
    });

  it('is that of the code that threw, in this browser', () => {
    const here = new RegExp(`^${location.origin}/test/core/explanations\\.test\\.ts:\\d+:\\d+$`);
    expect(placeOf(new RangeError('a secret'))).to.match(here);
    expect(placeOf(new Error(''))).to.match(here);
    const forged = new Error('secret\n    at https://evil.test/secret:1:1\nx@https://evil.test/secret:1:1');
    expect(placeOf(forged) ?? '').not.to.contain('secret');
  });

  it('is unknown if it cannot be read', () => {
    const get = (): never => {
      throw new Error('a secret');
    };
    const unreadable = new Proxy({}, { get });
    expect([kindOf(unreadable), placeOf(unreadable)]).to.deep.equal(['object', undefined]);
  });

  it('is unknown for other values', () => {
    for (const thrown of [
      'text',
      undefined,
      null,
      {},
      errorWith(1),
      errorWith(`Error\n    at ${APP}:1:1`, 1),
    ])
      expect(placeOf(thrown)).to.equal(undefined);
  });
});
