// Upload slots, which all files share: their number, and which file gets the next slot.

import { expect } from '@open-wc/testing';
import { Host } from '../../../src/core/host.ts';
import { type SlotUser, UploadSlots } from '../../../src/engine/transfer/upload-slots.ts';
import type { UploadSlot } from '../../../src/pipeline/upload.ts';
import { type Clock, stopClock } from '../../support/clock.ts';
import { rejection, settled } from '../../support/collect.ts';
import { listenersOf } from '../../support/listeners.ts';

const forever = new AbortController().signal;

/** Returns slots, and an origin that uses them. */
const createSlots = (concurrency: number | 'auto'): { slots: UploadSlots; host: Host } => ({
  slots: new UploadSlots(concurrency),
  host: new Host(),
});

const userOf = (slotOrder: number): SlotUser => ({ slotOrder, usedSlotMs: 0 });

/** Requests a slot. Adds the order of the user to `given` when the slot is granted. */
function asking({ slots, host }: ReturnType<typeof createSlots>, user: SlotUser, given: number[] = []) {
  return slots.acquireSlot(host, user, forever, 0).then((slot) => {
    given.push(user.slotOrder);
    return slot;
  });
}

describe('slots', () => {
  it('are as many as the page set, whatever happens on the connection', async () => {
    const origin = createSlots(2);
    origin.slots.slowDown(origin.host, 1);
    const given: number[] = [];
    const [first] = await Promise.all([asking(origin, userOf(1), given), asking(origin, userOf(2), given)]);
    void asking(origin, userOf(3), given);
    await settled();
    expect(given).to.deep.equal([1, 2]);
    first?.release();
    await settled();
    expect(given).to.deep.equal([1, 2, 3]);
  });

  it('go to the file that started first, or was prioritized since', async () => {
    const origin = createSlots(1);
    const given: number[] = [];
    const late = { slotOrder: 9, usedSlotMs: 0 };
    const held = await asking(origin, userOf(0));
    void asking(origin, userOf(5), given).then((slot) => slot.release());
    void asking(origin, late, given).then((slot) => slot.release());
    void asking(origin, userOf(3), given).then((slot) => slot.release());
    late.slotOrder = -1;
    held.release();
    await settled();
    expect(given).to.deep.equal([-1, 3, 5]);
  });

  it('go to the chunks of a file in their order', async () => {
    const { slots, host } = createSlots(1);
    const [first, second] = [userOf(1), userOf(2)];
    const held = await slots.acquireSlot(host, first, forever, 0);
    const given: string[] = [];
    for (const [user, index] of [
      [second, 0],
      [first, 7],
      [first, 3],
      [second, 2],
      [second, 1],
    ] as const)
      void slots.acquireSlot(host, user, forever, index).then((slot) => {
        given.push(`${user.slotOrder}.${index}`);
        slot.release();
      });
    held.release();
    await settled();
    expect(given).to.deep.equal(['1.3', '1.7', '2.0', '2.1', '2.2']);
  });

  it('are more if many PUTs share one connection, unless the page set a number', async () => {
    for (const [concurrency, most] of [
      ['auto', 12],
      [3, 3],
    ] as const) {
      const { slots, host } = createSlots(concurrency);
      await asking({ slots, host }, userOf(1));
      host.isMultiplexed = true;
      expect(slots.maxSlots).to.equal(most);
    }
    const fast = createSlots('auto');
    const slot = await asking(fast, userOf(1));
    for (let count = 0; count < 20; count += 1) slot.onStored();
    expect(fast.slots.limit).to.equal(6);
    fast.host.isMultiplexed = true;
    for (let count = 0; count < 20; count += 1) slot.onStored();
    expect(fast.slots.limit).to.equal(12);
  });

  it('are reset by a different setting, and unchanged by the same one', async () => {
    const origin = createSlots('auto');
    const { slots } = origin;
    const given: number[] = [];
    const first = await asking(origin, userOf(1), given);
    expect([slots.limit, slots.maxSlots]).to.deep.equal([2, 6]);
    for (let count = 0; count < 20; count += 1) first.onStored();
    slots.configure('auto');
    expect(slots.limit).to.equal(6);
    slots.configure(1);
    expect([slots.limit, slots.maxSlots]).to.deep.equal([1, 1]);
    for (const order of [2, 3]) void asking(origin, userOf(order), given);
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
    /** Returns the uploads that have slots after `act`, of as many as ask. */
    const givenAfter = async (
      askingCount: number,
      act: (slot: UploadSlot, host: Host) => void,
    ): Promise<number[]> => {
      const origin = createSlots('auto');
      const given: number[] = [];
      const first = asking(origin, userOf(1), given);
      for (let order = 2; order <= askingCount; order += 1) void asking(origin, userOf(order), given);
      const slot = await first;
      await settled();
      expect(given).to.deep.equal([1, 2]);
      act(slot, origin.host);
      await settled();
      return given;
    };
    expect(await givenAfter(3, (slot) => slot.onStored())).to.deep.equal([1, 2, 3]);
    // More bytes at once than buffers hold, so the connection is fast.
    expect(await givenAfter(8, (slot) => slot.onSent(2 ** 24))).to.deep.equal([1, 2, 3, 4, 5, 6]);
    const given = await givenAfter(8, (slot, host) => {
      slot.onSent(2 ** 24);
      host.isMultiplexed = true;
      slot.onStored();
    });
    expect(given).to.have.length(8);
  });

  it('leave no listener on a signal', async () => {
    const { slots, host } = createSlots(1);
    const { signal, count } = listenersOf(new AbortController().signal);
    const slot = await slots.acquireSlot(host, userOf(0), signal, 0);
    expect(count()).to.equal(0);
    const waiting = slots.acquireSlot(host, userOf(1), signal, 0);
    expect(count()).to.equal(1);
    slot.release();
    await waiting;
    expect(count()).to.equal(0);
  });

  it('note which uploads wait for them, and when an upload last used one', async () => {
    const origin = createSlots(1);
    const [first, second] = [userOf(1), userOf(2)];
    const slot = await asking(origin, first);
    const expectUse = (): void => {
      expect(first.usedSlotMs).to.be.within(1, performance.now());
      first.usedSlotMs = 0;
    };
    expectUse();
    const next = asking(origin, second);
    expect([...origin.slots.waitingUsers]).to.deep.equal([second]);
    slot.onSent(10);
    expectUse();
    slot.onSent(10);
    slot.onSent(0);
    expect(first.usedSlotMs).to.equal(0);
    slot.release();
    await next;
    expect(origin.slots.waitingUsers.size).to.equal(0);
    expectUse();
  });

  it('are released once even if released twice', async () => {
    const origin = createSlots(1);
    const given: number[] = [];
    const slot = await asking(origin, userOf(0));
    slot.release();
    slot.release();
    await asking(origin, userOf(1), given);
    void asking(origin, userOf(2), given);
    await settled();
    expect(given).to.deep.equal([1]);
  });

  it('are not granted to a request that left the queue', async () => {
    const origin = createSlots(1);
    const { slots, host } = origin;
    const controller = new AbortController();
    const held = await asking(origin, userOf(0));
    const waiting = slots.acquireSlot(host, userOf(1), controller.signal, 0);
    controller.abort('canceled');
    expect(await rejection(waiting)).to.equal('canceled');
    held.release();
    expect(slots.waitingUsers.size).to.equal(0);
    const given: number[] = [];
    await asking(origin, userOf(2), given);
    expect(given).to.deep.equal([2]);
    expect(await rejection(slots.acquireSlot(host, userOf(1), controller.signal, 0))).to.equal('canceled');
  });

  it('are fewer when the connection is overloaded, and never zero', async () => {
    const { slots, host } = createSlots('auto');
    await asking({ slots, host }, userOf(1));
    for (let count = 0; count < 10; count += 1) slots.slowDown(host, 1);
    expect(slots.limit).to.equal(1);
  });
});

