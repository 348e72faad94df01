// Request bodies and responses of the service: each field and each status.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import type { Profile } from '../../src/core/read-profile.ts';
import { askProfile, fillProfile } from '../../src/service/profile.ts';
import {
  commitBody,
  encodeHash,
  type Operation,
  presignBody,
  readCommitted,
  readMissing,
  readRefusal,
  readSession,
  sessionBody,
} from '../../src/service/wire.ts';
import { captureWarnings } from '../support/console.ts';
import { answerOf } from './answer-of.ts';

const full = (profile: Profile = {}) => fillProfile(profile);

const caught = (act: () => unknown): UploaderError => {
  try {
    act();
  } catch (error) {
    return error as UploaderError;
  }
  throw new Error('it was expected to throw');
};

describe('the bodies of calls', () => {
  const hash = 'fb'.repeat(32);

  it('have the names of the interface, and a file name in composed form (NFC)', () => {
    expect(sessionBody({ parentId: 'p', fileName: 'u\u0308', fileSize: 7 })).to.deep.equal({
      parent_id: 'p',
      file_name: 'ü',
      file_size: 7,
    });
  });

  it('have hashes in the encoding of the profile', () => {
    const written = { hex: hash, base64: `${'+/v7'.repeat(10)}+/s=`, base64url: `${'-_v7'.repeat(10)}-_s` };
    for (const [hashEncoding, text] of Object.entries(written) as ['hex', string][]) {
      const profile = full({ hashEncoding });
      expect(encodeHash(hash, hashEncoding)).to.equal(text);
      expect(presignBody([{ hash, sizeBytes: 5 }], profile)).to.deep.equal({ hashes: [text] });
      expect(
        JSON.parse(JSON.stringify(commitBody({ hashes: [hash], receipts: ['r'] }, profile))),
      ).to.deep.equal({
        hashes: [text],
        receipts: ['r'],
      });
    }
  });

  it('have sizes if the profile says so', () => {
    expect(presignBody([{ hash, sizeBytes: 5 }], full({ sendSizes: true }))).to.deep.equal({
      hashes: [hash],
      sizes: [5],
    });
  });
});

describe('the session of a response', () => {
  const SESSION = 'x-service-uploadsession';
  const rows: readonly (readonly [Partial<Parameters<typeof answerOf>[0]>, string])[] = [
    [{ body: { session_id: 's' } }, 's'],
    [{ body: { session_id: 's', token: 't' } }, 't'],
    [{ body: { session_id: 's', token: 't', passport: 'p' } }, 'p'],
    [{ body: { session_id: 's', token: 7, passport: '' } }, 's'],
    [{ body: { session_id: 's', passport: 'p' }, headers: { [SESSION]: 'h' } }, 'h'],
    [{ body: { session_id: 's', passport: 'x'.repeat(16_384) } }, 'x'.repeat(16_384)],
    [{ body: { session_id: 's', passport: 'x'.repeat(16_385) } }, 's'],
    [{ body: { session_id: 's', passport: '!a\t b~' } }, '!a\t b~'],
  ];
  for (const [given, header] of rows)
    it(`is opened by ${JSON.stringify(given).slice(0, 70)}`, () => {
      expect(readSession(answerOf(given), full())).to.deep.equal({ sessionId: 's', header });
    });

  it('is read by the profile from body and header', () => {
    const sessionHeader: Profile['sessionHeader'] = ({ body, header }) => `${body.session_id} ${header}`;
    const given = { body: { session_id: 's' }, headers: { [SESSION]: 'h' } };
    expect(readSession(answerOf(given), full({ sessionHeader })).header).to.equal('s h');
  });

  it('is missing without its id, or if it cannot go into a header', () => {
    for (const body of [undefined, null, 'text', {}, { session_id: 7 }, { session_id: '' }])
      expect(caught(() => readSession(answerOf({ body }), full()))).to.include({
        code: 'bad-response',
        status: 200,
        message: 'The response has no session_id',
      });
    for (const passport of ['a\nb', ' a', 'a ', 'ü', '\t'])
      expect(
        caught(() => readSession(answerOf({ body: { session_id: 's', passport } }), full())).code,
      ).to.equal('bad-response');
    const sessionHeader = (): string => '';
    expect(
      caught(() => readSession(answerOf({ body: { session_id: 's' } }), full({ sessionHeader }))),
    ).to.include({
      code: 'bad-response',
      message: 'The session header is missing or not valid',
    });
  });
});

