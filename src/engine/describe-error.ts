// What a page is told of an error: its code, never its text, its body or its address.

import { canRetry, toUploaderError } from '../core/errors.ts';
import type { ErrorSnapshot } from '../core/types.ts';

/** An error as the page may see it. What is none of ours is a defect: it is put on the console as one. */
export function describeError(error: unknown): ErrorSnapshot {
  const known = toUploaderError(error, 'service-failed', 'The upload ended by a defect');
  if (known !== error) globalThis.reportError?.(error);
  return {
    code: known.code,
    retryable: canRetry(known.code),
    ...(known.status !== undefined && { status: known.status }),
  };
}
