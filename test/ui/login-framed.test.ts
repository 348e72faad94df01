// The sign-in form asks for no password in a frame of another origin, which could cover the form with its own content.

import { expect } from '@open-wc/testing';
import { removeStages, stage } from './login-stage.ts';

afterEach(removeStages);

describe('the sign-in form inside another page', () => {
  const FRAMED = "you can't sign in on an embedded page.";
  const top = { location: { origin: location.origin } };
  const foreign = { location: { origin: 'https://other.test' } };
  const closed = {
    get location(): never {
      throw new DOMException('blocked', 'SecurityError');
    },
  };
  const inside = (page: object, parent: object = page): object =>
    Object.create(page, { parent: { value: parent } });
  const rooted = (page: object): object => {
    const root: object = Object.create(page, { parent: { get: () => root } });
    return root;
  };

  for (const [name, parent, isAsked] of [
    ['of its own origin asks for the password', rooted(top), true],
    ['of another origin does not', rooted(foreign), false],
    ['of another origin that hides everything does not', rooted(closed), false],
    [
      'of its own origin, which is inside one of another origin, does not',
      inside(top, rooted(foreign)),
      false,
    ],
    ['of its own origin, which is inside another one of its own, does', inside(top, rooted(top)), true],
  ] as const)
    it(name, async () => {
      const own = globalThis.parent;
      Object.assign(globalThis, { parent });
      try {
        const made = await stage();
        expect(made.element.querySelector('form') !== null).to.equal(isAsked);
        expect(made.element.textContent?.includes(FRAMED)).to.equal(!isAsked);
        // This page has no uploader, so a blocked form does not offer the button "Open sign-in window".
        expect(made.element.querySelectorAll('button').length > 0).to.equal(isAsked);
        const allowed = await stage({ allowFramedLogin: true });
        expect(allowed.element.querySelector('form') !== null).to.equal(true);
      } finally {
        Object.assign(globalThis, { parent: own });
      }
    });
});
