// The options of the headless engine.

import type { RetryPolicy } from '../core/retries.ts';
import type { Warn } from '../core/warn.ts';
import type { connect, Times } from './connection.ts';
import type { TabLocks } from './resume/tab-locks.ts';
import type { UploadStore } from './resume/upload-store.ts';
import type { Span } from './trace.ts';

/** Options of the constructor. Unlike settings, options cannot be changed with `configure()`. */
export interface UploaderOptions {
  /** Timeouts, in milliseconds. */
  readonly times?: Times;
  /** Delays and limits of retries. Each field has its own default. */
  readonly policy?: RetryPolicy;
  /** Time in which the service has to complete a commit that it has accepted (202), in milliseconds. Defaults to one hour. */
  readonly commitDeadlineMs?: number;
  /**
   * Store for saved uploads, by default IndexedDB. Tests have stores of their own.
   *
   * @internal
   */
  readonly store?: UploadStore;
  /**
   * Called after each step of an upload and each sign-in. Spans have no names, URLs or secrets. The code for it is loaded on
   * demand; uploads wait up to 5 seconds for it.
   */
  readonly onSpan?: (span: Span) => void;
  /** Called with a message for each invalid setting that protects no user. Defaults to `console.warn`. */
  readonly warn?: Warn;
  /**
   * Function that opens a service client. Tests replace this function.
   *
   * @internal
   */
  readonly connect?: typeof connect;
  /**
   * The uploaders of the page. Tests have several pages in one.
   *
   * @internal
   */
  readonly page?: Set<TabLocks>;
}
