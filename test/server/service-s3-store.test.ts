// The example for S3 while its store has bad seconds: what it repeats, what it keeps, and what it looks up.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type FakeStore, type Fault, type StoreRequest, startFakeStore } from '../support/fake-store.ts';
import { ask, CHUNK_BYTES, chunkKey, hashesOf, type Uploaded, upload } from '../support/s3-client.ts';
import {
  PAGE,
  print,
  type RunningExample,
  runInExample,
  SETTINGS,
  startExample,
} from '../support/service-s3.ts';

let store: FakeStore;
let example: RunningExample;
before(async () => {
  store = await startFakeStore(PAGE);
  example = await startExample('hono', { S3_ENDPOINT: store.origin });
});
after(async () => {
  await example.stop();
  await store.close();
});
beforeEach(() => {
  store.fault = () => undefined;
  store.requests.length = 0;
  for (const known of [store.objects, store.uploads]) known.clear();
});

let fileCount = 0;
const uploadChunks = (count: number): Promise<Uploaded> => {
  fileCount += 1;
  return upload(example.baseUrl, store, count, `file ${fileCount}`);
};
const SLOW_DOWN = { status: 503, code: 'SlowDown' };
/** Has the fault for requests of this purpose, as often as `count` says. */
const faulty = (purpose: StoreRequest['purpose'], fault: Fault, count = Number.POSITIVE_INFINITY) => {
  let left = count;
  return (request: StoreRequest): Fault | undefined => {
    if (request.purpose !== purpose || left === 0) return undefined;
    left -= 1;
    return fault;
  };
};
/** Numbers of the parts whose copies were tried. */
const partNumbers = (): number[] => store.of('part').map(({ query }) => Number(query.get('partNumber')));
const files = (): [string, number][] => [...store.objects].filter(([key]) => key.startsWith('files/'));
const commitStatus = async (uploaded: Uploaded): Promise<number> => (await uploaded.commit()).status;

describe('A bad second of the store', () => {
  test('of 503s loses no part: each request is repeated by itself', async () => {
    const uploaded = await uploadChunks(60);
    let copies = 0;
    store.fault = ({ purpose }) => {
      if (purpose !== 'part') return undefined;
      copies += 1;
      return copies > 20 && copies <= 44 ? SLOW_DOWN : undefined;
    };
    assert.equal(await commitStatus(uploaded), 200);
    assert.equal(copies, 60 + 24);
    assert.equal(store.of('begin', 'complete').length, 2);
    assert.deepEqual(store.of('delete'), []);
    assert.deepEqual(
      files().map(([, size]) => size),
      [uploaded.sizeBytes],
    );
  });

  test('of broken connections stops nothing, whatever the request is for', async () => {
    const uploaded = await uploadChunks(30);
    let requests = 0;
    store.fault = () => {
      requests += 1;
      return requests % 3 === 0 ? 'reset' : undefined;
    };
    assert.equal(await commitStatus(uploaded), 200);
    assert.deepEqual(
      files().map(([, size]) => size),
      [uploaded.sizeBytes],
    );
    assert.equal(store.uploads.size, 0);
  });

  test('is over when the store says so: Retry-After', async () => {
    const uploaded = await uploadChunks(2);
    store.fault = faulty('complete', { status: 503, retryAfter: '1' }, 1);
    assert.equal(await commitStatus(uploaded), 200);
    const [first, second] = store.of('complete').map(({ atMs }) => atMs);
    assert.ok(Number(second) - Number(first) >= 1000);
  });

  test('does not show while URLs are presigned', async () => {
    store.fault = faulty('head', SLOW_DOWN, 2);
    await uploadChunks(1);
  });

  test('that does not pass is a 503 soon for a browser, after three requests for a chunk', async () => {
    store.fault = faulty('head', 'reset');
    const opened = await ask(example.baseUrl, '', { parent_id: 'folder-a', file_name: 'a', file_size: 9 });
    const presigned = { hashes: hashesOf(1), sizes: [9] };
    const { status, headers } = await ask(example.baseUrl, '/chunks', presigned, opened.body.session_id);
    assert.deepEqual([status, headers.get('retry-after')], [503, '5']);
    assert.equal(store.of('head').length, 3);
  });

  test('is no reason to repeat what the store refuses', async () => {
    for (const fault of [
      { status: 403, code: 'AccessDenied' },
      { status: 501, code: 'NotImplemented' },
    ]) {
      const uploaded = await uploadChunks(2);
      store.fault = faulty('begin', fault);
      assert.equal(await commitStatus(uploaded), 503);
      assert.equal(store.of('begin').length, 1);
      store.fault = () => undefined;
    }
  });

  test('has longer and longer waits, which differ', async () => {
    const waits = await print<number[]>(`import { waitAfter } from './store.ts';
      const least = [1, 2, 3, 4, 5].map((tries) => waitAfter(tries, 0, 0));
      const most = [1, 2, 3, 4, 5].map((tries) => waitAfter(tries, 0, 1));
      console.log(JSON.stringify([...least, ...most, waitAfter(1, 3000, 0)]));`);
    assert.deepEqual(waits, [100, 200, 400, 800, 1600, 200, 400, 800, 1600, 3200, 3100]);
  });
});