describe('a profile of the page', () => {
  it('may be an instance of a class', () => {
    class OwnProfile implements Profile {
      readonly sendSizes = true;
      readonly #prefix = 'Upload';
      sessionHeader({ body }: { body: Readonly<Record<string, unknown>> }): string {
        return `${this.#prefix} ${body.session_id}`;
      }
    }
    const profile = full(new OwnProfile());
    expect(readSession(answerOf({ body: { session_id: 's' } }), profile).header).to.equal('Upload s');
    expect(profile).to.include({ sendSizes: true, hashEncoding: 'hex' });
  });

  it('that returns no chunk size is named in the error', () => {
    for (const bytes of [0, -1, 1.5, Number.NaN]) {
      const profile = full({ chunkSize: () => bytes });
      const error = caught(() => readSession(answerOf({ body: { session_id: 's' } }), profile));
      expect(error, `${bytes}`).to.include({ code: 'bad-response' });
      expect(error.message).to.include('profile.chunkSize');
    }
  });

  it('may return any whole number of bytes as the chunk size', () => {
    for (const bytes of [1, 2 ** 40])
      expect(
        readSession(answerOf({ body: { session_id: 's' } }), full({ chunkSize: () => bytes })).chunkSizeBytes,
      ).to.equal(bytes);
  });

  it('says the smallest chunk of the storage, which the service says otherwise, up to 64 MiB', () => {
    const minOf = (size: unknown, own?: number): number | undefined =>
      readSession(
        answerOf({ body: { session_id: 's', min_chunk_size: size } }),
        full(own === undefined ? {} : { minChunkSize: own }),
      ).minChunkBytes;
    for (const size of [1, 2 ** 20, 64 * 2 ** 20]) {
      expect(minOf(size)).to.equal(size);
      expect(minOf(size, 5 * 2 ** 20)).to.equal(5 * 2 ** 20);
    }
    for (const size of [undefined, null, 0, -1, 1.5, 64 * 2 ** 20 + 1, '1048576', true, [1], {}])
      expect(minOf(size), JSON.stringify(size)).to.equal(undefined);
    expect(minOf(2 ** 20, Number.NaN)).to.equal(2 ** 20);
  });

  it('that throws is an error of the page, with the name of the function', () => {
    const cause = new Error('of the page');
    const error = caught(() =>
      askProfile('chunkKey', () => {
        throw cause;
      }),
    );
    expect(error).to.include({ code: 'bad-config', cause });
    expect(error.message).to.contain('chunkKey');
    expect(askProfile('chunkKey', () => 'key')).to.equal('key');
  });

  it('that leaves fields undefined changes no defaults', () => {
    const defaults = {
      missingChunk: 'error',
      hashEncoding: 'hex',
      emptyFile: 'session',
      fileName: 'name',
      sendSizes: false,
      statuses: {},
    };
    expect(fillProfile({})).to.deep.equal(defaults);
    expect(fillProfile({ hashEncoding: undefined, sendSizes: true } as unknown as Profile)).to.deep.equal({
      ...defaults,
      sendSizes: true,
    });
  });
});

