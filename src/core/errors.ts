// The one error class and the closed list of its codes. Whatever fails is wrapped in it at the border, once, with its cause.

/** Every way in which something can fail, as a user or caller can tell them apart. */
export const ERROR_CODES = [
  'bad-config',
  'insecure-context',
  'file-too-large',
  'file-type-refused',
  'too-many-files',
  'file-empty',
  'file-unreadable',
  'file-changed',
  'wrong-file',
  'hash-failed',
  'offline',
  'network',
  'timeout',
  'rate-limited',
  'forbidden',
  'name-taken',
  'session-expired',
  'service-failed',
  'bad-response',
  'ticket-expired',
  'upload-refused',
  'upload-stalled',
  'hash-mismatch',
  'store-full',
  'store-unavailable',
  'sign-in-required',
  'access-denied',
  'authorize-failed',
  'popup-blocked',
  'popup-closed',
  'popup-timeout',
  'silent-timeout',
  'state-mismatch',
  'issuer-mismatch',
  'code-rejected',
  'token-malformed',
  'token-rejected',
  'host-token-failed',
  'credentials-rejected',
  'account-locked',
  'challenge-failed',
  'challenge-denied',
  'challenge-expired',
  'method-unsupported',
  'step-unsupported',
  'passkey-canceled',
  'passkey-unavailable',
  'canceled',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Codes after which the same thing may be tried again by itself. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'offline',
  'network',
  'timeout',
  'rate-limited',
  'service-failed',
  'bad-response',
  'ticket-expired',
  'upload-refused',
  'upload-stalled',
  'hash-mismatch',
]);

/** Codes for which pressing "Retry" cannot help: the file or its place has to change first. */
const FINAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'file-unreadable',
  'bad-config',
  'insecure-context',
  'file-too-large',
  'file-type-refused',
  'too-many-files',
  'file-empty',
  'wrong-file',
  'canceled',
]);

/** True where the engine itself tries again. */
export const isRetryable = (error: UploaderError): boolean => RETRYABLE.has(error.code);

/** True where a person may usefully press "Retry". */
export const canRetry = (code: ErrorCode): boolean => !FINAL.has(code);

export interface ErrorDetails {
  readonly cause?: unknown;
  /** HTTP status, where an answer was read. */
  readonly status?: number;
  readonly fileId?: string;
  readonly chunkIndex?: number;
  /** From `Retry-After`, milliseconds. */
  readonly retryAfterMs?: number;
  /** The service's `debuginfo`: for developers, never shown to a user, never parsed. */
  readonly debugInfo?: string;
}

/** Everything that this package throws or reports. `message` is English for developers; users read `messages[code]`. */
export class UploaderError extends Error {
  override readonly name = 'UploaderError';
  readonly code: ErrorCode;
  readonly status?: number;
  readonly fileId?: string;
  readonly chunkIndex?: number;
  readonly retryAfterMs?: number;
  readonly debugInfo?: string;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    const { cause: _cause, ...known } = details;
    Object.assign(this, known);
  }
}

/** The error itself where it is ours, else it wrapped under `code`. */
export function toUploaderError(error: unknown, code: ErrorCode, message: string): UploaderError {
  return error instanceof UploaderError ? error : new UploaderError(code, message, { cause: error });
}

/** True for the rejection of an aborted signal, which is never reported as an error. */
export function isAbort(error: unknown, signal: AbortSignal): boolean {
  return (
    signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'))
  );
}
