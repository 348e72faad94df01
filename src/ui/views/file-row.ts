// A row of the list for a file or a folder: name, progress, error and buttons.

import { html, nothing, type TemplateResult } from 'lit';
import { canRetry } from '../../core/error-codes.ts';
import { nextName, shownText } from '../../core/names.ts';
import { isActive, isSettled, type Phase } from '../../core/phases.ts';
import type { ErrorSnapshot, FileSnapshot } from '../../core/types.ts';
import type { Format } from '../format.ts';
import type { Messages } from '../messages.ts';
import { folderOf, type Line } from '../row-order.ts';
import { type ButtonOptions, button } from './buttons.ts';
import {
  alertIcon,
  closeIcon,
  doneIcon,
  fileIcon,
  folderIcon,
  foldIcon,
  pauseIcon,
  resumeIcon,
  retryIcon,
  undoIcon,
} from './icons.ts';
import { menu } from './menu.ts';
import { progressBar, shareOf } from './progress-bar.ts';
import { shownName } from './shown-name.ts';
import type { Commands, WidgetState } from './state.ts';

/** Size up to which hashing takes less than a second, in bytes: too short to be shown. */
const SMALL_BYTES = 10e6;

const MARKS: Partial<Record<Phase, TemplateResult>> = { done: doneIcon, failed: alertIcon };

/** True if this failed file can be retried without another name. */
export const mayRetry = ({ error }: FileSnapshot): boolean =>
  error !== undefined && canRetry(error.code) && error.code !== 'name-taken';

/** True if a retry of this failed file may help at once. For a missing permission, the row has a button with words. */
export const isWorthRetrying = (file: FileSnapshot): boolean =>
  mayRetry(file) && file.error?.code !== 'forbidden';

/** A row; `position` counts from 1. Tab and the arrow keys reach the buttons of the row that is the tab stop. */
export function fileRow(
  file: Line,
  position: number,
  isTabStop: boolean,
  hasSharedReason: boolean,
  { messages, format, secondsUntil, slots, thumbnailOf, undo, causes }: WidgetState,
  commands: Commands,
): TemplateResult {
  const name = shownText(file.name);
  const [, kind] = /\.(\w{2,4})$/.exec(name) ?? [];
  const { phase, folder } = file;
  const needsFile = file.pauseReason === 'needs-file';
  const mark = needsFile ? alertIcon : MARKS[phase];
  const isMoving = isActive(phase) || (phase === 'paused' && file.sentBytes > 0);
  const sent = shareOf(file.sentBytes, file.sizeBytes, phase === 'done');
  const path = file.relativePath.slice(0, file.relativePath.lastIndexOf('/') + 1);
  const folderPath = folderOf(file);
  // What several files have in common is above the list, with its action.
  const isShared = causes.has(file);
  const problem = isShared ? undefined : (file.error?.code ?? file.warning);
  const inRow = isTabStop ? {} : ({ tabindex: -1 } as const);
  const canUndo = undo?.ids.has(file.id) === true;
  const worded = (action: string, label: string, run: () => void): TemplateResult =>
    button(action, label, run, { ...inRow, name: messages.actionOn(label, name) });
  return html`<div
    class="row ${phase} ${needsFile ? 'needs-file' : file.retryAtMs === undefined ? '' : 'retrying'} ${folderPath && 'inside'}"
    part="file ${phase}${folder ? ' folder' : ''}"
    role="row"
    tabindex=${isTabStop ? 0 : -1}
    data-id=${file.id}
    aria-rowindex=${position}
    aria-labelledby=${`row-${position}`}
  >
    <span class="badge" part="file-icon" aria-hidden="true">${folder ? folderIcon : (thumbnailOf?.(file.id) ?? kind?.toUpperCase() ?? fileIcon)}${mark && html`<span class="mark">${mark}</span>`}</span>
    <div class="body" id=${`row-${position}`} role="gridcell">
      <span class="name"><bdi part="file-name" title=${shownText(path) + name} ${shownName(name)}></bdi></span>
      ${
        isMoving
          ? progressBar({
              label: messages.progressOf(name),
              shown: format.percent(sent),
              sent,
              checking: phase === 'hashing' && file.sizeBytes > SMALL_BYTES,
              part: 'progress',
            })
          : nothing
      }
      ${statusOf(file, shownText(path.slice(folderPath.length, -1)), isMoving && phase !== 'hashing' && format.percent(sent), hasSharedReason, messages, format, secondsUntil(file.retryAtMs))}
      ${problem === undefined ? nothing : html`<p class="problem ${file.error ? 'error' : 'warning'}" part=${file.error ? 'error' : 'warning'}>${messages[problem]}</p>`}
      ${
        needsFile
          ? worded('choose', folder ? messages.chooseFolder : messages.chooseAgain, () =>
              commands.resume(file.id),
            )
          : problem === 'forbidden'
            ? worded('go', messages.tryAgain, () => commands.retry(file.id))
            : file.error?.code === 'name-taken'
              ? button(
                  'rename',
                  messages.uploadAs(nextName(name)),
                  () => commands.retry(file.id, nextName(file.name)),
                  inRow,
                )
              : nothing
      }
      ${slots.has(`row-${file.id}`) ? html`<slot name=${`row-${file.id}`}></slot>` : nothing}
    </div>
    <div class="actions" role="gridcell">${canUndo ? button('undo', messages.actionOn(messages.undo, name), () => commands.undo(file.id), { ...inRow, icon: undoIcon, word: messages.undo }) : nothing}${actionsOf(file, name, { canUndo, isShared }, inRow, messages, commands)}</div>
  </div>`;
}

/**
 * The line below the name: the phase, while a request is repeated with the cause; then percent, time left, size, speed and folder,
 * of which a row shows those that fit.
 */
