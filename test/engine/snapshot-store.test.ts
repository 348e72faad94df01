// The effect of each change on the snapshot, field by field.

import { expect } from '@open-wc/testing';
import type { Change } from '../../src/core/changes.ts';
import type { AuthSnapshot, FileSnapshot, Rejection, Totals } from '../../src/core/types.ts';
import { moveEntry, reduceFile, SnapshotStore } from '../../src/engine/snapshot-store.ts';
import { stopClock } from '../support/clock.ts';

const added = {
  id: 'a',
  name: 'a.txt',
  relativePath: 'in/a.txt',
  sizeBytes: 100,
  type: 'text/plain',
  parentId: 'folder',
} as const;
const lastError = { code: 'network', retryable: true } as const;
const numbers = { hashedBytes: 50, sentBytes: 40, storedBytes: 30, skippedBytes: 20 } as const;
const facts = { ...added, ...numbers } as const;
/** A file with all fields that files can have in any phase. */
const full = {
  ...facts,
  phase: 'uploading',
  bytesPerSecond: 7,
  remainingMs: 8,
  retryAtMs: 9,
  lastError,
  warning: 'store-full',
} as FileSnapshot;
const warned = { ...facts, warning: 'store-full' } as const;

const change = (name: Change['name'], detail: object = {}): Change =>
  ({ name, detail: { id: 'a', ...detail } }) as unknown as Change;
const progress = (more: object): Change =>
  change('upload-progress', {
    sizeBytes: 100,
    hashedBytes: 90,
    sentBytes: 80,
    storedBytes: 70,
    skippedBytes: 60,
    ...more,
  });
const moved = { ...added, hashedBytes: 90, sentBytes: 80, storedBytes: 70, skippedBytes: 60 };

describe('a file after a change', () => {
  const cases: readonly (readonly [title: string, FileSnapshot | undefined, Change, object | undefined])[] = [
    [
      'is queued when it is added',
      undefined,
      { name: 'file-added', detail: added },
      { ...added, phase: 'queued', hashedBytes: 0, sentBytes: 0, storedBytes: 0, skippedBytes: 0 },
    ],
    ['does not exist if it was never added', undefined, change('upload-started'), undefined],
    ['is removed from the list', full, change('file-removed'), undefined],
    ['has its new name', full, change('file-renamed', { name: 'b.txt' }), { ...full, name: 'b.txt' }],
    ['is checked when it starts', full, change('upload-started'), { ...warned, phase: 'hashing' }],
    [
      'has the reason of its pause',
      full,
      change('upload-paused', { reason: 'offline' }),
      { ...warned, phase: 'paused', pauseReason: 'offline' },
    ],
    [
      'resumes in its phase',
      full,
      change('upload-resumed', { phase: 'hashing' }),
      { ...facts, phase: 'hashing' },
    ],
    [
      'resumes sending',
      full,
      change('upload-resumed', { phase: 'uploading' }),
      { ...facts, phase: 'uploading' },
    ],
    [
      'resumes the commit',
      full,
      change('upload-resumed', { phase: 'committing' }),
      { ...facts, phase: 'committing' },
    ],
    [
      'waits for a slot if it was not running',
      full,
      change('upload-resumed', { phase: 'queued' }),
      { ...facts, phase: 'queued' },
    ],
    [
      'waits for a slot after a pause',
      full,
      change('upload-resumed', { phase: 'paused' }),
      { ...facts, phase: 'queued' },
    ],
    [
      'has all its bytes when it is done',
      full,
      change('upload-completed'),
      { ...facts, phase: 'done', sentBytes: 100, storedBytes: 100 },
    ],
    [
      'has its error when it failed',
      full,
      change('upload-failed', { name: 'a.txt', code: 'network', retryable: true, status: 500 }),
      { ...warned, phase: 'failed', error: { code: 'network', retryable: true, status: 500 } },
    ],
    ['is canceled', full, change('upload-canceled'), { ...warned, phase: 'canceled' }],
    [
      'changes its phase, and clears its warning',
      full,
      progress({ phase: 'uploading', bytesPerSecond: 5, remainingMs: 6 }),
      { ...moved, phase: 'uploading', bytesPerSecond: 5, remainingMs: 6 },
    ],
    [
      'has the time of its retry',
      full,
      progress({ phase: 'uploading', retryAtMs: 4, lastError }),
      { ...moved, phase: 'uploading', retryAtMs: 4, lastError },
    ],
    [
      'is retried at 0 too',
      full,
      progress({ phase: 'hashing', retryAtMs: 0, lastError }),
      { ...moved, phase: 'hashing', retryAtMs: 0, lastError },
    ],
    [
      'stays paused for its reason',
      { ...facts, phase: 'paused', pauseReason: 'offline' },
      progress({ phase: 'paused' }),
      { ...moved, phase: 'paused', pauseReason: 'offline' },
    ],
    [
      'is paused by the user if no other reason is known',
      full,
      progress({ phase: 'paused' }),
      { ...moved, phase: 'paused', pauseReason: 'user' },
    ],
    ...(['failed', 'done', 'canceled'] as const).map(
      (phase) =>
        [
          `stays unchanged in the phase ${phase}`,
          { ...facts, phase: 'done' } as FileSnapshot,
          progress({ phase, retryAtMs: 1, lastError }),
          { ...moved, phase: 'done' },
        ] as const,
    ),
    ['stays unchanged by changes of other files', full, change('chunk-hashed'), full],
  ];
  for (const [title, file, event, expected] of cases)
    it(title, () => expect(reduceFile(file, event)).to.deep.equal(expected));

  it('has no warning if it had none', () => {
    const { warning: _warning, ...plain } = full;
    expect('warning' in (reduceFile(plain as FileSnapshot, change('upload-started')) ?? {})).to.equal(false);
  });
});

