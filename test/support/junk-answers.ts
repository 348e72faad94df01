// Invalid and nearly valid responses, for tests with thousands of them.

import fc from 'fast-check';

/** Hashes of the chunks that tickets are requested for. */
export const HASHES = ['a1'.repeat(32), 'b2'.repeat(32), 'c3'.repeat(32)];

/** Keys of valid responses, and keys that are special in JavaScript. */
const names = fc.constantFrom(
  'session_id',
  'passport',
  'token',
  'chunks',
  'upload_url',
  'receipt',
  'headers',
  'method',
  'expires_at',
  'missing',
  'debuginfo',
  'retry_after',
  '__proto__',
  'constructor',
  'toString',
  '0',
  '1',
  '2',
  ...HASHES,
);
const urls = fc.oneof(
  fc.constantFrom(
    '',
    'https://storage.test/a',
    'http://storage.test/a',
    'javascript:alert(1)',
    'https://u:p@storage.test/',
    '//storage.test',
    'https://storage.test/?X-Amz-Date=20250101T000000Z&X-Amz-Expires=1e9',
    'https://storage.test/?Expires=99999999999',
    'https://[',
  ),
  fc.webUrl({ withQueryParameters: true }),
);
/** Single values, from which `tree` builds nested ones. */
export const leaf = fc.oneof(
  urls,
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    Number.MAX_VALUE,
    2 ** 53,
    '0',
    'NaN',
    'PUT',
    '2025-01-01T00:00:00Z',
  ),
  fc.double(),
  // Values that throw or give unexpected results when they are converted to a string or a number.
  fc.constantFrom({ toString: 1 }, { toString: null, valueOf: 'v' }, { length: 3 }, [[[]]]),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(names, fc.string({ maxLength: 6 })), tie('tree'), { maxKeys: 5 }),
  ),
}));
const entry = fc.oneof(
  tree,
  fc.record(
    { upload_url: fc.oneof(urls, tree), receipt: leaf, headers: tree, method: leaf, expires_at: leaf },
    { requiredKeys: [] },
  ),
);
const simpleEntry = fc.record({
  receipt: fc.constant('receipt'),
  upload_url: fc.constantFrom('https://storage.test/a', '', null),
});
const goodEntry = fc.oneof(
  { arbitrary: simpleEntry, weight: 3 },
  fc.record({
    receipt: fc.constant('receipt'),
    upload_url: fc.constant('https://storage.test/a'),
    method: leaf,
    headers: fc.oneof(fc.dictionary(fc.constantFrom('x-a', 'Host', 'cookie', 'x b'), leaf), tree),
    expires_at: leaf,
  }),
);
/** Responses with all requested chunks and with occasional faults. */
const nearlyRight = fc.tuple(
  ...HASHES.map((hash) =>
    fc.tuple(
      fc.constantFrom(hash, hash, hash, hash.toUpperCase()),
      fc.oneof({ arbitrary: goodEntry, weight: 4 }, { arbitrary: entry, weight: 2 }),
    ),
  ),
);
/** Responses with all requested chunks, many of which are valid. */
const right = fc.tuple(...HASHES.map((hash) => fc.tuple(fc.constant(hash), goodEntry)));
const chunks = fc.oneof(
  nearlyRight.map((entries) => Object.fromEntries(entries)),
  right.map((entries) => Object.fromEntries(entries)),
  fc.dictionary(fc.constantFrom(...HASHES, '0', '1', '2'), entry),
);
const answer = fc.oneof(
  tree,
  fc.record({ session_id: leaf, passport: leaf, token: leaf }, { requiredKeys: [] }),
  fc.record({ chunks: fc.oneof(chunks, tree) }),
  fc.record({ missing: fc.oneof(fc.array(fc.oneof(fc.constantFrom(...HASHES), leaf)), tree) }),
  fc.record({ debuginfo: leaf, retry_after: leaf }, { requiredKeys: [] }),
);
/** Parsed bodies of responses. */
export const body = answer.map((value): unknown => JSON.parse(JSON.stringify(value) ?? 'null'));
/** Statuses that have a meaning, and all other statuses. */
export const status = fc.oneof(
  fc.constantFrom(
    200,
    201,
    202,
    204,
    301,
    400,
    401,
    403,
    404,
    408,
    409,
    410,
    413,
    422,
    429,
    500,
    502,
    503,
    504,
  ),
  fc.integer({ min: 200, max: 599 }),
);
const headerValue = fc.oneof(
  fc.constantFrom('', '0', '-1', '1e9', 'soon', 'Fri, 31 Feb 2025 25:61:61 GMT', '99999999999999999999'),
  fc.stringMatching(/^[\x21-\x7e]{1,30}$/),
);
/** Headers that the client reads, with valid and invalid values. */
export const headers = fc.dictionary(
  fc.constantFrom('x-service-uploadsession', 'retry-after', 'date', 'www-authenticate'),
  headerValue,
  { maxKeys: 4 },
);
/** Bodies of responses as text: JSON, truncated JSON, and no JSON. */
export const text = fc.oneof(
  { arbitrary: body.map((value) => JSON.stringify(value) ?? ''), weight: 6 },
  { arbitrary: fc.constant(JSON.stringify({ session_id: 'x'.repeat(20_000) })), weight: 1 },
  { arbitrary: body.map((value) => JSON.stringify(value) ?? '').map((json) => json.slice(0, -1)), weight: 1 },
  {
    arbitrary: fc.constantFrom('', ' ', '<!doctype html><p>Sign in', '\u0000', '\ufeff{}', '"', 'null'),
    weight: 1,
  },
);
