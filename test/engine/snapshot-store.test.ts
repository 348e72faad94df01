// The snapshot of the list: when it changes, and its sums.

import { expect } from '@open-wc/testing';
import type { Change } from '../../src/core/changes.ts';
import type { AuthSnapshot, FileSnapshot, Rejection, Totals } from '../../src/core/types.ts';
import { SnapshotStore } from '../../src/engine/snapshot-store.ts';
import { stopClock } from '../support/clock.ts';

const added = {
  id: 'a',
  name: 'a.txt',
  relativePath: 'in/a.txt',
  sizeBytes: 100,
  type: 'text/plain',
  parentId: 'folder',
} as const;
const numbers = { hashedBytes: 50, sentBytes: 40, storedBytes: 30, skippedBytes: 20 } as const;
const facts = { ...added, ...numbers } as const;
describe('the snapshot', () => {
  const auth: AuthSnapshot = { state: 'signed-out', mode: 'auto', required: false };
  /** Returns a store of uploads with these snapshots. */
  const storeOf = (...files: FileSnapshot[]): SnapshotStore => new SnapshotStore(auth, () => files);
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
    const store = storeOf();
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
    for (const name of ['uploads-finished', 'signed-out', 'auth-changed', 'upload-started'] as const)
      store.report({ name, detail: {} } as unknown as Change);
    expect(store.snapshot).to.equal(snapshot);
  });

  it('is a new object after each visible change', () => {
    const files = [file('a')];
    const store = storeOf(...files);
    const changes: readonly (() => void)[] = [
      () => store.report({ name: 'file-rejected', detail: refused('r') }),
      () => store.report({ name: 'rejections-dismissed', detail: { ids: ['r'] } }),
      () => store.onListChange(),
      () => store.setAuth({ ...auth, required: true }),
    ];
    for (const act of changes) {
      const { snapshot } = store;
      act();
      expect(store.snapshot).not.to.equal(snapshot);
    }
    expect(store.snapshot.files).to.deep.equal(files);
    expect(store.snapshot.auth.required).to.equal(true);
  });

  it('keeps its files when the engine is closed', () => {
    let files = [file('a')];
    const store = new SnapshotStore(auth, () => files);
    store.close();
    files = [];
    store.onListChange();
    expect(store.snapshot.files.map(({ id }) => id)).to.deep.equal(['a']);
  });

  it('contains the rejections that were not dismissed', () => {
    const store = storeOf();
    for (const id of ['1', '2', '3']) store.report({ name: 'file-rejected', detail: refused(id) });
    store.report({ name: 'rejections-dismissed', detail: { ids: ['2', '4'] } });
    expect(store.snapshot.rejections.map(({ id }) => id)).to.deep.equal(['1', '3']);
  });

  it('contains the totals of all files except the canceled ones', () => {
    const error = { code: 'network', retryable: true } as const;
    const store = storeOf(
      file('a'),
      file('b', { phase: 'done', sentBytes: 100, storedBytes: 100 }),
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
          store.onListChange();
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
      const send = (seconds: number): void => {
        for (let second = 0; second < seconds; second += 1) {
          void clock.pass(1000);
          store.onBytesSent(10);
        }
        store.onListChange();
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
      store.onListChange();
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
