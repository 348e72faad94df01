// What is made of the answer to a presign call: which entry is whose, what counts as stored, what may be asked of a page.

import { expect } from '@open-wc/testing';
import type { Profile } from '../../src/core/config.ts';
import type { Ticket } from '../../src/core/types.ts';
import { fillProfile } from '../../src/service/profile.ts';
import { readTickets } from '../../src/service/wire.ts';

const a = 'aa'.repeat(32);
const b = 'bb'.repeat(32);
const url = 'https://storage.example/put?sig=1';
const rules = { baseUrl: 'https://service.example', uploadOrigins: [] as string[], authHeader: 'X-Bearer' };

function read(
  chunks: unknown,
  {
    hashes = [a],
    profile = {},
    date,
    ...own
  }: { hashes?: string[]; profile?: Profile; date?: string } & Partial<typeof rules> = {},
): Ticket[] {
  const headers = new Headers(date === undefined ? {} : { date });
  const header = (name: string): string | null => headers.get(name);
  const answer = { status: 200, address: '', body: { chunks }, isEmpty: false, header };
  return [...readTickets(answer, hashes, fillProfile(profile), { ...rules, ...own }).values()];
}

const readOne = (entry: unknown, options: Parameters<typeof read>[1] = {}): Ticket | undefined =>
  read({ [a]: entry }, options)[0];

const expectBad = (act: () => unknown, why?: string): void => {
  expect(act, why).to.throw().with.property('code', 'bad-response');
};

describe('the entry of a chunk', () => {
  const entry = (receipt: string): unknown => ({ receipt });
  const receipts = (tickets: Ticket[]): string[] => tickets.map(({ receipt }) => receipt);

  it('is under its hash, in any order and case', () => {
    expect(receipts(read({ [b]: entry('rb'), [a]: entry('ra') }, { hashes: [a, b] }))).to.deep.equal([
      'ra',
      'rb',
    ]);
    expect(receipts(read({ [a.toUpperCase()]: entry('ra') }))).to.deep.equal(['ra']);
  });

  it('is under its position, when the keys are exactly the positions', () => {
    expect(receipts(read({ 1: entry('rb'), 0: entry('ra') }, { hashes: [a, b] }))).to.deep.equal([
      'ra',
      'rb',
    ]);
    expectBad(() => read({ 1: entry('ra'), 2: entry('rb') }, { hashes: [a, b] }));
    expectBad(() => read({ 0: entry('ra') }, { hashes: [a, b] }));
  });

  it('is compared with its case where the hash is not written in hex', () => {
    const key = `${'qqqq'.repeat(10)}qqo=`;
    const profile = { hashEncoding: 'base64' } as const;
    expect(receipts(read({ [key]: entry('ra') }, { profile }))).to.deep.equal(['ra']);
    expectBad(() => read({ [key.toUpperCase()]: entry('ra') }, { profile }));
  });

  it('is where the profile says', () => {
    const chunkKey = (hash: string, position: number): string => `${position}:${hash}`;
    expect(receipts(read({ [`0:${a}`]: entry('ra') }, { profile: { chunkKey } }))).to.deep.equal(['ra']);
  });

  it('is an error where it is missing, unless the profile takes that for stored', () => {
    expectBad(() => read({}, { hashes: [a] }));
    expectBad(() => read({ [a]: null }));
    expect(read({}, { profile: { missingChunk: 'stored' } })).to.deep.equal([{ receipt: '' }]);
  });

  it('is never one that every object has', () => {
    expectBad(() => read({}, { profile: { chunkKey: () => 'constructor' } }));
    expectBad(() => read({}, { profile: { chunkKey: () => '__proto__' } }));
    expectBad(() => read(JSON.parse(`{"__proto__": {"${a}": {"receipt": "r"}}}`)));
  });

  it('is an error where there are no entries at all', () => {
    for (const chunks of [undefined, null, 'x', 7, []]) expectBad(() => read(chunks));
  });
});

