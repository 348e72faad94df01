// Whose data something is, and when the user has changed. Other pages of the origin are frames, whose changes of the storage this
// page gets as events.

import { expect } from '@open-wc/testing';
import {
  CurrentUser,
  currentPeriod,
  endPeriod,
  type Mark,
  readMark,
  type UserChange,
} from '../../src/core/user.ts';
import { quietFor, settled, until } from '../support/collect.ts';
import {
  clearElsewhere,
  inCache,
  signOutAndClearElsewhere,
  signOutAndClearUnnoticed,
  signOutByMessage,
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

  it('changes if another page has signed out and cleared the storage while this one was frozen', () => {
    const { told } = open();
    whileFrozen(signOutAndClearUnnoticed);
    expect(told).to.deep.equal([elsewhere]);
  });

  it('changes, once, when another page signs out and clears the storage in the same task', async () => {
    const { told } = open();
    for (const count of [1, 2]) {
      signOutAndClearElsewhere();
      await until(() => told.length >= count);
      await until(quietFor(200, () => told.length));
      expect(told.filter((change) => change !== 'unsure')).to.deep.equal(Array(count).fill(elsewhere));
    }
  });

  it('changes, once, when the message of another page comes before its change of the storage', async () => {
    const { user, told } = open();
    const store = signOutByMessage();
    await until(() => told.length > 0);
    expect(told).to.deep.equal([elsewhere]);
    const noticed = new Promise((resolve) => addEventListener('storage', resolve, { once: true }));
    store();
    await noticed;
    user.look();
    expect(told).to.deep.equal([elsewhere]);
  });

  for (const [what, leave, change] of [
    ['another page has signed out', signOutUnnoticed, [elsewhere]],
    ['another page has signed out and cleared the storage', signOutAndClearUnnoticed, [elsewhere]],
    ['no user has signed out', () => undefined, []],
  ] as const)
    for (const how of ['connect', 'look'] as const)
      it(`of an element that is not in the page ${change.length > 0 ? 'changes' : 'stays'} with "${how}" if ${what}`, async () => {
        const { user, told } = open();
        user.disconnect();
        leave();
        await settled();
        expect(told).to.deep.equal([]);
        user[how]();
        user[how]();
        expect(told).to.deep.equal(change);
        user.connect();
        expect(told).to.deep.equal(change);
      });

  for (const [what, others] of [
    ['alone', 0],
    ['with another element in it', 1],
  ] as const)
    it(`of an element that is not in the page (${what}) changes at once, and once, when one signs out in it`, () => {
      const { user, told } = open();
      user.disconnect();
      for (let count = 0; count < others; count += 1) open();
      endPeriod();
      expect(told).to.deep.equal([here]);
      user.connect();
      expect(told).to.deep.equal([here]);
    });

  it('of an element that was never in the page changes, too', () => {
    const told: Told[] = [];
    const user = new CurrentUser();
    user.onChange((change) => told.push(change));
    endPeriod();
    user.look();
    user.connect();
    opened.push(user);
    expect(told).to.deep.equal([here]);
  });

  it('has no more changes after it is closed', () => {
    const { user, told } = open();
    user.close();
    endPeriod();
    expect(told).to.deep.equal([]);
  });

  it('changes once if the sign-out of a period is repeated when the period is over', () => {
    const { told } = open();
    const period = currentPeriod();
    endPeriod(period);
    const next = currentPeriod();
    endPeriod(period);
    expect([told, currentPeriod()]).to.deep.equal([[here], next]);
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
    // Two tabs that do not know of each other.
    for (const [at, period] of ['1-of-a-tab', '1-of-another-tab'].entries()) {
      tab.postMessage(period);
      tab.postMessage(period);
      await until(() => told.length > at);
      await settled();
      expect(told).to.deep.equal(Array(at + 1).fill(elsewhere));
    }
    tab.close();
  });

  it('does not change with messages that are no period of a sign-out', async () => {
    const { told } = open();
    const tab = new BroadcastChannel('secure-uploader:sign-out');
    for (const data of ['signed-out', '', null, { period: '9-x' }, '9+of-a-cleared-storage'])
      tab.postMessage(data);
    await until(quietFor(100, () => told.length));
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

  it('is that of no user after a sign-out with a full storage, also in pages that are loaded later', () => {
    const { user } = open();
    const mark = markOf(user);
    const { setItem } = Storage.prototype;
    replace(Storage.prototype, 'setItem', () => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    endPeriod();
    replace(Storage.prototype, 'setItem', setItem);
    expect(localStorage.getItem('secure-uploader:period')).to.equal(null);
    expect([user.owns(mark), user.hasSignedOutSince(mark)]).to.deep.equal(['no', true]);
    user.mark();
    expect([user.owns(mark), user.hasSignedOutSince(mark)]).to.deep.equal(['no', true]);
  });

  it('is from before a sign-out, also if the page then clears the storage', () => {
    const { user } = open();
    const mark = markOf(user);
    endPeriod();
    localStorage.clear();
    expect(user.hasSignedOutSince(mark)).to.equal(true);
    user.mark();
    expect(user.hasSignedOutSince(mark)).to.equal(true);
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
