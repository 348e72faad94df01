// The sign-in window of a session: opened by a click, focused by the next one, and left to the user when the session ends.

import { expect } from '@open-wc/testing';
import { sleep } from '../../src/core/wait.ts';
import { settled } from '../support/collect.ts';
import { closeAll, forever, open } from './open-session.ts';
import { signInReaches } from './scripted.ts';

const { open: openWindow } = window;
let opened: { closed: boolean; focusCount: number }[] = [];

beforeEach(() => {
  opened = [];
  window.open = () => {
    const own = {
      closed: false,
      focusCount: 0,
      close: () => {
        own.closed = true;
      },
      focus: () => {
        own.focusCount += 1;
      },
      location: { replace: () => undefined },
    };
    opened.push(own);
    return own as unknown as Window;
  };
});
afterEach(() => {
  closeAll();
  window.open = openWindow;
});

const seen = (): unknown[] => opened.map(({ closed, focusCount }) => ({ closed, focusCount }));

describe('the window of a session', () => {
  it('is opened by the first click, and brought to the front by the next', async () => {
    const own = open({ auth: 'popup' });
    own.session.signIn();
    await signInReaches(own, 'popup');
    own.session.signIn();
    expect(seen()).to.deep.equal([{ closed: false, focusCount: 1 }]);
    own.session.cancel();
    own.session.signIn();
    await settled();
    expect(seen().at(-1)).to.deep.equal({ closed: false, focusCount: 0 });
    expect(opened).to.have.length(2);
  });

  it('stays open when the session ends, because the user may be typing', async () => {
    const own = open({ auth: 'popup' });
    own.session.signIn();
    await signInReaches(own, 'popup');
    const ended = new Promise<void>((resolve) => own.session.subscribe(resolve));
    own.session.close();
    await ended;
    await sleep(0, forever);
    await settled();
    expect(own.session.snapshot.state).to.equal('signed-out');
    expect(seen()).to.deep.equal([{ closed: false, focusCount: 0 }]);
  });
});
