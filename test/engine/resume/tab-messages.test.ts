// Messages between tabs about an upload, and the lock of an upload.

import { expect } from '@open-wc/testing';
import type { CompletedDetail } from '../../../src/core/changes.ts';
import {
  type DoneElsewhere,
  LOCK_TABLE,
  type RemoteProgress,
  requestLock,
  TabLocks,
  UploadLock,
} from '../../../src/engine/resume/tab-locks.ts';
import { deferred, rejection, settled, until } from '../../support/collect.ts';

const CHANNEL = 'secure-uploader:uploads';
const numbers: RemoteProgress = { sentBytes: 3, storedBytes: 2, skippedBytes: 1 };
const detail = { name: 'a.txt', chunks: [{ index: 0, hash: 'h', receipt: 'r' }] };

let key = '';
let tab: TabLocks;
let other: BroadcastChannel;
let sent: unknown[] = [];
let reported: unknown[] = [];

beforeEach(() => {
  key = crypto.randomUUID();
  tab = new TabLocks();
  sent = [];
  reported = [];
  other = new BroadcastChannel(CHANNEL);
  other.onmessage = ({ data }) => {
    if (data?.key === key) sent.push(data);
  };
});
afterEach(() => {
  other.close();
  tab.close();
});

const observe = (): (() => void) =>
  tab.observe(key, {
    onProgress: (seen) => reported.push(['progress', seen]),
    onDone: (seen: DoneElsewhere) => reported.push(['done', seen]),
  });

/** Sends `messages`, then a valid message. Returns everything that was received before the valid message. */
async function receive(...messages: unknown[]): Promise<unknown[]> {
  reported = [];
  const end = { ...numbers, sentBytes: 99 };
  for (const message of [...messages, { type: 'progress', key, numbers: end }]) other.postMessage(message);
  await until(() => reported.some((entry) => JSON.stringify(entry).includes('99')));
  return reported.slice(0, -1);
}

describe('a message from another tab', () => {
  it('reaches the observer of that upload', async () => {
    observe();
    expect(await receive({ type: 'progress', key, numbers: { ...numbers, token: 'secret' } })).to.deep.equal([
      ['progress', numbers],
    ]);
    expect(await receive({ type: 'done', key, detail })).to.deep.equal([['done', detail]]);
    expect(await receive({ type: 'progress', key: 'another', numbers })).to.deep.equal([]);
    expect(await receive({ type: 'asked', key })).to.deep.equal([]);
  });

  it('is ignored if it is invalid', async () => {
    observe();
    const progress = (more: object): unknown => ({ type: 'progress', key, numbers: { ...numbers, ...more } });
    const done = (more: object): unknown => ({ type: 'done', key, detail: { ...detail, ...more } });
    expect(
      await receive(
        null,
        'text',
        {},
        { key },
        { type: 'other', key, numbers, detail },
        { type: 'progress', numbers },
        { type: 'progress', key },
        progress({ sentBytes: -1 }),
        progress({ storedBytes: Number.NaN }),
        progress({ skippedBytes: '1' }),
        progress({ sentBytes: undefined }),
        { type: 'done', key },
        done({ name: 7 }),
        done({ chunks: undefined }),
        done({ chunks: [null] }),
        done({ chunks: [{ hash: 'h' }] }),
        done({ chunks: [{ receipt: 'r' }] }),
        done({ chunks: [{ hash: 1, receipt: 'r' }] }),
        done({ chunks: [...detail.chunks, { hash: 'h', receipt: 1 }] }),
      ),
    ).to.deep.equal([]);
    const zero = { sentBytes: 0, storedBytes: 0, skippedBytes: 0 };
    expect(await receive(progress(zero), done({ chunks: [] }))).to.deep.equal([
      ['progress', zero],
      ['done', { ...detail, chunks: [] }],
    ]);
  });

  it('reaches all observers until they unsubscribe', async () => {
    const stop = observe();
    observe();
    expect(await receive()).to.have.length(1);
    stop();
    stop();
    expect(await receive()).to.have.length(0);
  });

  it('is not received while the channel is closed, and is again once it is open', async () => {
    observe();
    tab.close();
    other.postMessage({ type: 'progress', key, numbers });
    await settled();
    tab.open();
    expect(await receive()).to.deep.equal([]);
  });
});

