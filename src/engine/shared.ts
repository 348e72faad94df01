// What rows of one engine have in common, and what tells one from the other before it works.

import type { Change } from '../core/changes.ts';
import type { Phase } from '../core/phases.ts';
import type { FileId } from '../core/types.ts';
import type { Gate, RetryPolicy } from '../core/wait.ts';
import type { Claims } from '../pipeline/upload.ts';
import type { Lanes } from './lanes.ts';
import type { Line } from './line.ts';
import type { Row } from './row.ts';
import type { Tabs } from './tabs.ts';

/** What all rows of an engine share. */
export interface Shared {
  readonly lanes: Lanes;
  readonly claims: Claims;
  /** Shut while the host of the address asks for patience. */
  readonly gateOf: (url: string) => Gate;
  /** The way out of the page; another one after the list was put aside. */
  readonly line: () => Line;
  readonly tabs: Tabs;
  readonly policy?: RetryPolicy;
  readonly phaseOf: (id: FileId) => Phase | undefined;
  readonly report: (change: Change) => void;
  /** The row's numbers moved; they are told together, a few times a second. */
  readonly touch: (row: Row) => void;
  readonly warn: (message: string) => void;
  readonly bytesPerSecond: () => number | undefined;
}

/** What a row is called, where it goes, and when its turn is. */
export interface Place {
  readonly name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  readonly parentId: string;
  readonly order: number;
}
