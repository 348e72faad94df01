// The row of a file: name, progress, error and buttons.

import { html, nothing, type TemplateResult } from 'lit';
import { canRetry } from '../../core/error-codes.ts';
import type { Messages } from '../../core/messages.ts';
import { nextName, shownText } from '../../core/names.ts';
import { isActive, isSettled } from '../../core/phases.ts';
import type { ErrorSnapshot, FileSnapshot } from '../../core/types.ts';
import type { Format } from '../format.ts';
import { folderOf } from '../row-order.ts';
import { button } from './buttons.ts';
import { closeIcon, fileIcon, pauseIcon, resumeIcon, retryIcon, undoIcon } from './icons.ts';
import { facts, inRowOf, type Place, type RowAction, row, rowButton, rowMenu, statusLine } from './row.ts';
import { hashedPercent, type RowProgress, rowProgress } from './row-progress.ts';
import type { Commands, WidgetState } from './state.ts';

/** True if this failed file can be retried without another name. */
export const mayRetry = ({ error }: FileSnapshot): boolean =>
  error !== undefined && canRetry(error.code) && error.code !== 'name-taken';

/** True if a retry of this failed file may help at once. For a missing permission, the row has a button with words. */
export const isWorthRetrying = (file: FileSnapshot): boolean =>
  mayRetry(file) && file.error?.code !== 'forbidden';

/** The row of a file. With `hasSharedReason`, the headline says why it waits. */
export function fileRow(
  file: FileSnapshot,
  place: Place,
  hasSharedReason: boolean,
  state: WidgetState,
  commands: Commands,
): TemplateResult {
  const { messages, thumbnailOf, causes } = state;
  const { id, phase, error, warning } = file;
  const name = shownText(file.name);
  const [, kind] = /\.(\w{2,4})$/.exec(name) ?? [];
  const needsFile = file.pauseReason === 'needs-file';
  const progress = rowProgress(phase, file, name, state);
  const path = file.relativePath.slice(0, file.relativePath.lastIndexOf('/') + 1);
  const folderPath = folderOf(file);
  // What several files have in common is above the list, with its action.
  const isShared = causes.has(file);
  const problem = isShared ? undefined : (error?.code ?? warning);
  const pathInFolder = shownText(path.slice(folderPath.length, -1));
  const waitClass = needsFile ? 'needs-file' : file.retryAtMs === undefined ? '' : 'retrying';
  const kindOfProblem = error ? 'error' : 'warning';
  return row(
    {
      id,
      name,
      title: shownText(path) + name,
      phase,
      classes: `${waitClass} ${folderPath && 'inside'}`,
      parts: '',
      needsFile,
      badge: thumbnailOf?.(id) ?? kind?.toUpperCase() ?? fileIcon,
      bar: progress.bar,
      status: statusOf(file, pathInFolder, progress, hasSharedReason, state),
      problem:
        problem === undefined
          ? nothing
          : html`<p class="problem ${kindOfProblem}" part=${kindOfProblem}>${messages[problem]}</p>`,
      action: actionOf(file, name, problem === 'forbidden', messages, place, commands),
      buttons: buttonsOf(file, name, isShared, place, state, commands),
    },
    place,
    state,
  );
}

/** The button with words for what only the user can do. */
function actionOf(
  file: FileSnapshot,
  name: string,
  isForbidden: boolean,
  messages: Messages,
  place: Place,
  commands: Commands,
): TemplateResult | typeof nothing {
  const { id, error, pauseReason } = file;
  const inRow = inRowOf(place);
  const worded = (action: string, label: string, run: () => void): TemplateResult =>
    button(action, label, run, { ...inRow, name: messages.actionOn(label, name) });
  if (pauseReason === 'needs-file') return worded('choose', messages.chooseAgain, () => commands.resume(id));
  if (isForbidden) return worded('go', messages.tryAgain, () => commands.retry(id));
  if (error?.code !== 'name-taken') return nothing;
  const rename = (): void => commands.retry(id, nextName(file.name));
  return button('rename', messages.uploadAs(nextName(name)), rename, inRow);
}

/**
 * The line below the name: the phase, while a request is repeated with the cause; then percent, time left, size, speed and folder,
 * of which a row shows those that fit.
 */
