// What the footer says of the files of the list: their state, and the numbers for its texts.

import { isActive, type PauseReason } from '../../core/phases.ts';
import type { FileSnapshot, Snapshot, Totals } from '../../core/types.ts';
import { isHandedOver, mayRetry } from './file-row.ts';
import type { WidgetState } from './state.ts';

/**
 * State of the whole list. `ready`: the user has to start it. `waiting`: nothing runs, but something will. `finishing`: all bytes
 * are sent. `retrying`: all running files wait to retry. `ended`: no file failed, and some were canceled.
 */
export type ListState =
  | 'ready'
  | 'waiting'
  | 'uploading'
  | 'finishing'
  | 'retrying'
  | 'paused'
  | 'failed'
  | 'done'
  | 'ended';

/** What the footer shows: of the whole list, or only that a command can be undone. */
export type FooterView = ListState | 'brief';

export interface ListSummary {
  readonly state: ListState;
  readonly totals: Totals;
  readonly queuedCount: number;
  readonly running: readonly FileSnapshot[];
  /** Why files are paused: what the user can end comes before what ends automatically. */
  readonly pauseReason: PauseReason | undefined;
  readonly isPausedByUser: boolean;
  /** Files that the user has to choose again. */
  readonly missingFiles: readonly FileSnapshot[];
  /** Failed files that can be retried. */
  readonly retriable: readonly FileSnapshot[];
}

/** The reasons that are shown if files have several, in this order. */
const FIRST_REASONS: readonly PauseReason[] = ['offline', 'needs-file', 'user'];

/** What the footer depends on. `shared` is the result of `sharedReason()`. */
export interface FooterState extends WidgetState, ListSummary {
  readonly shared: PauseReason | undefined;
}

/** Returns the summary of a list. With `isManual`, queued files wait for the user. */
export function summaryOf({ files, totals }: Snapshot, isManual: boolean): ListSummary {
  const running = files.filter(({ phase }) => isActive(phase));
  const queuedCount = files.filter(({ phase }) => phase === 'queued').length;
  const reasons = files.flatMap((file) => (file.phase === 'paused' ? [file.pauseReason] : []));
  return {
    state: runningState(running, totals) ?? restingState(queuedCount, totals, isManual),
    totals,
    queuedCount,
    running,
    pauseReason: FIRST_REASONS.find((reason) => reasons.includes(reason)) ?? reasons[0],
    isPausedByUser: reasons.includes('user'),
    missingFiles: files.filter(({ pauseReason }) => pauseReason === 'needs-file'),
    retriable: files.filter(mayRetry),
  };
}

function runningState(running: readonly FileSnapshot[], { openCount }: Totals): ListState | undefined {
  if (running.length === 0) return undefined;
  const trying = running.filter(({ retryAtMs }) => retryAtMs === undefined);
  if (trying.length === 0) return 'retrying';
  const isSent = trying.every((file) => file.phase === 'committing' || isHandedOver(file));
  return isSent && trying.length === openCount ? 'finishing' : 'uploading';
}

function restingState(
  queuedCount: number,
  { doneCount, failedCount, fileCount, openCount }: Totals,
  isManual: boolean,
): ListState {
  if (queuedCount > 0) return isManual ? 'ready' : 'waiting';
  if (openCount > 0) return 'paused';
  if (failedCount > 0) return 'failed';
  return doneCount === fileCount ? 'done' : 'ended';
}
