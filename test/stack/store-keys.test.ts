// The policies of docs/s3.md on Ceph RGW: with them, the example works, and the key that signs URLs reads and shares nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { copyExample, createBucket, print, SETTINGS, startExample, TOKEN } from '../support/service-s3.ts';
import { Client, MIB, put, sha256 } from './support/hostile.ts';
import { type RunningStore, startStore } from './support/store.ts';

interface Statement {
  readonly Action: string | string[];
  readonly Resource: string | string[];
  readonly Principal?: object;
}

/** The policy of the bucket, and those of the service and of the key for URLs for stores in which users have policies. */
function policies(): Statement[][] {
  const text = readFileSync(new URL('../../docs/s3.md', import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/```json\n(.*?)\n```/gs)].map(([, block = '']) => JSON.parse(block));
  return blocks.filter(({ Statement }) => Statement).map(({ Statement }) => Statement);
}

describe('The example for S3 with the least rights', () => {
  let store: RunningStore;
  /** The settings with the policy of the service alone; and with that of a bucket of `svc`, and a key of `urls` for URLs. */
  const settings: Record<'service' | 'both', Record<string, string>> = { service: {}, both: {} };
  let folder: string;
  before(async () => {
    store = await startStore();
    const owner = { ...SETTINGS, ...store.settings, SECOND_TOKEN: '' };
    await createBucket(owner);
    folder = copyExample(readFileSync(new URL('support/two-users.ts', import.meta.url), 'utf8'));
    const [service, svc, urls] = [
      await store.addUser('service'),
      await store.addUser('svc'),
      await store.addUser('urls'),
    ];
    const [ofBucket = [], ofService = [], ...others] = policies();
    assert.equal(others.length, 1);
    const Principal = { AWS: ['arn:aws:iam:::user/service'] };
    const Statement = ofService.map((statement) => ({ ...statement, Principal }));
    const answer = await store.ask('?policy', 'PUT', JSON.stringify({ Version: '2012-10-17', Statement }));
    assert.ok(answer.ok, await answer.text());
    settings.service = {
      ...owner,
      S3_ACCESS_KEY_ID: service.accessKeyId,
      S3_SECRET_ACCESS_KEY: service.secretAccessKey,
    };
    settings.both = {
      ...owner,
      S3_BUCKET: 'both',
      S3_ACCESS_KEY_ID: svc.accessKeyId,
      S3_SECRET_ACCESS_KEY: svc.secretAccessKey,
      S3_CHUNKS_ACCESS_KEY_ID: urls.accessKeyId,
      S3_CHUNKS_SECRET_ACCESS_KEY: urls.secretAccessKey,
    };
    await createBucket(settings.both, folder);
    const policy = JSON.stringify({ Version: '2012-10-17', Statement: ofBucket });
    const text = policy.replaceAll('arn:aws:s3:::uploads', 'arn:aws:s3:::both');
    await print(
      `import { call } from './store.ts';
      console.log(JSON.stringify(await call('PUT', '?policy', { body: ${JSON.stringify(text)} })));`,
      settings.both,
      folder,
    );
  });
  after(() => store.stop());

  /** Reads an object with the key of the service, to whose user it belongs. */
  const hashOf = (key: string, own: object): Promise<string> =>
    print(
      `import { createHash } from 'node:crypto';
      import { AwsV4Signer } from 'aws4fetch';
      import { settings } from './settings.ts';
      const { endpoint, region, bucket, keys } = settings.store;
      const url = endpoint + '/' + bucket + '/${key}';
      const signed = await new AwsV4Signer({ ...keys, region, service: 's3', url, signQuery: true }).sign();
      const bytes = Buffer.from(await (await fetch(signed.url)).arrayBuffer());
      console.log(JSON.stringify(createHash('sha256').update(bytes).digest('hex')));`,
      own,
      folder,
    );

  for (const name of ['service', 'both'] as const)
    test(`${name === 'both' ? 'of both' : 'of the service'}: uploads files of no, one and several chunks`, async () => {
      const example = await startExample('hono', settings[name], { folder });
      try {
        const client = new Client(TOKEN, example.baseUrl, new Set());
        for (const sizes of [[], [1000], [5 * MIB, 5 * MIB, 1]]) {
          const bytes = sizes.map((size) => randomBytes(size));
          const session = await client.open(sizes.reduce((sum, size) => sum + size, 0));
          const chunks = sizes.length > 0 ? await client.presign(session, ...bytes) : [];
          for (const chunk of chunks) assert.equal((await put(chunk)).status, 200);
          const { status, text, body } = await client.commit(session, chunks);
          assert.equal(status, 200, `${sizes}: ${text} ${example.output()}`);
          const digest = sha256(Buffer.from(`${bytes.map(sha256)}`));
          const key = `files/u-alice=40example.com/${body.file_id}-${digest}`;
          assert.equal(await hashOf(key, settings[name]), sha256(Buffer.concat(bytes)));
        }
      } finally {
        await example.stop();
      }
    });

  test('continues and removes multipart uploads', async () => {
    const script = `import { assemble, removeOthers } from './assemble.ts';
      import { call } from './store.ts';
      const source = async (name) => {
        await call('PUT', 'chunks/' + name, { body: 'a' });
        return { key: 'chunks/' + name, sizeBytes: 1 };
      };
      await call('POST', 'files/a-1?uploads');
      // Two parts of a byte are too small, which is a reason to begin again, and nothing else is wrong with them.
      const sources = [await source('a'), await source('b')];
      const said = await assemble('files/a-1', sources, { isFirst: false, signal: new AbortController().signal })
        .catch(({ code }) => code);
      if (said !== 'EntityTooSmall') throw new Error(said);
      await call('POST', 'files/a-1?uploads');
      await removeOthers('files/a-', '');
      console.log(JSON.stringify(await call('GET', '?uploads&prefix=files/a-')));`;
    assert.doesNotMatch(await print<string>(script, settings.service, folder), /<UploadId>/);
    assert.equal((await store.list('files/a-')).size, 0);
  });

  test('has a key for URLs that writes chunks, and reads, deletes and shares nothing, and copies no whole object', async () => {
    const script = `import { AwsV4Signer } from 'aws4fetch';
      import { settings } from './settings.ts';
      import { call } from './store.ts';
      const { endpoint, region, bucket, keys, chunkKeys } = settings.store;
      const ask = async (key, method, path, headers = {}) => {
        const url = endpoint + '/' + bucket + '/' + path;
        const signed = await new AwsV4Signer({ ...key, region, service: 's3', url, method, headers }).sign();
        const response = await fetch(signed.url, { method, headers: signed.headers });
        return { status: response.status, text: await response.text() };
      };
      const acl = { 'x-amz-acl': 'bucket-owner-full-control' };
      // As the URLs for browsers do, so these chunks belong to the user of the key.
      const chunks = ['chunks/u-bob/a', 'chunks/u-bob/b'];
      for (const path of chunks) await ask(chunkKeys, 'PUT', path, acl);
      await call('PUT', 'files/u-bob/file', { body: 'secret of bob' });
      const statuses = {};
      const tried = async (name, ...request) => (statuses[name] = (await ask(...request)).status);
      for (const path of [chunks[0], 'files/u-bob/file']) {
        const from = { 'x-amz-copy-source': '/' + bucket + '/' + path };
        await tried('read ' + path, chunkKeys, 'GET', path);
        await tried('size ' + path, chunkKeys, 'HEAD', path);
        await tried('copy ' + path, chunkKeys, 'PUT', 'chunks/u-eve/copy', { ...from, ...acl });
        await tried('list ' + path, chunkKeys, 'GET', path + '?acl');
        await tried('share ' + path, chunkKeys, 'PUT', path + '?acl', { 'x-amz-acl': 'public-read' });
        await tried('delete ' + path, chunkKeys, 'DELETE', path);
        const begun = await ask(chunkKeys, 'POST', 'chunks/u-eve/parts?uploads', acl);
        const id = /<UploadId>(.+)<.UploadId>/.exec(begun.text)?.[1];
        await tried('part ' + path, chunkKeys, 'PUT', 'chunks/u-eve/parts?partNumber=1&uploadId=' + id, from);
        statuses['public ' + path] = (await fetch(endpoint + '/' + bucket + '/' + path)).status;
      }
      await tried('list', chunkKeys, 'GET', '?list-type=2');
      await tried('policy', chunkKeys, 'PUT', '?policy');
      await tried('file', chunkKeys, 'PUT', 'files/u-eve/file');
      await tried('chunk', chunkKeys, 'PUT', 'chunks/u-eve/own', acl);
      await tried('service elsewhere', keys, 'PUT', 'other');
      await tried('service', keys, 'GET', chunks[0]);
      console.log(JSON.stringify(statuses));`;
    const { chunk, service, ...others } = await print<Record<string, number>>(script, settings.both, folder);
    assert.deepEqual({ chunk, service }, { chunk: 200, service: 200 });
    const allowed = Object.entries(others).filter(([, status]) => status !== 403);
    // RGW asks no policy before it copies a part. A URL for a PUT can't be used for that: it signs its query.
    assert.deepEqual(allowed, [['part chunks/u-bob/a', 200]]);
    assert.equal(Object.keys(others).length, 20);
  });
});
