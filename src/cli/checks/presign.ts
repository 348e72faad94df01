// Presigning chunks, and the upload URLs.

import { readDateMs } from '../../service/http.ts';
import { checkMethod, lifetimeUntil } from '../../service/ticket-checks.ts';
import { MAX_TEXT, readLifetimeMs } from '../../service/wire.ts';
import { type Check, row, table } from '../check.ts';
import type { Context } from '../context.ts';
import { chunksOf, type Entry, type Upload } from '../dialect.ts';
import {
  accepts,
  describe,
  type Finding,
  fail,
  isOk,
  isRefused,
  judge,
  judgeTime,
  pass,
  refuses,
  Skip,
} from '../finding.ts';
import { headersOf, targetOf } from '../target.ts';

const SECTION = 'presign-chunks';
const CHECKED = 'what-the-uploader-checks';
const DIFFERS = 'your-service-differs-set-this';
const BATCH = 64;

const uploadOfTwo = (c: Context): Promise<Upload> => c.once('two chunks', () => c.upload(500, 400));
const uploadOfBatch = (c: Context): Promise<Upload> =>
  c.once('batch', () => c.upload(...Array.from({ length: BATCH }, () => 10)));

async function requireEntries(c: Context): Promise<Entry[]> {
  const uploadEntries = (await uploadOfTwo(c)).entries;
  return uploadEntries.map((entry) => {
    if (!entry) throw new Skip('a chunk has no entry');
    return entry;
  });
}

/** Resolves with the URLs of the first chunks. */
async function requireUrls(c: Context): Promise<string[]> {
  return (await requireEntries(c)).map(({ url }) => {
    if (url === undefined) throw new Skip('a chunk has no upload_url');
    return url;
  });
}

const parse = (url: string): URL => {
  if (!URL.canParse(url)) throw new Skip('an upload_url is not absolute');
  return new URL(url);
};

/** Runs a check of the uploader, which throws if it is not passed. */
function attempt(run: () => unknown): Finding {
  try {
    return pass(String(run() ?? 'valid'));
  } catch (error) {
    return fail((error as Error).message);
  }
}

const nowOf = (date: string | undefined): number => readDateMs(date ?? null) ?? Date.now();

/** Resolves with how long the URL of the first chunk lives. */
async function firstLifetimeMs(c: Context): Promise<number | undefined> {
  const list = await requireEntries(c);
  const { url = '', fields } = list[0] ?? { fields: {} };
  const isInEntries = list.every(
    ({ fields: { expires_in, expires_at } }) => typeof expires_in === 'number' && !expires_at,
  );
  const profile = { ...(await c.dialect()).profile };
  if (isInEntries) {
    profile.urlLifetime = (_url, entry) => Number(entry.expires_in);
    c.settings.setProfile('urlLifetime', '(url, entry) => entry.expires_in');
  }
  const { date } = (await uploadOfTwo(c)).presignResponse.headers;
  return readLifetimeMs(parse(url).href, fields, nowOf(date), profile);
}

