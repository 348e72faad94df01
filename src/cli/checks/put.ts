// Sending chunks to the storage, and what the storage must refuse.

import { randomBytes } from 'node:crypto';
import { readLifetimeMs } from '../../service/wire.ts';
import { type Check, row, table } from '../check.ts';
import type { Context } from '../context.ts';
import type { Entry, Piece } from '../dialect.ts';
import { allowsMethod, deniedHeaders, type Exchange } from '../exchange.ts';
import {
  accepts,
  describe,
  expectNoneDenied,
  expectPreflight,
  expectReadable,
  type Finding,
  fail,
  isOk,
  judge,
  pass,
  refuses,
  Skip,
} from '../finding.ts';
import { headersOf, targetOf } from '../target.ts';

const SECTION = 'upload-a-chunk';
const CORS = 'what-the-service-must-do-for-a-page';

interface Chunk {
  readonly entry: Entry;
  readonly url: string;
  readonly piece: Piece;
  readonly session: string;
}

/** Presigns a new chunk. */
async function presignChunk(c: Context, sizeBytes = 500): Promise<Chunk> {
  const { entries, pieces, session } = await c.upload(sizeBytes);
  const [entry] = entries;
  const [piece] = pieces;
  if (entry?.url === undefined || !piece) throw new Skip('there is no upload_url');
  return { entry, url: entry.url, piece, session };
}

const firstChunk = (c: Context): Promise<Chunk> => c.once('chunk', () => presignChunk(c));

async function preflight(c: Context): Promise<{ response: Exchange; names: string[]; method: string }> {
  const { entry, url } = await firstChunk(c);
  const { target, method, headers } = await targetOf(url, c.options, entry.fields);
  const names = Object.keys(headers);
  const response = await c.preflight(url, method, names, undefined, target);
  return { response, names, method };
}

/** Resolves with the response to the PUT of a correct chunk. */
async function correctPut(c: Context): Promise<Exchange> {
  const [firstPut] = (await c.round()).puts;
  if (!firstPut) throw new Skip('no chunk was sent');
  return firstPut;
}

/** Expects the storage to refuse a wrong body. Otherwise, presign must not report it as stored, and the commit must not succeed. */
async function expectRefusedOrNotStored(
  c: Context,
  { piece, session }: Chunk,
  response: Exchange,
): Promise<Finding> {
  if (!isOk(response)) return judge(response.status > 0, describe(response));
  const secondPresign = await c.presign(session, [piece]);
  const [entry] = await c.entriesOf(secondPresign, [piece]);
  if (entry === undefined || entry.url === undefined)
    return fail(`${response.status}, and the chunk counts as stored`);
  const upload = { session, pieces: [piece], entries: [entry], presignResponse: secondPresign };
  if (c.options.commitPath === undefined) throw new Skip('the storage accepts it, and there is no commit');
  const commit = await c.commit(upload);
  return isOk(commit) && commit.status !== 202
    ? fail(`${response.status}, and the commit too: ${describe(commit)}`)
    : pass(`the storage accepts it (${response.status}), the commit refuses it: ${describe(commit)}`);
}

const isS3 = (url: string): boolean => new URL(url).searchParams.has('X-Amz-Signature');

