// Upload slots, which all files share: their number, and which file gets the next slot.

import { expect } from '@open-wc/testing';
import { UploadSlots } from '../../../src/engine/transfer/upload-slots.ts';
import { rejection, settled } from '../../support/collect.ts';
import { listenersOf } from '../../support/listeners.ts';

const forever = new AbortController().signal;

/** Requests a slot. Adds `order()` to `given` when the slot is granted. */
function asking(slots: UploadSlots, order: () => number, given: number[]) {
  return slots.acquireSlot(order, forever).then((slot) => {
    given.push(order());
    return slot;
  });
}

describe('slots', () => {
  it('are as many as the page set, whatever happens on the connection', async () => {
    const slots = new UploadSlots(2);
    slots.slowDown(1);
    const given: number[] = [];
    const [first] = await Promise.all([asking(slots, () => 1, given), asking(slots, () => 2, given)]);
    void asking(slots, () => 3, given);
    await settled();
    expect(given).to.deep.equal([1, 2]);
    expect(slots.hasIdleSlot).to.equal(false);
    first?.release();
    await settled();
    expect(given).to.deep.equal([1, 2, 3]);
  });

  it('go to the file that started first, or was prioritized since', async () => {
    const slots = new UploadSlots(1);
    const given: number[] = [];
    const orders = { late: 9 };
    const held = await slots.acquireSlot(() => 0, forever);
    void asking(slots, () => 5, given).then((slot) => slot.release());
    void asking(slots, () => orders.late, given).then((slot) => slot.release());
    void asking(slots, () => 3, given).then((slot) => slot.release());
    orders.late = -1;
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
    expect([slots.limit, slots.maxSlots, slots.grantedCount]).to.deep.equal([2, 6, 0]);
    for (let at = 0; at < 20; at += 1) slots.onChunkStored(100);
    slots.configure('auto');
    expect(slots.limit).to.equal(6);
    slots.configure(1);
    expect([slots.limit, slots.maxSlots]).to.deep.equal([1, 1]);
    const given: number[] = [];
    const first = await asking(slots, () => 1, given);
    for (const order of [2, 3]) void asking(slots, () => order, given);
    await settled();
    expect(given).to.deep.equal([1]);
    slots.configure(2);
    await settled();
    expect(given).to.deep.equal([1, 2]);
    slots.configure('auto');
    expect([slots.limit, slots.maxSlots, slots.grantedCount]).to.deep.equal([2, 6, 2]);
    first.release();
    await settled();
    expect(slots.grantedCount).to.equal(3);
  });

  it('are granted to waiting requests as soon as there are more', async () => {
    const given: number[] = [];
    const quick = new UploadSlots('auto');
    for (const order of [1, 2, 3]) void asking(quick, () => order, given);
    await settled();
    expect(given).to.deep.equal([1, 2]);
    quick.onChunkStored(100);
    await settled();
    expect(given).to.deep.equal([1, 2, 3]);
    const fast = new UploadSlots('auto');
    given.length = 0;
    for (const order of [1, 2, 3]) void asking(fast, () => order, given);
    await settled();
    // More bytes at once than buffers hold, so the connection is fast.
    fast.onBytesSent(2 ** 23);
    await settled();
    expect([given, fast.limit]).to.deep.equal([[1, 2, 3], 6]);
    const many = new UploadSlots('auto');
    given.length = 0;
    for (let order = 1; order <= 8; order += 1) void asking(many, () => order, given);
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
    const slot = await slots.acquireSlot(() => 0, signal);
    expect(count()).to.equal(0);
    const waiting = slots.acquireSlot(() => 1, signal);
    expect(count()).to.equal(1);
    slot.release();
    await waiting;
    expect(count()).to.equal(0);
  });

  it('are released once even if released twice', async () => {
    const slots = new UploadSlots(1);
    const given: number[] = [];
    const slot = await slots.acquireSlot(() => 0, forever);
    slot.release();
    slot.release();
    await asking(slots, () => 1, given);
    void asking(slots, () => 2, given);
    await settled();
    expect(given).to.deep.equal([1]);
  });

  it('are not granted to a request that left the queue', async () => {
    const slots = new UploadSlots(1);
    const controller = new AbortController();
    const held = await slots.acquireSlot(() => 0, forever);
    const waiting = slots.acquireSlot(() => 1, controller.signal);
    controller.abort('canceled');
    expect(await rejection(waiting)).to.equal('canceled');
    held.release();
    expect(slots.hasIdleSlot).to.equal(true);
    expect(await rejection(slots.acquireSlot(() => 1, controller.signal))).to.equal('canceled');
  });

  it('are fewer when the connection is overloaded, and never zero', () => {
    const slots = new UploadSlots('auto');
    for (let count = 0; count < 10; count += 1) slots.slowDown(1);
    expect(slots.limit).to.equal(1);
  });
});
