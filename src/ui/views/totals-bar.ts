// The footer: a headline, the totals, and buttons that apply to all files.

import { html, nothing, type TemplateResult } from 'lit';
import { isActive } from '../../core/phases.ts';
import type { Totals } from '../../core/types.ts';
import { facts, isHandedOver, leftOf, retryText } from './file-row.ts';
import { alertIcon, doneIcon, uploadIcon } from './icons.ts';
import { progressBar, shareOf } from './progress-bar.ts';
import type { Commands, WidgetState } from './state.ts';

/**
 * State of the whole list. `waiting`: nothing runs, but something will. `finishing`: all bytes are sent. `retrying`: all running
 * files wait to retry. `ended`: no file failed, and some were canceled.
 */
type ListState =
  | 'ready'
  | 'waiting'
  | 'uploading'
  | 'finishing'
  | 'retrying'
  | 'paused'
  | 'failed'
  | 'done'
  | 'ended';

/** The footer, or nothing if a single row shows the same. */
export function totalsBar(state: WidgetState, commands: Commands): TemplateResult | typeof nothing {
  const { messages, format, secondsUntil, snapshot, rules } = state;
  const { files, totals } = snapshot;
  const { doneCount, failedCount, fileCount, openCount } = totals;
  const queuedCount = files.filter((file) => file.phase === 'queued').length;
  const running = files.filter((file) => isActive(file.phase));
  const isRunning = running.length > 0;
  const trying = running.filter((file) => file.retryAt === undefined);
  const isFinishing =
    trying.length === openCount && trying.every((file) => file.phase === 'committing' || isHandedOver(file));
  const isSending = trying.length > 0 && !isFinishing;
  const mustStart = rules.manual && queuedCount > 0 && !isRunning;
  if (files.length < 2 && !mustStart) return nothing;
  const canPause = !mustStart && (isRunning || queuedCount > 0);
  const canResume = files.some((file) => file.phase === 'paused' && file.pauseReason === 'user');
  const isFinished = openCount === 0;
  const list = mustStart
    ? 'ready'
    : isSending
      ? 'uploading'
      : trying.length > 0
        ? 'finishing'
        : isRunning
          ? 'retrying'
          : restingState(totals, queuedCount);
  const headlines: Readonly<Record<ListState, () => string>> = {
    ready: () => messages.ready(queuedCount),
    waiting: () => messages.phases.queued,
    // The files that have ended, and the one that is being uploaded.
    uploading: () => messages.uploadingOf(fileCount - openCount + 1, fileCount),
    finishing: () => messages.phases.committing,
    retrying: () =>
      retryText(Math.min(...running.map(({ retryAt }) => secondsUntil(retryAt))), messages, format),
    paused: () => messages.phases.paused,
    failed: () => messages.failed(failedCount),
    done: () => messages.allUploaded(fileCount),
    ended: () => messages.doneOf(doneCount, fileCount),
  };
  const icon = list === 'done' ? doneIcon : list === 'failed' ? alertIcon : uploadIcon;
  const sent = shareOf(totals.sentBytes, totals.sizeBytes, isFinished && failedCount === 0);
  const hasCounts = !isSending && list !== 'ready' && list !== 'done' && list !== 'ended';
  const sums = facts(
    { text: hasCounts && messages.doneOf(doneCount, fileCount) },
    { text: !isFinished && failedCount > 0 && messages.failed(failedCount) },
    {
      text: isFinished
        ? format.size(totals.sizeBytes)
        : messages.sizeOf(format.size(totals.sentBytes), format.size(totals.sizeBytes)),
    },
    { text: isSending && totals.bytesPerSecond !== undefined && format.speed(totals.bytesPerSecond) },
    { text: isSending && totals.remainingMs !== undefined && leftOf(totals.remainingMs, messages, format) },
  );
  const button = (action: string, label: string, run: () => void, kind = 'plain'): TemplateResult =>
    html`<button type="button" class=${kind} part="button ${action}-button" data-action=${action} @click=${run}>${label}</button>`;
  return html`<div class="totals ${list}" part="totals ${list}">
    ${progressBar({
      label: messages.progress,
      shown: format.percent(sent),
      sent,
      stored: isFinished ? sent : shareOf(totals.storedBytes, totals.sizeBytes, false),
      part: 'progress total-progress',
    })}
    <span class="badge" part="totals-icon">${icon}</span>
    <div class="sums">
      <p class="headline" part="headline">${headlines[list]()}</p>
      <p class="status" part="totals-status">${sums}</p>
    </div>
    <div class="bulk">
      ${mustStart ? button('start', messages.start(queuedCount), () => commands.start(), 'primary') : nothing}
      ${canPause ? button('pause-all', messages.pauseAll, () => commands.pause()) : nothing}
      ${canResume ? button('resume-all', messages.resumeAll, () => commands.resume(), list === 'paused' ? 'primary' : 'plain') : nothing}
      ${failedCount > 0 ? button('retry-failed', messages.retryFailed, () => commands.retry(), isFinished ? 'primary' : 'plain') : nothing}
      ${openCount > 0 ? button('cancel-all', messages.cancelAll, () => commands.cancel()) : nothing}
      ${isFinished && failedCount < fileCount ? button('clear', messages.clear, () => commands.clear()) : nothing}
    </div>
  </div>`;
}

/** The state of a list in which nothing runs. */
function restingState(totals: Totals, queuedCount: number): ListState {
  const { doneCount, failedCount, fileCount, openCount } = totals;
  if (queuedCount > 0) return 'waiting';
  if (openCount > 0) return 'paused';
  if (failedCount > 0) return 'failed';
  return doneCount === fileCount ? 'done' : 'ended';
}
