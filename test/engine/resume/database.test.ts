// How the store's database handles failed transactions: which ones are repeated, and which errors are thrown.

import { expect } from '@open-wc/testing';
import { promisifyRequest } from 'idb-keyval';
import type { UploaderError } from '../../../src/core/errors.ts';
import { Database } from '../../../src/engine/resume/database.ts';
import { type Clock, stopClock } from '../../support/clock.ts';
import { deferred, rejection, settled } from '../../support/collect.ts';

/** Creates a database and counts its lost connections. */
function counted() {
  const lost = { count: 0 };
  const database = new Database(`test-${crypto.randomUUID()}`, 60_000, () => {
    lost.count += 1;
  });
  return { database, lost };
}

const LOST = ['InvalidStateError', 'AbortError', 'UnknownError', 'TransactionInactiveError'];

describe('an error of the database', () => {
  for (const name of LOST)
    it(`that a new connection may fix (${name}) is retried once with one`, async () => {
      const { database, lost } = counted();
      let tries = 0;
      await database.write((store) => {
        tries += 1;
        if (tries === 1) throw new DOMException('', name);
        store.put('value', 'key');
      });
      expect([tries, lost.count]).to.deep.equal([2, 1]);
      tries = 0;
      const failing = database.read(async () => {
        tries += 1;
        throw new DOMException('', name);
      });
      expect(await rejection(failing)).to.include({ code: 'store-unavailable' });
      expect([tries, lost.count]).to.deep.equal([2, 3]);
    });

  for (const [error, code] of [
    [new DOMException('', 'QuotaExceededError'), 'store-full'],
    [new DOMException('', 'DataCloneError'), 'store-unavailable'],
    [new TypeError('AbortError'), 'store-unavailable'],
    [Object.assign(new Error('no'), { name: 'AbortError' }), 'store-unavailable'],
  ] as const)
    it(`that a new connection would not fix (${error.name}) is thrown immediately, as ${code}`, async () => {
      const { database, lost } = counted();
      let tries = 0;
      const failed = await rejection<UploaderError>(
        database.write(() => {
          tries += 1;
          throw error;
        }),
      );
      expect(failed).to.include({ code, cause: error });
      expect([tries, lost.count]).to.deep.equal([1, 0]);
    });

  it('that the browser reports by closing the connection drops it, and the next use opens another', async () => {
    const { database, lost } = counted();
    const used = await database.read(async (store) => store.transaction.db);
    used.dispatchEvent(new Event('close'));
    expect(lost.count).to.equal(1);
    expect(await database.read(async (store) => store.transaction.db === used)).to.equal(false);
  });

  it('that occurs in two transactions of one connection drops it once', async () => {
    const { database, lost } = counted();
    await database.read(async () => undefined);
    let tries = 0;
    const strike = (): Promise<string> =>
      database.read(async () => {
        tries += 1;
        if (tries <= 2) throw new DOMException('', 'InvalidStateError');
        return 'read';
      });
    expect(await Promise.all([strike(), strike()])).to.deep.equal(['read', 'read']);
    expect([tries, lost.count]).to.deep.equal([4, 1]);
  });
});

describe('a database that does not respond', () => {
  let clock: Clock;
  beforeEach(() => {
    clock = stopClock();
  });
  afterEach(() => clock.restore());

  it('is waited for once, and then not until it responds again', async () => {
    const database = new Database(`test-${crypto.randomUUID()}`, 40);
    await database.write((store) => store.put('value', 'key'));
    let tries = 0;
    const read = (): Promise<unknown> =>
      database.read(async () => {
        tries += 1;
      });
    for (const round of [1, 2]) {
      const { promise, resolve } = deferred();
      const started = deferred();
      const late = rejection(
        database.read(() => {
          started.resolve();
          return promise;
        }),
      );
      await started.promise;
      await clock.pass(40);
      expect(await late).to.include({ code: 'store-unavailable' });
      expect(await rejection(read())).to.include({ code: 'store-unavailable' });
      expect(tries).to.equal(round - 1);
      resolve();
      await settled();
      await read();
      expect(tries).to.equal(round);
    }
  });
});

describe('a page that is left', () => {
  it('repeats a read later, since an open transaction in the back/forward cache would block the next page', async () => {
    const { database, lost } = counted();
    await database.write((store) => void store.put('value', 'key'));
    let tries = 0;
    const value = await database.read(async (store) => {
      tries += 1;
      const read = promisifyRequest(store.get('key'));
      if (tries === 1) window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
      return read;
    });
    expect([value, tries, lost.count]).to.deep.equal(['value', 2, 1]);
  });

  it('aborts no read that has ended, however it has ended', async () => {
    const { database } = counted();
    const { abort } = IDBTransaction.prototype;
    let aborts = 0;
    IDBTransaction.prototype.abort = function (this: IDBTransaction) {
      aborts += 1;
      abort.call(this);
    };
    try {
      const isComplete = deferred();
      await database.read((store) => {
        store.transaction.addEventListener('complete', () => isComplete.resolve());
        return promisifyRequest(store.get('key'));
      });
      await isComplete.promise;
      const isAborted = deferred();
      const failed = database.read(async ({ transaction }) => {
        transaction.addEventListener('abort', () => isAborted.resolve());
        abort.call(transaction);
        throw new DOMException('', 'DataError');
      });
      expect(await rejection(failed)).to.include({ code: 'store-unavailable' });
      await isAborted.promise;
      await settled();
      window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
      expect(aborts).to.equal(0);
    } finally {
      IDBTransaction.prototype.abort = abort;
    }
  });

  it('leaves no write open', async () => {
    const { database } = counted();
    let state: unknown;
    await database.write((store) => {
      store.put('value', 'key');
      queueMicrotask(() => {
        try {
          store.put('value', 'key');
        } catch (error) {
          state = (error as DOMException).name;
        }
      });
    });
    expect(state).to.equal('TransactionInactiveError');
  });
});
