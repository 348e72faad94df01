// The keys of the example for S3: temporary ones, ones that change, and a second one for URLs. The stand-in for the store shows
// what is sent; test/stack shows what a store makes of it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type FakeStore, startFakeStore } from '../support/fake-store.ts';
import { upload } from '../support/s3-client.ts';
import { copyExample, PAGE, print, runInExample, SETTINGS, startExample } from '../support/service-s3.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HASH = 'a'.repeat(64);
const URL_OF_CHUNK = `const { upload_url } = await presignPut('chunks/u-ann/x', '${HASH}', 9);`;
const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
const TEMPORARY = { S3_SESSION_TOKEN: 'token+of/keys=', S3_CREDENTIAL_EXPIRATION: inMinutes(60) };
const NO_KEYS = { S3_ACCESS_KEY_ID: '', S3_SECRET_ACCESS_KEY: '' };
const CHUNK_KEYS = { S3_CHUNKS_ACCESS_KEY_ID: 'chunks-key', S3_CHUNKS_SECRET_ACCESS_KEY: 'chunks-secret' };
const example = new URL('../../demo/examples/service-s3/hooks.ts', import.meta.url);
/** The hooks of the example with other `credentials`. */
const hooksWith = (credentials: string): string =>
  readFileSync(example, 'utf8').replace(/const \{ keys, chunkKeys[\s\S]*/, credentials);

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

  test('of the service sign nothing either when they have ended', async () => {
    const hooks =
      hooksWith(`export const credentials = async (use) => ({ accessKeyId: 'a', secretAccessKey: 'b',
      ...(use === 'service' && { expiresAt: new Date(Date.now() + 500) }) });`);
    const script = `import { sizeOf } from './store.ts';
      console.log(JSON.stringify(await sizeOf('chunks/u-ann/x').catch(({ code }) => ({ code }))));`;
    assert.deepEqual(await print(script, { S3_ENDPOINT: store.origin }, copyExample(hooks)), {
      code: 'KEYS_ENDED',
    });
    assert.deepEqual(store.requests, []);
  });

  test('make a process unready when they have ended, those for URLs too', async () => {
    for (const ended of ['service', 'urls', 'none']) {
      const hooks =
        hooksWith(`export const credentials = async (use) => ({ accessKeyId: 'a', secretAccessKey: 'b',
        expiresAt: new Date(use === '${ended}' ? 0 : Date.now() + 60_000) });`);
      const running = await startExample(
        'hono',
        { S3_ENDPOINT: store.origin },
        { folder: copyExample(hooks) },
      );
      try {
        const { status } = await fetch(`${running.baseUrl}/readyz`);
        assert.equal(status, ended === 'none' ? 200 : 503, ended);
      } finally {
        await running.stop();
      }
    }
  });

  test('are not needed in the settings if they come from elsewhere, but bucket.ts takes them if they are there', async () => {
    await assert.rejects(
      startExample('hono', NO_KEYS),
      /S3_ACCESS_KEY_ID must be the access key of the store\./,
    );
    const folder = copyExample(
      hooksWith(
        `export const credentials = async () => ({ accessKeyId: 'few-rights', secretAccessKey: 'b' });`,
      ),
    );
    const settings = { ...SETTINGS, S3_ENDPOINT: store.origin };
    const running = await startExample('hono', { ...settings, ...NO_KEYS }, { folder });
    try {
      assert.equal((await (await upload(running.baseUrl, store, 2)).commit()).status, 200);
    } finally {
      await running.stop();
    }
    for (const [keys, used] of [
      [NO_KEYS, 'few-rights'],
      [{}, 'access-key'],
    ] as const) {
      store.requests.length = 0;
      assert.deepEqual(await once(runInExample(['bucket.ts'], { ...settings, ...keys }, folder), 'exit'), [
        0,
        null,
      ]);
      const ids = store.requests.map(({ headers }) => keyIn(headers.authorization));
      assert.deepEqual([...new Set(ids)], [used]);
    }
  });

  test('for URLs may be temporary, too', async () => {
    const more = { S3_CHUNKS_SESSION_TOKEN: 'token', S3_CHUNKS_CREDENTIAL_EXPIRATION: inMinutes(1) };
    const { searchParams } = await presigned({ ...CHUNK_KEYS, ...more });
    assert.equal(searchParams.get('X-Amz-Security-Token'), 'token');
    assert.ok(Number(searchParams.get('X-Amz-Expires')) < 60);
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
      [{ ...CHUNK_KEYS, S3_CHUNKS_SESSION_TOKEN: 'a' }, /S3_CHUNKS_CREDENTIAL_EXPIRATION must be the time/],
      [{ S3_CHUNKS_SESSION_TOKEN: 'a' }, /S3_CHUNKS_SESSION_TOKEN must be empty without S3_CHUNKS_ACCESS/],
    ] as const;
    for (const [settings, sentence] of wrong) await assert.rejects(startExample('hono', settings), sentence);
  });
});

