// A row of the list: name, progress, error and buttons.

import { html, nothing, type TemplateResult } from 'lit';
import { canRetry } from '../../core/error-codes.ts';
import { nextName, shownText } from '../../core/names.ts';
import { isActive, isSettled, type Phase } from '../../core/phases.ts';
import type { ErrorSnapshot, FileSnapshot } from '../../core/types.ts';
import { type Format, splitName } from '../format.ts';
import type { Messages } from '../messages.ts';
import { button } from './buttons.ts';
import {
  alertIcon,
  closeIcon,
  doneIcon,
  fileIcon,
  firstIcon,
  pauseIcon,
  resumeIcon,
  retryIcon,
} from './icons.ts';
import { progressBar, shareOf } from './progress-bar.ts';
import type { Commands, WidgetState } from './state.ts';

/** Arrow keys reach the buttons of a row. */
const IN_ROW = { tabindex: -1 } as const;

/** Size up to which hashing takes less than a second, in bytes: too short to be shown. */
const SMALL_BYTES = 10e6;

const GLYPHS: Partial<Record<Phase, TemplateResult>> = { done: doneIcon, failed: alertIcon };

/** A row; `position` counts from 1. Its buttons are reached with the arrow keys. The footer shows a shared reason to wait. */
export function fileRow(
  file: FileSnapshot,
  position: number,
  isTabStop: boolean,
  hasSharedReason: boolean,
  { messages, format, secondsUntil, slots, undo }: WidgetState,
  commands: Commands,
): TemplateResult {
  const name = shownText(file.name);
  const [stem, ending] = splitName(name);
  const { phase } = file;
  const needsFile = file.pauseReason === 'needs-file';
  const isMoving = isActive(phase) || (phase === 'paused' && file.sentBytes > 0);
  const sent = shareOf(file.sentBytes, file.sizeBytes, phase === 'done');
  const path = shownText(file.relativePath.slice(0, file.relativePath.lastIndexOf('/') + 1));
  const problem = file.error?.code ?? file.warning;
  return html`<div
    class="row ${phase} ${needsFile ? 'needs-file' : file.retryAt === undefined ? '' : 'retrying'}"
    part="file ${phase}"
    role="row"
    tabindex=${isTabStop ? 0 : -1}
    data-id=${file.id}
    aria-rowindex=${position}
    aria-labelledby=${`row-${file.id}`}
  >
    <span class="badge" part="file-icon">${needsFile ? alertIcon : (GLYPHS[phase] ?? fileIcon)}</span>
    <div class="body" id=${`row-${file.id}`} role="gridcell">
      <div class="head">
        <span class="name"><bdi part="file-name" title=${path + name}><span class="stem">${stem}</span><span>${ending}</span></bdi></span>
        ${isMoving && phase !== 'hashing' ? html`<span class="percent" part="file-percent">${format.percent(sent)}</span>` : nothing}
      </div>
      ${
        isMoving
          ? progressBar({
              label: messages.progressOf(name),
              shown: format.percent(sent),
              sent,
              stored: shareOf(file.storedBytes, file.sizeBytes, false),
              checking: phase === 'hashing' && file.sizeBytes > SMALL_BYTES,
              part: 'progress',
            })
          : nothing
      }
      <p class="status" part="file-status">${statusOf(file, path, hasSharedReason, messages, format, secondsUntil(file.retryAt))}</p>
      ${problem === undefined ? nothing : html`<p class="problem ${file.error ? 'error' : 'warning'}" part=${file.error ? 'error' : 'warning'}>${messages[problem]}</p>`}
      ${
        file.error?.code === 'name-taken'
          ? button(
              'rename',
              messages.uploadAs(nextName(name)),
              () => commands.retry(file.id, nextName(file.name)),
              IN_ROW,
            )
          : nothing
      }
      ${
        needsFile
          ? html`<button type="button" tabindex="-1" part="button choose-button" data-action="go" aria-label=${messages.actionOn(messages.chooseAgain, name)} @click=${() => commands.resume(file.id)}>${messages.chooseAgain}</button>`
          : nothing
      }
      ${slots.has(`row-${file.id}`) ? html`<slot name=${`row-${file.id}`}></slot>` : nothing}
    </div>
    <div class="actions" role="gridcell">${
      phase === 'queued' && position > 1
        ? button('first', messages.actionOn(messages.first, name), () => commands.prioritize(file.id), {
            ...IN_ROW,
            icon: firstIcon,
          })
        : nothing
    }${actionsOf(file, name, messages, commands, undo?.ids.has(file.id) === true)}</div>
  </div>`;
}