describe('messages to other tabs', () => {
  it('contain the progress of an upload, and its end without fields that only this tab needs', async () => {
    tab.announceProgress(key, { ...numbers, token: 'secret' } as RemoteProgress);
    tab.announceDone(key, { id: 'row', commit: 'answer', ...detail } as unknown as CompletedDetail);
    await until(() => sent.length === 2);
    expect(sent).to.deep.equal([
      { type: 'progress', key, numbers },
      { type: 'done', key, detail },
    ]);
  });

  it('are repeated on request, as long as the tab runs the upload', async () => {
    const release = await tab.tryLock(key);
    tab.announceProgress(key, numbers);
    other.postMessage({ type: 'asked', key });
    await until(() => sent.length === 2);
    await release?.();
    other.postMessage({ type: 'asked', key });
    observe();
    await receive();
    expect(sent).to.deep.equal([
      { type: 'progress', key, numbers },
      { type: 'progress', key, numbers },
    ]);
  });

  it('are not sent after close', async () => {
    tab.close();
    tab.announceProgress(key, numbers);
    tab.open();
    tab.announceProgress(key, { ...numbers, sentBytes: 7 });
    await until(() => sent.length > 0);
    expect(sent).to.deep.equal([{ type: 'progress', key, numbers: { ...numbers, sentBytes: 7 } }]);
  });
});

describe('the lock of an upload', () => {
  const { signal } = new AbortController();

  it('is held by one tab, and seen by others, until it is released', async () => {
    const second = new TabLocks();
    const release = await tab.tryLock(key);
    expect(release).to.be.a('function');
    expect(await second.tryLock(key)).to.equal(undefined);
    const isLocked = await second.listLocked();
    expect([isLocked(key), isLocked(`${key} `)]).to.deep.equal([true, false]);
    let isReleased = false;
    const all = tab.allReleased().then(() => {
      isReleased = true;
    });
    await settled();
    expect(isReleased).to.equal(false);
    await release?.();
    await all;
    await tab.allReleased();
    expect((await second.listLocked())(key)).to.equal(false);
    await (await second.tryLock(key))?.();
    second.close();
  });

  it('is not awaited any more when the tab opens again, since uploads can then keep it', async () => {
    const tab = new TabLocks();
    const release = await tab.tryLock(crypto.randomUUID());
    tab.close();
    const all = [tab.allReleased(), tab.allReleased()];
    tab.open();
    await Promise.all(all);
    tab.close();
    await release?.();
  });

  it('is requested if another tab has it, and granted when that releases it', async () => {
    const second = new TabLocks();
    const release = await second.tryLock(key);
    const waiting = tab.waitForLock(key, signal);
    await until(() => sent.length === 1);
    expect(sent).to.deep.equal([{ type: 'asked', key }]);
    await release?.();
    await (await waiting)();
    second.close();
  });

  it('is still waited for if the browser ends the wait', async () => {
    const second = new TabLocks();
    const release = await second.tryLock(key);
    const { request } = navigator.locks;
    let waitCount = 0;
    Object.assign(navigator.locks, {
      request: (name: string, options: LockOptions, work: LockGrantedCallback<unknown>) => {
        waitCount += options.ifAvailable ? 0 : 1;
        return waitCount === 1 && !options.ifAvailable
          ? Promise.reject(new DOMException('', 'InvalidStateError'))
          : request.call(navigator.locks, name, options, work);
      },
    });
    try {
      const waiting = tab.waitForLock(key, signal);
      await until(() => waitCount === 2);
      await release?.();
      await (await waiting)();
    } finally {
      Reflect.deleteProperty(navigator.locks, 'request');
    }
    await tab.allReleased();
    second.close();
  });

  it('is not waited for after an abort', async () => {
    const release = await tab.tryLock(key);
    const stop = new AbortController();
    const waiting = rejection(tab.waitForLock(key, stop.signal));
    stop.abort('canceled');
    expect(await waiting).to.equal('canceled');
    await release?.();
    const free = await requestLock(key, { ifAvailable: true });
    expect(free).to.be.a('function');
    await free?.();
  });

  it('is free in every tab if the browser has no locks', async () => {
    Object.defineProperty(navigator, 'locks', { configurable: true, value: undefined });
    try {
      const releases = [await tab.tryLock(key), await tab.tryLock(key)];
      for (const release of releases) await release?.();
      expect((await tab.listLocked())(key)).to.equal(false);
    } finally {
      Reflect.deleteProperty(navigator, 'locks');
    }
  });

  it('is free in every tab if the browser refuses them', async () => {
    const request = (): Promise<never> => Promise.reject(new DOMException('no origin', 'SecurityError'));
    const query = request;
    Object.defineProperty(navigator, 'locks', { configurable: true, value: { request, query } });
    try {
      expect(await tab.tryLock(key)).to.be.a('function');
      expect((await tab.listLocked())(key)).to.equal(false);
    } finally {
      Reflect.deleteProperty(navigator, 'locks');
    }
  });
});

