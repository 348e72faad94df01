// Shows rejected files and the reasons, until the user dismisses them.

import { html, nothing, type TemplateResult } from 'lit';
import type { Messages } from '../../core/messages.ts';
import { shownText } from '../../core/names.ts';
import type { Rejection } from '../../core/types.ts';
import { acceptedTypes } from '../accepted-types.ts';
import { button } from './buttons.ts';
import { alertIcon, closeIcon } from './icons.ts';
import type { Commands, WidgetState } from './state.ts';

/** Maximum number of names shown. More would push the list out of view. */
const SHOWN = 100;

/** Number of names for each reason that are shown at first. */
const FEW = 3;

/** The names of files that share a sentence: a few, and the others unfolded, as far as they are shown. */
export function nameList(
  files: readonly { readonly relativePath: string }[],
  { messages, format }: Pick<WidgetState, 'messages' | 'format'>,
): TemplateResult {
  const draw = (some: typeof files): unknown =>
    some.map(
      ({ relativePath }, index) =>
        html`${index > 0 ? format.comma : nothing}<bdi class="refused"
          part="rejection">${shownText(relativePath)}</bdi>`,
    );
  const hiddenCount = files.length - SHOWN;
  return html`${draw(files.slice(0, FEW))}
    ${
      files.length > FEW
        ? html`<details><summary>${messages.more(files.length - FEW)}</summary>${draw(files.slice(FEW, SHOWN))}${
            hiddenCount > 0 ? html` ${messages.more(hiddenCount)}` : nothing
          }</details>`
        : nothing
    }`;
}

/** The panel, or nothing without rejections. */
export function rejectionsPanel(state: WidgetState, commands: Commands): TemplateResult | typeof nothing {
  const { messages, snapshot } = state;
  const { rejections } = snapshot;
  if (rejections.length === 0) return nothing;
  const hiddenCount = rejections.length - SHOWN;
  return html`<div class="panel danger" part="rejections" role="group"
    aria-label=${messages.rejected(rejections.length)}>
    <span class="badge">${alertIcon}</span>
    <div class="body">
      <p class="title">${messages.rejected(rejections.length)}</p>
      <ul class="refusals">
        ${Array.from(
          Map.groupBy(rejections.slice(0, SHOWN), (each) => refusalOf(each, state)),
          ([reason, those]) =>
            html`<li>
              <p part="rejection-reason">${reason}</p>
              ${nameList(those, state)}
            </li>`,
        )}
        ${hiddenCount > 0 ? html`<li>${messages.more(hiddenCount)}</li>` : nothing}
      </ul>
    </div>
    ${button('dismiss', messages.dismiss, () => commands.dismiss(), { icon: closeIcon })}
  </div>`;
}

/** The message of a rejection, with the limit if there is one. */
export function refusalOf(
  { code, limit }: Pick<Rejection, 'code' | 'limit'>,
  { messages, format }: { readonly messages: Messages; readonly format: WidgetState['format'] },
): string {
  const sentence = messages[code];
  if (limit === undefined || limit === '') return sentence;
  const limitText =
    typeof limit === 'string'
      ? acceptedTypes(limit, messages, format)
      : code === 'file-too-large'
        ? messages.upTo(format.size(limit))
        : messages.atMost(limit);
  return `${sentence} ${messages.limit(limitText)}`;
}
