// What a page is told of an error: its code, never its text, its body or its address.

import { canRetry, toUploaderError } from '../core/errors.ts';
import type { ErrorSnapshot } from '../core/types.ts';
import { warnOnceHere } from '../core/warn.ts';

/** An error as the page may see it. On the console is put what is none of ours, as the defect that it is, and what the page has set wrong. */
export function describeError(error: unknown): ErrorSnapshot {
  const known = toUploaderError(error, 'service-failed', 'The upload ended by a defect');
  if (known !== error) globalThis.reportError?.(error);
  if (known.code === 'bad-config') warnOnceHere(known.message);
  return {
    code: known.code,
    retryable: canRetry(known.code),
    ...(known.status !== undefined && { status: known.status }),
  };
}
