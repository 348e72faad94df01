// All error codes, and how each is handled.

/** How an error is handled. The text for users is in `src/ui/messages.ts`. */
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
  'service-full',
  'bad-response',
  'ticket-expired',
  'upload-refused',
  'storage-unreadable',
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

/** The exceptions. All other errors can be retried, but only by the user. */
const FACTS: Partial<Record<ErrorCode, CodeFacts>> = {
  'bad-config': { retry: 'never' },
  'insecure-context': { retry: 'never' },
  'file-too-large': { retry: 'never' },
  'file-type-refused': { retry: 'never' },
  'too-many-files': { retry: 'never' },
  'file-empty': { retry: 'never' },
  'file-unreadable': { retry: 'never' },
  'wrong-file': { retry: 'never' },
  'location-not-removed': { retry: 'never' },
  offline: { retry: 'automatic', isOutage: true },
  network: { retry: 'automatic', isOutage: true },
  timeout: { retry: 'automatic', isOutage: true },
  'rate-limited': { retry: 'automatic', isOutage: true, isCongestion: true },
  'session-expired': { retry: 'user', endsSession: true },
  'service-failed': { retry: 'automatic', isOutage: true },
  'service-full': { retry: 'automatic' },
  'bad-response': { retry: 'automatic' },
  'ticket-expired': { retry: 'automatic' },
  'upload-refused': { retry: 'put-only' },
  'upload-stalled': { retry: 'automatic', isOutage: true, isCongestion: true },
  'hash-mismatch': { retry: 'automatic' },
  'token-rejected': { retry: 'user', endsSession: true },
  canceled: { retry: 'never' },
};

export const codeFacts = (code: ErrorCode): CodeFacts => FACTS[code] ?? { retry: 'user' };

/** True if the engine retries a PUT. */
export const isRetryable = ({ code }: { readonly code: ErrorCode }): boolean =>
  isCallRetryable({ code }) || codeFacts(code).retry === 'put-only';

/** True if the engine retries a call to the service. */
export const isCallRetryable = ({ code }: { readonly code: ErrorCode }): boolean =>
  codeFacts(code).retry === 'automatic';

/** True if a retry by the user can succeed. */
export const canRetry = (code: ErrorCode): boolean => codeFacts(code).retry !== 'never';