describe('A completion', () => {
  test('whose answer was lost is looked up, and not sent again', async () => {
    const uploaded = await uploadChunks(9);
    store.fault = faulty('complete', 'lost');
    assert.equal(await commitStatus(uploaded), 200);
    assert.equal(store.of('complete').length, 1);
    assert.equal(store.of('begin').length, 1);
    assert.equal(store.of('part').length, 9);
    assert.deepEqual(store.of('delete'), []);
  });

  test('that fails late, with the status 200, is sent again', async () => {
    const uploaded = await uploadChunks(3);
    store.fault = faulty('complete', { status: 200, code: 'InternalError' }, 2);
    assert.equal(await commitStatus(uploaded), 200);
    assert.equal(store.of('complete').length, 3);
    assert.equal(store.of('part').length, 3);
  });

  test('whose answer and look-up were lost is found by the next commit', async () => {
    const uploaded = await uploadChunks(3);
    let isLost = false;
    store.fault = ({ purpose, key }) => {
      isLost ||= purpose === 'complete';
      if (purpose === 'complete') return 'lost';
      return isLost && key.startsWith('files/') ? { status: 403 } : undefined;
    };
    assert.equal(await commitStatus(uploaded), 503);
    assert.equal(files().length, 1);
    store.fault = () => undefined;
    assert.equal(await commitStatus(uploaded), 200);
    assert.equal(store.of('complete').length, 1);
    assert.equal(store.of('part').length, 3);
    assert.deepEqual(store.of('delete'), []);
  });

  test('that the store refuses is not tried again with the same upload', async () => {
    const uploaded = await uploadChunks(3);
    store.fault = faulty('complete', { status: 400, code: 'InvalidPart' }, 1);
    assert.deepEqual([await commitStatus(uploaded), await commitStatus(uploaded)], [503, 200]);
    const ids = store.of('complete').map(({ query }) => query.get('uploadId'));
    assert.equal(new Set(ids).size, 2);
    assert.equal(store.uploads.size, 0);
  });
});

