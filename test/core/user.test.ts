// Whose data something is, and when the user has changed. Other pages of the origin are frames, whose changes of the storage this
// page gets as events.

import { expect } from '@open-wc/testing';
import { CurrentUser, endPeriod, type Mark, readMark, type UserChange } from '../../src/core/user.ts';
import { settled, until } from '../support/collect.ts';
import {
  clearElsewhere,
  inCache,
  signOutElsewhere,
  signOutUnnoticed,
  whileFrozen,
} from '../support/other-page.ts';
import { replace } from '../support/world.ts';

type Told = UserChange | 'unsure';

const opened: CurrentUser[] = [];

/** Returns a connected user, and what it has reported. */
function open(owner = ''): { readonly user: CurrentUser; readonly told: Told[] } {
  const user = new CurrentUser(owner);
  const told: Told[] = [];
  user.onChange((change) => told.push(change));
  user.onUnsure(() => told.push('unsure'));
  user.connect();
  opened.push(user);
  return { user, told };
}

const elsewhere = { type: 'signed-out', isHere: false } as const;
const here = { type: 'signed-out', isHere: true } as const;

const markOf = (user: CurrentUser): Mark => {
  const mark = user.mark();
  if (!mark) throw new Error('there is no storage');
  return mark;
};

afterEach(() => {
  for (const user of opened.splice(0)) user.disconnect();
  localStorage.clear();
});

describe('the user', () => {
  it('stays the same when the page names an owner late, and changes with each other owner', () => {
    const { user, told } = open();
    for (const owner of ['ann', 'ann', 'bob', '', 'bob']) user.owner = owner;
    expect(told).to.deep.equal([{ type: 'owner' }, { type: 'owner' }]);
  });

  it('changes for all of the page when one signs out in it, each time', () => {
    const all = [open('ann'), open('bob')];
    endPeriod();
    endPeriod();
    for (const { told } of all) expect(told).to.deep.equal([here, here]);
  });

  it('changes, once, when another page signs out', async () => {
    const { told } = open();
    signOutElsewhere();
    await until(() => told.length > 0);
    inCache(() => undefined);
    whileFrozen(() => undefined);
    expect(told).to.deep.equal([elsewhere]);
  });

  it('changes if another page has signed out while this one was in the back/forward cache', async () => {
    const { told } = open();
    inCache(() => undefined);
    expect(told).to.deep.equal([]);
    inCache(signOutUnnoticed);
    expect(told).to.deep.equal([elsewhere]);
  });

  it('changes if the storage was cleared while this page was in the back/forward cache', async () => {
    const { told } = open();
    inCache(() => localStorage.clear());
    expect(told).to.deep.equal([elsewhere]);
  });

  it('changes if another page has signed out while this one was frozen', async () => {
    const { told } = open();
    whileFrozen(() => undefined);
    expect(told).to.deep.equal([]);
    whileFrozen(signOutUnnoticed);
    expect(told).to.deep.equal([elsewhere]);
  });

  it('changes if another page has signed out while an element was not in the page', async () => {
    for (const [leave, change] of [
      [signOutUnnoticed, [elsewhere]],
      [endPeriod, [elsewhere]],
      [() => undefined, []],
    ] as const) {
      const { user, told } = open();
      user.disconnect();
      leave();
      await settled();
      expect(told).to.deep.equal([]);
      user.connect();
      expect(told).to.deep.equal(change);
    }
  });

  it('is unsure when another page clears the storage, and changes if one then signs out', async () => {
    const { told } = open();
    clearElsewhere();
    await until(() => told.length > 0);
    expect(told).to.deep.equal(['unsure']);
    signOutElsewhere();
    await until(() => told.length > 1);
    expect(told).to.deep.equal(['unsure', elsewhere]);
  });

  it('changes without a storage, by a message of the other tab', async () => {
    replace(globalThis, 'localStorage' as never, undefined);
    const { told } = open();
    inCache(() => undefined);
    expect(told).to.deep.equal([]);
    const tab = new BroadcastChannel('secure-uploader:sign-out');
    tab.postMessage('signed-out');
    await until(() => told.length > 0);
    expect(told).to.deep.equal([elsewhere]);
    tab.close();
  });

  it('does not change when a page gets a message before the storage has changed', async () => {
    const { told } = open();
    const tab = new BroadcastChannel('secure-uploader:sign-out');
    tab.postMessage('signed-out');
    await settled();
    expect(told).to.deep.equal([]);
    tab.close();
  });
});

describe('data with a mark', () => {
  const sameOwner = { ann: 'yes', bob: 'no', '': 'later' } as const;
  for (const [owner, expected] of Object.entries(sameOwner))
    it(`of ann: is it that of "${owner}"? ${expected}`, () => {
      expect(open(owner).user.owns(markOf(open('ann').user))).to.equal(expected);
    });

  it('without an owner is only that of a page without an owner', () => {
    const mark = markOf(open().user);
    expect([open().user.owns(mark), open('ann').user.owns(mark)]).to.deep.equal(['yes', 'no']);
  });

  for (const [what, leave] of [
    ['a sign-out', endPeriod],
    ['a sign-out in another page', signOutUnnoticed],
    ['the storage is cleared', () => localStorage.clear()],
  ] as const)
    it(`is that of no user after ${what}, also when the next user has started`, () => {
      const { user } = open('ann');
      const mark = markOf(user);
      leave();
      expect(user.owns(mark)).to.equal('no');
      user.mark();
      expect(user.owns(mark)).to.equal('no');
      expect(user.owns(markOf(user))).to.equal('yes');
    });

  it('does not exist without a storage, nor is old data used', () => {
    const { user } = open();
    const mark = markOf(user);
    const { setItem } = Storage.prototype;
    localStorage.clear();
    replace(Storage.prototype, 'setItem', () => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    expect([user.mark(), user.owns(mark)]).to.deep.equal([undefined, 'no']);
    replace(Storage.prototype, 'setItem', setItem);
  });

  it('is from before a sign-out, or not', () => {
    const { user } = open();
    const mark = markOf(user);
    expect(user.hasSignedOutSince(mark)).to.equal(false);
    localStorage.clear();
    expect(user.hasSignedOutSince(mark), 'a cleared storage is no sign-out').to.equal(false);
    endPeriod();
    expect(user.hasSignedOutSince(mark)).to.equal(true);
  });

  it('is read only if it has both parts', () => {
    for (const value of [undefined, null, 7, {}, { owner: '' }, { owner: 1, period: 'p' }, { period: 'p' }])
      expect(readMark(value)).to.equal(undefined);
    expect(readMark({ owner: '', period: 'p', more: 1 })).to.deep.equal({ owner: '', period: 'p' });
  });
});