export const PUT_CHECKS: readonly Check[] = table('put', [
  row(
    'preflight',
    'responds to the preflight',
    CORS,
    'a 2xx that allows the origin of the page',
    async (c) => {
      const { response } = await preflight(c);
      return expectPreflight(response, c.options.origin ?? '');
    },
  ),
  row(
    'preflight-method',
    'allows the method',
    CORS,
    'the method in Access-Control-Allow-Methods',
    async (c) => {
      const { response, method } = await preflight(c);
      return judge(allowsMethod(response, method), String(response.headers['access-control-allow-methods']));
    },
  ),
  row(
    'preflight-headers',
    'allows the headers of the URL',
    CORS,
    'each header that the entry lists under headers',
    async (c) => {
      const { response, names } = await preflight(c);
      return expectNoneDenied(deniedHeaders(response, names));
    },
  ),
  row('status', 'stores a chunk', SECTION, 'a 2xx, without token and cookies', async (c) => {
    const response = await correctPut(c);
    const [entry] = (await c.round()).upload.entries;
    const signedHeaders =
      new URL(entry?.url ?? 'https://none').searchParams.get('X-Amz-SignedHeaders')?.split(';') ?? [];
    const entryHeaders = Object.keys(headersOf(entry?.fields.headers, c.options.authHeader));
    const absentHeaders = signedHeaders.filter(
      (name) => !['host', 'content-length', ...entryHeaders].includes(name),
    );
    const hint = absentHeaders.length ? `profile.putHeaders, for ${absentHeaders.join(', ')}` : undefined;
    return isOk(response) ? accepts(response) : fail(describe(response), hint);
  }),
  row('redirect', 'stores a chunk without a redirect', CORS, 'no 3xx', async (c) => {
    const { location } = await correctPut(c);
    return judge(location === '', location || 'no redirect');
  }),
  row(
    'readable',
    'lets the page read the response',
    CORS,
    'Access-Control-Allow-Origin with the origin of the page, or *',
    async (c) => {
      if (c.options.origin === undefined) throw new Skip('pass --origin to check CORS');
      return expectReadable(await correctPut(c), c.options.origin);
    },
  ),
  row('last', 'stores the last chunk, which is smaller', SECTION, 'a 2xx', async (c) => {
    const lastPut = (await c.round()).puts.at(-1);
    return lastPut ? accepts(lastPut) : fail('no response');
  }),
  row(
    'other-bytes',
    'refuses bytes with another hash',
    SECTION,
    'a 4xx, or a refusal by the commit',
    async (c) => {
      const chunk = await presignChunk(c);
      return expectRefusedOrNotStored(c, chunk, await c.put(chunk.entry, randomBytes(500)));
    },
  ),
  row(
    'fewer-bytes',
    'refuses a part of the chunk',
    SECTION,
    'a 4xx, or a refusal by the commit',
    async (c) => {
      const chunk = await presignChunk(c);
      return expectRefusedOrNotStored(c, chunk, await c.put(chunk.entry, chunk.piece.bytes.subarray(0, 100)));
    },
  ),
  row(
    'more-bytes',
    'refuses more bytes than the chunk has',
    SECTION,
    'a 4xx, or a refusal by the commit',
    async (c) => {
      const chunk = await presignChunk(c);
      return expectRefusedOrNotStored(
        c,
        chunk,
        await c.put(chunk.entry, Buffer.concat([chunk.piece.bytes, randomBytes(10)])),
      );
    },
  ),
  row('no-bytes', 'refuses an empty body', SECTION, 'a 4xx, or a refusal by the commit', async (c) => {
    const chunk = await presignChunk(c);
    return expectRefusedOrNotStored(c, chunk, await c.put(chunk.entry, new Uint8Array()));
  }),
  row('signature', 'refuses an altered signature', SECTION, 'a 4xx', async (c) => {
    const { entry, url, piece } = await presignChunk(c);
    const alteredUrl = new URL(url);
    const parameter = [...alteredUrl.searchParams].find(([name]) => /sig|token|hmac|mac$/i.test(name));
    if (!parameter) throw new Skip('the URL has no parameter that looks like a signature');
    const [name, value] = parameter;
    alteredUrl.searchParams.set(
      name,
      value.replace(/^./, (letter) => (letter === 'a' ? 'b' : 'a')),
    );
    return refuses(await c.put(entry, piece.bytes, { url: alteredUrl.href }));
  }),
  row('no-signature', 'refuses a URL without its signature', SECTION, 'a 4xx', async (c) => {
    const { entry, url, piece } = await presignChunk(c);
    const { origin, pathname, search } = new URL(url);
    if (search === '') throw new Skip('the URL has no parameters');
    return refuses(await c.put(entry, piece.bytes, { url: origin + pathname }));
  }),
  row('other-path', 'refuses the signature for the path of another chunk', SECTION, 'a 4xx', async (c) => {
    const [chunk, otherChunk] = [await presignChunk(c), await presignChunk(c)];
    const url = new URL(otherChunk.url);
    if (url.search === '') throw new Skip('the URL has no parameters');
    if (url.pathname === new URL(chunk.url).pathname) throw new Skip('both chunks have the same path');
    url.search = new URL(chunk.url).search;
    return refuses(await c.put(otherChunk.entry, otherChunk.piece.bytes, { url: url.href }));
  }),
  row('read', 'does not return the bytes for the URL of an upload', SECTION, 'no 2xx for GET', async (c) => {
    const { url } = (await c.round()).upload.entries[0] ?? {};
    if (url === undefined) throw new Skip('there is no upload_url');
    const entry = { url, receipt: '', fields: {} };
    const response = await c.put(entry, new Uint8Array(), { method: 'GET' });
    return judge(!isOk(response), describe(response));
  }),
  row(
    'again',
    'takes a chunk a second time',
    'your-service-differs-set-this',
    'a 2xx, or a 4xx, after which a new URL is requested',
    async (c) => {
      const { entry, piece } = await presignChunk(c);
      const firstPut = await c.put(entry, piece.bytes);
      if (!isOk(firstPut)) throw new Skip('the chunk was not stored');
      const response = await c.put(entry, piece.bytes);
      if (response.status === 412)
        return pass(describe(response), c.settings.setStatus('putStatuses', 412, 'stored'));
      return isOk(response) ? pass(describe(response)) : refuses(response);
    },
  ),
  row(
    'copy',
    'refuses x-amz-copy-source (S3)',
    SECTION,
    'no 2xx for an empty body with that header',
    async (c) => {
      const { entry, url } = await presignChunk(c);
      if (!isS3(url)) throw new Skip('the URL is not signed for S3');
      const [storedEntry] = (await c.round()).upload.entries;
      const headers = { 'x-amz-copy-source': new URL(storedEntry?.url ?? url).pathname };
      const response = await c.put(entry, new Uint8Array(), { headers });
      return judge(!isOk(response), describe(response), 'sign content-length, see docs/s3.md');
    },
  ),
  row('public', 'refuses x-amz-acl: public-read (S3)', SECTION, 'no 2xx with that header', async (c) => {
    const { entry, url, piece } = await presignChunk(c);
    if (!isS3(url)) throw new Skip('the URL is not signed for S3');
    const response = await c.put(entry, piece.bytes, { headers: { 'x-amz-acl': 'public-read' } });
    return judge(!isOk(response), describe(response), 'sign x-amz-acl: private, see docs/s3.md');
  }),
  row('expired', 'refuses an expired URL', SECTION, 'a 4xx', async (c) => {
    const { entry, url, piece } = await presignChunk(c);
    const lifetimeMs = readLifetimeMs(url, entry.fields, Date.now(), (await c.dialect()).profile);
    if (lifetimeMs === undefined) throw new Skip('the lifetime is unknown');
    if (lifetimeMs > c.options.waitMs)
      throw new Skip(`expires in ${Math.round(lifetimeMs / 1000)} s; pass --wait`);
    await c.wait(lifetimeMs + 1000);
    return refuses(await c.put(entry, piece.bytes));
  }),
]);
