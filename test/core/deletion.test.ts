// The mark of a deletion: who sets it, and when it goes.

import { expect } from '@open-wc/testing';
import { completeDeletion, isDeletionLeft, leaveDeletion } from '../../src/core/deletion-mark.ts';
import { rejection } from '../support/collect.ts';

const mark = (): string | null => localStorage.getItem('secure-uploader:delete');

interface Running {
  readonly done: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

function start(): Running {
  let end = { resolve: (): void => undefined, reject: (_: Error): void => undefined };
  const run = new Promise<void>((resolve, reject) => {
    end = { resolve, reject };
  });
  return { done: completeDeletion(() => run), ...end };
}

afterEach(() => localStorage.clear());

describe('the mark of a deletion', () => {
  it('is there while it runs, and goes after it', async () => {
    const one = start();
    expect([mark() !== null, isDeletionLeft()]).to.deep.equal([true, false]);
    one.resolve();
    await one.done;
    expect(mark()).to.equal(null);
  });

  it('stays after a failure, and goes after the next deletion', async () => {
    const one = start();
    one.reject(new Error('no'));
    await rejection(one.done);
    expect([mark() !== null, isDeletionLeft()]).to.deep.equal([true, true]);
    await completeDeletion(async () => undefined);
    expect([mark(), isDeletionLeft()]).to.deep.equal([null, false]);
  });

  it('is that of a page that is closed', () => {
    localStorage.setItem('secure-uploader:delete', 'of-a-closed-page');
    expect(isDeletionLeft()).to.equal(true);
  });

  for (const first of [0, 1] as const)
    it(`stays until the last of two deletions ends (${first} ends first)`, async () => {
      const both = [start(), start()] as const;
      both[first].resolve();
      await both[first].done;
      expect([mark() !== null, isDeletionLeft()]).to.deep.equal([true, false]);
      both[1 - first]?.resolve();
      await both[1 - first]?.done;
      expect(mark()).to.equal(null);
    });

  for (const first of [0, 1] as const)
    it(`stays if one of two deletions fails (${first} ends first)`, async () => {
      const both = [start(), start()] as const;
      both[first].reject(new Error('no'));
      await rejection(both[first].done);
      both[1 - first]?.resolve();
      await both[1 - first]?.done;
      expect(isDeletionLeft()).to.equal(true);
      await completeDeletion(async () => undefined);
      expect(isDeletionLeft()).to.equal(false);
    });

  it('of a later sign-out stays', async () => {
    const one = start();
    const later = leaveDeletion();
    one.resolve();
    await one.done;
    expect(mark()).to.equal(later);
  });
});
