// Tells the developer of a page that an origin gives no response that the page can read: the browser says only why a single request
// failed, and not always.

import { isLoopback } from '../core/loopback.ts';
import { perOrigin } from '../core/wait.ts';
import { warnOnConsole } from '../core/warn.ts';

/** Number of failures in succession after which the console says so. */
const FAILURES = 3;

/** Failures in succession. Requests that ran when another one failed count once: one lost connection may carry many. */
const silenceOf = perOrigin(() => ({ failureCount: 0, failedAtMs: Number.NEGATIVE_INFINITY }));

/** Says which headers a script of the page has added to a request, or that it may have. */
function hintOf(headers: Headers, ownNames: readonly string[]): string {
  const added = [...headers.keys()].filter((name) => !ownNames.includes(name));
  if (added.length > 0) return ` A script of this page adds the header ${added.join(', ')}.`;
  const isNative = Function.prototype.toString.call(fetch).includes('[native code]');
  return isNative ? '' : ' A script of this page has replaced fetch: does it add headers?';
}

/**
 * Notes the outcome of a request to `url`. `setting` is what names this origin. `headers` are those of the request, which began
 * with `ownNames`.
 */
export function watchSilence(
  { href, protocol, origin, port, hostname }: URL,
  setting: string,
  headers?: Headers,
) {
  const silence = silenceOf(href);
  const startedAtMs = performance.now();
  const ownNames = [...(headers?.keys() ?? [])];
  return {
    onAnswer(): void {
      silence.failureCount = 0;
    },
    onNoAnswer(): void {
      if (startedAtMs < silence.failedAtMs) return;
      silence.failedAtMs = performance.now();
      silence.failureCount += 1;
      if (silence.failureCount !== FAILURES) return;
      const isDevelopment = protocol === 'https:' && (port !== '' || isLoopback(hostname));
      const scheme = isDevelopment ? ' Is it https there, or http?' : '';
      const hint = headers ? hintOf(headers, ownNames) : '';
      warnOnConsole(`No answer from ${origin}. Check ${setting}, CORS and connect-src.${scheme}${hint}`);
    },
  };
}
