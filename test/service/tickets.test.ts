// Reading of the response to a presign request: the entry of each chunk, chunks that are already stored, and allowed tickets.

import { expect } from '@open-wc/testing';
import type { Ticket } from '../../src/core/types.ts';
import { a, b, expectBad, read, readOne, url } from './ticket-reader.ts';

/** Copy of the list in the source, so that the test fails if a header is removed from the source. */
const FORBIDDEN_HEADERS = [
  'authorization',
  'proxy-authorization',
  'proxy-x',
  'sec-fetch-mode',
  'sec-x',
  'x-bearer',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-service-uploadsession',
];

describe('the entry of a chunk', () => {
  const entry = (receipt: string): unknown => ({ receipt, upload_url: null });
  const receipts = (tickets: Ticket[]): string[] => tickets.map(({ receipt }) => receipt);

  it('is found by its hash, in any order and case', () => {
    expect(receipts(read({ [b]: entry('rb'), [a]: entry('ra') }, { hashes: [a, b] }))).to.deep.equal([
      'ra',
      'rb',
    ]);
    expect(receipts(read({ [a.toUpperCase()]: entry('ra') }))).to.deep.equal(['ra']);
  });

  it('is found by its position if the keys are exactly the positions', () => {
    expect(receipts(read({ 1: entry('rb'), 0: entry('ra') }, { hashes: [a, b] }))).to.deep.equal([
      'ra',
      'rb',
    ]);
    expectBad(() => read({ 1: entry('ra'), 2: entry('rb') }, { hashes: [a, b] }));
    expectBad(() => read({ 0: entry('ra') }, { hashes: [a, b] }));
  });

  it('is compared case-sensitively if the hash is not hex', () => {
    const key = `${'qqqq'.repeat(10)}qqo=`;
    const profile = { hashEncoding: 'base64' } as const;
    expect(receipts(read({ [key]: entry('ra') }, { profile }))).to.deep.equal(['ra']);
    expectBad(() => read({ [key.toUpperCase()]: entry('ra') }, { profile }));
  });

  it('is found by the profile', () => {
    const chunkKey = (hash: string, position: number): string => `${position}:${hash}`;
    expect(receipts(read({ [`0:${a}`]: entry('ra') }, { profile: { chunkKey } }))).to.deep.equal(['ra']);
  });

  it('is an error if it is missing, unless the profile treats that as stored', () => {
    expectBad(() => read({}, { hashes: [a] }));
    expectBad(() => read({ [a]: null }));
    expect(read({}, { profile: { missingChunk: 'stored' } })).to.deep.equal([{ receipt: '' }]);
  });

  it('is never an inherited property of objects', () => {
    expectBad(() => read({}, { profile: { chunkKey: () => 'constructor' } }));
    expectBad(() => read({}, { profile: { chunkKey: () => '__proto__' } }));
    expectBad(() => read(JSON.parse(`{"__proto__": {"${a}": {"receipt": "r", "upload_url": null}}}`)));
  });

  it('is an error if there are no entries at all', () => {
    for (const chunks of [undefined, null, 'x', 7, []]) expectBad(() => read(chunks));
  });
});

it('an invalid response says what is wrong with it', () => {
  const rows: readonly (readonly [unknown, string])[] = [
    [undefined, 'The response has no chunks'],
    [{}, 'A chunk has no entry in the response'],
    [{ [a]: {} }, 'A chunk has no receipt'],
    [{ [a]: { receipt: 'r' } }, 'A chunk has no upload_url'],
    [{ [a]: { receipt: 'r', upload_url: 7 } }, 'An upload_url is not a string'],
  ];
  for (const [chunks, why] of rows) expect(() => read(chunks)).to.throw(why);
});

describe('a receipt', () => {
  it('is a non-empty text of limited length', () => {
    for (const receipt of [undefined, null, '', 7, {}, 'x'.repeat(20_000)]) {
      expectBad(() => readOne({ upload_url: url, receipt }), String(receipt).slice(0, 9));
    }
  });

  it('with an empty URL means that the service has the chunk', () => {
    for (const upload_url of [null, '']) {
      expect(readOne({ upload_url, receipt: 'r' })).to.deep.equal({ receipt: 'r' });
    }
    expectBad(() => readOne({ upload_url: 7, receipt: 'r' }));
    expectBad(() => readOne({ receipt: 'r' }));
    expectBad(() => readOne({ uploadUrl: url, receipt: 'r' }));
  });

  it('means that, too, if the profile says so', () => {
    const storedChunk = (entry: Readonly<Record<string, unknown>>): boolean => entry.state === 'have';
    const options = { profile: { storedChunk } };
    expect(readOne({ upload_url: url, receipt: 'r', state: 'have' }, options)).to.deep.equal({
      receipt: 'r',
    });
    expectBad(() => readOne({ receipt: 'r' }, options));
  });
});

