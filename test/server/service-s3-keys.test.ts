// The keys of the example for S3: temporary ones, ones that change, and a second one for URLs. The stand-in for the store shows
// what is sent; test/stack shows what a store makes of it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type FakeStore, startFakeStore } from '../support/fake-store.ts';
import { upload } from '../support/s3-client.ts';
import { copyExample, PAGE, print, startExample } from '../support/service-s3.ts';

const HASH = 'a'.repeat(64);
const URL_OF_CHUNK = `const { upload_url } = await presignPut('chunks/u-ann/x', '${HASH}', 9);`;
const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
const TEMPORARY = { S3_SESSION_TOKEN: 'token+of/keys=', S3_CREDENTIAL_EXPIRATION: inMinutes(60) };
const CHUNK_KEYS = { S3_CHUNKS_ACCESS_KEY_ID: 'chunks-key', S3_CHUNKS_SECRET_ACCESS_KEY: 'chunks-secret' };
const example = new URL('../../demo/examples/service-s3/hooks.ts', import.meta.url);
/** The hooks of the example with other `credentials`. */
const hooksWith = (credentials: string): string =>
  readFileSync(example, 'utf8').replace(/export async function credentials[\s\S]*/, credentials);

let store: FakeStore;
before(async () => {
  store = await startFakeStore(PAGE);
});
after(() => store.close());
beforeEach(() => {
  store.fault = () => undefined;
  store.requests.length = 0;
});

/** Presigns a chunk. Resolves with its URL. */
async function presigned(settings: object, hooks?: string): Promise<URL> {
  const script = `import { presignPut } from './store.ts';
    ${URL_OF_CHUNK}
    console.log(JSON.stringify({ upload_url }));`;
  const folder = hooks ? copyExample(hooks) : undefined;
  return new URL((await print<{ upload_url: string }>(script, settings, folder)).upload_url);
}
const keyIn = (text: string | null | undefined): string | undefined =>
  /^(?:.*Credential=)?([^/]+)/.exec(text ?? '')?.[1];

