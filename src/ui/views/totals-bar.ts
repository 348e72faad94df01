// The footer: a headline, the totals, and buttons that apply to all files.

import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { isActive, type PauseReason } from '../../core/phases.ts';
import type { Totals } from '../../core/types.ts';
import { button } from './buttons.ts';
import { facts, isHandedOver, leftOf, retryText } from './file-row.ts';
import { alertIcon, doneIcon, moreIcon, uploadIcon } from './icons.ts';
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

/** The footer, or nothing if a single row shows the same. `shared` is the result of `sharedReason()`. */
export function totalsBar(
  state: WidgetState,
  shared: PauseReason | undefined,
  commands: Commands,
): TemplateResult | typeof nothing {
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
    waiting: () => (shared ? messages.pauseReasons[shared] : messages.phases.queued),
    // The files that have ended, and the one that is being uploaded.
    uploading: () => messages.uploadingOf(fileCount - openCount + 1, fileCount),
    finishing: () => messages.phases.committing,
    retrying: () =>
      retryText(Math.min(...running.map(({ retryAt }) => secondsUntil(retryAt))), messages, format),
    paused: () => (shared ? messages.pauseReasons[shared] : messages.phases.paused),
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
  const actions = [
    [mustStart, 'start', messages.start(queuedCount), commands.start, 'primary'],
    [canPause, 'pause-all', messages.pauseAll, commands.pause, undefined],
    [canResume, 'resume-all', messages.resumeAll, commands.resume, 'primary'],
    [failedCount > 0, 'retry-failed', messages.retryFailed, commands.retry, 'primary'],
    [openCount > 0, 'cancel-all', messages.cancelAll, commands.cancel, 'plain'],
    [isFinished && failedCount < fileCount, 'clear', messages.clear, commands.clear, undefined],
  ] as const;
  const available = actions.filter(([isAvailable]) => isAvailable);
  const [main] = available;
  const besideCount = available.length > 2 ? 1 : 2;
  // By action, so that a button never becomes another one while it has the focus.
  const buttons = (shown: typeof available): unknown =>
    repeat(
      shown,
      ([, action]) => action,
      (each) => button(each[1], each[2], each[3], { kind: each === main ? each[4] : 'plain' }),
    );
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
    <div class="bulk" @focusout=${hideMenu}>
      ${buttons(available.slice(0, besideCount))}${besideCount === 1 ? menu(messages.moreActions, buttons(available.slice(1))) : nothing}
    </div>
  </div>`;
}

/** A button that opens a menu of buttons. The browser closes it on Escape and on clicks elsewhere. */
const menu = (label: string, buttons: unknown): TemplateResult =>
  html`${button('more', label, undefined, { icon: moreIcon, opens: 'more' })}
    <div id="more" class="menu" part="menu" popover="auto" @click=${hideMenu} @beforetoggle=${returnFocus}>${buttons}</div>`;

/** Hides the menu after a click in it, and when the focus leaves the footer, because the menu could cover what has the focus. */
const hideMenu = ({ currentTarget, type, relatedTarget }: FocusEvent | MouseEvent): void => {
  const element = currentTarget as HTMLElement;
  if (type === 'click' || (relatedTarget && !element.contains(relatedTarget as Node)))
    element.parentElement?.querySelector<HTMLElement>('.menu')?.hidePopover();
};

/** Focuses the button of the menu, if the focus would be lost with the menu. */
const returnFocus = ({ currentTarget }: Event): void => {
  const element = currentTarget as HTMLElement;
  if (element.matches(':focus-within')) (element.previousElementSibling as HTMLElement).focus();
};

/** The state of a list in which nothing runs. */
function restingState(totals: Totals, queuedCount: number): ListState {
  const { doneCount, failedCount, fileCount, openCount } = totals;
  if (queuedCount > 0) return 'waiting';
  if (openCount > 0) return 'paused';
  if (failedCount > 0) return 'failed';
  return doneCount === fileCount ? 'done' : 'ended';
}