describe('Keys that the example for S3 keeps', () => {
  /** Runs a script with a clock (`now`) and `keptKeys`, whose reads are listed and answered by `answer`. */
  const keeping = <T>(script: string): Promise<T> =>
    print<T>(`import { keptKeys } from './keys.ts';
      let now = 1e12;
      Date.now = () => now;
      const lines = [];
      console.log = (line) => lines.push(JSON.parse(line));
      const reads = [];
      let answer = async (use, count) => ({ accessKeyId: use + count });
      const credentials = keptKeys((use) => {
        reads.push(use);
        return answer(use, reads.filter((each) => each === use).length);
      });
      const idOf = (use = 'service') => credentials(use).then(({ accessKeyId }) => accessKeyId, ({ code }) => code);
      /** The next reads have ended. */
      const settled = () => new Promise(setImmediate);
      const ids = [];
      const see = async (use) => ids.push(await idOf(use));
      ${script}
      process.stdout.write(JSON.stringify({ ids, reads, lines }));`);

  interface Seen {
    readonly ids: string[];
    readonly reads: string[];
    readonly lines: Record<string, string>[];
  }

  test('are read once for each use, however many ask, and again after a minute', async () => {
    const { ids, reads } = await keeping<Seen>(`
      ids.push(...(await Promise.all(['service', 'urls', 'service', 'urls'].map(idOf))));
      now += 59_999;
      await see();
      now += 1;
      await see();
      await settled();
      await see();`);
    assert.deepEqual(ids, ['service1', 'urls1', 'service1', 'urls1', 'service1', 'service1', 'service2']);
    assert.deepEqual(reads, ['service', 'urls', 'service']);
  });

  test('are used until they end, while the next ones are asked for once a second and can’t be read', async () => {
    const { ids, reads, lines } = await keeping<Seen>(`
      answer = async (use, count) => {
        if (count > 1 && count < 5) throw Object.assign(new Error('secret'), { code: 'ENOENT' });
        return { accessKeyId: use + count, expiresAt: new Date(1e12 + (count > 1 ? 1e7 : 3000)) };
      };
      for (let step = 0; step < 8; step += 1) {
        await see();
        await settled();
        now += 500;
      }
      await see();
      await settled();
      await see();`);
    // After the end, the ended keys are returned, and refused by who signs with them.
    assert.deepEqual(ids.slice(0, 8), Array(8).fill('service1'));
    assert.deepEqual(ids.slice(8), ['service5', 'service5']);
    assert.equal(reads.length, 5);
    assert.deepEqual(
      lines.map(({ part, call, code, message }) => [part, call, code, message]),
      Array(3).fill(['hook', 'credentials', 'ENOENT', undefined]),
    );
  });

  test('wait for no read that hangs while the old ones are valid', async () => {
    const { ids, reads } = await keeping<Seen>(`
      answer = (use, count) => count > 1 ? new Promise(() => undefined)
        : Promise.resolve({ accessKeyId: use + count, expiresAt: new Date(now + 5000) });
      for (let step = 0; step < 4; step += 1) {
        await see();
        now += 1000;
      }`);
    assert.deepEqual(ids, Array(4).fill('service1'));
    assert.deepEqual(reads, ['service', 'service']);
  });

  test('are an error while there are none, asked for once a second', async () => {
    const { ids, reads } = await keeping<Seen>(`
      answer = async (use, count) => {
        if (count < 2) throw undefined;
        return { accessKeyId: use };
      };
      for (let step = 0; step < 3; step += 1) {
        await see();
        now += 500;
      }`);
    assert.deepEqual(ids, ['NO_KEYS', 'NO_KEYS', 'service']);
    assert.equal(reads.length, 2);
  });

  test('come from files in the sample of docs/s3.md', async () => {
    const docs = readFileSync(new URL('../../docs/s3.md', import.meta.url), 'utf8');
    const sample = /```js\n([^`]*?keptKeys[\s\S]*?)```/.exec(docs)?.[1] ?? assert.fail('no sample');
    const files = temporaryFolder();
    const write = (use: string, more: object): void =>
      writeFileSync(
        join(files, `${use}.json`),
        JSON.stringify({ accessKeyId: use, secretAccessKey: 'b', ...more }),
      );
    write('service', {});
    write('urls', { sessionToken: 'token', expiresAt: inMinutes(2) });
    const folder = copyExample(hooksWith(sample.replace('/run/keys', files)));
    const running = await startExample('hono', { ...NO_KEYS, S3_ENDPOINT: store.origin }, { folder });
    try {
      assert.equal((await (await upload(running.baseUrl, store, 2)).commit()).status, 200);
    } finally {
      await running.stop();
    }
    const ids = store.requests.map(({ headers }) => keyIn(headers.authorization));
    assert.deepEqual([...new Set(ids.filter(Boolean))], ['service']);
    const script = `import { presignPut } from './store.ts';
      ${URL_OF_CHUNK}
      console.log(JSON.stringify({ upload_url }));`;
    const { searchParams } = new URL(
      (await print<{ upload_url: string }>(script, NO_KEYS, folder)).upload_url,
    );
    assert.equal(keyIn(searchParams.get('X-Amz-Credential')), 'urls');
    assert.equal(searchParams.get('X-Amz-Security-Token'), 'token');
    assert.ok(Number(searchParams.get('X-Amz-Expires')) < 120);
  });
});