function statusOf(
  file: FileSnapshot,
  path: string,
  { percent, size }: RowProgress,
  hasSharedReason: boolean,
  state: WidgetState,
): TemplateResult {
  const { messages, format, secondsUntil } = state;
  const { phase, remainingMs, bytesPerSecond, lastError } = file;
  const word = wordOf(file, hasSharedReason, secondsUntil(file.retryAtMs), messages, format);
  const isSending = phase === 'uploading' && file.retryAtMs === undefined && !isHandedOver(file);
  return statusLine(
    lastError ? `${word} · ${causeOf(lastError, messages)}` : word,
    facts(
      percent,
      hashedPercent(file, state),
      isSending && remainingMs !== undefined && leftOf(remainingMs, messages, format),
      size,
      isSending && bytesPerSecond !== undefined && format.speed(bytesPerSecond),
      !isActive(phase) && path,
    ),
  );
}

function wordOf(
  file: FileSnapshot,
  hasSharedReason: boolean,
  retryInS: number,
  messages: Messages,
  format: Format,
): string {
  if (file.retryAtMs !== undefined) return retryText(retryInS, messages, format);
  if (file.phase !== 'paused') return messages.phases[isHandedOver(file) ? 'committing' : file.phase];
  return hasSharedReason ? messages.phases.queued : messages.pauseReasons[file.pauseReason];
}

/** Why the latest attempt failed: the first sentence of the text, which says what to do in the next one, and the status. */
function causeOf({ code, status = 0 }: ErrorSnapshot, messages: Messages): string {
  const cause = messages[code].replace(/[.。।].*/s, '');
  return status >= 400 ? `${cause} (${status})` : cause;
}

/** True if only responses are missing. The last byte counts as sent when the upload is done. */
export const isHandedOver = ({ phase, sentBytes, sizeBytes }: FileSnapshot): boolean =>
  phase === 'uploading' && sentBytes >= sizeBytes - 1;

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
 * At most two buttons beside "Undo": one to pause, resume or retry, and one to cancel or remove. In narrow places, what a user need
 * not do is in a menu.
 */
function buttonsOf(
  file: FileSnapshot,
  name: string,
  isShared: boolean,
  place: Place,
  { messages, undo }: WidgetState,
  commands: Commands,
): readonly (TemplateResult | typeof nothing)[] {
  const { id, phase } = file;
  const canUndo = undo?.ids.has(id) === true;
  const goOnAction = canUndo ? undefined : goOnOf(file, isShared, messages, commands);
  const end: RowAction = isSettled(phase)
    ? { action: 'end', word: messages.remove, icon: closeIcon, run: () => commands.remove(id) }
    : { action: 'end', word: messages.cancel, icon: closeIcon, run: () => commands.cancel(id) };
  const undoAction = { action: 'undo', word: messages.undo, icon: undoIcon, run: () => commands.undo(id) };
  const goOn = goOnAction ? rowButton(goOnAction, name, messages, place) : nothing;
  const leave = rowButton(end, name, messages, place);
  const isPause = goOnAction?.icon === pauseIcon;
  const items = isPause ? html`${goOn}${leave}` : leave;
  return [
    canUndo ? rowButton(undoAction, name, messages, place) : nothing,
    isPause ? nothing : goOn,
    rowMenu(id, name, `${isPause}${end.word}`, items, messages, place),
  ];
}

/** What pauses, resumes or retries a file; `undefined` if nothing of it helps. */
function goOnOf(
  file: FileSnapshot,
  isShared: boolean,
  messages: Messages,
  commands: Commands,
): RowAction | undefined {
  const { id, phase, pauseReason } = file;
  if (isActive(phase) || phase === 'queued')
    return { action: 'go', word: messages.pause, icon: pauseIcon, run: () => commands.pause(id) };
  if (pauseReason === 'user')
    return { action: 'go', word: messages.resume, icon: resumeIcon, run: () => commands.resume(id) };
  const canRetryHere = phase === 'canceled' || (isWorthRetrying(file) && !isShared);
  return canRetryHere
    ? { action: 'go', word: messages.retry, icon: retryIcon, run: () => commands.retry(id) }
    : undefined;
}