describe('a receipt', () => {
  it('is a text that is not empty, and not endless', () => {
    for (const receipt of [undefined, null, '', 7, {}, 'x'.repeat(20_000)]) {
      expectBad(() => readOne({ upload_url: url, receipt }), String(receipt).slice(0, 9));
    }
  });

  it('without a URL means that the service has the chunk', () => {
    for (const upload_url of [undefined, null, '']) {
      expect(readOne({ upload_url, receipt: 'r' })).to.deep.equal({ receipt: 'r' });
    }
    expectBad(() => readOne({ upload_url: 7, receipt: 'r' }));
  });

  it('means that, too, where the profile says so', () => {
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

  it('is https, whole, and without a user', () => {
    expect(urlOf(`${url}#part`)).to.equal(url);
    for (const bad of [
      'http://storage.example/put',
      'http://127.0.0.1/put',
      'javascript:alert(1)',
      'data:text/plain,x',
      'blob:https://storage.example/x',
      '/put',
      '//storage.example/put',
      'https://user:word@storage.example/put',
      'https://',
      `${url}${'x'.repeat(20_000)}`,
    ]) {
      expectBad(() => urlOf(bad), bad.slice(0, 40));
    }
  });

  it('may be http on this machine where the service is on this machine', () => {
    const local = 'http://127.0.0.1:9000/put';
    expect(urlOf(local, { baseUrl: 'http://localhost:8000' })).to.equal(local);
  });

  it('stays within the origins that the page allows', () => {
    expect(urlOf(url, { uploadOrigins: ['https://storage.example'] })).to.equal(url);
    for (const origin of [
      'https://other.example',
      'https://storage.example:8443',
      'http://storage.example',
    ]) {
      expect(() => urlOf(url, { uploadOrigins: [origin] }))
        .to.throw(`goes to https://storage.example, but upload-origins allows ${origin}`)
        .with.property('code', 'bad-config');
    }
  });
});

describe('what a ticket asks for beside the bytes', () => {
  const entry = (more: object): unknown => ({ upload_url: url, receipt: 'r', ...more });

  it('is a method, PUT or POST', () => {
    expect(readOne(entry({}))?.upload?.method).to.equal('PUT');
    expect(readOne(entry({ method: 'post' }))?.upload?.method).to.equal('POST');
    for (const method of ['GET', 'DELETE', 'PUT\r\n', '', 7])
      expectBad(() => readOne(entry({ method })), String(method));
  });

  it('is headers, of which the browser sends some by itself', () => {
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

  it('is no header that carries what is ours, that a browser keeps to itself, or that holds a line end', () => {
    const names = [
      'Authorization',
      'cookie',
      'X-Service-UploadSession',
      'x-bearer',
      'Origin',
      'Sec-Fetch-Mode',
    ];
    for (const name of [...names, 'Proxy-X', 'Set-Cookie', 'X-HTTP-Method-Override', 'bad name', '', 'é']) {
      expectBad(() => readOne(entry({ headers: { [name]: 'x' } })), name);
    }
    for (const value of ['a\r\nb: c', 'a\nb', 'a\0', '\u2028', 7, null, ['x'], 'x'.repeat(10_000)]) {
      expectBad(() => readOne(entry({ headers: { 'x-y': value } })), String(value).slice(0, 9));
    }
    for (const headers of ['x', ['x-y', 'z'], 7]) expectBad(() => readOne(entry({ headers })));
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`x-${at}`, '']));
    expectBad(() => readOne(entry({ headers: many })));
  });

  it('is joined by what the profile adds, under the same rules', () => {
    const putHeaders = (hash: string): Record<string, string> => ({ 'X-Hash': hash });
    const upload = readOne(entry({ headers: { 'x-y': 'z', 'x-hash': 'old' } }), {
      profile: { putHeaders },
    })?.upload;
    expect(upload?.headers).to.deep.equal({ 'x-y': 'z', 'x-hash': a });
    expectBad(() => readOne(entry({}), { profile: { putHeaders: () => ({ Cookie: 'x' }) } }));
  });
});

describe('the life of an upload URL', () => {
  const date = 'Tue, 03 Feb 2026 10:00:00 GMT';
  const soon = '2026-02-03T10:05:00Z';
  /** Seconds, from the arrival of the answer. */
  const lifeOf = (
    more: { upload_url?: string; expires_at?: unknown },
    options: Parameters<typeof read>[1] = {},
  ): number | undefined => {
    const upload = readOne({ upload_url: url, receipt: 'r', ...more }, { date, ...options })?.upload;
    const { expiresAtMs, receivedAtMs = Number.NaN } = upload ?? {};
    return expiresAtMs === undefined ? undefined : (expiresAtMs - receivedAtMs) / 1000;
  };

  it('is told by the entry, in any of the usual ways, by the clock of the service', () => {
    const seconds = Date.parse(soon) / 1000;
    for (const expires_at of [
      soon,
      '2026-02-03T11:05:00+01:00',
      '2026-02-03T10:05:00',
      seconds,
      seconds * 1000,
    ]) {
      expect(lifeOf({ expires_at }), String(expires_at)).to.equal(300);
    }
  });

  it('is told by the URL', () => {
    const signed = `${url}&X-Amz-Date=20260203T095900Z&X-Amz-Expires=300`;
    expect(lifeOf({ upload_url: signed })).to.equal(240);
    expect(lifeOf({ upload_url: `${url}&Expires=${Date.parse(soon) / 1000}` })).to.equal(300);
  });

  it('is never longer than the URL was signed for, though a clock is behind', () => {
    const upload_url = `${url}&X-Amz-Date=20260203T120000Z&X-Amz-Expires=300`;
    expect(lifeOf({ upload_url })).to.equal(300);
  });

  it('is unknown where nothing tells, where it makes no sense, and where it would be over already', () => {
    for (const expires_at of [undefined, 'soon', '', {}, Number.NaN, -1, '2026-02-03T09:00:00Z']) {
      expect(lifeOf({ expires_at }), String(expires_at)).to.equal(undefined);
    }
    for (const query of [
      'X-Amz-Date=x&X-Amz-Expires=300',
      'X-Amz-Expires=300',
      'Expires=soon',
      'Expires=1',
    ]) {
      expect(lifeOf({ upload_url: `${url}&${query}` }), query).to.equal(undefined);
    }
  });

  it('is what the profile says', () => {
    expect(lifeOf({ expires_at: soon }, { profile: { urlLifetime: () => 60 } })).to.equal(60);
    expect(lifeOf({ expires_at: soon }, { profile: { urlLifetime: () => undefined } })).to.equal(undefined);
  });
});