function statusOf(
  file: Line,
  path: string,
  percent: string | false,
  hasSharedReason: boolean,
  messages: Messages,
  format: Format,
  retryInS: number,
): TemplateResult {
  const { phase, folder } = file;
  const word = folder
    ? folder.lostCount > 0
      ? messages.chooseAllAgain(folder.lostCount)
      : messages.doneOf(folder.doneCount, folder.fileCount)
    : file.retryAtMs !== undefined
      ? retryText(retryInS, messages, format)
      : phase === 'paused'
        ? hasSharedReason
          ? messages.phases.queued
          : messages.pauseReasons[file.pauseReason]
        : messages.phases[isHandedOver(file) ? 'committing' : phase];
  const total = format.size(file.sizeBytes);
  const isSending = phase === 'uploading' && file.retryAtMs === undefined && !isHandedOver(file);
  const hasBegun = (isActive(phase) || phase === 'paused') && file.sentBytes > 0;
  const size = hasBegun ? messages.sizeOf(format.size(file.sentBytes), total) : total;
  const line = facts(
    percent,
    checkedOf(file, format),
    folder !== undefined && folder.failedCount > 0 && messages.failed(folder.failedCount),
    isSending && file.remainingMs !== undefined && leftOf(file.remainingMs, messages, format),
    size,
    isSending && file.bytesPerSecond !== undefined && format.speed(file.bytesPerSecond),
    !isActive(phase) && path,
  );
  return html`<p class="status" part="file-status"><span class="phase">${file.lastError ? `${word} · ${causeOf(file.lastError, messages)}` : word}</span>${line}</p>`;
}

/** Why the latest attempt failed: the first sentence of the text, which says what to do in the next one, and the status. */
function causeOf({ code, status = 0 }: ErrorSnapshot, messages: Messages): string {
  const cause = messages[code].replace(/[.。।].*/s, '');
  return status >= 400 ? `${cause} (${status})` : cause;
}

/** True if only responses are missing. The last byte counts as sent when the upload is done. */
export const isHandedOver = ({ phase, sentBytes, sizeBytes }: FileSnapshot): boolean =>
  phase === 'uploading' && sentBytes >= sizeBytes - 1;

/** How much of a large file is hashed, while nothing of it is sent: the bar has no value then. */
const checkedOf = (
  { phase, sentBytes, hashedBytes, sizeBytes }: FileSnapshot,
  format: Format,
): string | false =>
  phase === 'hashing' &&
  sizeBytes > SMALL_BYTES &&
  sentBytes === 0 &&
  hashedBytes > 0 &&
  format.percent(hashedBytes / sizeBytes);

/** Renders the non-empty items, separated by dots. Screen readers read the percentage only as the value of the bar. */
export const facts = (percent: string | false, ...others: readonly (string | false)[]): TemplateResult =>
  html`<span class="facts">${[percent, ...others].map((fact, index) =>
    fact ? html`<span aria-hidden=${index === 0 ? 'true' : nothing}><bdi>${fact}</bdi></span>` : nothing,
  )}</span>`;

/** When the next attempt starts, as text. */
export function retryText(seconds: number, messages: Messages, format: Format): string {
  const wait = format.duration(seconds * 1000);
  return wait === undefined ? messages.retrying : messages.retryingIn(wait);
}

/** The remaining time as text. */
export function leftOf(remainingMs: number, messages: Messages, format: Format): string {
  const duration = format.duration(remainingMs);
  return duration === undefined ? messages.soon : messages.left(duration);
}

/**
 * At most two buttons: one to pause, resume or retry, and one to cancel or remove. In narrow places, what a user need not do is in
 * a menu.
 */
function actionsOf(
  file: Line,
  name: string,
  { canUndo, isShared }: { readonly canUndo: boolean; readonly isShared: boolean },
  inRow: Pick<ButtonOptions, 'tabindex'>,
  messages: Messages,
  commands: Commands,
): TemplateResult {
  const { id, phase, folder } = file;
  const isOpen = isActive(phase) || phase === 'queued';
  const [word, icon, run] = folder
    ? ([messages.list, foldIcon, folder.toggle] as const)
    : isOpen
      ? ([messages.pause, pauseIcon, () => commands.pause(id)] as const)
      : phase === 'paused'
        ? ([messages.resume, resumeIcon, () => commands.resume(id)] as const)
        : ([messages.retry, retryIcon, () => commands.retry(id)] as const);
  const canGoOn =
    !canUndo &&
    (folder ||
      isOpen ||
      (file.phase === 'paused' && file.pauseReason === 'user') ||
      (isWorthRetrying(file) && !isShared) ||
      phase === 'canceled');
  const isEnded = folder ? folder.openCount + folder.failedCount === 0 : isSettled(phase);
  const end = isEnded ? messages.remove : messages.cancel;
  const of = (action: string, text: string, act: () => void, sign: TemplateResult): TemplateResult =>
    button(action, messages.actionOn(text, name), act, {
      ...inRow,
      icon: sign,
      word: text,
      isExpanded: action === 'fold' ? !folder?.isFolded : undefined,
    });
  const goOn = canGoOn ? of(folder ? 'fold' : 'go', word, run, icon) : nothing;
  const leave =
    folder && isEnded
      ? nothing
      : of('end', end, () => (isEnded ? commands.remove(id) : commands.cancel(id)), closeIcon);
  const isPause = isOpen && !folder && canGoOn;
  const inMenu = isPause ? html`${goOn}${leave}` : leave;
  const label = messages.actionOn(messages.moreActions, name);
  return html`${isPause ? nothing : goOn}${
    leave === nothing
      ? nothing
      : menu({ id: `more-${id}`, label, actions: `${isPause}${end}`, items: inMenu, isFluid: true, ...inRow })
  }`;
}
