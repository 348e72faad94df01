// Tells the developer of a page that an origin gives no response that the page can read: the browser says only why a single request
// failed, and not always.

import { explain } from '../core/explain.ts';
import { perOrigin } from '../core/wait.ts';
import { warnOnConsole } from '../core/warn.ts';

/** Number of failures in succession after which the console says so. */
const FAILURES = 3;

/** Failures in succession. Requests that ran when another one failed count once: one lost connection may carry many. */
const silenceOf = perOrigin(() => ({ failureCount: 0, failedAtMs: Number.NEGATIVE_INFINITY }));

/** Notes the outcome of a request to `url`. `setting` is what names this origin. `headers` are those of the request. */
export function watchSilence(url: URL, setting: string, headers?: Headers) {
  const silence = silenceOf(url.href);
  const startedAtMs = performance.now();
  const ownNames = new Set(headers?.keys());
  return {
    onAnswer(): void {
      silence.failureCount = 0;
    },
    onNoAnswer(): void {
      if (startedAtMs < silence.failedAtMs) return;
      silence.failedAtMs = performance.now();
      silence.failureCount += 1;
      if (silence.failureCount !== FAILURES) return;
      const addedNames = headers && [...headers.keys()].filter((name) => !ownNames.has(name));
      explain(
        (texts) => `No answer from ${url.origin}. ${texts?.whyNoAnswer(url, setting, addedNames) ?? ''}`,
        warnOnConsole,
      );
    },
  };
}
