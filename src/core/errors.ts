// The error class. Other errors are wrapped in this class where they occur.

import type { ErrorCode } from './error-codes.ts';

export type { ErrorCode } from './error-codes.ts';

export interface ErrorDetails {
  readonly cause?: unknown;
  /** HTTP status, if there was a response. */
  readonly status?: number | undefined;
  readonly chunkIndex?: number | undefined;
  /** From `Retry-After`, milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** `debuginfo` from the service's response, for developers. */
  readonly debugInfo?: string | undefined;
}

/** The class of all errors of this package. `message` is for developers; the text for users depends on `code`. */
export class UploaderError extends Error {
  override readonly name = 'UploaderError';
  readonly code: ErrorCode;
  readonly status?: number;
  readonly chunkIndex?: number;
  readonly retryAfterMs?: number;
  readonly debugInfo?: string;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.code = code;
    for (const [name, value] of Object.entries(details))
      if (name !== 'cause' && value !== undefined) Object.assign(this, { [name]: value });
  }
}

/** Returns an `UploaderError` as it is, and wraps any other error with `code`. */
export function toUploaderError(error: unknown, code: ErrorCode, message: string): UploaderError {
  return error instanceof UploaderError ? error : new UploaderError(code, message, { cause: error });
}
