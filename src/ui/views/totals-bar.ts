// The footer: the totals, and buttons that apply to all files.

import { html, nothing, type TemplateResult } from 'lit';
import { isActive } from '../../core/phases.ts';
import { facts, leftOf } from './file-row.ts';
import { progressBar, shareOf } from './progress-bar.ts';
import type { Commands, WidgetState } from './state.ts';

/** The footer, or nothing if a single row shows the same. */
export function totalsBar(state: WidgetState, commands: Commands): TemplateResult | typeof nothing {
  const { messages, format, snapshot, rules } = state;
  const { files, totals } = snapshot;
  const queued = files.filter((file) => file.phase === 'queued').length;
  const isRunning = files.some((file) => isActive(file.phase));
  const mustStart = rules.manual && queued > 0 && !isRunning;
  if (files.length < 2 && !mustStart) return nothing;
  const canPause = !mustStart && (isRunning || queued > 0);
  const canResume = files.some((file) => file.phase === 'paused' && file.pauseReason === 'user');
  const isPaused = !isRunning && queued === 0 && totals.openCount > 0;
  const isFinished = totals.openCount === 0;
  const sent = shareOf(totals.sentBytes, totals.sizeBytes, isFinished);
  const sums = facts(
    { text: isPaused && messages.phases.paused },
    { text: messages.doneOf(totals.doneCount, totals.fileCount) },
    {
      text: isFinished
        ? format.size(totals.sizeBytes)
        : messages.sizeOf(format.size(totals.sentBytes), format.size(totals.sizeBytes)),
    },
    { text: isRunning && totals.bytesPerSecond !== undefined && format.speed(totals.bytesPerSecond) },
    { text: isRunning && totals.remainingMs !== undefined && leftOf(totals.remainingMs, messages, format) },
  );
  const button = (action: string, label: string, run: () => void, kind = 'plain'): TemplateResult =>
    html`<button type="button" class=${kind} part="button ${action}-button" data-action=${action} @click=${run}>${label}</button>`;
  return html`<div class="totals ${isPaused ? 'paused' : ''}" part="totals">
    ${
      isFinished
        ? nothing
        : progressBar({
            label: messages.progress,
            shown: format.percent(sent),
            sent,
            stored: shareOf(totals.storedBytes, totals.sizeBytes, false),
            part: 'progress total-progress',
          })
    }
    <p class="status sums">${sums}</p>
    <div class="bulk">
      ${mustStart ? button('start', messages.start(queued), () => commands.start(), 'primary') : nothing}
      ${canPause ? button('pause-all', messages.pauseAll, () => commands.pause()) : nothing}
      ${canResume ? button('resume-all', messages.resumeAll, () => commands.resume()) : nothing}
      ${totals.failedCount > 0 ? button('retry-failed', messages.retryFailed, () => commands.retry()) : nothing}
      ${totals.openCount > 0 ? button('cancel-all', messages.cancelAll, () => commands.cancel()) : nothing}
      ${totals.openCount + totals.failedCount < totals.fileCount ? button('clear', messages.clear, () => commands.clear()) : nothing}
    </div>
  </div>`;
}