describe('an upload URL', () => {
  const urlOf = (upload_url: unknown, own: Parameters<typeof read>[1] = {}): string | undefined =>
    readOne({ upload_url, receipt: 'r' }, own)?.upload?.url;

  it('is an absolute https URL without a user', () => {
    expect(urlOf(`${url}#part`)).to.equal(url);
    for (const bad of [
      '/put',
      '//storage.example/put',
      'https://user:word@storage.example/put',
      'https://',
      `${url}${'x'.repeat(20_000)}`,
    ]) {
      expectBad(() => urlOf(bad), bad.slice(0, 40));
    }
  });

  it('that is not https is named without what signs it: no repeat of the request helps', () => {
    for (const [bad, named] of [
      ['http://storage.example/put/secret?X-Amz-Signature=secret', 'http://storage.example'],
      ['http://user:secret@127.0.0.1:9000/put', 'http://127.0.0.1:9000'],
      ['javascript:alert("secret")', 'javascript://'],
      ['data:text/plain,secret', 'data://'],
      ['blob:https://storage.example/secret', 'blob://'],
    ] as const)
      expect(() => urlOf(bad), bad)
        .to.throw(`The upload URL ${named}/… must use https`)
        .with.property('code', 'bad-config');
  });

  it('may be http on this machine if the service is on this machine', () => {
    const local = 'http://127.0.0.1:9000/put';
    expect(urlOf(local, { baseUrl: 'http://localhost:8000' })).to.equal(local);
  });

  it('has the origin of the page only if the page names it: requests there could act for the user', () => {
    const own = `${location.origin}/api/transfer`;
    const local = { baseUrl: location.origin };
    for (const uploadOrigins of [[], ['https://storage.example']])
      expect(() => urlOf(own, { ...local, uploadOrigins }))
        .to.throw(`upload-origins does not name ${location.origin}`)
        .with.property('code', 'bad-config');
    expect(urlOf(own, { ...local, uploadOrigins: [location.origin] })).to.equal(own);
  });

  it('has one of the origins that the page allows', () => {
    expect(urlOf(url, { uploadOrigins: ['https://storage.example'] })).to.equal(url);
    for (const origin of [
      'https://other.example',
      'https://storage.example:8443',
      'http://storage.example',
    ]) {
      expect(() => urlOf(url, { uploadOrigins: [origin] }))
        .to.throw('upload-origins does not name https://storage.example')
        .with.property('code', 'bad-config');
    }
  });
});

describe('the request of a ticket', () => {
  const entry = (more: object): unknown => ({ upload_url: url, receipt: 'r', ...more });

  it('uses PUT or POST', () => {
    expect(readOne(entry({}))?.upload?.method).to.equal('PUT');
    expect(readOne(entry({ method: 'post' }))?.upload?.method).to.equal('POST');
    for (const method of ['GET', 'DELETE', 'PUT\r\n', '', 7])
      expectBad(() => readOne(entry({ method })), String(method));
  });

  it('omits headers that the browser sets itself', () => {
    const headers = {
      'x-amz-content-sha256': a,
      'content-type': 'a/b',
      Host: 'storage.example',
      'content-length': '8',
    };
    expect(readOne(entry({ headers }))?.upload?.headers).to.deep.equal({
      'x-amz-content-sha256': a,
      'content-type': 'a/b',
    });
  });

  it('has no header that the package reserves, that a browser forbids, or that contains a line end', () => {
    for (const name of FORBIDDEN_HEADERS) {
      const mixedCase = name.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase());
      for (const spelling of [name, mixedCase, name.toUpperCase()]) {
        expectBad(() => readOne(entry({ headers: { [spelling]: 'x' } })), spelling);
        expectBad(
          () => readOne(entry({}), { profile: { putHeaders: () => ({ [spelling]: 'x' }) } }),
          spelling,
        );
      }
    }
    for (const name of ['bad name', '', 'é'])
      expectBad(() => readOne(entry({ headers: { [name]: 'x' } })), name);
    for (const value of ['a\r\nb: c', 'a\nb', 'a\0', '\u2028', 7, null, ['x'], 'x'.repeat(10_000)]) {
      expectBad(() => readOne(entry({ headers: { 'x-y': value } })), String(value).slice(0, 9));
    }
    for (const headers of ['x', ['x-y', 'z'], 7]) expectBad(() => readOne(entry({ headers })));
  });

  it('has at most 32 headers, each with a value of at most 8,192 characters', () => {
    const headersOf = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, '']));
    expect(readOne(entry({ headers: headersOf(32) }))?.upload?.headers).to.deep.equal(headersOf(32));
    expectBad(() => readOne(entry({ headers: headersOf(33) })));
    // `host` does not count, because only the browser sets it.
    expect(readOne(entry({ headers: { ...headersOf(32), host: 'x' } }))?.upload?.headers).to.deep.equal(
      headersOf(32),
    );
    const longest = 'x'.repeat(8192);
    expect(readOne(entry({ headers: { 'x-y': longest } }))?.upload?.headers).to.deep.equal({
      'x-y': longest,
    });
    expectBad(() => readOne(entry({ headers: { 'x-y': `${longest}x` } })));
  });

  it('includes the headers of the profile, under the same rules', () => {
    const putHeaders = (hash: string): Record<string, string> => ({ 'X-Hash': hash });
    const upload = readOne(entry({ headers: { 'x-y': 'z', 'x-hash': 'old' } }), {
      profile: { putHeaders },
    })?.upload;
    expect(upload?.headers).to.deep.equal({ 'x-y': 'z', 'x-hash': a });
    expectBad(() => readOne(entry({}), { profile: { putHeaders: () => ({ Authorization: 'x' }) } }));
  });
});