/** The line below the name: the phase, then size, speed and time left; while a request is repeated, the cause instead. */
function statusOf(
  file: FileSnapshot,
  path: string,
  hasSharedReason: boolean,
  messages: Messages,
  format: Format,
  retryInS: number,
): TemplateResult {
  const { phase } = file;
  const word =
    file.retryAt !== undefined
      ? retryText(retryInS, messages, format)
      : file.phase === 'paused'
        ? hasSharedReason
          ? messages.phases.queued
          : messages.pauseReasons[file.pauseReason]
        : messages.phases[isHandedOver(file) ? 'committing' : phase];
  const total = format.size(file.sizeBytes);
  const isSending = phase === 'uploading' && file.retryAt === undefined && !isHandedOver(file);
  const hasBegun = (isActive(phase) || phase === 'paused') && file.sentBytes > 0;
  const size = hasBegun ? messages.sizeOf(format.size(file.sentBytes), total) : total;
  return facts(
    { class: 'phase', text: word },
    { text: file.lastError ? causeOf(file.lastError, messages) : size },
    {
      class: 'speed',
      text: isSending && file.bytesPerSecond !== undefined && format.speed(file.bytesPerSecond),
    },
    {
      class: 'speed',
      text: isSending && file.remainingMs !== undefined && leftOf(file.remainingMs, messages, format),
    },
    { class: 'path', text: !isActive(phase) && path.replace(/\/$/, '') },
  );
}

/** Why the latest attempt failed: the first sentence of the text, which says what to do in the next one, and the status. */
function causeOf({ code, status = 0 }: ErrorSnapshot, messages: Messages): string {
  const cause = messages[code].replace(/[.。।].*/s, '');
  return status >= 400 ? `${cause} (${status})` : cause;
}

/** True if only responses are missing. The last byte counts as sent when the upload is done. */
export const isHandedOver = ({ phase, sentBytes, sizeBytes }: FileSnapshot): boolean =>
  phase === 'uploading' && sentBytes >= sizeBytes - 1;

/** Renders the non-empty items, separated by dots. */
export const facts = (
  ...all: readonly { readonly text: string | false; readonly class?: string }[]
): TemplateResult =>
  html`<span class="facts">${all.map((fact) => (fact.text ? html`<span class=${fact.class ?? nothing}><bdi>${fact.text}</bdi></span>` : nothing))}</span>`;

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
 * Two buttons: one to pause, resume or retry, and one to cancel or remove. When the action of a button changes,
 * its DOM element stays the same, so that it keeps the focus.
 */
function actionsOf(
  file: FileSnapshot,
  name: string,
  messages: Messages,
  commands: Commands,
  canUndo: boolean,
): TemplateResult {
  const { id, phase } = file;
  const isOpen = isActive(phase) || phase === 'queued';
  const [label, icon, run] = canUndo
    ? ([messages.undo, retryIcon, () => commands.undo(id)] as const)
    : isOpen
      ? ([messages.pause, pauseIcon, () => commands.pause(id)] as const)
      : phase === 'paused'
        ? ([messages.resume, resumeIcon, () => commands.resume(id)] as const)
        : ([messages.retry, retryIcon, () => commands.retry(id)] as const);
  const canGoOn =
    isOpen ||
    (file.phase === 'paused' && file.pauseReason === 'user') ||
    (file.phase === 'failed' && canRetry(file.error.code)) ||
    phase === 'canceled';
  const isEnded = isSettled(phase);
  const end = isEnded ? messages.remove : messages.cancel;
  return html`${canGoOn ? button('go', messages.actionOn(label, name), run, { ...IN_ROW, icon }) : nothing}${button(
    'end',
    messages.actionOn(end, name),
    () => (isEnded ? commands.remove(id) : commands.cancel(id)),
    { ...IN_ROW, icon: closeIcon },
  )}`;
}
