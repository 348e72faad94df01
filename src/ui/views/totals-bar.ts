// The footer: a headline, the totals, and buttons that apply to all files.

import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { isActive, type PauseReason } from '../../core/phases.ts';
import type { Totals } from '../../core/types.ts';
import { type ButtonOptions, button } from './buttons.ts';
import { isHandedOver, isWorthRetrying, leftOf, mayRetry, retryText } from './file-row.ts';
import { alertIcon, doneIcon } from './icons.ts';
import { menu } from './menu.ts';
import { progressBar, shareOf } from './progress-bar.ts';
import { facts } from './row.ts';
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

/** An action for all files: whether it is possible, its name, its label, what it does, and its look as the main button. */
type Action = readonly [
  isAvailable: boolean,
  name: string,
  label: string,
  run: () => void,
  kind: ButtonOptions['kind'],
];

/**
 * The footer, or nothing if a single row shows the same. While a command can be undone, it says which one. `shared` is the result
 * of `sharedReason()`. One action has words; two further ones or more are in a menu.
 */
export function totalsBar(
  state: WidgetState,
  shared: PauseReason | undefined,
  commands: Commands,
): TemplateResult | typeof nothing {
  const { messages, format, secondsUntil, snapshot, rules, undo, causes } = state;
  const hold = ({ type, currentTarget }: Event): void => {
    const bar = currentTarget as Element;
    // `:hover` and `:focus-within` end at an open menu.
    const isWithin = (selector: string): boolean => bar.matches(`${selector}, :has(${selector})`);
    const isIn = type === 'pointerleave' ? isWithin(':focus') : type !== 'focusout' || isWithin(':hover');
    commands.holdUndo(isIn);
  };
  const { files, totals } = snapshot;
  const { doneCount, failedCount, fileCount, openCount } = totals;
  const queuedCount = files.filter((file) => file.phase === 'queued').length;
  const running = files.filter((file) => isActive(file.phase));
  const isRunning = running.length > 0;
  const trying = running.filter((file) => file.retryAtMs === undefined);
  const isFinishing =
    trying.length === openCount && trying.every((file) => file.phase === 'committing' || isHandedOver(file));
  const isSending = trying.length > 0 && !isFinishing;
  const mustStart = rules.manual && queuedCount > 0 && !isRunning;
  const isBrief = (files.length < 2 && !mustStart) || state.slots.has('footer');
  if (isBrief && !undo) return nothing;
  const canPause = !mustStart && (isRunning || queuedCount > 0);
  const paused = files.filter((file) => file.phase === 'paused');
  const reasons = paused.map((file) => file.pauseReason);
  const reason =
    (['offline', 'needs-file', 'user'] as const).find((each) => reasons.includes(each)) ?? reasons[0];
  const lost = paused.filter((file) => file.pauseReason === 'needs-file');
  const retriable = files.filter(mayRetry);
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
    uploading: () => messages.uploading(running.length + queuedCount),
    finishing: () => messages.phases.committing,
    retrying: () =>
      retryText(Math.min(...running.map(({ retryAtMs }) => secondsUntil(retryAtMs))), messages, format),
    paused: () =>
      reason === 'needs-file'
        ? messages.chooseAllAgain(lost.length)
        : messages.pauseReasons[reason ?? 'user'],
    failed: () => messages.failed(failedCount),
    done: () => messages.allUploaded(fileCount),
    ended: () => messages.doneOf(doneCount, fileCount),
  };
  const icon = list === 'done' ? doneIcon : list === 'failed' ? alertIcon : undefined;
  const isOver = list === 'done' || list === 'ended';
  const sent = list === 'done' ? 1 : shareOf(totals.sentBytes, totals.sizeBytes);
  const sums = facts(
    isSending && format.percent(sent),
    !isFinished && failedCount > 0 && messages.failed(failedCount),
    isSending && totals.remainingMs !== undefined && leftOf(totals.remainingMs, messages, format),
    !isOver && doneCount > 0 && messages.doneOf(doneCount, fileCount),
    isOver
      ? format.size(totals.sizeBytes)
      : messages.sizeOf(format.size(totals.sentBytes), format.size(totals.sizeBytes)),
    isSending && totals.bytesPerSecond !== undefined && format.speed(totals.bytesPerSecond),
  );
  // A file from a folder is found only if it is chosen in its row: files from the picker have no path.
  const canChooseAll =
    lost.length > 1 &&
    rules.multiple &&
    !rules.disabled &&
    // An input with `capture` opens only the camera.
    !rules.capture &&
    !lost.some((file) => file.relativePath.includes('/'));
  // A cause above the list has the same action for its files.
  const canRetryHere = retriable.some((file) => !causes.has(file));
  const actions: readonly Action[] = [
    [undo !== undefined, 'undo', messages.undo, () => commands.undo(), undefined],
    [mustStart, 'start', messages.start(queuedCount), commands.start, 'primary'],
    [canPause, 'pause-all', messages.pauseAll, commands.pause, undefined],
    [reasons.includes('user'), 'resume-all', messages.resumeAll, commands.resume, 'primary'],
    [canChooseAll, 'choose-all', messages.chooseFiles, commands.browse, 'primary'],
    [
      canRetryHere,
      'retry-failed',
      messages.retryFailed,
      commands.retry,
      retriable.some(isWorthRetrying) ? 'primary' : undefined,
    ],
    [openCount > 0, 'cancel-all', messages.cancelAll, commands.cancel, undefined],
    [isFinished && !undo && failedCount < fileCount, 'clear', messages.clear, commands.clear, 'plain'],
  ];
  const available = actions.filter(([isAvailable]) => isAvailable).slice(0, isBrief ? 1 : undefined);
  // What the user has to do has words, and so has "Retry". All others are in a menu, also a single one: another button in the place
  // of the menu would be pressed by mistake. If there is nothing to do, wide places have room for their words.
  const isCalm = ([, action]: Action): boolean => action === 'pause-all' || action === 'cancel-all';
  const main = available.find((each) => !isCalm(each));
  const inMenu = available.filter((each) => each !== main && each[1] !== 'retry-failed');
  const shown = available.filter((each) => !inMenu.includes(each));
  const names = inMenu.map(([, action]) => action).join();
  const draw = (those: readonly Action[]): unknown =>
    repeat(
      those,
      // So that a button never becomes another one while it has the focus.
      ([, action]) => action,
      ([, action, label, run, kind]) =>
        button(action, label, run, { kind: action !== main?.[1] ? 'plain' : canPause ? undefined : kind }),
    );
  return html`<div
    class="totals ${list}"
    part="totals ${list} ${undo ? 'undo' : ''}"
    @pointermove=${hold}
    @pointerleave=${hold}
    @focusin=${hold}
    @focusout=${hold}
  >
    ${
      // A full bar would say that canceled files are uploaded; one of failed files, that something still moves.
      isBrief || list === 'ended' || list === 'failed'
        ? nothing
        : progressBar({
            label: messages.progress,
            shown: format.percent(sent),
            sent,
            part: 'progress total-progress',
          })
    }${isBrief || !icon ? nothing : html`<span class="sign" part="totals-icon">${icon}</span>`}
    <div class="sums">
      ${isBrief ? nothing : html`<p class="headline" part="headline">${headlines[list]()}</p>`}
      <p class="status" part="totals-status">${undo?.text ?? sums}</p>
    </div>
    <div class="bulk">
      ${draw(shown)}${inMenu.length > 0 ? menu({ id: 'more', label: messages.moreActions, actions: names, items: draw(inMenu), isFluid: !main }) : nothing}
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