describe('an error response', () => {
  const rows: Readonly<Record<number, string | readonly [open: string, later: string, commit?: string]>> = {
    400: 'upload-refused',
    401: 'token-rejected',
    402: 'upload-refused',
    403: 'forbidden',
    404: ['forbidden', 'session-expired'],
    405: 'upload-refused',
    408: 'service-failed',
    409: ['name-taken', 'upload-refused', 'name-taken'],
    410: ['forbidden', 'session-expired'],
    413: ['file-too-large', 'upload-refused'],
    422: 'upload-refused',
    429: 'rate-limited',
    499: 'upload-refused',
    500: 'service-failed',
    501: 'bad-response',
    502: 'service-failed',
    503: 'rate-limited',
    507: 'service-full',
    511: 'bad-response',
  };
  const body = { debuginfo: 'said by the service' };
  for (const [text, meaning] of Object.entries(rows))
    it(`with ${text} always has the same code`, () => {
      const status = Number(text);
      for (const operation of ['open', 'presign', 'commit', 'cancel'] as Operation[]) {
        const [open, later, commit = later] = typeof meaning === 'string' ? [meaning, meaning] : meaning;
        const error = readRefusal(answerOf({ status, body }), operation, full());
        expect(error, operation).to.include({
          code: operation === 'open' ? open : operation === 'commit' ? commit : later,
          status,
          debugInfo: 'said by the service',
        });
        expect(error.message).to.contain(text).and.to.contain(operation);
        expect(error.cause).to.equal(undefined);
      }
    });

  it('has the code that the profile sets', () => {
    const meanings = {
      retry: ['service-failed', 418],
      'slow-down': ['rate-limited', 418],
      full: ['service-full', 418],
      token: ['token-rejected', 401],
      forbidden: ['forbidden', 418],
      gone: ['session-expired', 418],
      refused: ['upload-refused', 418],
      'too-large': ['upload-refused', 413],
    } as const;
    for (const [meaning, [code, status]] of Object.entries(meanings)) {
      const statuses = { 418: meaning } as NonNullable<Profile['statuses']>;
      expect(readRefusal(answerOf({ status: 418 }), 'presign', full({ statuses })), meaning).to.include({
        code,
        status,
      });
    }
  });

  it('of something else than the service has its own code, unless the page says what the status means', () => {
    const codeOf = (status: number, operation: Operation, profile?: Profile): string =>
      readRefusal(answerOf({ status, body: '<h1>Not Found</h1>' }), operation, full(profile)).code;
    expect(codeOf(404, 'open')).to.equal('service-not-found');
    for (const operation of ['open', 'presign', 'commit', 'cancel'] as const)
      expect(codeOf(405, operation), operation).to.equal('service-not-found');
    expect(codeOf(410, 'open')).to.equal('forbidden');
    expect(codeOf(403, 'open')).to.equal('forbidden');
    expect(codeOf(404, 'presign')).to.equal('session-expired');
    expect(codeOf(404, 'open', { statuses: { 404: 'forbidden' } })).to.equal('forbidden');
    expect(codeOf(405, 'open', { statuses: { 405: 'refused' } })).to.equal('upload-refused');
  });

  it('to a token has the message of the service, and is final if the token is valid but lacks permission', () => {
    const headers = { 'www-authenticate': 'Bearer error="invalid_token"' };
    expect(readRefusal(answerOf({ status: 401, headers }), 'open', full()).cause).to.deep.equal({
      wwwAuthenticate: 'Bearer error="invalid_token"',
    });
    const scope = { 'www-authenticate': 'Bearer error="INSUFFICIENT_SCOPE"' };
    expect(readRefusal(answerOf({ status: 401, headers: scope }), 'open', full())).to.include({
      code: 'forbidden',
      status: 403,
    });
  });

  it('has its delay only if waiting may help', () => {
    const headers = { 'retry-after': '2' };
    for (const status of [429, 503, 500, 408])
      expect(readRefusal(answerOf({ status, headers }), 'open', full()).retryAfterMs, `${status}`).to.equal(
        2000,
      );
    for (const status of [400, 403, 404, 409, 413])
      expect(readRefusal(answerOf({ status, headers, body }), 'open', full())).not.to.have.property(
        'retryAfterMs',
      );
    expect(readRefusal(answerOf({ status: 429 }), 'open', full())).not.to.have.any.keys(
      'retryAfterMs',
      'debugInfo',
    );
  });

  it('of an unknown endpoint warns on the console, and not if the service itself responds', () =>
    captureWarnings((warnings) => {
      const address = `https://api.test/${crypto.randomUUID()}`;
      for (const status of [404, 405, 400, 410]) readRefusal(answerOf({ status, address }), 'open', full());
      readRefusal(answerOf({ status: 404, address: `${address}/known`, body }), 'open', full());
      readRefusal(answerOf({ status: 404, address: `${address}/known`, body }), 'presign', full());
      const warning = 'secure-uploader: The service responded with';
      expect(warnings.filter((text) => text.includes(address))).to.deep.equal([
        `${warning} 404 to open. Check base-url and session-path: ${address}`,
        `${warning} 405 to open. Check base-url and session-path: ${address}`,
      ]);
    }));
});

describe('the response to a commit', () => {
  it('is its body, or nothing, and never the HTML page of a proxy', () => {
    expect(readCommitted(answerOf({ body: { id: 1 } }))).to.deep.equal({ id: 1 });
    expect(readCommitted(answerOf({ body: null }))).to.equal(null);
    expect(readCommitted(answerOf({ body: undefined, isEmpty: true }))).to.equal(undefined);
    expect(caught(() => readCommitted(answerOf({ body: undefined })))).to.include({
      code: 'bad-response',
      message: 'The response to the commit is not JSON',
    });
  });

  it('lists the missing hashes as hex, each once', () => {
    const [a, b] = ['00'.repeat(32), 'bb'.repeat(32)];
    const read = (missing: unknown, profile: Profile = {}) =>
      readMissing(answerOf({ status: 409, body: { missing } }), [a, b], full(profile));
    expect(read([b.toUpperCase(), b])).to.deep.equal([b]);
    expect(read([b, a])).to.deep.equal([b, a]);
    for (const none of [undefined, null, [], 'aa', {}]) expect(read(none)).to.equal(undefined);
    for (const foreign of [['cc'], [a, 7], [null], [a, 'cc']])
      expect(caught(() => read(foreign))).to.include({
        code: 'bad-response',
        message: 'The service reports a missing chunk that is not part of this file',
      });
    const base64 = encodeHash(a, 'base64');
    expect(read([base64], { hashEncoding: 'base64' })).to.deep.equal([a]);
    expect(caught(() => read([base64.toLowerCase()], { hashEncoding: 'base64' })).code).to.equal(
      'bad-response',
    );
  });
});
