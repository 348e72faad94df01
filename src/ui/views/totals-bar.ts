// The footer: a headline, the totals, and buttons that apply to all files.

import { html, nothing, type TemplateResult } from 'lit';
import type { PauseReason } from '../../core/phases.ts';
import { leftOf, retryText } from './file-row.ts';
import { alertIcon, doneIcon } from './icons.ts';
import { listActions } from './list-actions.ts';
import { type FooterState, type FooterView, summaryOf } from './list-state.ts';
import { progressBar, shareOf } from './progress-bar.ts';
import { facts } from './row.ts';
import type { Commands, WidgetState } from './state.ts';

/** A text of the footer, or nothing. */
type Fact = (context: FooterState) => string | false;

const shareSent = ({ totals }: FooterState): number => shareOf(totals.sentBytes, totals.sizeBytes);
const NO_PERCENT: Fact = () => false;
const PERCENT: Fact = (context) => context.format.percent(shareSent(context));
const FAILED: Fact = ({ messages, totals: { failedCount } }) =>
  failedCount > 0 && messages.failed(failedCount);
const TIME_LEFT: Fact = ({ messages, format, totals: { remainingMs } }) =>
  remainingMs !== undefined && leftOf(remainingMs, messages, format);
const DONE: Fact = ({ messages, totals: { doneCount, fileCount } }) =>
  doneCount > 0 && messages.doneOf(doneCount, fileCount);
const SENT: Fact = ({ messages, format, totals: { sentBytes, sizeBytes } }) =>
  messages.sizeOf(format.size(sentBytes), format.size(sizeBytes));
const SIZE: Fact = ({ format, totals }) => format.size(totals.sizeBytes);
const SPEED: Fact = ({ format, totals: { bytesPerSecond } }) =>
  bytesPerSecond !== undefined && format.speed(bytesPerSecond);

/** What the footer shows. Without `share`, which is between 0 and 1, it has no bar. */
interface Look {
  headline?(context: FooterState): string;
  /** The percentage comes first. */
  readonly facts: readonly [Fact, ...Fact[]];
  readonly sign?: TemplateResult;
  share?(context: FooterState): number;
}

const OPEN = { facts: [NO_PERCENT, FAILED, DONE, SENT], share: shareSent } as const;

const LOOKS: Readonly<Record<FooterView, Look>> = {
  brief: { facts: [NO_PERCENT] },
  ready: { ...OPEN, headline: ({ messages, queuedCount }) => messages.ready(queuedCount) },
  waiting: {
    ...OPEN,
    headline: ({ messages, shared }) => (shared ? messages.pauseReasons[shared] : messages.phases.queued),
  },
  uploading: {
    facts: [PERCENT, FAILED, TIME_LEFT, DONE, SENT, SPEED],
    share: shareSent,
    headline: ({ messages, running, queuedCount }) => messages.uploading(running.length + queuedCount),
  },
  finishing: { ...OPEN, headline: ({ messages }) => messages.phases.committing },
  retrying: {
    ...OPEN,
    headline: ({ messages, format, running, secondsUntil }) =>
      retryText(Math.min(...running.map(({ retryAtMs }) => secondsUntil(retryAtMs))), messages, format),
  },
  paused: {
    ...OPEN,
    headline: ({ messages, pauseReason, missingFiles }) =>
      pauseReason === 'needs-file'
        ? messages.chooseAllAgain(missingFiles.length)
        : messages.pauseReasons[pauseReason ?? 'user'],
  },
  // A bar of failed files would say that something still moves; a full one of canceled files, that they are uploaded.
  failed: {
    facts: [NO_PERCENT, DONE, SENT],
    headline: ({ messages, totals }) => messages.failed(totals.failedCount),
    sign: alertIcon,
  },
  done: {
    facts: [NO_PERCENT, SIZE],
    headline: ({ messages, totals }) => messages.allUploaded(totals.fileCount),
    sign: doneIcon,
    share: () => 1,
  },
  ended: {
    facts: [NO_PERCENT, SIZE],
    headline: ({ messages, totals }) => messages.doneOf(totals.doneCount, totals.fileCount),
  },
};

/** The footer, or nothing if a single row shows the same. While a command can be undone, it says which one. */
export function totalsBar(
  state: WidgetState,
  shared: PauseReason | undefined,
  commands: Commands,
): TemplateResult | typeof nothing {
  const { snapshot, rules, undo } = state;
  const summary = summaryOf(snapshot, rules.manual);
  const isBrief = (snapshot.files.length < 2 && summary.state !== 'ready') || state.slots.has('footer');
  if (isBrief && !undo) return nothing;
  const hold = (event: Event): void => commands.holdUndo(isInside(event));
  const view = isBrief ? 'brief' : summary.state;
  const { headline, sign, share, ...look } = LOOKS[view];
  const context = { ...state, ...summary, shared };
  const [percent, ...others] = look.facts;
  return html`<div
    class="totals ${summary.state}"
    part="totals ${summary.state} ${undo ? 'undo' : ''}"
    @pointermove=${hold}
    @pointerleave=${hold}
    @focusin=${hold}
    @focusout=${hold}
  >
    ${share ? barOf(share(context), state) : nothing}${
      sign ? html`<span class="sign" part="totals-icon">${sign}</span>` : nothing
    }
    <div class="sums">
      ${headline ? html`<p class="headline" part="headline">${headline(context)}</p>` : nothing}
      <p class="status" part="totals-status">${
        undo?.text ?? facts(percent(context), ...others.map((fact) => fact(context)))
      }</p>
    </div>
    ${listActions(view, context, commands)}
  </div>`;
}

/** True if the pointer or the focus is in the footer after `event`. */
function isInside({ type, currentTarget }: Event): boolean {
  const bar = currentTarget as Element;
  // `:hover` and `:focus-within` end at an open menu.
  const isWithin = (selector: string): boolean => bar.matches(`${selector}, :has(${selector})`);
  if (type === 'pointerleave') return isWithin(':focus');
  return type !== 'focusout' || isWithin(':hover');
}

function barOf(share: number, { messages, format }: WidgetState): TemplateResult {
  const label = messages.progress;
  return progressBar({
    label,
    valueText: format.percent(share),
    share,
    part: 'progress total-progress',
  });
}