describe('an entry that is moved', () => {
  const after = (id: string, beforeId?: string): string => {
    const entries = new Map(['a', 'b', 'c'].map((name) => [name, name]));
    moveEntry(entries, id, beforeId);
    return [...entries.keys()].join('');
  };
  for (const [id, beforeId, expected] of [
    ['c', 'a', 'cab'],
    ['a', 'c', 'bac'],
    ['b', 'b', 'abc'],
    ['a', undefined, 'bca'],
    ['a', 'nobody', 'bca'],
    ['nobody', 'a', 'abc'],
  ] as const)
    it(`${id} before ${beforeId} results in ${expected}`, () =>
      expect(after(id, beforeId)).to.equal(expected));
});

describe('the snapshot', () => {
  const auth: AuthSnapshot = { state: 'signed-out', mode: 'auto', required: false };
  const storeOf = (...files: FileSnapshot[]): SnapshotStore => {
    const store = new SnapshotStore(auth);
    for (const file of files) {
      const { id, name, relativePath, sizeBytes, type, parentId, phase, error, pauseReason, ...reported } =
        file;
      store.apply({ name: 'file-added', detail: { id, name, relativePath, sizeBytes, type, parentId } });
      const detail = { ...reported, id, sizeBytes, phase };
      store.apply({ name: 'upload-progress', detail: { ...detail, phase: 'uploading' } } as Change);
      if (phase === 'done' || phase === 'canceled')
        store.apply({
          name: phase === 'done' ? 'upload-completed' : 'upload-canceled',
          detail,
        } as unknown as Change);
      if (error) store.apply({ name: 'upload-failed', detail: { id, name, ...error } });
      if (pauseReason) store.apply({ name: 'upload-paused', detail: { id, reason: pauseReason } });
    }
    return store;
  };
  const file = (id: string, more: object = {}): FileSnapshot =>
    ({ ...facts, phase: 'uploading', id, ...more }) as FileSnapshot;
  const refused = (id: string): Rejection => ({
    id,
    name: id,
    relativePath: id,
    sizeBytes: 1,
    code: 'file-empty',
  });

  it('is empty and frozen at first, and stays the same object until something changes', () => {
    const store = new SnapshotStore(auth);
    const { snapshot } = store;
    expect(snapshot).to.deep.equal({
      files: [],
      rejections: [],
      totals: {
        ...{ fileCount: 0, doneCount: 0, failedCount: 0, openCount: 0 },
        ...{ sizeBytes: 0, sentBytes: 0, storedBytes: 0 },
      },
      auth,
    });
    for (const part of [snapshot, snapshot.files, snapshot.rejections, snapshot.totals])
      expect(Object.isFrozen(part)).to.equal(true);
    store.setAuth(auth);
    for (const name of ['uploads-finished', 'signed-out', 'auth-changed'] as const)
      store.apply({ name, detail: {} } as unknown as Change);
    store.apply(change('upload-started'));
    expect(store.snapshot).to.equal(snapshot);
  });

  it('is a new object after each visible change', () => {
    const store = storeOf(file('a'), file('b'));
    const changes: readonly (() => void)[] = [
      () => store.apply({ name: 'file-rejected', detail: refused('r') }),
      () => store.apply({ name: 'rejections-dismissed', detail: { ids: ['r'] } }),
      () => store.apply({ name: 'file-moved', detail: { id: 'b', beforeId: 'a' } }),
      () => store.apply(change('file-renamed', { name: 'c.txt' })),
      () => store.apply(change('file-removed')),
      () => store.setAuth({ ...auth, required: true }),
    ];
    for (const act of changes) {
      const { snapshot } = store;
      act();
      expect(store.snapshot).not.to.equal(snapshot);
    }
    expect(store.snapshot.files.map(({ id }) => id)).to.deep.equal(['b']);
    expect(store.snapshot.auth.required).to.equal(true);
    expect(Object.isFrozen(store.snapshot.files[0])).to.equal(true);
  });

  it('contains the rejections that were not dismissed', () => {
    const store = new SnapshotStore(auth);
    for (const id of ['1', '2', '3']) store.apply({ name: 'file-rejected', detail: refused(id) });
    store.apply({ name: 'rejections-dismissed', detail: { ids: ['2', '4'] } });
    expect(store.snapshot.rejections.map(({ id }) => id)).to.deep.equal(['1', '3']);
  });

  it('contains the totals of all files except the canceled ones', () => {
    const error = { code: 'network', retryable: true } as const;
    const store = storeOf(
      file('a'),
      file('b', { phase: 'done' }),
      file('c', { phase: 'failed', error }),
      file('d', { phase: 'canceled' }),
      file('e', { phase: 'paused', pauseReason: 'user' }),
    );
    expect(store.snapshot.totals).to.deep.equal({
      fileCount: 5,
      doneCount: 1,
      failedCount: 1,
      openCount: 2,
      sizeBytes: 400,
      sentBytes: 220,
      storedBytes: 190,
    });
  });

  it('contains the time left of running files while one of them is being sent', () => {
    const clock = stopClock();
    try {
      const measured = (...files: FileSnapshot[]): (number | undefined)[] => {
        const store = storeOf(...files);
        expect(store.bytesPerSecond).to.equal(undefined);
        const look = (): Totals => {
          store.apply(change('file-renamed', { name: 'b' }));
          return store.snapshot.totals;
        };
        store.onBytesSent(0);
        look();
        void clock.pass(1000);
        store.onBytesSent(30);
        look();
        void clock.pass(5000);
        store.onBytesSent(150);
        expect(store.bytesPerSecond).to.be.closeTo(30, 0.001);
        const { bytesPerSecond, remainingMs } = look();
        return [bytesPerSecond, remainingMs].map((number) => number && Math.round(number));
      };
      const paused = (pauseReason: string): FileSnapshot => file('p', { phase: 'paused', pauseReason });
      // Each file has 60 bytes left to send.
      expect(measured(file('a'))).to.deep.equal([30, 2000]);
      expect(measured(file('a'), paused('user'))).to.deep.equal([30, 2000]);
      expect(measured(file('a'), paused('needs-file'))).to.deep.equal([30, 2000]);
      expect(measured(file('a'), paused('offline'))).to.deep.equal([30, 4000]);
      expect(
        measured(file('a'), file('d', { phase: 'done' }), file('c', { phase: 'canceled' })),
      ).to.deep.equal([30, 2000]);
      expect(measured(paused('offline'))).to.deep.equal([undefined, undefined]);
    } finally {
      clock.restore();
    }
  });

  it('contains speed and time left also if the snapshot is read for the first time, or seldom', () => {
    const clock = stopClock();
    try {
      const store = storeOf(file('a'));
      let sentBytes = 0;
      const send = (seconds: number): void => {
        for (let second = 0; second < seconds; second += 1) {
          void clock.pass(1000);
          store.onBytesSent(10);
          sentBytes += 10;
        }
        store.apply(change('file-renamed', { name: `${sentBytes}` }));
      };
      store.onBytesSent(0);
      for (const seconds of [20, 30, 60]) {
        send(seconds);
        expect(store.snapshot.totals.bytesPerSecond).to.be.closeTo(10, 0.01);
        expect(store.snapshot.totals.remainingMs).to.be.closeTo(6000, 10);
      }
    } finally {
      clock.restore();
    }
  });

  it('contains no time left if nothing is being sent, and measures again from the start after an idle time', async () => {
    const clock = stopClock();
    try {
      const store = storeOf(file('a'));
      store.onBytesSent(0);
      await clock.pass(1000);
      store.onBytesSent(0);
      const { totals } = storeOf(file('a')).snapshot;
      expect('bytesPerSecond' in totals).to.equal(false);
      store.apply(change('file-renamed', { name: 'b' }));
      expect(store.bytesPerSecond).to.equal(0);
      expect(store.snapshot.totals).not.to.have.any.keys('bytesPerSecond', 'remainingMs');
      store.onIdle();
      await clock.pass(100_000);
      store.onBytesSent(10);
      await clock.pass(3000);
      store.onBytesSent(3000);
      // The idle time does not count.
      expect(store.bytesPerSecond).to.be.closeTo(1000, 5);
    } finally {
      clock.restore();
    }
  });
});
