// The one error class, and what can be done about each code.

import { expect } from '@open-wc/testing';
import {
  canRetry,
  ERROR_CODES,
  isAbort,
  isRetryable,
  toUploaderError,
  UploaderError,
} from '../../src/core/errors.ts';

describe('an UploaderError', () => {
  it('carries its code, its cause and what is known, and nothing that is not', () => {
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

  it('knows for every code who may try again: the engine by itself, or a person', () => {
    const byItself = ERROR_CODES.filter((code) => isRetryable(new UploaderError(code, '')));
    expect(byItself.filter((code) => !canRetry(code))).to.deep.equal([]);
    expect(ERROR_CODES.filter((code) => !canRetry(code))).to.deep.equal([
      'bad-config',
      'insecure-context',
      'file-too-large',
      'file-type-refused',
      'too-many-files',
      'file-empty',
      'file-unreadable',
      'wrong-file',
      'canceled',
    ]);
  });

  it('is told from the rejection of an aborted signal', () => {
    const controller = new AbortController();
    expect(isAbort(new DOMException('', 'AbortError'), controller.signal)).to.equal(false);
    controller.abort('reason');
    expect(isAbort('reason', controller.signal)).to.equal(true);
    expect(isAbort(new DOMException('', 'AbortError'), controller.signal)).to.equal(true);
    expect(isAbort(new UploaderError('network', ''), controller.signal)).to.equal(false);
  });
});