export const PRESIGN_CHECKS: readonly Check[] = table('presign', [
  row(
    'status',
    'presigns chunks',
    SECTION,
    'a 2xx with chunks, for hashes in hex, base64 or base64url',
    async (c) => {
      // Without a dialect, the response to the first presign request says why.
      const dialect = await c.dialect().catch(() => undefined);
      if (!c.firstPresign) throw new Skip('there is no session');
      if (!dialect) return fail(describe(c.firstPresign));
      const { presignResponse } = await uploadOfTwo(c);
      return accepts(presignResponse);
    },
  ),
  row('chunks', 'responds with the object chunks', SECTION, 'JSON with the object chunks', async (c) => {
    const { presignResponse } = await uploadOfTwo(c);
    return judge(chunksOf(presignResponse) !== undefined, describe(presignResponse));
  }),
  row(
    'encoding',
    'takes hashes in lower-case hex',
    DIFFERS,
    'hashes in hex, or in base64 with profile.hashEncoding',
    async (c) => {
      await c.dialect();
      const line = c.settings.lineOf('hashEncoding');
      return pass(line ? 'another encoding' : 'hex', line);
    },
  ),
  row('sizes', 'needs no sizes', DIFFERS, 'only hashes, or sizes with profile.sendSizes', async (c) => {
    await c.dialect();
    const line = c.settings.lineOf('sendSizes');
    return pass(line ? 'needs sizes' : 'needs no sizes', line);
  }),
  row('keys', 'names each entry after its hash or position', DIFFERS, 'an entry for each hash', async (c) => {
    const { presignResponse, entries } = await uploadOfTwo(c);
    const keyList = Object.keys(chunksOf(presignResponse) ?? {}).join(' ') || 'no entries';
    return entries.every(Boolean)
      ? pass(keyList, c.settings.lineOf('chunkKey'))
      : fail(keyList, 'profile.chunkKey');
  }),
  row('every-entry', 'has an entry for each of 64 hashes', SECTION, '64 entries', async (c) => {
    const upload = await uploadOfBatch(c);
    const count = upload.entries.filter(Boolean).length;
    return judge(count === BATCH, `${count} entries`);
  }),
  row(
    'batch',
    'accepts batches of 64 hashes',
    DIFFERS,
    'a 2xx, or 413, 400 or 422, after which the batch is halved',
    async (c) => {
      const pieces = Array.from({ length: BATCH }, () => c.piece(10));
      const session = await c.session(BATCH * 10);
      const wholeResponse = await c.presign(session, pieces);
      if (isOk(wholeResponse)) return pass(`${BATCH} hashes`);
      if (![400, 413, 422].includes(wholeResponse.status)) return fail(describe(wholeResponse));
      for (let count = BATCH / 2; count >= 1; count /= 2) {
        if (!isOk(await c.presign(session, pieces.slice(0, count)))) continue;
        return pass(`${count} hashes`, c.settings.setAttribute('batch-size', String(count)));
      }
      return fail(describe(wholeResponse));
    },
  ),
  row(
    'receipt',
    'returns a receipt for each chunk',
    SECTION,
    `a text of 1 to ${MAX_TEXT} characters`,
    async (c) => {
      const list = await requireEntries(c);
      const receipts = list.map(({ receipt, fields }) => receipt || String(fields.receipt ?? 'none'));
      return judge(
        list.every(({ receipt }) => receipt !== ''),
        receipts.join(', '),
      );
    },
  ),
  row(
    'receipts-differ',
    'returns another receipt for another chunk',
    DIFFERS,
    'two receipts, because one for all chunks proves nothing',
    async (c) => {
      const [one, other] = await requireEntries(c);
      return judge(one?.receipt !== other?.receipt, one?.receipt ?? '');
    },
  ),
  row(
    'url',
    'returns an upload_url for each chunk',
    SECTION,
    'an upload_url for a chunk that was never sent',
    async (c) => {
      const list = await requireEntries(c);
      const isRight = list.every(({ url }) => url !== undefined);
      return judge(isRight, isRight ? 'two URLs' : 'a chunk that was never sent counts as stored');
    },
  ),
  row(
    'url-absolute',
    'returns absolute URLs',
    CHECKED,
    'an absolute URL of at most 16,384 characters',
    async (c) => {
      const list = await requireUrls(c);
      const isRight = list.every((url) => URL.canParse(url) && url.length <= MAX_TEXT);
      return judge(isRight, list[0] ?? '');
    },
  ),
  row(
    'url-origin',
    'returns URLs of the expected storage',
    CHECKED,
    'the origins in upload-origins, over https',
    async (c) => {
      const origins = [...new Set((await requireUrls(c)).map((url) => parse(url).origin))];
      const { uploadOrigins } = c.options;
      const isRight = uploadOrigins.length === 0 || origins.every((origin) => uploadOrigins.includes(origin));
      if (!isRight) return fail(origins.join(' '));
      return targetOf((await requireUrls(c))[0] ?? '', c.options).then(
        () => pass(origins.join(' '), c.settings.setAttribute('upload-origins', origins.join(' '))),
        ({ message }: Error) => fail(message),
      );
    },
  ),
  row('urls-differ', 'returns another URL for another chunk', SECTION, 'two URLs', async (c) => {
    const [one, other] = await requireUrls(c);
    return judge(one !== other, one ?? '');
  }),
  row(
    'url-secrets',
    'keeps token and session out of URLs',
    CHECKED,
    'neither the token nor the session in the URL',
    async (c) => {
      const { session } = await uploadOfTwo(c);
      const joinedUrls = (await requireUrls(c)).map((url) => decodeURIComponent(url)).join(' ');
      const { token } = c.options;
      const leaks = [token !== undefined && joinedUrls.includes(token) && 'the token'];
      leaks.push(session.length > 60 && joinedUrls.includes(session) && 'the value of the session header');
      const list = leaks.filter(Boolean).join(', ');
      return judge(list === '', list || 'neither');
    },
  ),
  row('method', 'asks for PUT or POST', CHECKED, 'PUT, POST or no method', async (c) => {
    const [firstEntry] = await requireEntries(c);
    return attempt(() => checkMethod(firstEntry?.fields.method));
  }),
  row(
    'headers',
    'asks for headers that a page may send',
    CHECKED,
    'an object without reserved headers',
    async (c) => {
      const [firstEntry] = await requireEntries(c);
      return attempt(() =>
        Object.keys(headersOf(firstEntry?.fields.headers, c.options.authHeader)).join(' '),
      );
    },
  ),
  row(
    'lifetime',
    'tells how long a URL lives',
    DIFFERS,
    'expires_at, expires_in, X-Amz-Expires or Expires, at least 30 s and at most 7 days',
    async (c) => {
      const lifetimeMs = await firstLifetimeMs(c);
      const line = c.settings.lineOf('urlLifetime');
      if (lifetimeMs === undefined)
        return pass('unknown; the uploader then requests few URLs at a time, see profile.urlLifetime');
      const seconds = Math.round(lifetimeMs / 1000);
      const isRight = seconds >= 30 && seconds <= 7 * 86_400 + 60;
      return isRight ? pass(`${seconds} s`, line) : fail(`${seconds} s`);
    },
  ),
  row(
    'expires-at',
    'has a valid expires_at',
    DIFFERS,
    'no expires_at, or a time in the future',
    async (c) => {
      const { presignResponse } = await uploadOfTwo(c);
      const [firstEntry] = await requireEntries(c);
      const value = firstEntry?.fields.expires_at;
      if (value === undefined || value === null) return pass('no expires_at');
      const lifetimeMs = lifetimeUntil(value, nowOf(presignResponse.headers.date));
      return judge(lifetimeMs !== undefined, String(value), 'profile.urlLifetime');
    },
  ),
  row(
    'again',
    'presigns a chunk again',
    SECTION,
    'a 2xx with a URL, because each retry uses a new URL',
    async (c) => {
      const { session, pieces } = await uploadOfTwo(c);
      const response = await c.presign(session, pieces);
      const [entry] = isOk(response) ? await c.entriesOf(response, pieces) : [];
      return judge(entry?.url !== undefined, describe(response));
    },
  ),
  row(
    'stored',
    'presigns a chunk that is stored',
    DIFFERS,
    'an entry with a receipt, and with upload_url null or a URL to send it again',
    async (c) => {
      const { secondPresign, upload } = await c.round();
      if (!isOk(secondPresign)) return fail(describe(secondPresign));
      const secondEntries = await c.entriesOf(secondPresign, upload.pieces);
      if (secondEntries.every((entry) => entry === undefined))
        return pass('no entry', c.settings.setProfile('missingChunk', "'stored'"));
      if (secondEntries.some((entry) => entry === undefined))
        return fail('an entry is missing', 'profile.missingChunk');
      if (secondEntries.some((entry) => entry?.fields.upload_url === undefined))
        return pass(
          'no upload_url',
          c.settings.setProfile('storedChunk', '({ upload_url }) => upload_url === undefined'),
        );
      const hasReceipts = secondEntries.every((entry) => entry?.receipt);
      return judge(hasReceipts, secondEntries[0]?.url === undefined ? 'reported as stored' : 'a URL again');
    },
  ),
  row(
    'size',
    'sends a short response',
    CHECKED,
    `at most 1 MiB and 16 KiB for each of ${BATCH} hashes`,
    async (c) => {
      const { presignResponse } = await uploadOfBatch(c);
      return judge(
        presignResponse.text.length <= 2 ** 20 + BATCH * 16_384,
        `${presignResponse.text.length} characters`,
      );
    },
  ),
  row('time', 'responds quickly', CHECKED, 'at most 10 s for 64 hashes', async (c) =>
    judgeTime((await uploadOfBatch(c)).presignResponse),
  ),
  row('many', 'does not fail for 1,000 hashes', 'errors', 'a 2xx, or 413, 400 or 422', async (c) => {
    const pieces = Array.from({ length: 1000 }, () => c.piece(1));
    const response = await c.presign(await c.session(1000), pieces);
    return judge(isOk(response) || [400, 413, 422].includes(response.status), describe(response));
  }),
  row('wrong-hash', 'refuses what is not a hash', 'errors', 'a 4xx, because a 5xx is retried', async (c) =>
    refuses(
      await c.call('presign', { session: await c.session(100), body: { hashes: ['../x'], sizes: [1] } }),
    ),
  ),
  row('no-hashes', 'refuses a body without hashes', 'errors', 'a 4xx, because a 5xx is retried', async (c) =>
    refuses(await c.call('presign', { session: await c.session(100), body: {} })),
  ),
  row('bad-json', 'refuses a body that is not JSON', 'errors', 'a 4xx, because a 5xx is retried', async (c) =>
    refuses(await c.call('presign', { session: await c.session(100), body: '{"hashes":' })),
  ),
  row('no-session', 'refuses a request without a session', 'errors', 'a 4xx', async (c) =>
    refuses(await c.presign('', [c.piece(100)], { session: undefined })),
  ),
  row(
    'unknown-session',
    'says that a session is unknown',
    DIFFERS,
    '404 or 410, after which the uploader opens a new session',
    async (c) => {
      const response = await c.presign('conform-unknown-session', [c.piece(100)]);
      const { status } = response;
      if (status === 404 || status === 410) return pass(describe(response));
      if (!isRefused(response)) return fail(describe(response));
      const line = `profile.statuses: { ${status}: 'gone' } if an expired session has this status`;
      return pass(describe(response), status === 401 ? undefined : line);
    },
  ),
]);
