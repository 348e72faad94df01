// The way of a token to its session, past everything that sees the events and effects of sign-in.

import { expect } from '@open-wc/testing';
import { TokenDoor } from '../../src/auth/token.ts';
import type { LoginForm } from '../../src/auth/types.ts';
import { skipTime } from '../support/clock.ts';
import { closeAll, forever, open } from './open-session.ts';
import { granted, openSilent } from './scripted.ts';

afterEach(closeAll);

describe('a session', () => {
  for (const source of ['page', 'service'] as const)
    it(`shows its token to no form, which sees all events and effects (token of the ${source})`, async () => {
      const seen: unknown[] = [];
      const tokens = ['first', 'renewed'].map((name) => ({
        token: `service-token-${name}`,
        expires_in: 600,
      }));
      const opened =
        source === 'service'
          ? openSilent(tokens.map((token) => granted(token)))
          : open({ getToken: () => tokens.shift() ?? null });
      opened.session.form(({ machine }) => {
        const dispatch = machine.dispatch.bind(machine);
        machine.dispatch = (event) => {
          seen.push(event);
          dispatch(event);
        };
        const see = (step: unknown): unknown => seen.push(step);
        return { run: see, onEnter: see, rows: {} } as unknown as LoginForm;
      });
      const call = (): Promise<unknown> => opened.session.withToken(async (token) => token, forever);
      expect(await call()).to.equal('service-token-first');
      const undo = skipTime(601_000);
      try {
        expect(await call()).to.equal('service-token-renewed');
      } finally {
        undo();
      }
      const texts = seen.map((each) => JSON.stringify(each));
      expect(texts.filter((text) => text.includes('"keep"'))).to.have.length(2);
      expect(texts.join()).not.to.contain('service-token');
    });
});

describe('a sealed token', () => {
  it('is taken once, through the door that sealed it, and shows only its lifetime', () => {
    const [door, other] = [new TokenDoor(), new TokenDoor()];
    const bearer = { value: 'secret', lifetimeMs: 5, isAssumed: false };
    const sealed = door.seal(bearer);
    expect(JSON.stringify(sealed)).to.equal('{"lifetimeMs":5}');
    expect([other.takeToken(sealed), door.takeToken({ lifetimeMs: 5 })]).to.deep.equal([
      undefined,
      undefined,
    ]);
    expect([door.takeToken(sealed), door.takeToken(sealed)]).to.deep.equal([bearer, undefined]);
  });
});
