// Lanes that all files share: how many, and who is next.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { Lanes } from '../../src/engine/lanes.ts';
import { fileOf } from '../support/bytes.ts';
import { rejection, settled } from '../support/collect.ts';
import { closeEngines, TestEngine } from '../support/engine.ts';

afterEach(closeEngines);

const forever = new AbortController().signal;

/** Asks for a lane, and tells when it was given. */
function asking(lanes: Lanes, order: () => number, given: number[]) {
  return lanes.acquire(order, forever).then((lane) => {
    given.push(order());
    return lane;
  });
}

describe('lanes', () => {
  it('are as many as the page set, whatever happens on the line', async () => {
    const lanes = new Lanes(2);
    lanes.slowDown();
    const given: number[] = [];
    const [first] = await Promise.all([asking(lanes, () => 1, given), asking(lanes, () => 2, given)]);
    void asking(lanes, () => 3, given);
    await settled();
    expect(given).to.deep.equal([1, 2]);
    expect(lanes.hasIdle).to.equal(false);
    first?.release();
    await settled();
    expect(given).to.deep.equal([1, 2, 3]);
  });

  it('go to the file that began first, or was put first since', async () => {
    const lanes = new Lanes(1);
    const given: number[] = [];
    const orders = { late: 9 };
    const held = await lanes.acquire(() => 0, forever);
    void asking(lanes, () => 5, given).then((lane) => lane.release());
    void asking(lanes, () => orders.late, given).then((lane) => lane.release());
    void asking(lanes, () => 3, given).then((lane) => lane.release());
    orders.late = -1;
    held.release();
    await settled();
    expect(given).to.deep.equal([-1, 3, 5]);
  });

  it('are fewer for all files when the storage asks one of them for patience', async () => {
    const engine = new TestEngine({ concurrency: 'auto' });
    const { service, uploader } = engine;
    service.answerAll('open', 'presign', 'commit');
    await uploader.addFiles([fileOf(1, 4500, 'a.bin'), fileOf(2, 4500, 'b.bin')]);
    const [first, second] = [await service.nextRequest('put'), await service.nextRequest('put')];
    first.refuse(new UploaderError('rate-limited', 'slow down', { status: 429 }));
    second.answer();
    const third = await service.nextRequest('put');
    await engine.hears('chunk-uploaded');
    service.mostPuts = 0;
    third.answer();
    service.answerAll();
    await engine.hears('upload-completed', 2);
    expect(service.mostPuts).to.equal(1);
  });

  it('are more where many PUTs share one connection, unless the page set a number', () => {
    for (const [concurrency, most] of [
      ['auto', 12],
      [3, 3],
    ] as const) {
      const lanes = new Lanes(concurrency);
      lanes.multiplex();
      expect(lanes.most).to.equal(most);
    }
    const fast = new Lanes('auto');
    for (let at = 0; at < 20; at += 1) fast.onStored(100);
    expect(fast.limit).to.equal(6);
    fast.multiplex();
    fast.onStored(100);
    expect(fast.limit).to.be.greaterThan(6);
  });

  it('given back twice are given back once', async () => {
    const lanes = new Lanes(1);
    const given: number[] = [];
    const lane = await lanes.acquire(() => 0, forever);
    lane.release();
    lane.release();
    await asking(lanes, () => 1, given);
    void asking(lanes, () => 2, given);
    await settled();
    expect(given).to.deep.equal([1]);
  });

  it('are not given to whoever has left the queue', async () => {
    const lanes = new Lanes(1);
    const controller = new AbortController();
    const held = await lanes.acquire(() => 0, forever);
    const waiting = lanes.acquire(() => 1, controller.signal);
    controller.abort('canceled');
    expect(await rejection(waiting)).to.equal('canceled');
    held.release();
    expect(lanes.hasIdle).to.equal(true);
    expect(await rejection(lanes.acquire(() => 1, controller.signal))).to.equal('canceled');
  });

  it('are fewer when the line asks for less, and never none', () => {
    const lanes = new Lanes('auto');
    for (let count = 0; count < 10; count += 1) lanes.slowDown();
    expect(lanes.limit).to.equal(1);
  });
});
