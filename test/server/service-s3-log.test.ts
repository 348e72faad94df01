// What the log of the example for S3 says of an error: the part that failed, what it was asked, and the first line of its own code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type FakeStore, startFakeStore } from '../support/fake-store.ts';
import { ask, upload } from '../support/s3-client.ts';
import { copyExample, PAGE, print, startExample } from '../support/service-s3.ts';

type Line = Record<string, string | number | undefined>;
const HOOKS = readFileSync(new URL('../../demo/examples/service-s3/hooks.ts', import.meta.url), 'utf8');
const folderWith = (before: string, after: string): string => {
  assert.ok(HOOKS.includes(before));
  return copyExample(HOOKS.replace(before, after));
};

let store: FakeStore;
before(async () => {
  store = await startFakeStore(PAGE);
});
after(() => store.close());
beforeEach(() => {
  store.fault = () => undefined;
});

/** Runs the example while `work` does. Resolves with the lines of the log that name a part. */
async function partsIn(
  work: (baseUrl: string) => Promise<unknown>,
  folder = copyExample(HOOKS),
  settings = {},
): Promise<Line[]> {
  const running = await startExample('hono', { S3_ENDPOINT: store.origin, ...settings }, { folder });
  try {
    await work(running.baseUrl);
  } finally {
    await running.stop();
  }
  const lines = running.output().trim().split('\n');
  assert.ok(!running.output().includes('demo-user'), 'the log names a user');
  return lines.map((line) => JSON.parse(line) as Line).filter(({ part }) => part);
}
const commit =
  (count: number) =>
  async (baseUrl: string): Promise<void> => {
    assert.equal((await (await upload(baseUrl, store, count)).commit()).status, 503);
  };

describe('The log of the example for S3', () => {
  test('names the request that the store refuses', async () => {
    store.fault = ({ purpose }) => (purpose === 'part' ? { status: 403, code: 'AccessDenied' } : undefined);
    const [line] = await partsIn(commit(2));
    const { part, call, error, message, at, operation, status } = line ?? {};
    assert.deepEqual([part, call, error], ['store', 'UploadPartCopy files/', 'StoreError']);
    assert.equal(message, 'UploadPartCopy files/: the store responded with 403 AccessDenied');
    assert.deepEqual([operation, status], ['commit', 503]);
    assert.match(`${at}`, /^store\.ts:\d+$/);
  });

  test('names the store if it can’t be reached, and the first line that is of no package', async () => {
    const folder = copyExample(HOOKS);
    const lines = await partsIn(
      async (baseUrl) => {
        const { body } = await ask(baseUrl, '', { parent_id: 'folder-a', file_name: 'a', file_size: 9 });
        const chunk = { hashes: ['a'.repeat(64)], sizes: [9] };
        assert.equal((await ask(baseUrl, '/chunks', chunk, body.session_id)).status, 503);
      },
      folder,
      { S3_ENDPOINT: 'http://127.0.0.1:1' },
    );
    const { part, call, at } = lines[0] ?? {};
    assert.deepEqual([part, call], ['store', 'HeadObject chunks/']);
    assert.match(`${at}`, /^store\.ts:\d+$/);
  });

  test('names the hook that fails, whatever it throws', async () => {
    for (const [thrown, error] of [
      ['new TypeError("of ann")', 'TypeError'],
      ['undefined', 'Error'],
      ['"of ann"', 'Error'],
      ['new DOMException("of ann", "AbortError")', 'AbortError'],
    ]) {
      const folder = folderWith('  return undefined;', `  throw ${thrown};`);
      const [line] = await partsIn(commit(1), folder);
      assert.deepEqual([line?.part, line?.call, line?.error], ['hook', 'refuse', error], thrown);
      assert.equal(line?.message, undefined);
    }
    const folder = folderWith('  if (token !== DEMO_TOKEN) return 401;', '  throw new Error("of ann");');
    const [line] = await partsIn((baseUrl) => ask(baseUrl, '', {}), folder);
    assert.deepEqual([line?.part, line?.call], ['hook', 'authorize']);
    assert.match(`${line?.at}`, /^hooks\.ts:\d+$/);
  });

  test('names the database', async () => {
    const nowhere = { DATABASE_URL: 'postgres://demo@127.0.0.1:1/postgres' };
    const [line] = await partsIn((baseUrl) => ask(baseUrl, '', {}), copyExample(HOOKS), nowhere);
    assert.deepEqual([line?.part, line?.code], ['database', 'ECONNREFUSED']);
    assert.match(`${line?.at}`, /^database\.ts:\d+$/);
  });

  test('has a name for each request of the service, and no more of a key than its folder', async () => {
    store.fault = () => ({ status: 403 });
    const requests: [string, string, object?][] = [
      ['HEAD', 'chunks/u-ann/a'],
      ['PUT', 'files/u-ann/a'],
      ['PUT', 'files/u-ann/a', { 'x-amz-copy-source': '/uploads/chunks/u-ann/a' }],
      ['PUT', 'files/u-ann/a?partNumber=1&uploadId=2', { 'x-amz-copy-source': '/uploads/chunks/u-ann/a' }],
      ['POST', 'files/u-ann/a?uploads'],
      ['POST', 'files/u-ann/a?uploadId=2'],
      ['GET', '?uploads&prefix=files/u-ann/a'],
      ['GET', 'files/u-ann/a?uploadId=2'],
      ['GET', '?list-type=2&prefix=files/u-ann/a'],
      ['GET', '?max-keys=0'],
      ['DELETE', 'chunks/u-ann/a'],
      ['DELETE', 'files/u-ann/a?uploadId=2'],
      ['PUT', '?cors'],
    ];
    const script = `import { call } from './store.ts';
      const messages = [];
      for (const [method, key, headers] of ${JSON.stringify(requests)})
        messages.push(await call(method, key, { headers }).catch(({ message }) => message));
      console.log(JSON.stringify(messages));`;
    const messages = await print<string[]>(script, { S3_ENDPOINT: store.origin });
    const names = messages.map((message) => message.replace(': the store responded with 403', ''));
    assert.deepEqual(names, [
      'HeadObject chunks/',
      'PutObject files/',
      'CopyObject files/',
      'UploadPartCopy files/',
      'CreateMultipartUpload files/',
      'CompleteMultipartUpload files/',
      'ListMultipartUploads',
      'ListParts files/',
      'ListObjectsV2',
      'ListObjects',
      'DeleteObject chunks/',
      'AbortMultipartUpload files/',
      'PUT ?cors',
    ]);
  });
});
