// The example for S3 assembles a file of the most parts that S3 allows, on a store that has a bad second now and then, and with a
// process that is killed in the middle. `npm run test:stack` does it with 64 parts and a real store.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { type FakeStore, startFakeStore } from '../support/fake-store.ts';
import { CHUNK_BYTES, chunkKey, hashesOf } from '../support/s3-client.ts';
import { PAGE, print, runInExample, SETTINGS } from '../support/service-s3.ts';

const PART_COUNT = 10_000;
/** Requests with which the store begins to say 503, 24 times. */
const BURSTS = [1000, 3000, 5000, 8000];
const TARGET = 'files/u-demo-user/f-1';

let store: FakeStore;
before(async () => {
  store = await startFakeStore(PAGE);
});
after(() => store.close());

test(`${PART_COUNT} parts are copied once each, with bursts of 503, broken connections, a killed process and a lost answer`, {
  timeout: 600_000,
}, async (t) => {
  for (const hash of hashesOf(PART_COUNT)) store.objects.set(chunkKey(hash), CHUNK_BYTES);
  const script = `import { createHash } from 'node:crypto';
    import { assemble } from './assemble.ts';
    const sources = Array.from({ length: ${PART_COUNT} }, (_, index) =>
      ({ key: 'chunks/u-demo-user/' + createHash('sha256').update(' ' + index).digest('hex'), sizeBytes: ${CHUNK_BYTES} }));
    const how = { isFirst: process.env.IS_FIRST === 'true', signal: new AbortController().signal };
    await assemble('${TARGET}', sources, how);
    console.log('{}');`;
  const settings = { ...SETTINGS, S3_ENDPOINT: store.origin };
  let copies = 0;
  let failed = 0;
  let onCopy = (): unknown => undefined;
  store.fault = ({ purpose }) => {
    if (purpose === 'complete') return 'lost';
    if (purpose !== 'part') return undefined;
    copies += 1;
    onCopy();
    const isBusy = BURSTS.some((from) => copies >= from && copies < from + 24);
    const isBroken = copies % 97 === 0;
    if (isBusy || isBroken) failed += 1;
    if (isBusy) return { status: 503, code: 'SlowDown' };
    return isBroken ? 'reset' : undefined;
  };
  const killed = runInExample(['--input-type=module', '--eval', script], { ...settings, IS_FIRST: 'true' });
  onCopy = () => copies === 6000 && killed.kill('SIGKILL');
  await once(killed, 'close');
  // Those that were under way when the process was killed are counted as they ended.
  const copied = [...store.uploads.values()].reduce((sum, { sizes }) => sum + sizes.size, 0);
  assert.equal(copied + failed, copies);
  onCopy = () => undefined;
  await print(script, settings);
  assert.equal(copies, PART_COUNT + failed);
  assert.equal(store.of('begin').length, 1);
  assert.equal(store.of('complete').length, 1);
  assert.deepEqual(store.of('delete'), []);
  assert.equal(store.objects.get(TARGET), PART_COUNT * CHUNK_BYTES);
  t.diagnostic(`${copies} copies, ${failed} of them failed; ${copied} parts before the process was killed`);
});
