// How far a file or a folder is: the bar of its row, its percentage, and its size.

import { nothing, type TemplateResult } from 'lit';
import { isActive, type Phase } from '../../core/phases.ts';
import type { FileSnapshot } from '../../core/types.ts';
import { progressBar, shareOf } from './progress-bar.ts';
import type { WidgetState } from './state.ts';

/** Size up to which hashing takes less than a second, in bytes: too short to be shown. */
const SMALL_BYTES = 10e6;

export interface RowProgress {
  readonly bar: TemplateResult | typeof nothing;
  /** `false` while nothing is sent. */
  readonly percent: string | false;
  /** The size, of which a part may be sent. */
  readonly size: string;
}

/** What is uploaded, and what is paused after its first byte, has a bar. */
export function rowProgress(
  phase: Phase,
  { sentBytes, sizeBytes }: { readonly sentBytes: number; readonly sizeBytes: number },
  name: string,
  { messages, format }: WidgetState,
): RowProgress {
  const size = format.size(sizeBytes);
  if (!isActive(phase) && !(phase === 'paused' && sentBytes > 0))
    return { bar: nothing, percent: false, size };
  const share = shareOf(sentBytes, sizeBytes);
  const percent = format.percent(share);
  return {
    bar: progressBar({
      label: messages.progressOf(name),
      valueText: percent,
      share,
      checking: phase === 'hashing' && sizeBytes > SMALL_BYTES,
      part: 'progress',
    }),
    percent: phase !== 'hashing' && percent,
    size: sentBytes > 0 ? messages.sizeOf(format.size(sentBytes), size) : size,
  };
}

/** How much of a large file is hashed, while nothing of it is sent: the bar has no value then. */
export const hashedPercent = (
  { phase, sentBytes, hashedBytes, sizeBytes }: FileSnapshot,
  { format }: WidgetState,
): string | false =>
  phase === 'hashing' &&
  sizeBytes > SMALL_BYTES &&
  sentBytes === 0 &&
  hashedBytes > 0 &&
  format.percent(hashedBytes / sizeBytes);
