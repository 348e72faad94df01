// What pages see of an upload in each state, field by field.

import { expect } from '@open-wc/testing';
import type { FilePhase } from '../../src/core/types.ts';
import { filePhaseOf, fileSnapshotOf } from '../../src/engine/file-snapshot.ts';
import type { UploadState } from '../../src/engine/upload-state.ts';

const file = {
  id: 'a',
  name: 'a.txt',
  relativePath: 'in/a.txt',
  sizeBytes: 100,
  type: 'text/plain',
  parentId: 'folder',
} as const;
const counts = { hashedBytes: 50, sentBytes: 40, storedBytes: 30, skippedBytes: 20 } as const;
const rate = { bytesPerSecond: 7, remainingMs: 8 } as const;
const error = { code: 'network', retryable: true, status: 500 } as const;
const attempt = { retryAtMs: 0, lastError: error } as const;
const FAILED = { phase: 'failed', error } as const;
const NEEDS_FILE = { phase: 'paused', reason: 'needs-file', resumesTo: 'queued' } as const;

const STATES: readonly (readonly [title: string, UploadState, FilePhase])[] = [
  ['waits for start()', { phase: 'held' }, { phase: 'queued' }],
  ['waits for a slot', { phase: 'queued' }, { phase: 'queued' }],
  ['is identified', { phase: 'opening' }, { phase: 'queued' }],
  ['is identified again', { phase: 'opening', attempt }, { phase: 'queued', ...attempt }],
  ['is transformed', { phase: 'transforming' }, { phase: 'hashing' }],
  ['is hashed', { phase: 'hashing' }, { phase: 'hashing' }],
  ['is sent', { phase: 'uploading' }, { phase: 'uploading' }],
  ['repeats a request', { phase: 'uploading', attempt }, { phase: 'uploading', ...attempt }],
  ['is committed', { phase: 'committing' }, { phase: 'committing' }],
  ['is accepted', { phase: 'accepted', attempt }, { phase: 'committing', ...attempt }],
  [
    'waits for the network',
    { phase: 'paused', reason: 'offline', resumesTo: 'uploading', blockers: { network: 'offline' } },
    { phase: 'paused', pauseReason: 'offline' },
  ],
  [
    'was paused by the user',
    { phase: 'paused', reason: 'user', resumesTo: 'queued' },
    { phase: 'paused', pauseReason: 'user' },
  ],
  [
    'is suspended',
    { phase: 'paused', reason: 'suspended', resumesTo: 'queued' },
    { phase: 'paused', pauseReason: 'user' },
  ],
  ['needs its file', NEEDS_FILE, { phase: 'paused', pauseReason: 'needs-file' }],
  ['failed', FAILED, FAILED],
  ['is being canceled', { phase: 'canceling', next: { phase: 'canceled' } }, { phase: 'canceled' }],
  ['was retried during its deletion', { phase: 'canceling', next: { phase: 'queued' } }, { phase: 'queued' }],
  [
    'was running when the user canceled it, and can be undone',
    { phase: 'withdrawn', before: { phase: 'queued' }, next: 'canceled' },
    { phase: 'paused', pauseReason: 'user' },
  ],
  ['had failed when the user removed it', { phase: 'withdrawn', before: FAILED, next: 'removed' }, FAILED],
  [
    'needed its file when the user canceled it',
    { phase: 'withdrawn', before: NEEDS_FILE, next: 'canceled' },
    { phase: 'paused', pauseReason: 'needs-file' },
  ],
  ['is canceled', { phase: 'canceled' }, { phase: 'canceled' }],
  ['is done', { phase: 'done' }, { phase: 'done' }],
  ['is removed', { phase: 'removed' }, { phase: 'canceled' }],
];

describe('what pages see of an upload', () => {
  for (const [title, state, expected] of STATES)
    it(`that ${title}`, () => expect(filePhaseOf(state)).to.deep.equal(expected));

  const moving: readonly UploadState['phase'][] = [
    'transforming',
    'hashing',
    'uploading',
    'committing',
    'accepted',
  ];
  for (const [title, state, expected] of STATES.filter(([, { phase }]) => phase !== 'done'))
    it(`that ${title}, with its numbers and its warning`, () => {
      const isMoving = moving.includes(state.phase);
      expect(fileSnapshotOf(file, state, { ...counts, ...rate }, 'store-full')).to.deep.equal({
        ...file,
        ...counts,
        ...(isMoving && rate),
        warning: 'store-full',
        ...expected,
      });
    });

  it('that is done has all its bytes, and no warning', () =>
    expect(fileSnapshotOf(file, { phase: 'done' }, { ...counts, ...rate }, 'store-full')).to.deep.equal({
      ...file,
      ...counts,
      phase: 'done',
      sentBytes: 100,
      storedBytes: 100,
    }));

  it('has no warning if there is none', () =>
    expect(fileSnapshotOf(file, { phase: 'hashing' }, counts, undefined)).not.to.have.property('warning'));
});
