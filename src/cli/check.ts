// The type of a check.

import type { Context } from './context.ts';
import type { Finding } from './finding.ts';

/** A heading of docs/service.md. */
export type Section =
  | 'open-a-session'
  | 'presign-chunks'
  | 'upload-a-chunk'
  | 'commit'
  | 'commit-that-takes-a-while'
  | 'commit-whose-response-is-lost'
  | 'cancel'
  | 'batches-for-many-small-files'
  | 'errors'
  | 'what-the-service-must-do-for-a-page'
  | 'what-the-uploader-checks'
  | 'your-service-differs-set-this';

export interface Check {
  readonly id: string;
  readonly title: string;
  readonly section: Section;
  readonly expected: string;
  readonly run: (context: Context) => Promise<Finding> | Finding;
}

/** Creates a check. */
export const row = (
  id: string,
  title: string,
  section: Section,
  expected: string,
  run: Check['run'],
): Check => ({ id, title, section, expected, run });

/** Creates a table of checks. The ids get the prefix `group`. */
export const table = (group: string, checks: readonly Check[]): readonly Check[] =>
  checks.map((check) => ({ ...check, id: `${group}-${check.id}` }));