describe('An attempt that has failed', () => {
  const DENIED = { status: 403, code: 'AccessDenied' };

  test('leaves the parts that it has copied to the next one', async () => {
    const uploaded = await uploadChunks(20);
    store.fault = ({ query }) => (query.get('partNumber') === '13' ? DENIED : undefined);
    assert.equal(await commitStatus(uploaded), 503);
    const copied = new Set([...store.uploads.values()].flatMap(({ sizes }) => [...sizes.keys()]));
    assert.ok(copied.size >= 12 && copied.size < 20, `${copied.size} parts`);
    store.fault = () => undefined;
    store.requests.length = 0;
    assert.equal(await commitStatus(uploaded), 200);
    assert.deepEqual(
      partNumbers().filter((number) => copied.has(number)),
      [],
    );
    assert.equal(store.of('part').length, 20 - copied.size);
    assert.equal(store.of('begin').length, 0);
    assert.deepEqual(
      files().map(([, size]) => size),
      [uploaded.sizeBytes],
    );
  });

  test('leaves no part whose size is wrong', async () => {
    const uploaded = await uploadChunks(3);
    store.fault = faulty('complete', DENIED, 1);
    assert.equal(await commitStatus(uploaded), 503);
    for (const { sizes } of store.uploads.values()) sizes.set(2, 7);
    store.requests.length = 0;
    assert.equal(await commitStatus(uploaded), 200);
    assert.deepEqual(partNumbers(), [2]);
    assert.deepEqual(
      files().map(([, size]) => size),
      [uploaded.sizeBytes],
    );
  });

  test('is started again if the store has forgotten its upload', async () => {
    const uploaded = await uploadChunks(3);
    store.fault = faulty('complete', DENIED, 1);
    assert.equal(await commitStatus(uploaded), 503);
    // It is still listed.
    store.fault = faulty('parts', { status: 404, code: 'NoSuchUpload' }, 1);
    assert.equal(await commitStatus(uploaded), 200);
    assert.equal(store.of('part').length, 6);
    assert.equal(files().length, 1);
  });

  test('that is forgotten by the store in the middle begins again, with all parts', async () => {
    const uploaded = await uploadChunks(12);
    let copies = 0;
    store.fault = ({ purpose }) => {
      if (purpose === 'part') copies += 1;
      if (copies === 10 && store.of('begin').length === 1) store.uploads.clear();
      return undefined;
    };
    assert.equal(await commitStatus(uploaded), 200);
    assert.equal(store.of('begin').length, 2);
    assert.deepEqual(
      files().map(([, size]) => size),
      [uploaded.sizeBytes],
    );
  });

  test('ends if the store forgets each upload', async () => {
    const uploaded = await uploadChunks(2);
    store.fault = faulty('part', { status: 404, code: 'NoSuchUpload' });
    assert.equal(await commitStatus(uploaded), 503);
    assert.equal(store.of('begin').length, 3);
  });

  test('takes the upload of its own file only, and not one of an object of another size', async () => {
    const uploaded = await uploadChunks(2);
    store.fault = faulty('begin', DENIED);
    assert.equal(await commitStatus(uploaded), 503);
    const [target = ''] = store.of('begin').map(({ key }) => key);
    store.uploads.set('other', { key: `${target}0`, sizes: new Map([[1, CHUNK_BYTES]]) });
    store.objects.set(target, 7);
    store.fault = () => undefined;
    assert.equal(await commitStatus(uploaded), 200);
    assert.equal(store.of('part').length, 2);
    assert.equal(store.objects.get(target), uploaded.sizeBytes);
  });

  test('gives its space back if the store is full', async () => {
    const uploaded = await uploadChunks(3);
    store.fault = ({ query }) => (query.get('partNumber') === '2' ? { status: 507 } : undefined);
    assert.equal(await commitStatus(uploaded), 507);
    assert.equal(store.uploads.size, 0);
    store.fault = () => undefined;
    assert.equal(await commitStatus(uploaded), 200);
  });

  test('ends at once, also between two tries, when another process may have its file', async () => {
    const hashes = hashesOf(20);
    for (const hash of hashes) store.objects.set(chunkKey(hash), CHUNK_BYTES);
    const sources = hashes.map((hash) => ({ key: chunkKey(hash), sizeBytes: CHUNK_BYTES }));
    store.fault = faulty('part', { status: 503, retryAfter: '50' }, 8);
    const script = `import { assemble } from './assemble.ts';
      const lost = new AbortController();
      const { fetch } = globalThis;
      let count = 0;
      globalThis.fetch = async (...given) => {
        const response = await fetch(...given);
        count += 1;
        // The begin, and eight parts that wait for their second try.
        if (count === 9) setImmediate(() => lost.abort());
        return response;
      };
      const how = { isFirst: true, signal: lost.signal };
      const { name } = await assemble('files/u-demo-user/f-2', ${JSON.stringify(sources)}, how).catch((error) => error);
      console.log(JSON.stringify({ name, isAborted: lost.signal.aborted }));`;
    const said = await print(script, { S3_ENDPOINT: store.origin });
    assert.deepEqual(said, { name: 'AbortError', isAborted: true });
    assert.deepEqual(store.of('complete', 'delete'), []);
    assert.equal(store.of('part').length, 8);
  });

  test('and was killed leaves its parts, too', async () => {
    const hashes = hashesOf(40);
    for (const hash of hashes) store.objects.set(chunkKey(hash), CHUNK_BYTES);
    const sources = hashes.map((hash) => ({ key: chunkKey(hash), sizeBytes: CHUNK_BYTES }));
    const script = `import { assemble } from './assemble.ts';
      const how = { isFirst: process.env.IS_FIRST === 'true', signal: new AbortController().signal };
      await assemble('files/u-demo-user/f-1', ${JSON.stringify(sources)}, how);
      console.log('{}');`;
    const settings = { ...SETTINGS, S3_ENDPOINT: store.origin };
    const killed = runInExample(['--input-type=module', '--eval', script], { ...settings, IS_FIRST: 'true' });
    store.fault = ({ query }) => {
      if (query.get('partNumber') === '25') killed.kill('SIGKILL');
      return undefined;
    };
    await once(killed, 'close');
    const copied = new Set([...store.uploads.values()].flatMap(({ sizes }) => [...sizes.keys()]));
    assert.ok(copied.size >= 17, `${copied.size} parts`);
    store.fault = () => undefined;
    store.requests.length = 0;
    await print(script, settings);
    assert.equal(store.of('part').length, 40 - copied.size);
    assert.equal(store.objects.get('files/u-demo-user/f-1'), 40 * CHUNK_BYTES);
  });
});
