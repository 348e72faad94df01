// Meaning of each response of a storage. The tests set the responses.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import type { Profile } from '../../src/core/read-profile.ts';
import { createPut } from '../../src/service/put.ts';
import { settled } from '../support/collect.ts';
import { answer, type Said as FakeSaid, sent, uploadOf } from './fake-storage.ts';
import { forever } from './reference.ts';

const NOW_MS = 60_000;

interface Said extends FakeSaid {
  readonly expiresAtMs?: number;
  readonly statuses?: Profile['putStatuses'];
}

afterEach(() => {
  Reflect.deleteProperty(performance, 'now');
});

async function codeOf(status: number, said: Said = {}): Promise<string | [string, unknown]> {
  const { expiresAtMs, statuses } = said;
  const put = createPut({ baseUrl: 'https://api.test', ...(statuses && { statuses }) });
  const upload = uploadOf(expiresAtMs === undefined ? {} : { expiresAtMs });
  const ended = put(upload, new Blob(['1']), { signal: forever }).then(
    () => 'stored',
    (error: UploaderError): [string, unknown] | string => {
      expect(error.status).to.equal(status);
      return error.retryAfterMs === undefined ? error.code : [error.code, error.retryAfterMs];
    },
  );
  const xhr = sent.requests.at(-1) as XMLHttpRequest;
  answer(xhr, status, said);
  xhr.dispatchEvent(new ProgressEvent('load'));
  return ended;
}

describe('a response of the storage', () => {
  for (const [status, code] of [
    [199, 'upload-refused'],
    [200, 'stored'],
    [201, 'stored'],
    [299, 'stored'],
    [300, 'upload-refused'],
    [400, 'upload-refused'],
    [403, 'upload-refused'],
    [407, 'upload-refused'],
    [408, 'service-failed'],
    [409, 'upload-refused'],
    [410, 'upload-refused'],
    [422, 'upload-refused'],
    [428, 'upload-refused'],
    [429, 'rate-limited'],
    [430, 'upload-refused'],
    [499, 'upload-refused'],
    [500, 'service-failed'],
    [501, 'bad-response'],
    [502, 'service-failed'],
    [503, 'rate-limited'],
    [504, 'service-failed'],
    [505, 'bad-response'],
    [507, 'service-full'],
    [508, 'bad-response'],
    [510, 'bad-response'],
    [511, 'bad-response'],
    [599, 'service-failed'],
  ] as const)
    it(`with status ${status} means ${code}`, async () => {
      expect(await codeOf(status)).to.equal(code);
    });

  it('is classified by the page, for each status', async () => {
    const meanings = {
      stored: 'stored',
      'slow-down': 'rate-limited',
      full: 'service-full',
      retry: 'service-failed',
      refused: 'upload-refused',
    };
    for (const status of [200, 400, 408, 429, 500, 503])
      for (const [meaning, code] of Object.entries(meanings)) {
        const statuses = { [status]: meaning } as Profile['putStatuses'];
        expect(await codeOf(status, { statuses } as Said), `${status} ${meaning}`).to.equal(code);
      }
  });

  it('from another URL is no success', async () => {
    expect(await codeOf(200, { responseURL: 'https://other.test/object' })).to.equal('upload-refused');
    expect(await codeOf(500, { responseURL: '' })).to.equal('upload-refused');
  });

  it('to an expired URL says so, from its last millisecond', async () => {
    Object.assign(performance, { now: () => NOW_MS });
    for (const [expiresAtMs, code] of [
      [NOW_MS - 1, 'ticket-expired'],
      [NOW_MS, 'ticket-expired'],
      [NOW_MS + 1, 'upload-refused'],
    ] as const) {
      expect(await codeOf(403, { expiresAtMs }), `${expiresAtMs - NOW_MS}`).to.equal(code);
      expect(await codeOf(410, { expiresAtMs }), `${expiresAtMs - NOW_MS}`).to.equal(code);
      expect(await codeOf(404, { expiresAtMs })).to.equal('upload-refused');
    }
  });

  it('with a hash mismatch says so, in the words of any storage', async () => {
    for (const text of [
      '<Code>XAmzContentSHA256Mismatch</Code>',
      '<Code>BadDigest</Code>',
      'the bytes have another hash',
      'wrong checksum',
      'other hash',
      'hash mismatch',
      'checksum: does not match',
    ]) {
      expect(await codeOf(400, { text }), text).to.equal('hash-mismatch');
      expect(await codeOf(422, { text }), text).to.equal('hash-mismatch');
      expect(await codeOf(409, { text }), text).to.equal('upload-refused');
    }
    for (const text of ['', 'hash', 'mismatch'])
      expect(await codeOf(400, { text }), text).to.equal('upload-refused');
  });

  it('has a delay if the page may read it', async () => {
    const date = 'Tue, 03 Feb 2026 10:00:00 GMT';
    for (const status of [429, 503]) {
      expect(await codeOf(status, { headers: { 'retry-after': '2' } })).to.deep.equal(['rate-limited', 2000]);
      expect(await codeOf(status, { headers: { 'retry-after': '0' } })).to.deep.equal(['rate-limited', 0]);
      const headers = { 'retry-after': 'Tue, 03 Feb 2026 10:00:07 GMT', date };
      expect(await codeOf(status, { headers })).to.deep.equal(['rate-limited', 7000]);
    }
    expect(await codeOf(500, { headers: { 'retry-after': '2' } })).to.equal('service-failed');
  });

  it('is not read beyond a limit', async () => {
    for (const [loaded, isOver] of [
      [65_536, false],
      [65_537, true],
    ] as const)
      for (const [status, expected] of [
        [200, 'stored'],
        [500, 'service-failed'],
      ] as const) {
        let result = 'nothing yet';
        const put = createPut({ baseUrl: 'https://api.test' });
        put(uploadOf(), new Blob(['1']), { signal: forever }).then(
          () => {
            result = 'stored';
          },
          ({ code }: UploaderError) => {
            result = code;
          },
        );
        const xhr = sent.requests.at(-1) as XMLHttpRequest;
        answer(xhr, status, {});
        xhr.dispatchEvent(new ProgressEvent('progress', { loaded }));
        await settled();
        expect(result, `${loaded} ${status}`).to.equal(isOver ? expected : 'nothing yet');
        xhr.dispatchEvent(new ProgressEvent('load'));
      }
  });
});
