// All error codes, and how each is handled.

/** How an error is handled. The text for users is in `src/locales/en.ts`. */
interface CodeFacts {
  /**
   * `automatic`: the engine retries, and the user can. `put-only`: the same, but the engine retries only PUTs, since the service
   * would refuse a repeated call. `user`: only the user can retry. `never`: the file or the page has to change first.
   */
  readonly retry: 'automatic' | 'put-only' | 'user' | 'never';
  /** If true, the server can't be reached, is busy or has an error (5xx): the engine retries without a limit of attempts. */
  readonly isOutage?: true;
  /** If true, the error reduces the number of upload slots. */
  readonly isCongestion?: true;
  /** If true, an upload session is lost when one of its calls fails with this error. */
  readonly endsSession?: true;
}

/** All error codes. */
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
  'transform-failed',
  'location-not-removed',
  'offline',
  'network',
  'timeout',
  'rate-limited',
  'forbidden',
  'name-taken',
  'session-expired',
  'service-failed',
  'service-not-found',
  'service-full',
  'bad-response',
  'ticket-expired',
  'upload-refused',
  'storage-unreadable',
  'upload-stalled',
  'upload-restarted',
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

/** The decision for each code: the compiler asks for that of a new one. */
const FACTS: Readonly<Record<ErrorCode, CodeFacts>> = {
  'bad-config': { retry: 'never' },
  'insecure-context': { retry: 'never' },
  'file-too-large': { retry: 'never' },
  'file-type-refused': { retry: 'never' },
  'too-many-files': { retry: 'never' },
  'file-empty': { retry: 'never' },
  'file-unreadable': { retry: 'never' },
  'file-changed': { retry: 'user' },
  'wrong-file': { retry: 'never' },
  'hash-failed': { retry: 'user' },
  'transform-failed': { retry: 'user' },
  'location-not-removed': { retry: 'never' },
  offline: { retry: 'automatic', isOutage: true },
  network: { retry: 'automatic', isOutage: true },
  timeout: { retry: 'automatic', isOutage: true },
  'rate-limited': { retry: 'automatic', isOutage: true, isCongestion: true },
  forbidden: { retry: 'user' },
  'name-taken': { retry: 'user' },
  'session-expired': { retry: 'user', endsSession: true },
  'service-failed': { retry: 'automatic', isOutage: true },
  'service-not-found': { retry: 'user' },
  'service-full': { retry: 'automatic' },
  'bad-response': { retry: 'automatic' },
  'ticket-expired': { retry: 'automatic' },
  'upload-refused': { retry: 'put-only' },
  'storage-unreadable': { retry: 'user' },
  'upload-stalled': { retry: 'automatic', isOutage: true, isCongestion: true },
  // Only a warning.
  'upload-restarted': { retry: 'user' },
  'hash-mismatch': { retry: 'automatic' },
  'store-full': { retry: 'user' },
  'store-unavailable': { retry: 'user' },
  'sign-in-required': { retry: 'user' },
  'access-denied': { retry: 'user' },
  'authorize-failed': { retry: 'user' },
  'popup-blocked': { retry: 'user' },
  'popup-closed': { retry: 'user' },
  'popup-timeout': { retry: 'user' },
  'silent-timeout': { retry: 'user' },
  'state-mismatch': { retry: 'user' },
  'issuer-mismatch': { retry: 'user' },
  'code-rejected': { retry: 'user' },
  'token-malformed': { retry: 'user' },
  'token-rejected': { retry: 'user', endsSession: true },
  'host-token-failed': { retry: 'user' },
  'credentials-rejected': { retry: 'user' },
  'account-locked': { retry: 'user' },
  'challenge-failed': { retry: 'user' },
  'challenge-denied': { retry: 'user' },
  'challenge-expired': { retry: 'user' },
  'method-unsupported': { retry: 'user' },
  'step-unsupported': { retry: 'user' },
  'passkey-canceled': { retry: 'user' },
  'passkey-unavailable': { retry: 'user' },
  canceled: { retry: 'never' },
};

export const codeFacts = (code: ErrorCode): CodeFacts => FACTS[code];

/** True if the engine retries a PUT. */
export const isRetryable = ({ code }: { readonly code: ErrorCode }): boolean =>
  isCallRetryable({ code }) || codeFacts(code).retry === 'put-only';

/** True if the engine retries a call to the service. */
export const isCallRetryable = ({ code }: { readonly code: ErrorCode }): boolean =>
  codeFacts(code).retry === 'automatic';

/** True if a retry by the user can succeed. */
export const canRetry = (code: ErrorCode): boolean => codeFacts(code).retry !== 'never';
