// Expiry of saved uploads, and changes that make saved chunks invalid.

import { expect } from '@open-wc/testing';
import { SavedUploads, type UploadStore } from '../../../src/engine/resume/upload-store.ts';
import { pruneOnTwoDays, rawDatabase, recordOf, statesOf } from './saved.ts';

let name = '';
let store: UploadStore;
const { now } = Date;
const NOW_MS = 1_800_000_000_000;
const DAY_MS = 24 * 3_600_000;
const YEAR_MS = 365 * DAY_MS;

beforeEach(() => {
  name = `test-${crypto.randomUUID()}`;
  store = new SavedUploads({ name });
  Date.now = () => NOW_MS;
});
afterEach(() => {
  Date.now = now;
});

it('an upload expires when it is older than its limit, and not before', async () => {
  const ages = { exactly: 1000, older: 1001, 'exactly, longer': 5000, 'older, longer': 5001 };
  for (const [key, ms] of Object.entries(ages)) await store.save(recordOf({ key, createdAtMs: NOW_MS - ms }));
  const keepMsOf: Parameters<typeof store.prune>[0] = ({ key }) => (key.endsWith('longer') ? 5000 : 1000);
  expect(await store.keys(keepMsOf)).to.deep.equal(['exactly, longer', 'exactly']);
  await pruneOnTwoDays(store, keepMsOf);
  expect((await store.list()).map(({ key }) => key)).to.deep.equal(['exactly, longer', 'exactly']);
});

it('an upload stays if a clock is ahead for one visit, however often the page is opened on that day', async () => {
  const times = { before: NOW_MS, ahead: NOW_MS + YEAR_MS, 'later that day': NOW_MS + YEAR_MS + DAY_MS - 1 };
  await store.save(recordOf({ createdAtMs: NOW_MS }));
  for (const [what, nowMs] of [...Object.entries(times), ...Object.entries(times)]) {
    Date.now = () => nowMs;
    await store.prune(() => 1000);
    expect(await store.list(), what).to.have.length(1);
  }
});

it('an upload is deleted at the second visit at which it is too old, a day apart, in any order', async () => {
  for (const days of [
    [3, 4],
    [4, 3],
  ]) {
    await store.save(recordOf({ createdAtMs: NOW_MS }));
    const counts: number[] = [];
    for (const day of days) {
      Date.now = () => NOW_MS + day * DAY_MS;
      await store.prune(() => 2 * DAY_MS);
      counts.push((await store.list()).length);
    }
    expect(counts, `days ${days}`).to.deep.equal([1, 0]);
  }
});

it('an upload that was too old at one visit, and had progress since, expires like any other', async () => {
  await store.save(recordOf({ createdAtMs: NOW_MS - 5 * DAY_MS }));
  await store.prune(() => 2 * DAY_MS);
  await new SavedUploads({ name }).saveChunks('key', statesOf(0, 1));
  Date.now = () => NOW_MS + DAY_MS;
  await store.prune(() => 2 * DAY_MS);
  Date.now = () => NOW_MS + 3 * DAY_MS;
  await store.prune(() => 2 * DAY_MS);
  expect(await store.list()).to.have.length(1);
  Date.now = () => NOW_MS + 4 * DAY_MS;
  await store.prune(() => 2 * DAY_MS);
  expect(await store.list()).to.deep.equal([]);
});

it('an upload that was saved while the clock was ahead stays, and expires by that time', async () => {
  await store.save(recordOf({ createdAtMs: NOW_MS + 10 * YEAR_MS }));
  await store.prune(() => 1000);
  expect(await store.list()).to.have.length(1);
  Date.now = () => NOW_MS + 10 * YEAR_MS + 1001;
  await pruneOnTwoDays(store, () => 1000);
  expect(await store.list()).to.deep.equal([]);
});

it('chunks are invalid once the session, the chunk size or the hash changes', async () => {
  const record = recordOf();
  const changes = [
    { session: { sessionId: 's', header: 'other' } },
    { chunkSizeBytes: 50 },
    { hashAlgorithm: 'blake3' as const },
  ];
  for (const [at, change] of changes.entries()) {
    const key = `${at}`;
    await store.save({ ...record, key });
    await store.saveChunks(key, statesOf(0, 2));
    await store.save({ ...record, key, name: 'b.txt', session: { sessionId: 'other', header: 'h' } });
    expect((await store.find(key))?.stored.size, 'what does not matter').to.equal(2);
    await store.save({ ...record, key, ...change });
    expect((await store.find(key))?.stored.size, JSON.stringify(change)).to.equal(0);
  }
  expect(await rawDatabase(`${name}-chunks`).keys()).to.deep.equal([]);
});