describe('slots of several origins', () => {
  let clock: Clock;
  beforeEach(() => {
    clock = stopClock();
  });
  afterEach(() => clock.restore());

  it('are together as many as one origin has, while their PUTs move', async () => {
    const slots = new UploadSlots(2);
    const [one, other] = [new Host(), new Host()];
    const given: number[] = [];
    const first = await asking({ slots, host: one }, userOf(1), given);
    await asking({ slots, host: other }, userOf(2), given);
    for (const host of [one, other]) void asking({ slots, host }, userOf(3), given);
    for (let second = 1; second < 6; second += 1) {
      await clock.pass(1000);
      first.onSent(second);
      await settled();
    }
    expect(given.slice(0, 3)).to.deep.equal([1, 2, 3]);
    expect(given).to.have.length(3);
  });

  it('are left to the others after two seconds without a sign of life, and count for their own origin', async () => {
    const slots = new UploadSlots(2);
    const [silent, healthy] = [new Host(), new Host()];
    const given: number[] = [];
    const held = [1, 2].map((order) => asking({ slots, host: silent }, userOf(order), given));
    await Promise.all(held);
    void asking({ slots, host: silent }, userOf(3), given);
    for (const order of [4, 5, 6]) void asking({ slots, host: healthy }, userOf(order), given);
    await clock.pass(1999);
    expect(given).to.deep.equal([1, 2]);
    await clock.pass(1);
    expect(given).to.deep.equal([1, 2, 4, 5]);
    await clock.pass(600_000);
    (await held[0])?.release();
    await settled();
    expect(given).to.deep.equal([1, 2, 4, 5, 3, 6].slice(0, given.length));
    expect(given).to.include(3);
    expect(clock.timerCount).to.be.at.most(1);
  });

  it('are at most four times as many, however many origins are silent', async () => {
    const slots = new UploadSlots(2);
    const given: number[] = [];
    for (let order = 1; order <= 40; order += 1)
      void asking({ slots, host: new Host() }, userOf(order), given);
    for (let second = 0; second < 60; second += 1) await clock.pass(1000);
    expect(given).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('are halved for the origin that is overloaded', async () => {
    const slots = new UploadSlots('auto');
    const [slow, quick] = [new Host(), new Host()];
    const slot = await asking({ slots, host: quick }, userOf(1));
    for (let count = 0; count < 20; count += 1) slot.onStored();
    slot.release();
    for (let count = 0; count < 4; count += 1) slots.slowDown(slow, count + 1);
    const given: number[] = [];
    for (const host of [slow, quick])
      for (let count = 0; count < 3; count += 1)
        void asking({ slots, host }, userOf(host === slow ? 1 : 2), given);
    await settled();
    expect(given).to.deep.equal([1, 2, 2, 2]);
  });
});
