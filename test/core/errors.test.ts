// The error class, and which errors can be retried.

import { expect } from '@open-wc/testing';
import {
  canRetry,
  codeFacts,
  ERROR_CODES,
  type ErrorCode,
  isCallRetryable,
  isRetryable,
} from '../../src/core/error-codes.ts';
import { toUploaderError, UploaderError } from '../../src/core/errors.ts';

/** Expected retries by code: the engine repeats a PUT (`put`) or a call (`call`), or the user retries the upload (`person`). */
const WHO_RETRIES: Readonly<Record<ErrorCode, '' | 'person' | 'put person' | 'put call person'>> = {
  'bad-config': '',
  'insecure-context': '',
  'file-too-large': '',
  'file-type-refused': '',
  'too-many-files': '',
  'file-empty': '',
  'file-unreadable': '',
  'file-changed': 'person',
  'wrong-file': '',
  'hash-failed': 'person',
  'transform-failed': 'person',
  'location-not-removed': '',
  offline: 'put call person',
  network: 'put call person',
  timeout: 'put call person',
  'rate-limited': 'put call person',
  forbidden: 'person',
  'name-taken': 'person',
  'session-expired': 'person',
  'service-failed': 'put call person',
  'service-not-found': 'person',
  'service-full': 'put call person',
  'bad-response': 'put call person',
  'ticket-expired': 'put call person',
  'upload-refused': 'put person',
  'storage-unreadable': 'person',
  'upload-stalled': 'put call person',
  'upload-restarted': 'person',
  'hash-mismatch': 'put call person',
  'store-full': 'person',
  'store-unavailable': 'person',
  'sign-in-required': 'person',
  'access-denied': 'person',
  'authorize-failed': 'person',
  'popup-blocked': 'person',
  'popup-closed': 'person',
  'popup-timeout': 'person',
  'silent-timeout': 'person',
  'state-mismatch': 'person',
  'issuer-mismatch': 'person',
  'code-rejected': 'person',
  'token-malformed': 'person',
  'token-rejected': 'person',
  'host-token-failed': 'person',
  'credentials-rejected': 'person',
  'account-locked': 'person',
  'challenge-failed': 'person',
  'challenge-denied': 'person',
  'challenge-expired': 'person',
  'method-unsupported': 'person',
  'step-unsupported': 'person',
  'passkey-canceled': 'person',
  'passkey-unavailable': 'person',
  canceled: '',
};

const RETRY = {
  '': 'never',
  person: 'user',
  'put person': 'put-only',
  'put call person': 'automatic',
} as const;

describe('the row of a code', () => {
  for (const code of ERROR_CODES)
    it(`${code} says who retries it`, () => {
      expect(codeFacts(code).retry).to.equal(RETRY[WHO_RETRIES[code]]);
    });
});

describe('an UploaderError', () => {
  it('has its code, its cause and the given details, and nothing else', () => {
    const cause = new TypeError('below');
    const error = new UploaderError('rate-limited', 'slow down', { cause, status: 429, retryAfterMs: 5 });
    expect(error).to.include({
      code: 'rate-limited',
      name: 'UploaderError',
      status: 429,
      retryAfterMs: 5,
      cause,
    });
    expect('chunkIndex' in error && error.chunkIndex !== undefined).to.equal(false);
    expect('cause' in new UploaderError('network', 'no cause')).to.equal(false);
  });

  it('is never wrapped twice', () => {
    const error = new UploaderError('forbidden', 'no');
    expect(toUploaderError(error, 'network', 'other')).to.equal(error);
    const wrapped = toUploaderError('text', 'network', 'what was thrown');
    expect(wrapped).to.include({ code: 'network', cause: 'text' });
  });

  it('defines for every code what may be retried: a PUT or a call by the engine, the upload by a user', () => {
    const found = ERROR_CODES.map((code): [ErrorCode, string] => {
      const error = new UploaderError(code, '');
      const [put, call, person] = [isRetryable(error), isCallRetryable(error), canRetry(code)];
      return [code, [put && 'put', call && 'call', person && 'person'].filter(Boolean).join(' ')];
    });
    expect(Object.fromEntries(found)).to.deep.equal(WHO_RETRIES);
  });

  it('defines which codes mean congestion, and which the end of a session', () => {
    const having = (fact: 'isCongestion' | 'endsSession'): readonly ErrorCode[] =>
      ERROR_CODES.filter((code) => codeFacts(code)[fact]);
    expect(having('isCongestion')).to.deep.equal(['rate-limited', 'upload-stalled']);
    expect(having('endsSession')).to.deep.equal(['session-expired', 'token-rejected']);
  });
});