describe('the states of a lock', () => {
  it('are these, and no other event changes them', () => {
    expect(LOCK_TABLE).to.deep.equal({
      none: { requested: 'waiting' },
      waiting: { granted: 'ours', refused: 'none' },
      ours: { 'release-asked': 'releasing' },
      releasing: { released: 'none' },
    });
  });

  it('follow requests in order', async () => {
    const lock = new UploadLock();
    const log: string[] = [];
    const taken = deferred<(() => Promise<void>) | undefined>();
    const written = deferred();
    const gone = deferred();
    expect(lock.state).to.equal('none');
    const acquired = lock.acquire(() => {
      log.push('take');
      return taken.promise;
    });
    await settled();
    expect(lock.state).to.equal('waiting');
    const again = lock.acquire(async () => {
      log.push('take again');
      return undefined;
    });
    const released = lock.release(() => {
      log.push(`write ${lock.state}`);
      return written.promise;
    });
    taken.resolve(() => {
      log.push(`release ${lock.state}`);
      return gone.promise;
    });
    expect([await acquired, await again]).to.deep.equal([true, true]);
    await settled();
    expect(lock.state).to.equal('ours');
    written.reject(new Error('the disk is full'));
    await settled();
    expect(lock.state).to.equal('releasing');
    gone.resolve();
    await released;
    expect([lock.state, log]).to.deep.equal(['none', ['take', 'write ours', 'release releasing']]);
  });

  it('return to none if the lock was taken away, and the next request asks the browser again', async () => {
    const lock = new UploadLock();
    expect(await lock.acquire(() => tab.tryLock(key))).to.equal(true);
    const name = (await navigator.locks.query()).held?.find((held) => held.name?.includes(key))?.name;
    const thief = deferred();
    const stolen = deferred();
    const theft = navigator.locks.request(name ?? '', { steal: true }, () => {
      stolen.resolve();
      return thief.promise;
    });
    await stolen.promise;
    await lock.release(async () => undefined);
    expect(lock.state).to.equal('none');
    expect(await lock.acquire(() => tab.tryLock(key))).to.equal(false);
    thief.resolve();
    await theft;
    await tab.allReleased();
  });

  it('return to none if the release fails, and the next request asks the browser again', async () => {
    const lock = new UploadLock();
    expect(await lock.acquire(async () => () => Promise.reject(new Error('no')))).to.equal(true);
    await lock.release(async () => undefined);
    expect(lock.state).to.equal('none');
    expect(await lock.acquire(async () => undefined), 'it is not ours any more').to.equal(false);
  });

  it('return to none if it is refused, or the request fails', async () => {
    const lock = new UploadLock();
    expect(await lock.acquire(async () => undefined)).to.equal(false);
    expect(lock.state).to.equal('none');
    expect(await rejection(lock.acquire(() => Promise.reject(new Error('no'))))).to.include({
      message: 'no',
    });
    expect(lock.state).to.equal('none');
    let count = 0;
    await lock.release(async () => {
      count += 1;
    });
    expect(count).to.equal(0);
    expect(await lock.acquire(async () => async () => undefined)).to.equal(true);
    await lock.release(async () => undefined);
    expect(lock.state).to.equal('none');
    expect(await lock.acquire(async () => undefined), 'it is not ours any more').to.equal(false);
  });
});
