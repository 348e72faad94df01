// Upload slots, which all files share: their number, and which file gets the next slot.

import { expect } from '@open-wc/testing';
import { type SlotUser, UploadSlots } from '../../../src/engine/transfer/upload-slots.ts';
import { rejection, settled } from '../../support/collect.ts';
import { listenersOf } from '../../support/listeners.ts';

const forever = new AbortController().signal;

const userOf = (order: number): SlotUser => ({ order, usedSlotMs: 0 });

/** Requests a slot. Adds the order of the user to `given` when the slot is granted. */
function asking(slots: UploadSlots, user: SlotUser, given: number[]) {
  return slots.acquireSlot(user, forever).then((slot) => {
    given.push(user.order);
    return slot;
  });
}

describe('slots', () => {
  it('are as many as the page set, whatever happens on the connection', async () => {
    const slots = new UploadSlots(2);
    slots.slowDown(1);
    const given: number[] = [];
    const [first] = await Promise.all([asking(slots, userOf(1), given), asking(slots, userOf(2), given)]);
    void asking(slots, userOf(3), given);
    await settled();
    expect(given).to.deep.equal([1, 2]);
    first?.release();
    await settled();
    expect(given).to.deep.equal([1, 2, 3]);
  });

  it('go to the file that started first, or was prioritized since', async () => {
    const slots = new UploadSlots(1);
    const given: number[] = [];
    const late = { order: 9, usedSlotMs: 0 };
    const held = await slots.acquireSlot(userOf(0), forever);
    void asking(slots, userOf(5), given).then((slot) => slot.release());
    void asking(slots, late, given).then((slot) => slot.release());
    void asking(slots, userOf(3), given).then((slot) => slot.release());
    late.order = -1;
    held.release();
    await settled();
    expect(given).to.deep.equal([-1, 3, 5]);
  });

  it('are more if many PUTs share one connection, unless the page set a number', () => {
    for (const [concurrency, most] of [
      ['auto', 12],
      [3, 3],
    ] as const) {
      const slots = new UploadSlots(concurrency);
      slots.allowMultiplexed();
      expect(slots.maxSlots).to.equal(most);
    }
    const fast = new UploadSlots('auto');
    for (let at = 0; at < 20; at += 1) fast.onChunkStored(100);
    expect(fast.limit).to.equal(6);
    fast.allowMultiplexed();
    fast.onChunkStored(100);
    expect(fast.limit).to.be.greaterThan(6);
  });

  it('are reset by a different setting, and unchanged by the same one', async () => {
    const slots = new UploadSlots('auto');
    expect([slots.limit, slots.maxSlots]).to.deep.equal([2, 6]);
    for (let at = 0; at < 20; at += 1) slots.onChunkStored(100);
    slots.configure('auto');
    expect(slots.limit).to.equal(6);
    slots.configure(1);
    expect([slots.limit, slots.maxSlots]).to.deep.equal([1, 1]);
    const given: number[] = [];
    const first = await asking(slots, userOf(1), given);
    for (const order of [2, 3]) void asking(slots, userOf(order), given);
    await settled();
    expect(given).to.deep.equal([1]);
    slots.configure(2);
    await settled();
    expect(given).to.deep.equal([1, 2]);
    slots.configure('auto');
    expect([slots.limit, slots.maxSlots]).to.deep.equal([2, 6]);
    first.release();
    await settled();
    expect(given).to.deep.equal([1, 2, 3]);
  });

  it('are granted to waiting requests as soon as there are more', async () => {
    const given: number[] = [];
    const quick = new UploadSlots('auto');
    for (const order of [1, 2, 3]) void asking(quick, userOf(order), given);
    await settled();
    expect(given).to.deep.equal([1, 2]);
    quick.onChunkStored(100);
    await settled();
    expect(given).to.deep.equal([1, 2, 3]);
    const fast = new UploadSlots('auto');
    given.length = 0;
    for (const order of [1, 2, 3]) void asking(fast, userOf(order), given);
    await settled();
    // More bytes at once than buffers hold, so the connection is fast.
    fast.onBytesSent(2 ** 23);
    await settled();
    expect([given, fast.limit]).to.deep.equal([[1, 2, 3], 6]);
    const many = new UploadSlots('auto');
    given.length = 0;
    for (let order = 1; order <= 8; order += 1) void asking(many, userOf(order), given);
    many.onBytesSent(2 ** 24);
    await settled();
    expect(given).to.have.length(6);
    many.allowMultiplexed();
    await settled();
    expect(given).to.have.length(8);
  });

  it('leave no listener on a signal', async () => {
    const slots = new UploadSlots(1);
    const { signal, count } = listenersOf(new AbortController().signal);
    const slot = await slots.acquireSlot(userOf(0), signal);
    expect(count()).to.equal(0);
    const waiting = slots.acquireSlot(userOf(1), signal);
    expect(count()).to.equal(1);
    slot.release();
    await waiting;
    expect(count()).to.equal(0);
  });

  it('note which uploads wait for them, and when an upload last used one', async () => {
    const slots = new UploadSlots(1);
    const [first, second] = [userOf(1), userOf(2)];
    const slot = await slots.acquireSlot(first, forever);
    expect(first.usedSlotMs).to.be.within(1, performance.now());
    const next = slots.acquireSlot(second, forever);
    expect([...slots.waitingUsers]).to.deep.equal([second]);
    first.usedSlotMs = 0;
    slot.release();
    await next;
    expect(slots.waitingUsers.size).to.equal(0);
    expect(first.usedSlotMs).to.be.within(1, performance.now());
  });

  it('are released once even if released twice', async () => {
    const slots = new UploadSlots(1);
    const given: number[] = [];
    const slot = await slots.acquireSlot(userOf(0), forever);
    slot.release();
    slot.release();
    await asking(slots, userOf(1), given);
    void asking(slots, userOf(2), given);
    await settled();
    expect(given).to.deep.equal([1]);
  });

  it('are not granted to a request that left the queue', async () => {
    const slots = new UploadSlots(1);
    const controller = new AbortController();
    const held = await slots.acquireSlot(userOf(0), forever);
    const waiting = slots.acquireSlot(userOf(1), controller.signal);
    controller.abort('canceled');
    expect(await rejection(waiting)).to.equal('canceled');
    held.release();
    expect(slots.waitingUsers.size).to.equal(0);
    const given: number[] = [];
    await asking(slots, userOf(2), given);
    expect(given).to.deep.equal([2]);
    expect(await rejection(slots.acquireSlot(userOf(1), controller.signal))).to.equal('canceled');
  });

  it('are fewer when the connection is overloaded, and never zero', () => {
    const slots = new UploadSlots('auto');
    for (let count = 0; count < 10; count += 1) slots.slowDown(1);
    expect(slots.limit).to.equal(1);
  });
});
