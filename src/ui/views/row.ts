// The frame of a row of the list, which files and folders share: badge, name, progress, status and buttons.

import { html, nothing, type TemplateResult } from 'lit';
import type { Messages } from '../../core/messages.ts';
import type { Phase } from '../../core/phases.ts';
import { type ButtonOptions, button } from './buttons.ts';
import { alertIcon, doneIcon } from './icons.ts';
import { menu } from './menu.ts';
import { shownName } from './shown-name.ts';
import type { WidgetState } from './state.ts';

type Part = TemplateResult | typeof nothing;

/** Where a row is: `position` counts from 1. Tab and the arrow keys reach the buttons of the row that is the tab stop. */
export interface Place {
  readonly position: number;
  readonly isTabStop: boolean;
}

export interface RowContent {
  readonly id: string;
  /** Name for users. */
  readonly name: string;
  /** Name with the path of the row, for users. */
  readonly title: string;
  readonly phase: Phase;
  /** Further classes and parts of the row. */
  readonly classes: string;
  readonly parts: string;
  readonly needsFile: boolean;
  readonly badge: TemplateResult | HTMLElement | string;
  readonly bar: Part;
  readonly status: TemplateResult;
  readonly problem: Part;
  /** Button with words below the status. */
  readonly action: Part;
  readonly buttons: readonly Part[];
}

const MARKS: Partial<Record<Phase, TemplateResult>> = { done: doneIcon, failed: alertIcon };

/** Options of the buttons of a row. */
export const inRowOf = ({ isTabStop }: Place): Pick<ButtonOptions, 'tabindex'> =>
  isTabStop ? {} : { tabindex: -1 };

export function row(
  content: RowContent,
  { position, isTabStop }: Place,
  { slots }: WidgetState,
): TemplateResult {
  const { id, name, title, phase, classes, parts, needsFile, badge, bar, status, problem, action, buttons } =
    content;
  const mark = needsFile ? alertIcon : MARKS[phase];
  return html`<div
    class="row ${phase} ${classes}"
    part="file ${phase}${parts}"
    role="row"
    tabindex=${isTabStop ? 0 : -1}
    data-id=${id}
    aria-rowindex=${position}
    aria-labelledby=${`row-${position}`}
  >
    <span class="badge" part="file-icon" aria-hidden="true">${badge}${
      mark && html`<span class="mark">${mark}</span>`
    }</span>
    <div class="body" id=${`row-${position}`} role="gridcell">
      <span class="name"><bdi part="file-name" title=${title} ${shownName(name)}></bdi></span>
      ${bar}
      ${status}
      ${problem}
      ${action}
      ${slots.has(`row-${id}`) ? html`<slot name=${`row-${id}`}></slot>` : nothing}
    </div>
    <div class="actions" role="gridcell">${buttons}</div>
  </div>`;
}

/** Renders the phase or what is said instead, and facts about the row. */
export const statusLine = (word: string, line: TemplateResult): TemplateResult =>
  html`<p class="status" part="file-status"><span class="phase">${word}</span>${line}</p>`;

/** Renders the non-empty items, separated by dots. Screen readers read the percentage only as the value of the bar. */
export const facts = (percent: string | false, ...others: readonly (string | false)[]): TemplateResult =>
  html`<span class="facts">${[percent, ...others].map((fact, index) =>
    fact ? html`<span aria-hidden=${index === 0 ? 'true' : nothing}><bdi>${fact}</bdi></span>` : nothing,
  )}</span>`;

/** What a button of a row does. */
export interface RowAction {
  readonly action: string;
  readonly word: string;
  readonly icon: TemplateResult;
  readonly run: () => void;
  readonly isExpanded?: boolean | undefined;
}

/** A button of a row, which is named like the row. */
export const rowButton = (
  { action, word, icon, run, isExpanded }: RowAction,
  name: string,
  messages: Messages,
  place: Place,
): TemplateResult =>
  button(action, messages.actionOn(word, name), run, { ...inRowOf(place), icon, word, isExpanded });

/** The menu of a row, which narrow places show instead of its items. `actions` is another text for other items. */
export const rowMenu = (
  id: string,
  name: string,
  actions: string,
  items: TemplateResult,
  messages: Messages,
  place: Place,
): TemplateResult =>
  menu({
    id: `more-${id}`,
    label: messages.actionOn(messages.moreActions, name),
    actions,
    items,
    isFluid: true,
    ...inRowOf(place),
  });
