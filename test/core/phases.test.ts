// Phases of a file that count as active or as settled.

import { expect } from '@open-wc/testing';
import { isActive, isSettled, type Phase } from '../../src/core/phases.ts';

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

describe('the phases of a file', () => {
  it('are never both active and settled', () => {
    expect(PHASES.filter(isActive)).to.deep.equal(['hashing', 'uploading', 'committing']);
    expect(PHASES.filter(isSettled)).to.deep.equal(['done', 'failed', 'canceled']);
  });
});
