// The two policies of docs/s3.md on Ceph RGW: with them, the example works, and the key that signs URLs can't be made to copy.
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
}

/** The policies of the service and of the key for URLs. */
function policies(): Statement[][] {
  const text = readFileSync(new URL('../../docs/s3.md', import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/```json\n(.*?)\n```/gs)].map(([, block = '']) => JSON.parse(block));
  return blocks.filter(({ Statement }) => Statement).map(({ Statement }) => Statement);
}

describe('The example for S3 with the least rights', () => {
  let store: RunningStore;
  /** The settings with the key of the service, and with that of the owner of the bucket and a key for URLs. */
  const settings: Record<'service' | 'urls', Record<string, string>> = { service: {}, urls: {} };
  let folder: string;
  before(async () => {
    store = await startStore();
    const owner = { ...SETTINGS, ...store.settings, SECOND_TOKEN: '' };
    await createBucket(owner);
    const [service, chunks] = [await store.addUser('service'), await store.addUser('chunks')];
    const own = policies();
    assert.equal(own.length, 2);
    const Statement = own.flatMap((statements, index) => {
      const Principal = { AWS: [`arn:aws:iam:::user/${['service', 'chunks'][index]}`] };
      return statements.map((statement) => ({ ...statement, Principal }));
    });
    const policy = JSON.stringify({ Version: '2012-10-17', Statement });
    const answer = await store.ask('?policy', 'PUT', policy);
    assert.ok(answer.ok, await answer.text());
    settings.service = {
      ...owner,
      S3_ACCESS_KEY_ID: service.accessKeyId,
      S3_SECRET_ACCESS_KEY: service.secretAccessKey,
    };
    settings.urls = {
      ...owner,
      S3_CHUNKS_ACCESS_KEY_ID: chunks.accessKeyId,
      S3_CHUNKS_SECRET_ACCESS_KEY: chunks.secretAccessKey,
    };
    folder = copyExample(readFileSync(new URL('support/two-users.ts', import.meta.url), 'utf8'));
  });
  after(() => store.stop());

  /** Reads an object with the key of the service, to whose user it belongs. */
  const hashOf = (key: string, own: object): Promise<string> =>
    print(
      `import { createHash } from 'node:crypto';
      import { AwsV4Signer } from 'aws4fetch';
      import { settings } from './settings.ts';
      const { endpoint, region, keys } = settings.store;
      const url = endpoint + '/uploads/${key}';
      const signed = await new AwsV4Signer({ ...keys, region, service: 's3', url, signQuery: true }).sign();
      const bytes = Buffer.from(await (await fetch(signed.url)).arrayBuffer());
      console.log(JSON.stringify(createHash('sha256').update(bytes).digest('hex')));`,
      own,
      folder,
    );

  for (const name of ['service', 'urls'] as const)
    test(`of the ${name}: uploads files of no, one and several chunks`, async () => {
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
          const key = await store.keyOfFile('alice=40example.com', body.file_id);
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

  test('has a key for URLs that reads nothing, so that no URL can copy, whatever it signs', async () => {
    const script = `import { AwsV4Signer } from 'aws4fetch';
      import { settings } from './settings.ts';
      const { endpoint, region, keys, chunkKeys } = settings.store;
      const ask = async (key, path, method, headers = {}) => {
        const url = endpoint + '/uploads/' + path;
        const signed = await new AwsV4Signer({ ...key, region, service: 's3', url, method, signQuery: true }).sign();
        return (await fetch(signed.url, { method, headers })).status;
      };
      const source = { 'x-amz-copy-source': '/uploads/chunks/of-bob' };
      const statuses = {};
      for (const [name, key] of Object.entries({ keys, chunkKeys }))
        statuses[name] = [await ask(key, 'chunks/copy', 'PUT', source), await ask(key, 'chunks/own', 'PUT'),
          await ask(key, 'chunks/of-bob', 'GET'), await ask(key, 'files/own', 'PUT'), await ask(key, 'chunks/own', 'DELETE')];
      console.log(JSON.stringify(statuses));`;
    assert.ok((await store.ask('/chunks/of-bob', 'PUT', 'secret of bob')).ok);
    assert.deepEqual(await print(script, settings.urls, folder), {
      keys: [200, 200, 200, 200, 204],
      chunkKeys: [403, 200, 403, 403, 403],
    });
  });
});
