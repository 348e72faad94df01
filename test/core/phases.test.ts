// The table of moves, pair by pair.

import { expect } from '@open-wc/testing';
import { canMove, isActive, isSettled, move, type Phase } from '../../src/core/phases.ts';

const PHASES: readonly Phase[] = [
  'queued',
  'hashing',
  'uploading',
  'committing',
  'done',
  'paused',
  'failed',
  'canceled',
];

/** The whole table, written down a second time, so that a slip in either is seen. */
const ALLOWED = new Set([
  'queued hashing',
  'queued done',
  'queued paused',
  'queued failed',
  'queued canceled',
  'hashing uploading',
  'hashing committing',
  'hashing done',
  'hashing paused',
  'hashing failed',
  'hashing canceled',
  'uploading committing',
  'uploading done',
  'uploading paused',
  'uploading failed',
  'uploading canceled',
  'committing uploading',
  'committing done',
  'committing paused',
  'committing failed',
  'committing canceled',
  'paused queued',
  'paused hashing',
  'paused uploading',
  'paused committing',
  'paused failed',
  'paused canceled',
  'failed queued',
  'failed canceled',
  'canceled queued',
]);

describe('the phases of a file', () => {
  for (const from of PHASES) {
    it(`allow from ${from} exactly what the table says, and throw on all else`, () => {
      for (const to of PHASES) {
        const isAllowed = ALLOWED.has(`${from} ${to}`);
        expect(canMove(from, to), `${from} to ${to}`).to.equal(isAllowed);
        if (isAllowed) expect(move(from, to)).to.equal(to);
        else expect(() => move(from, to), `${from} to ${to}`).to.throw(TypeError, `from ${from} to ${to}`);
      }
    });
  }

  it('are never both active and settled', () => {
    expect(PHASES.filter(isActive)).to.deep.equal(['hashing', 'uploading', 'committing']);
    expect(PHASES.filter(isSettled)).to.deep.equal(['done', 'failed', 'canceled']);
  });
});