describe('Keys of the example for S3', () => {
  test('have a session token, in requests and in URLs', async () => {
    const url = await presigned(TEMPORARY);
    assert.equal(url.searchParams.get('X-Amz-Security-Token'), TEMPORARY.S3_SESSION_TOKEN);
    const running = await startExample('hono', { ...TEMPORARY, S3_ENDPOINT: store.origin });
    try {
      const uploaded = await upload(running.baseUrl, store, 2);
      assert.equal((await uploaded.commit()).status, 200);
    } finally {
      await running.stop();
    }
    const tokens = new Set(store.requests.map(({ headers }) => headers['x-amz-security-token']));
    assert.deepEqual([...tokens], [TEMPORARY.S3_SESSION_TOKEN]);
    assert.ok(!running.output().includes(TEMPORARY.S3_SESSION_TOKEN));
  });

  test('have no token and no end if they are not temporary', async () => {
    const url = await presigned({});
    assert.equal(url.searchParams.get('X-Amz-Security-Token'), null);
    assert.equal(url.searchParams.get('X-Amz-Expires'), '300');
  });

  test('are read for each signature: those that have changed are used, also when a request is repeated', async () => {
    const hooks = hooksWith(`let count = 0;
      export async function credentials() {
        count += 1;
        return { accessKeyId: 'key-' + count, secretAccessKey: 'secret' };
      }`);
    const script = `import { sizeOf, presignPut } from './store.ts';
      await sizeOf('chunks/u-ann/x');
      ${URL_OF_CHUNK}
      await sizeOf('chunks/u-ann/x');
      console.log(JSON.stringify({ upload_url }));`;
    // The answer of AWS to a HEAD with keys that have ended.
    store.fault = () => (store.requests.length === 1 ? { status: 400 } : undefined);
    const { upload_url: url } = await print<{ upload_url: string }>(
      script,
      { S3_ENDPOINT: store.origin },
      copyExample(hooks),
    );
    const used = store.requests.map(({ headers }) => keyIn(headers.authorization));
    assert.deepEqual(used, ['key-1', 'key-2', 'key-4']);
    assert.equal(keyIn(new URL(url).searchParams.get('X-Amz-Credential')), 'key-3');
  });

  test('end after their URLs', async () => {
    const now = Date.now();
    for (const [leftMs, seconds] of [
      [90_000, 90],
      [300_000, 300],
      [299_999, 299],
      [86_400_000, 300],
      [1000, 1],
    ] as const) {
      const hooks = hooksWith(`export const credentials = async () =>
        ({ accessKeyId: 'a', secretAccessKey: 'b', expiresAt: new Date(${now + leftMs}) });
        Date.now = () => ${now};
        const Real = Date;
        globalThis.Date = class extends Real { constructor(...given) { super(...(given.length ? given : [${now}])); } };`);
      const { searchParams } = await presigned({}, hooks);
      assert.equal(searchParams.get('X-Amz-Expires'), String(seconds), `${leftMs} ms`);
      const date = searchParams.get('X-Amz-Date') ?? '';
      const begin = Date.parse(date.replace(/^(....)(..)(..T..)(..)(..)Z/, '$1-$2-$3:$4:$5Z'));
      assert.ok(begin + seconds * 1000 <= now + leftMs);
    }
  });

  test('sign no URL when they have ended, or their end is no time', async () => {
    for (const end of [`new Date(Date.now() + 500)`, 'new Date(0)', `new Date('soon')`]) {
      const hooks = hooksWith(`export const credentials = async () =>
        ({ accessKeyId: 'a', secretAccessKey: 'b', expiresAt: ${end} });`);
      const script = `import { presignPut } from './store.ts';
        const said = await presignPut('chunks/u-ann/x', '${HASH}', 9).catch(({ code }) => ({ code }));
        console.log(JSON.stringify(said));`;
      assert.deepEqual(await print(script, {}, copyExample(hooks)), { code: 'KEYS_ENDED' }, end);
    }
  });

  test('for URLs are others than those of the service, if there are any', async () => {
    const url = await presigned({ ...CHUNK_KEYS, ...TEMPORARY });
    assert.equal(keyIn(url.searchParams.get('X-Amz-Credential')), 'chunks-key');
    assert.equal(url.searchParams.get('X-Amz-Security-Token'), null);
    const running = await startExample('hono', { ...CHUNK_KEYS, S3_ENDPOINT: store.origin });
    try {
      const uploaded = await upload(running.baseUrl, store, 2);
      assert.equal((await uploaded.commit()).status, 200);
    } finally {
      await running.stop();
    }
    const used = new Set(store.requests.map(({ headers }) => keyIn(headers.authorization)));
    assert.deepEqual([...used], ['access-key']);
  });

  test('are refused at the start if a part of them is missing', async () => {
    const wrong = [
      [{ S3_SESSION_TOKEN: 'token' }, /S3_CREDENTIAL_EXPIRATION must be the time/],
      [{ ...TEMPORARY, S3_CREDENTIAL_EXPIRATION: 'tomorrow' }, /S3_CREDENTIAL_EXPIRATION must be the time/],
      [{ ...TEMPORARY, S3_SESSION_TOKEN: '' }, /S3_CREDENTIAL_EXPIRATION must be empty/],
      [
        { ...CHUNK_KEYS, S3_CHUNKS_SECRET_ACCESS_KEY: '' },
        /S3_CHUNKS_SECRET_ACCESS_KEY must be the secret key/,
      ],
      [{ ...CHUNK_KEYS, S3_CHUNKS_ACCESS_KEY_ID: '' }, /S3_CHUNKS_SECRET_ACCESS_KEY must be empty/],
    ] as const;
    for (const [settings, sentence] of wrong) await assert.rejects(startExample('hono', settings), sentence);
  });
});
