// How many lanes are used, on lines made of arithmetic: each says how fast it moves with so many lanes.
import { expect } from '@open-wc/testing';
import { Pace } from '../../src/engine/pace.ts';

type Line = (lanes: number) => number;
const KB = 1000;
const MB = 1_000_000;
/** A long way: each connection is limited, all together are not. */
const longWay: Line = (lanes) => lanes * 4 * MB;
/** A thin line that all share; more connections only add overhead. */
const thinLine: Line = (lanes) => 120 * KB * (1 - 0.01 * lanes);
/** A thin connection each, as behind a proxy that limits. */
const proxy: Line = (lanes) => lanes * 60 * KB;

/** Lets `seconds` pass on a line with every lane busy, in readings of a tenth of a second; answers the limit after each second. */
function drive(pace: Pace, line: Line, seconds: number, startMs = 0): number[] {
  const limits: number[] = [];
  for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
    const busy = pace.limit;
    pace.read({ nowMs: startMs + tenth * 100, bytes: line(busy) / 10, busy });
    if (tenth % 10 === 9) limits.push(pace.limit);
  }
  return limits;
}

describe('pace', () => {
  it('starts with two lanes', () => {
    expect(new Pace(6).limit).to.equal(2);
  });

  it('gives a line that is not slow all lanes within the first second', () => {
    expect(drive(new Pace(6), longWay, 1)).to.deep.equal([6]);
  });

  it('gives all lanes at once to a line that swallows more than buffers hold', () => {
    const pace = new Pace(6);
    pace.read({ nowMs: 10, bytes: 2 * MB, busy: 2 });
    expect(pace.limit).to.equal(2);
    const fast = new Pace(6);
    fast.read({ nowMs: 10, bytes: 3 * MB, busy: 2 });
    expect(fast.limit).to.equal(6);
  });

  it('never uses more than two lanes on a thin line, and mostly one', () => {
    const limits = drive(new Pace(6), thinLine, 120);
    expect(Math.max(...limits)).to.be.at.most(2);
    expect(limits.filter((limit) => limit === 1).length).to.be.greaterThan(60);
  });

  it('climbs to all lanes where each connection is slow by itself', () => {
    const limits = drive(new Pace(6), proxy, 300);
    expect(Math.max(...limits)).to.equal(6);
  });

  it('follows a line whose best number of lanes changes on the way', () => {
    const pace = new Pace(6);
    expect(drive(pace, longWay, 30).at(-1)).to.equal(6);
    const thin = drive(pace, thinLine, 200, 30_000);
    expect(thin.at(-1)).to.be.at.most(2);
    // As soon as the next two looks are over, however long it was slow.
    expect(drive(pace, longWay, 7, 230_000).at(-1)).to.equal(6);
  });

  it('halves when it is asked for less, and climbs again later', () => {
    const pace = new Pace(6);
    drive(pace, longWay, 2);
    pace.halve();
    expect(pace.limit).to.equal(3);
    expect(drive(pace, longWay, 5, 2000).at(-1)).to.equal(3);
    expect(drive(pace, longWay, 60, 7000).at(-1)).to.equal(6);
  });

  it('has more to give where the line turns out to carry more: at once where all were in use', () => {
    const pace = new Pace(6);
    drive(pace, longWay, 2);
    pace.allow(12);
    expect(pace.limit).to.equal(12);
    const slow = new Pace(6);
    drive(slow, thinLine, 30);
    slow.allow(12);
    expect(slow.limit).to.be.at.most(2);
  });

  it('stays with less for a while after it was asked to, however quickly chunks are stored and whatever a pause did', () => {
    const pace = new Pace(6);
    drive(pace, longWay, 2);
    pace.halve();
    for (let count = 0; count < 10; count += 1) pace.onStored(90);
    expect(pace.limit).to.equal(3);
    // Everybody waits, then it moves as before.
    expect(drive(pace, () => 10 * KB, 4, 2000).at(-1)).to.equal(3);
    expect(drive(pace, longWay, 4, 6000).at(-1)).to.equal(3);
    drive(pace, longWay, 30, 10_000);
    for (let count = 0; count < 10; count += 1) pace.onStored(90);
    expect(pace.limit).to.equal(6);
  });

  it('takes more again when two looks have passed since it was asked for less', () => {
    const pace = new Pace(6);
    drive(pace, longWay, 2);
    pace.halve();
    drive(pace, longWay, 6, 2000);
    pace.onStored(90);
    expect(pace.limit).to.equal(3);
    drive(pace, longWay, 1, 8000);
    pace.onStored(90);
    expect(pace.limit).to.equal(4);
  });

  it('opens a lane with each small chunk that is stored in no time, however little a lane moves', () => {
    const pace = new Pace(6);
    drive(pace, (lanes) => lanes * 100 * KB, 1);
    expect(pace.limit).to.equal(2);
    for (let count = 0; count < 10; count += 1) pace.onStored(90);
    expect(pace.limit).to.equal(6);
    const slow = new Pace(6);
    for (let count = 0; count < 10; count += 1) slow.onStored(900);
    expect(slow.limit).to.equal(2);
  });
});
